//! Processes that end while they restore, again and again, and those that are asked to stop then.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use millstream::codegen::*;
use millstream::operator::{KeyGroupPart, OperatorSnapshot, RestoredOperator};
use millstream::{BuildChain, Job};

use super::job::{Bid, Setup, counting, output, wait_for};
use super::kill::{Kill, command};
use super::stop::signal;

/// Names a file: while it is there the state of the job is not restored, and there is another one that says that it tries.
pub const HOLD: &str = "MILLSTREAM_TEST_HOLD";

/// The job with an operator that takes its time.
pub fn held_by(mut job: Job, file: String) -> Job {
    job.chains[1].uids = &["counts/hold/0", "counts/aggregate/0", "sink/counts/file"];
    job.chains[1].build = BuildChain::new(build);
    // There is one job in this process.
    let _ = FILE.set(file);
    job
}

static FILE: std::sync::OnceLock<String> = std::sync::OnceLock::new();

fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let counts = counting(cx)?;
    let file = FILE.get().cloned().unwrap_or_default();
    let hold = cx.operator("counts/hold/0", "counts: hold", Hold(file), counts)?;
    cx.input::<Bid, _>(hold)
}

/// Passes rows on.
struct Hold(String);

impl Operator<Bid> for Hold {
    type Out = Bid;

    fn process(&mut self, row: Bid, out: &mut impl Collector<Bid>) -> Result<(), Failure> {
        Ok(out.emit(row)?)
    }

    fn snapshot(&mut self, state: &mut OperatorSnapshot) -> Result<(), JobError> {
        state.keyed("hold", String::new(), vec![KeyGroupPart::new(0, |_| Ok(())), KeyGroupPart::new(127, |_| Ok(()))]);
        Ok(())
    }

    fn restore(&mut self, _: &RestoredOperator) -> Result<(), JobError> {
        let _ = std::fs::write(format!("{}.restoring", self.0), "");
        while Path::new(&self.0).exists() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

struct Test {
    setup: Setup,
    hold: String,
}

impl Test {
    /// A job that was killed behind some checkpoints.
    fn new() -> Self {
        let setup = Setup::new(20_000, 2);
        let hold = setup.path("hold");
        let test = Test { setup, hold };
        let mut child = test.start("4000");
        let checkpoints = test.setup.path("checkpoints");
        wait_for("a checkpoint", || {
            let folders = std::fs::read_dir(&checkpoints).into_iter().flatten().flatten();
            folders.into_iter().any(|folder| folder.path().join("manifest.json").exists())
        });
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        std::fs::write(&test.hold, "").unwrap();
        test
    }

    fn start(&self, rate: &str) -> Kill {
        let checkpoints = self.setup.path("checkpoints");
        let args = ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "30ms", "--rate", rate, "--parallelism", "2"];
        Kill(command(&self.setup.args(&args)).env(HOLD, &self.hold).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Started, and in the middle of its restore.
    fn restoring(&self) -> Kill {
        let _ = std::fs::remove_file(format!("{}.restoring", self.hold));
        let child = self.start("1000000000");
        wait_for("the restore", || Path::new(&format!("{}.restoring", self.hold)).exists());
        child
    }
}

fn said(child: &mut Child) -> Vec<String> {
    BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok).collect()
}

/// Each time the checkpoint is as it was, and nothing of the output is touched twice.
#[test]
fn killed_while_it_restores_and_again_it_goes_on_from_the_same_checkpoint() {
    let test = Test::new();
    let mut from = Vec::new();
    let mut before = None;
    for _ in 0..3 {
        let mut child = test.restoring();
        child.0.kill().unwrap();
        from.extend(said(&mut child.0).into_iter().filter(|line| line.contains("resuming from checkpoint")));
        child.0.wait().unwrap();
        let now = output(&test.setup.out());
        assert!(before.replace(now.clone()).is_none_or(|before| before == now), "a restore has changed the output");
    }
    std::fs::remove_file(&test.hold).unwrap();
    let mut child = test.start("1000000000");
    let all = said(&mut child.0);
    assert!(child.0.wait().unwrap().success(), "{all:?}");
    from.extend(all.into_iter().filter(|line| line.contains("resuming from checkpoint")));
    assert!(from.len() == 4 && from.iter().all(|line| *line == from[0]), "{from:?}");
    test.setup.check();
}

/// C72: a signal in the middle of a restore is heard: the job stops as soon as its state is there, and a second one ends it at once.
#[test]
fn a_signal_while_it_restores_is_heeded() {
    let test = Test::new();
    let mut child = test.restoring();
    signal(&child.0, "-TERM");
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("stopping with a last checkpoint; once more to stop at once")).expect("it has not heard");
    signal(&child.0, "-TERM");
    assert_eq!(child.0.wait().unwrap().code(), Some(143));
    let mut child = test.restoring();
    signal(&child.0, "-TERM");
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("stopping with a last checkpoint")).expect("it has not heard");
    std::fs::remove_file(&test.hold).unwrap();
    let rest: Vec<_> = lines.collect();
    assert!(child.0.wait().unwrap().success(), "{rest:?}");
    assert!(!test.setup.succeeded(), "it was stopped, and has run to its end");
    let mut child = test.start("1000000000");
    let all = said(&mut child.0);
    assert!(child.0.wait().unwrap().success(), "{all:?}");
    test.setup.check();
}
