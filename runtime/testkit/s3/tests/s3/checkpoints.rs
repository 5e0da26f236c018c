//! Checkpoints in a bucket: killed, damaged, cut off from it, and two processes on one.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use millstream::sim::ABORT_AT;

use super::compacting::{self, FEW, JUST_NAMED, NOT_NAMED, files, joined};
use super::job::{output, wait_for};
use super::process::{DISK, Fixture, Kill, signal, stderr};

const PLACE: &str = "s3://data/jobs/counts";

/// Few rows a second: there is time to do something to it.
const SLOWLY: [&str; 8] = ["--checkpoint-dir", PLACE, "--checkpoint-interval", "50ms", "--rate", "5000", "--parallelism", "2"];

impl Fixture {
    /// Folders of checkpoints, in order.
    fn checkpoints(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder("jobs/counts")).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    }

    fn complete(&self) -> usize {
        self.checkpoints().iter().filter(|folder| folder.join("manifest.json").exists()).count()
    }
}

#[test]
fn killed_at_any_moment_and_started_again() {
    let fixture = Fixture::new(20_000, 3);
    let more = ["--checkpoint-dir", PLACE, "--checkpoint-interval", "40ms", "--rate", "10000", "--parallelism", "2"];
    let kills = fixture.kill_until_it_ends(&fixture.setup.args(&more), 900, || output(&fixture.setup.out()));
    assert!(kills > 2, "it was killed {kills} times only");
    fixture.check();
    assert_eq!(fixture.complete(), 0, "the checkpoints of a job that is done are gone");
}

/// With state on disk they hold what has changed, and name the objects of others for the rest.
#[test]
fn killed_among_checkpoints_that_build_upon_others() {
    let fixture = Fixture::new(20_000, 3);
    let more = ["--checkpoint-dir", PLACE, "--checkpoint-interval", "30ms", "--rate", "8000", "--parallelism", "2"];
    let disk = [(DISK, fixture.setup.path("state"))];
    let mut built_upon = 0;
    let kills = fixture.kill_until_it_ends_with(&fixture.setup.args(&more), &disk, 1200, || {
        let manifests =
            fixture.checkpoints().into_iter().filter_map(|folder| std::fs::read_to_string(folder.join("manifest.json")).ok());
        built_upon += u32::from(manifests.into_iter().any(|manifest| manifest.contains("\"of\":")));
        output(&fixture.setup.out())
    });
    assert!(kills > 2 && built_upon > 0, "{kills} kills, {built_upon} of them with a checkpoint that builds upon others");
    fixture.check();
    assert_eq!(fixture.complete(), 0, "the checkpoints of a job that is done are gone");
    // In the middle of a run, so that both are there: what is gone on from is read from both.
    let settings = [&SLOWLY[..], &["--existing", "replace"]].concat();
    let mut child = Kill(fixture.command(&settings).env(DISK, &disk[0].1).stderr(Stdio::null()).spawn().unwrap());
    let builds = || {
        fixture.checkpoints().into_iter().rev().find(|folder| {
            std::fs::read_to_string(folder.join("manifest.json")).is_ok_and(|manifest| manifest.contains("\"of\":"))
        })
    };
    wait_for("a checkpoint that builds upon others", || builds().is_some());
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    // Also with state in memory, at another parallelism.
    let output = fixture.run(&["--checkpoint-dir", PLACE, "--parallelism", "3", "--existing", "replace"]);
    assert!(output.status.success(), "{}", stderr(&output));
    fixture.check();
}

/// Gone behind a compaction, before a manifest names what it gave, and then right behind that: nothing is missing, and what nobody needs goes
/// with the next checkpoint.
#[test]
fn gone_around_a_compaction_and_started_again() {
    let fixture = Fixture::of(compacting::setup());
    let run = |rate, interval| {
        let mut command = fixture.command_of(&compacting::args(&fixture.setup, PLACE, rate, interval));
        command.env(FEW, "1");
        command
    };
    for (told, interval, is_named) in [(NOT_NAMED, "40ms", false), (JUST_NAMED, "200ms", true)] {
        let ended = run("100", interval).env(ABORT_AT, told).output().unwrap();
        assert_eq!(ended.status.signal(), Some(6), "{told}: {}", stderr(&ended));
        let (named, left) = files(&fixture.folder("jobs/counts"));
        assert_eq!(
            (joined(&named) > 0, joined(&left) > 0),
            (is_named, !is_named),
            "{told}: {named:?} {left:?} {}",
            stderr(&ended)
        );
    }
    let mut child = Kill(run("100", "1h").spawn().unwrap());
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("resuming from checkpoint")).expect("it does not go on");
    signal(&child.0, "TERM");
    let rest: Vec<_> = lines.collect();
    assert!(child.0.wait().unwrap().success(), "{rest:?}");
    let (_, left) = files(&fixture.folder("jobs/counts"));
    assert!(left.is_empty(), "nobody needs {left:?}");
    let ended = run("1000000000", "1h").output().unwrap();
    assert!(ended.status.success(), "{}", stderr(&ended));
    compacting::check(&fixture.setup);
}

/// C75, in a bucket. Also: the newest of a directory, and one by its name.
#[test]
fn a_damaged_checkpoint_is_reported_and_named_ones_are_found() {
    let fixture = Fixture::new(20_000, 1);
    let mut child = Kill(fixture.command(&SLOWLY).stderr(Stdio::null()).spawn().unwrap());
    wait_for("a checkpoint", || fixture.complete() > 0);
    signal(&child.0, "TERM");
    assert!(child.0.wait().unwrap().success());
    let folder = fixture.checkpoints().pop().unwrap();
    let manifest = folder.join("manifest.json");
    let whole = std::fs::read(&manifest).unwrap();
    let name = format!("{PLACE}/{}", folder.file_name().unwrap().to_str().unwrap());
    // No longer there.
    std::fs::rename(&manifest, folder.join("moved")).unwrap();
    let said = stderr(&fixture.run(&["--from", &name]));
    assert!(said.contains("cannot resume from `s3://data/jobs/counts/checkpoint-") && said.contains("no complete"), "{said}");
    std::fs::remove_file(folder.join("moved")).unwrap();
    // Cut.
    std::fs::write(&manifest, &whole[..whole.len() - 1]).unwrap();
    let output = fixture.run(&SLOWLY);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains(&format!("`{name}/manifest.json` is damaged: its end is missing")), "{said}");
    std::fs::write(&manifest, &whole).unwrap();
    let output = fixture.run(&["--from", &name, "--checkpoint-dir", "s3://data/jobs/another"]);
    assert!(output.status.success(), "{}", stderr(&output));
    fixture.check();
}

/// C79, in a bucket. After a kill nobody waits on this machine.
#[test]
fn two_copies_at_once_and_one_that_was_killed() {
    let fixture = Fixture::new(50_000, 1);
    let mut first = Kill(fixture.command(&SLOWLY).stderr(Stdio::null()).spawn().unwrap());
    wait_for("a checkpoint", || fixture.complete() > 0);
    let output = fixture.run(&SLOWLY);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    let expected = format!("another process (process {} on `", first.0.id());
    assert!(said.contains(&expected) && said.contains(PLACE), "{said}");
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    let output = fixture.run(&SLOWLY);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(fixture.folder("jobs/counts/.lease-000002").exists());
    assert!(!said.contains("sign of life") && !said.contains("not been heard of"), "it waited: {said}");
    fixture.check();
}

/// Paused for longer than the lease lasts, replaced, and woken up: it completes nothing more and says why.
#[test]
fn a_process_that_was_paused_and_replaced_commits_nothing_more() {
    let fixture = Fixture::new(50_000, 1);
    let mut first = Kill(fixture.command(&SLOWLY).spawn().unwrap());
    wait_for("a checkpoint", || fixture.complete() > 0);
    signal(&first.0, "STOP");
    let second = fixture.command(&SLOWLY).spawn().unwrap();
    wait_for("the second lease", || fixture.folder("jobs/counts/.lease-000002").exists());
    signal(&first.0, "CONT");
    let status = first.0.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    let mut said = String::new();
    std::io::Read::read_to_string(first.0.stderr.as_mut().unwrap(), &mut said).unwrap();
    assert!(said.contains(&format!("has lost the checkpoint directory `{PLACE}` to process {}", second.id())), "{said}");
    let output = second.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    fixture.check();
}

/// Connections break in the middle of answers, and for a while nobody is there at all.
#[test]
fn a_bucket_that_does_not_answer_holds_up_the_job_and_loses_nothing() {
    let fixture = Fixture::new(20_000, 1);
    let child = fixture.command(&SLOWLY).spawn().unwrap();
    wait_for("a checkpoint", || fixture.complete() > 0);
    fixture.server.break_connections(20, 100);
    wait_for("broken connections", || fixture.server.broken() >= 5);
    fixture.server.set_down(true);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    fixture.server.set_down(false);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    fixture.check();
}

#[test]
fn what_is_wrong_with_a_place_is_said() {
    let fixture = Fixture::new(10, 1);
    for (place, code, expected) in [
        ("s3://nowhere-1/x", 1, "NoSuchBucket"),
        ("s3:///x", 1, "names no bucket"),
        ("gs://bucket/x", 2, "is no place that is known: there are local folders and `s3://bucket/path`"),
        ("s3:/data/jobs", 2, "is no place that is known: did you mean `s3://data/jobs`?"),
    ] {
        let output = fixture.run(&["--checkpoint-dir", place]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{place}: {said}");
        assert!(said.contains(expected) && said.contains(place), "{place}: {said}");
    }
    let mut command = fixture.command(&["--checkpoint-dir", PLACE]);
    let output = command.env("AWS_SECRET_ACCESS_KEY", "wrong").output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("SignatureDoesNotMatch") && said.contains(PLACE), "{said}");
}
