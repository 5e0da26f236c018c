//! Checkpoints that are not there, not for this job, or cannot be written: each is said with its place, and nothing is lost or begun anew
//! unasked. Damaged ones are in `stop` and with the storage, full disks in `failed_checkpoints` and with the sinks.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use millstream::{Job, JobEnd, JobHandle, JobState, RunOptions};

use super::job::{Setup, job, output, wait_for};
use super::kill::{PATIENT, command};

/// What it said when it was refused.
fn refused(output: Output, code: i32) -> String {
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

fn options(setup: &Setup, rate: u64) -> RunOptions {
    setup.options(rate).checkpoints(setup.path("checkpoints"))
}

#[test]
fn a_checkpoint_to_go_on_from_that_is_missing_is_named() {
    let setup = Setup::new(10, 1);
    std::fs::create_dir(setup.path("empty")).unwrap();
    for (name, reason) in [
        ("nowhere", "No such file or directory (os error 2)"),
        ("empty", "there is no complete checkpoint"),
        ("bids-0.jsonl", ""),
    ] {
        let from = setup.path(name);
        let said = refused(command(&setup.args(&["--from", &from])).output().unwrap(), 1);
        assert!(said.contains(&format!("counts: failed: cannot resume from `{from}`: {reason}")), "{said}");
    }
    assert_eq!(output(&setup.out()), [""; 0]);
}

#[test]
fn a_checkpoint_of_another_job_is_refused_with_both_names() {
    let setup = Setup::new(40_000, 1);
    let handle = JobHandle::start(Job { name: "orders", ..job() }, options(&setup, 5_000)).unwrap();
    assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running));
    let savepoint = handle.savepoint(setup.path("savepoints")).unwrap().savepoint.unwrap();
    assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(_)));
    let before = output(&setup.out());
    let from = savepoint.to_str().unwrap();
    let args = setup.args(&["--from", from, "--checkpoint-dir", &setup.path("own")]);
    let said = refused(command(&args).output().unwrap(), 1);
    let expected = format!("cannot resume from `{from}`: it is a checkpoint of the job `orders`, and this is `counts`");
    assert!(said.contains(&expected), "{said}");
    // In its own directory, too; and what is of another job is not forgotten either.
    let checkpoints = setup.path("checkpoints");
    let folders =
        || std::fs::read_dir(&checkpoints).unwrap().filter(|entry| entry.as_ref().unwrap().path().join("manifest.json").exists());
    let (whole, fresh) = (folders().count(), ["--checkpoint-dir", &checkpoints, "--fresh", "--replace"]);
    for args in [&fresh[..2], &fresh] {
        let said = refused(command(&setup.args(args)).output().unwrap(), 1);
        let expected = format!("the checkpoint directory `{checkpoints}` belongs to the job `orders`, this is `counts`");
        assert!(said.contains(&expected), "{said}");
    }
    assert!(whole > 0 && folders().count() == whole);
    assert_eq!(output(&setup.out()), before, "nothing was touched");
}

/// Whoever begins anew over output that is in the way can still go on: nothing is forgotten before the sink has agreed.
#[test]
fn a_fresh_start_that_a_sink_refuses_leaves_the_checkpoints_alone() {
    let setup = Setup::new(40_000, 1);
    let options = options(&setup, 5_000).checkpoint_every(Duration::from_millis(20));
    let handle = JobHandle::start(job(), options).unwrap();
    wait_for("output", || !output(&setup.out()).is_empty());
    assert!(matches!(handle.stop_with_checkpoint().unwrap(), JobEnd::Stopped(_)));
    let before = output(&setup.out());
    let checkpoints = setup.path("checkpoints");
    let said = refused(command(&setup.args(&["--checkpoint-dir", &checkpoints, "--fresh"])).output().unwrap(), 1);
    assert!(said.contains("already holds files"), "{said}");
    assert_eq!(output(&setup.out()), before, "nothing was touched");
    assert_eq!(setup.run(&["--checkpoint-dir", &checkpoints]), 0);
    setup.check();
    assert_eq!(setup.run(&["--checkpoint-dir", &checkpoints, "--fresh", "--replace"]), 0, "agreed to");
    setup.check();
}

/// The storage of `--from` goes away while the job runs and has no checkpoint of its own: it is asked again at each start of the job.
#[test]
fn a_checkpoint_to_go_on_from_that_does_not_answer_when_the_job_starts_again_is_waited_for() {
    let setup = Setup::new(20_000, 2);
    let bid = "{\"auction\":\"poison\",\"price\":1,\"time\":\"1970-01-01T00:00:10Z\"}\n";
    std::fs::write(setup.path("bids-9.jsonl"), bid).unwrap();
    let handle = JobHandle::start(job(), options(&setup, 500)).unwrap();
    let savepoint = handle.stop_with_savepoint(setup.path("savepoints")).unwrap().savepoint.unwrap();
    handle.wait().unwrap();
    let poison = setup.path("poison");
    std::fs::write(&poison, "").unwrap();
    let (own, from) = (setup.path("own"), savepoint.display().to_string());
    let args = ["--checkpoint-dir", &own, "--checkpoint-interval", "1h", "--from", &from, "--poison", &poison];
    let mut child = command(&setup.args(&args)).env(PATIENT, "1").stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    said.find(|line| line.contains("attempt 1 failed")).expect("it has not failed");
    // A file that cannot be opened, and that is not missing.
    let file = std::fs::read_dir(&savepoint).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "state")).unwrap();
    let aside = setup.folder.path().join("aside");
    std::fs::rename(&file, &aside).unwrap();
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let refused = said.find(|line| line.contains("cannot resume from")).expect("it has not asked");
    assert!(refused.contains("cannot be read") && refused.contains(&from), "{refused}");
    std::fs::remove_file(&poison).unwrap();
    std::fs::rename(&aside, &file).unwrap();
    let rest: Vec<_> = said.collect();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}: {refused}, {rest:?}");
    setup.check();
}

/// Somebody clears up while the job runs.
#[test]
fn a_directory_that_is_removed_under_a_running_job_ends_it_and_the_next_start_loses_nothing() {
    let setup = Setup::new(40_000, 4);
    let handle = JobHandle::start(job(), options(&setup, 2_000)).unwrap();
    handle.checkpoint().unwrap();
    let checkpoints = setup.path("checkpoints");
    std::fs::remove_dir_all(&checkpoints).unwrap();
    let error = handle.checkpoint().unwrap_err();
    assert!(!error.message().is_empty());
    let error = handle.wait().unwrap_err();
    let expected =
        format!("`{checkpoints}/.lease-000001`, which says that the checkpoint directory is this process's, is gone: was");
    assert!(error.message().contains(&expected), "{error}");
    // What it was writing is whole, and nobody has committed it.
    let end = JobHandle::start(job(), options(&setup, 1_000_000_000)).unwrap().wait().unwrap();
    assert_eq!(end, JobEnd::Finished);
    setup.check();
}

/// As somebody to whom permissions apply.
#[test]
fn a_directory_that_cannot_be_written_to_is_refused_at_the_start() {
    let setup = Setup::new(10, 1);
    for (name, reason) in [
        ("bids-0.jsonl", "cannot create the checkpoint directory"),
        ("bids-0.jsonl/below", "cannot create the checkpoint directory"),
        ("read-only", "cannot write to the checkpoint directory"),
        ("read-only/below", "cannot create the checkpoint directory"),
    ] {
        let directory = setup.path(name);
        let mut command = command(&setup.args(&["--checkpoint-dir", &directory]));
        if name.starts_with("read-only") {
            let folder = setup.folder.path();
            std::fs::create_dir_all(folder.join("read-only")).unwrap();
            std::fs::set_permissions(folder.join("read-only"), PermissionsExt::from_mode(0o555)).unwrap();
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
            command = as_nobody(command, &setup);
        }
        let said = refused(command.output().unwrap(), 1);
        assert!(said.contains(&format!("{reason} `{directory}`: ")), "{said}");
    }
    assert_eq!(output(&setup.out()), [""; 0]);
}

/// The same command, from a place that everybody can reach.
pub fn as_nobody(command: Command, setup: &Setup) -> Command {
    if setup.folder.path().metadata().unwrap().uid() != 0 {
        return command;
    }
    let program = setup.folder.path().join("program");
    if !program.exists() {
        std::fs::copy(command.get_program(), &program).unwrap();
    }
    let mut other = Command::new(program);
    other.args(command.get_args()).current_dir(setup.folder.path()).uid(65534);
    for (name, value) in command.get_envs() {
        other.env(name, value.unwrap_or_default());
    }
    other
}

/// No folder `s3:` is made where a bucket was meant.
#[test]
fn a_bucket_that_is_misspelled_is_a_mistake_of_the_command_line() {
    let setup = Setup::new(10, 1);
    let own = setup.path("checkpoints");
    for (flag, place, meant) in [
        ("--checkpoint-dir", "s3:/bucket/jobs", "s3://bucket/jobs"),
        ("--checkpoint-dir", "S3://bucket/jobs", "s3://bucket/jobs"),
        ("--from", "s3:bucket/jobs", "s3://bucket/jobs"),
        ("--output", "s3:/bucket/out", "s3://bucket/out"),
        ("--input", "s3//bucket/*.jsonl", "s3://bucket/*.jsonl"),
        ("--checkpoint-dir", "file:/tmp/jobs", "/tmp/jobs"),
    ] {
        let mut args = setup.args(&["--checkpoint-dir", &own]);
        args.extend([flag.to_owned(), place.to_owned()]);
        let said = refused(command(&args).current_dir(setup.folder.path()).output().unwrap(), 2);
        assert!(said.contains(&format!("`{place}` is no place that is known: did you mean `{meant}`?")), "{said}");
        assert!(!setup.folder.path().join("s3:").exists() && !setup.folder.path().join("S3:").exists(), "{place}");
    }
}
