//! Barriers that overtake rows: under backpressure a checkpoint does not wait for what is queued, the rows on their way are in it, and
//! killed and gone on with, every row counts once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use millstream::{CheckpointConfig, ExchangeKind, Job, JobEnd, JobHandle, JobState, Restart, RunOptions};

use super::job::{Setup, expected, job, kill_after, output, wait_for};

/// Barriers overtake rows after so many microseconds; None: never.
fn counts(interval_micros: i64, unaligned_micros: Option<i64>) -> Job {
    let block = CheckpointConfig { unaligned_micros, ..CheckpointConfig::new(interval_micros, |_| Ok("unused".to_owned())) };
    Job { checkpoint: Some(block), restart: Restart::None, ..job() }
}

fn options(setup: &Setup, slow: u64, parallelism: u32) -> RunOptions {
    RunOptions::new()
        .param("input", setup.path("bids-*.jsonl"))
        .param("output", setup.path("out"))
        .param("slow", slow.to_string())
        .checkpoints(setup.path("checkpoints"))
        .parallelism(parallelism)
}

const HOUR: i64 = 3_600_000_000;

/// A checkpoint in the middle of a job whose counting is slow, so that batches queue before it; then the job is killed. How long it
/// took.
fn checkpoint_and_kill(setup: &Setup, unaligned_micros: Option<i64>, parallelism: u32) -> Duration {
    let handle = JobHandle::start(counts(HOUR, unaligned_micros), options(setup, 2000, parallelism)).unwrap();
    assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running));
    let mut read = 0.0;
    wait_for("full queues before the counting", || {
        let before = std::mem::replace(&mut read, handle.metrics().sum("millstream_source_numRecordsIn", &[]).unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(100));
        read > 0.0 && read == before
    });
    let took = handle.checkpoint().unwrap().took;
    assert_eq!(handle.kill(), Ok(JobEnd::Killed));
    took
}

/// Whether a stored checkpoint has rows that were on their way. Checkpoints come and go meanwhile.
fn holds_rows(setup: &Setup) -> bool {
    let paths = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let states = paths(Path::new(&setup.path("checkpoints"))).filter(|path| path.is_dir()).flat_map(|path| paths(&path));
    let in_flight = |path: PathBuf| std::fs::read(path).is_ok_and(|state| state.windows(11).any(|bytes| bytes == b"#in_flight/"));
    states.into_iter().any(in_flight)
}

fn finish(setup: &Setup, parallelism: u32) -> Result<JobEnd, String> {
    let mut handle = JobHandle::start(counts(HOUR, Some(0)), options(setup, 0, parallelism)).unwrap();
    handle.wait_for(Duration::from_secs(60)).expect("it does not end").map_err(|error| error.message().to_owned())
}

#[test]
fn a_checkpoint_does_not_wait_for_what_is_queued() {
    let setup = |name| (name, Setup::new(40_000, 2));
    let (aligned, overtaking, late) = (setup("aligned"), setup("overtaking"), setup("late"));
    let (aligned_took, overtaking_took, late_took) = std::thread::scope(|scope| {
        let runs = [(&aligned, None), (&overtaking, Some(0)), (&late, Some(200_000))]
            .map(|((_, setup), unaligned)| scope.spawn(move || checkpoint_and_kill(setup, unaligned, 2)));
        let [aligned, overtaking, late] = runs.map(|run| run.join().unwrap());
        (aligned, overtaking, late)
    });
    // How much sooner they are there depends on what else the machine does; that they did not wait is seen in them.
    eprintln!("aligned {aligned_took:?}, unaligned {overtaking_took:?}, after 200 ms {late_took:?}");
    assert!(!holds_rows(&aligned.1) && holds_rows(&overtaking.1) && holds_rows(&late.1));
    assert!(late_took > Duration::from_millis(200), "{late_took:?}");
    for (name, setup) in [aligned, overtaking, late] {
        assert!(output(&setup.out()).len() < expected(0..setup.bids).len(), "{name}");
        assert_eq!(finish(&setup, 2), Ok(JobEnd::Finished), "{name}");
        setup.check();
    }
}

/// They go to those who own their keys then.
#[test]
fn rows_on_their_way_go_on_at_another_parallelism() {
    for (before, behind) in [(2, 3), (3, 1)] {
        let setup = Setup::new(16_000, 2);
        checkpoint_and_kill(&setup, Some(0), before);
        assert!(holds_rows(&setup));
        assert_eq!(finish(&setup, behind), Ok(JobEnd::Finished));
        setup.check();
    }
}

/// Where they go straight from one copy to another it is known only of the old ones to which they belong.
#[test]
fn rows_that_go_straight_keep_the_parallelism_until_a_stop() {
    // One copy: the job as it stands goes by key.
    let straight = || {
        let mut job = counts(HOUR, Some(0));
        job.chains[1].inputs[0].exchange = ExchangeKind::Forward;
        job
    };
    let setup = Setup::new(16_000, 2);
    checkpoint_and_kill(&setup, Some(0), 1);
    assert!(holds_rows(&setup));
    let mut handle = JobHandle::start(straight(), options(&setup, 0, 2)).unwrap();
    let refused = handle.wait_for(Duration::from_secs(60)).expect("it does not end").unwrap_err();
    assert!(refused.message().contains("holds rows that were on their way to `counts`"), "{refused}");
    assert!(refused.message().contains("that had 1 copies, not 2"), "{refused}");
    // A stop overtakes nothing.
    let handle = JobHandle::start(straight(), options(&setup, 200, 1)).unwrap();
    assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running));
    assert!(matches!(handle.stop_with_checkpoint(), Ok(JobEnd::Stopped(_))));
    assert_eq!(finish(&setup, 3), Ok(JobEnd::Finished));
    setup.check();
}

/// Killed again and again, also while what was on its way is still on its way.
#[test]
fn killed_among_checkpoints_that_overtake_rows() {
    for unaligned in [0, 30_000] {
        let setup = Setup::new(12_000, 3);
        let (mut stored, mut finished) = (0, false);
        for time in [0, 150, 50, 200, 100] {
            let handle = JobHandle::start(counts(10_000, Some(unaligned)), options(&setup, 100, 2)).unwrap();
            wait_for("rows in a checkpoint", || holds_rows(&setup) || handle.state().is_over());
            finished = !kill_after(handle, Duration::from_millis(time));
            if finished {
                break;
            }
            stored += usize::from(holds_rows(&setup));
        }
        assert!(stored > 0, "no checkpoint has overtaken a row");
        assert!(finished || finish(&setup, 2) == Ok(JobEnd::Finished));
        setup.check();
    }
}
