//! Stopping: SIGTERM takes a last checkpoint, and another start goes on from it, at any parallelism.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::job::{Setup, expected, output, wait_for};
use super::kill::{Kill, command, start};

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// C08: stopping emits nothing of open windows; the continuation completes them. At another parallelism each time.
#[test]
fn stopped_and_gone_on_with_at_other_parallelisms() {
    let setup = Setup::new(60_000, 5);
    let checkpoints = setup.path("checkpoints");
    let all = expected(0..setup.bids);
    for parallelism in ["3", "1", "4", "2"] {
        let more =
            ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "1h", "--parallelism", parallelism, "--rate", "10000"];
        let mut child = start(&setup.args(&more));
        // Rows are being written: the job is running.
        wait_for("a staged file", || staged(&setup) || child.try_wait().unwrap().is_some());
        signal(&child, "-TERM");
        let status = child.wait().unwrap();
        assert!(status.success(), "{status}");
        let committed = output(&setup.out());
        assert!(committed.iter().all(|line| all.binary_search(line).is_ok()), "an open window was emitted");
        assert_eq!(setup.succeeded(), committed.len() == all.len(), "a stopped job has not ended");
        if setup.succeeded() {
            break;
        }
    }
    let last = ["--checkpoint-dir", &checkpoints, "--parallelism", "2"];
    if output(&setup.out()).len() < all.len() {
        assert_eq!(setup.run(&last), 0);
    }
    setup.check();
}

/// C75: a damaged checkpoint is never a reason to start from the beginning unasked.
#[test]
fn a_damaged_checkpoint_stops_the_start_until_fresh_is_asked_for() {
    let setup = Setup::new(60_000, 1);
    let checkpoints = setup.path("checkpoints");
    let more = ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "1h", "--rate", "10000"];
    let mut child = start(&setup.args(&more));
    wait_for("a staged file", || staged(&setup) || child.try_wait().unwrap().is_some());
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    let folder = std::fs::read_dir(&checkpoints).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let manifest = folder.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"counts\"", "\"Counts\"")).unwrap();
    let before = output(&setup.out());
    assert_eq!(setup.run(&more), 1);
    assert_eq!(output(&setup.out()), before, "nothing was touched");
    assert_eq!(setup.run(&["--checkpoint-dir", &checkpoints, "--fresh", "--replace"]), 0);
    setup.check();
}

fn staged(setup: &Setup) -> bool {
    let staging = std::fs::read_dir(setup.out()).into_iter().flatten().flatten().map(|entry| entry.path());
    let staging = staging.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".millstream-")));
    staging.into_iter().any(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten().count() > 1)
}

/// Two processes on one job: the second is kept out, with a message, and the first is not disturbed.
#[test]
fn a_second_process_on_the_same_checkpoints_is_refused() {
    let setup = Setup::new(20_000, 2);
    let checkpoints = setup.path("checkpoints");
    let more = ["--checkpoint-dir", &checkpoints, "--rate", "10000"];
    let mut first = start(&setup.args(&more));
    wait_for("the staging folder", || staged(&setup) || first.try_wait().unwrap().is_some());
    assert_eq!(setup.run(&more), 1);
    assert!(first.wait().unwrap().success());
    setup.check();
}

/// Somebody removes what a sink has staged: its rows cannot be committed any more. The job ends, and says so in its exit code, too.
#[test]
fn rows_that_a_sink_has_lost_are_told_by_the_exit_code() {
    let setup = Setup::new(60_000, 1);
    let more = ["--checkpoint-dir", &setup.path("checkpoints"), "--checkpoint-interval", "1h", "--rate", "1000"];
    let mut child = command(&setup.args(&more)).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("a staged file", || staged(&setup) || child.try_wait().unwrap().is_some());
    for name in super::job::hidden(&setup.out()).iter().filter(|name| name.starts_with(".millstream-")) {
        for entry in std::fs::read_dir(setup.out().join(name)).unwrap() {
            let path = entry.unwrap().path();
            if !path.ends_with(".lock") {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("LOST: a committable of checkpoint 1 cannot be committed: the staged file `"), "{said}");
    assert!(said.contains("counts: WARNING: "), "{said}");
}

/// Without checkpoints there is nothing to go on from: what was written so far is there.
#[test]
fn stopped_without_checkpoints() {
    let setup = Setup::new(60_000, 1);
    let mut child = start(&setup.args(&["--rate", "10000"]));
    wait_for("a staged file", || staged(&setup) || child.try_wait().unwrap().is_some());
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    let (found, all) = (output(&setup.out()), expected(0..setup.bids));
    assert!(found.len() < all.len() && found.iter().all(|line| all.binary_search(line).is_ok()));
}

/// The lease of a process on another machine, which nobody has heard of yet.
const ELSEWHERE: &str = r#"{"holder":{"host":"elsewhere","boot":"another","namespace":"","process":1,"began":0,"since":0},
    "beat":1,"released":false,"fences":[],"given_up":[]}"#;

/// The same command, which hears SIGHUP though these tests may run under `nohup`, which children inherit.
fn hearing(command: &Command) -> Command {
    let mut hearing = Command::new("env");
    hearing.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args()).stdout(Stdio::null());
    for (key, value) in command.get_envs() {
        hearing.env(key, value.unwrap_or_default());
    }
    hearing
}

/// A process that waits for a sign of life of that one, for seconds: it listens for signals and heeds no stop. With what it says.
fn starting(setup: &Setup) -> (Child, impl Iterator<Item = String>) {
    let checkpoints = setup.path("checkpoints");
    std::fs::create_dir(&checkpoints).unwrap();
    std::fs::write(setup.path("checkpoints/.lease-000001"), ELSEWHERE).unwrap();
    let mut child = hearing(&command(&setup.args(&["--checkpoint-dir", &checkpoints]))).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    wait_for("the lock", || Path::new(&setup.path("checkpoints/.lock")).exists());
    (child, said)
}

/// The first signal asks, the second one does not: its code is that of a process that dies of it.
#[test]
fn a_second_signal_ends_the_process_at_once() {
    for (first, second, code) in [("-TERM", "-INT", 130), ("-INT", "-TERM", 143), ("-HUP", "-HUP", 129)] {
        let setup = Setup::new(10, 1);
        let (mut child, mut said) = starting(&setup);
        signal(&child, first);
        assert!(said.any(|line| line.contains("once more to stop at once")), "{:?}", child.wait());
        signal(&child, second);
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

/// C72: as process 1, for which the kernel ignores every signal that nobody listens for. Under `nohup` a terminal that goes is no reason.
#[test]
fn a_job_that_is_process_1_stops_at_the_first_signal() {
    // Who may not have a namespace of processes may have one in a namespace of users.
    let kinds: [&[&str]; 2] =
        [&["--pid", "--fork", "--kill-child"], &["--user", "--map-root-user", "--pid", "--fork", "--kill-child"]];
    let works = |args: &&&[&str]| Command::new("unshare").args(**args).arg("true").output().is_ok_and(|out| out.status.success());
    let Some(kind) = kinds.iter().find(works) else {
        eprintln!("skipped: there is no namespace of processes to be had here");
        return;
    };
    let setup = Setup::new(40_000, 2);
    let args = ["--checkpoint-dir", &setup.path("checkpoints"), "--checkpoint-interval", "1h", "--rate", "4000"];
    let own = command(&setup.args(&args));
    let hearing = hearing(&own);
    for name in ["-TERM", "-INT", "-HUP"] {
        let mut outer = Command::new("unshare");
        outer.args(*kind).arg(hearing.get_program()).args(hearing.get_args()).stdout(Stdio::null()).stderr(Stdio::piped());
        for (key, value) in own.get_envs() {
            outer.env(key, value.unwrap_or_default());
        }
        let mut outer = Kill(outer.spawn().unwrap());
        let children = format!("/proc/{id}/task/{id}/children", id = outer.0.id());
        wait_for("a staged file", || staged(&setup) || outer.0.try_wait().unwrap().is_some());
        let inner = std::fs::read_to_string(children).unwrap();
        assert!(Command::new("kill").args([name, inner.trim()]).status().unwrap().success());
        let mut said = String::new();
        outer.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(outer.0.wait().unwrap().success(), "{name}: {said}");
        assert!(said.contains("stopping with a last checkpoint") && !setup.succeeded(), "{name}: {said}");
    }
    let mut under = Command::new("nohup");
    under.arg(own.get_program()).args(own.get_args()).stdout(Stdio::null()).stderr(Stdio::null());
    for (key, value) in own.get_envs() {
        under.env(key, value.unwrap_or_default());
    }
    let mut under = Kill(under.spawn().unwrap());
    wait_for("a staged file", || staged(&setup) || under.0.try_wait().unwrap().is_some());
    signal(&under.0, "-HUP");
    assert!(under.0.wait().unwrap().success());
    setup.check();
}

/// What hangs before anything is read is given up after a while, although there is no checkpoint to take.
#[test]
fn stopped_while_it_starts() {
    let setup = Setup::new(10, 1);
    let (mut child, _said) = starting(&setup);
    signal(&child, "-TERM");
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
    assert!(!Path::new(&setup.path("checkpoints/.lease-000002")).exists(), "it has run");
    assert_eq!(output(&setup.out()), [""; 0]);
}
