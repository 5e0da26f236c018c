//! Real processes that are gone at the points where a simulation has things go wrong, with real threads and a real file system: every
//! one, and around compactions also with what is left behind.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use millstream::sim::{ABORT_AT, POINTS};

use super::compacting::{self, FEW, JUST_NAMED, NOT_NAMED, files, joined};
use super::job::{Setup, expected, output};
use super::kill::{Kill, command};
use super::stop::signal;

/// What a process that aborts ends with.
const SIGABRT: i32 = 6;

/// Whether it has aborted; else it has ended well.
fn aborts(mut command: Command) -> bool {
    let ended = command.stderr(Stdio::piped()).output().unwrap();
    let aborted = ended.status.signal() == Some(SIGABRT);
    assert!(aborted || ended.status.success(), "{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
    aborted
}

/// What is committed counts once.
fn check_so_far(setup: &Setup, what: &str) {
    let (all, committed) = (expected(0..setup.bids), output(&setup.out()));
    assert!(committed.windows(2).all(|pair| pair[0] != pair[1]), "a row is there twice: {what}");
    assert!(committed.iter().all(|line| all.binary_search(line).is_ok()), "a row is wrong: {what}");
}

/// Gone there, and again when it has gone on and comes there, and then left alone.
fn gone_at(point: &str) {
    let setup = Setup::new(6_000, 2);
    let checkpoints = setup.path("checkpoints");
    let settings = ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "20ms", "--parallelism", "2"];
    let run = |rate: &str| command(&setup.args(&[&settings[..], &["--rate", rate]].concat()));
    for visit in 1..=2 {
        let told = format!("{point}:{visit}");
        let mut run = run("6000");
        run.env(ABORT_AT, &told);
        let aborted = aborts(run);
        assert!(aborted || visit > 1, "it does not come by {point}");
        check_so_far(&setup, &told);
        if !aborted {
            return setup.check();
        }
    }
    assert!(!aborts(run("1000000000")));
    setup.check();
}

#[test]
fn gone_at_any_point_and_started_again() {
    // Chains of checkpoints that are worth a compaction take more state: below. The two of the end leave nothing to go on from.
    let points = POINTS.iter().filter(|point| !point.starts_with("compaction."));
    in_turn(&points.collect::<Vec<_>>(), |point| gone_at(point));
}

/// Some at a time.
fn in_turn<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    let cases = Mutex::new(cases.iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = { cases.lock().unwrap().next() } {
                    test(case);
                }
            });
        }
    });
}

struct Compacting {
    setup: Setup,
    /// With state on disk.
    on_disk: bool,
}

impl Compacting {
    fn new(on_disk: bool) -> Self {
        Compacting { setup: compacting::setup(), on_disk }
    }

    fn run(&self, rate: &str, interval: &str) -> Command {
        let mut command = command(&compacting::args(&self.setup, &self.setup.path("checkpoints"), rate, interval));
        command.env(FEW, "1");
        #[cfg(feature = "disk")]
        if self.on_disk {
            command.env(super::disk_state::DISK, "1");
        }
        command
    }

    /// Is gone there. What it has left of files that were put together: whether a manifest names such, and whether there are such that none does.
    fn gone_at(&self, told: &str, interval: &str, is_named: bool, is_left: bool) {
        let mut run = self.run("100", interval);
        run.env(ABORT_AT, told);
        assert!(aborts(run), "it does not come by {told}");
        let (named, left) = files(self.setup.path("checkpoints").as_ref());
        assert_eq!((joined(&named) > 0, joined(&left) > 0), (is_named, is_left), "{told}: {named:?} {left:?}");
    }

    /// Goes on, takes one more checkpoint, and stops with that: nothing of the processes before is left that nobody needs. Then to its end.
    fn goes_on(mut self) {
        let mut child = Kill(self.run("100", "1h").stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
        lines.find(|line| line.contains("resuming from checkpoint")).expect("it does not go on");
        signal(&child.0, "-TERM");
        let rest: Vec<_> = lines.collect();
        assert!(child.0.wait().unwrap().success(), "{rest:?}");
        let (_, left) = files(self.setup.path("checkpoints").as_ref());
        assert!(left.is_empty(), "nobody needs {left:?}");
        // In memory: the rest is no longer about checkpoints, and every row would be a large entry that is written.
        self.on_disk = false;
        assert!(!aborts(self.run("1000000000", "1h")));
        compacting::check(&self.setup);
    }
}

/// Nothing of the files that were being put together is used, and nothing is missing; also in a chain that was put together before.
#[test]
fn gone_around_a_compaction_and_started_again() {
    let test = Compacting::new(false);
    // Then there is enough to be put together, and it is not to become so much meanwhile that all begins anew.
    test.gone_at("compaction.begin:1", "20ms", false, false);
    test.gone_at("compaction.end:1", "200ms", false, true);
    test.gone_at(NOT_NAMED, "200ms", false, true);
    test.gone_at(JUST_NAMED, "200ms", true, false);
    test.gone_at("compaction.end:1", "60ms", true, true);
    test.goes_on();
}

#[cfg(feature = "disk")]
#[test]
fn gone_around_a_compaction_of_state_on_disk_and_started_again() {
    let test = Compacting::new(true);
    test.gone_at("compaction.end:1", "40ms", false, true);
    test.gone_at(JUST_NAMED, "200ms", true, false);
    test.goes_on();
}

/// The same by a signal from outside, while the first file is being written or the second one is.
#[test]
fn killed_in_the_middle_of_a_compaction_and_started_again() {
    let test = Compacting::new(false);
    let checkpoints = test.setup.path("checkpoints");
    let mut child = Kill(test.run("100", "20ms").stderr(Stdio::null()).spawn().unwrap());
    let begins = || {
        let folders = std::fs::read_dir(&checkpoints).into_iter().flatten().flatten();
        let mut files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
        files.any(|file| file.file_name().to_string_lossy().starts_with("joined-"))
    };
    while !begins() {
        assert_eq!(child.0.try_wait().unwrap(), None, "nothing was put together");
        std::thread::sleep(Duration::from_micros(200));
    }
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    test.goes_on();
}
