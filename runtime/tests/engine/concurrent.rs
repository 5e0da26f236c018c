//! Several checkpoints on their way at once: barriers of the next follow those of one that still waits for slow tasks, or is written.

use std::time::Duration;

use millstream::{CheckpointConfig, Job, JobEnd, JobHandle, Restart, RunOptions};

use super::job::{Setup, job, kill_after, wait_for};

const COMPLETED: &str = "millstream_job_numberOfCompletedCheckpoints";
const IN_PROGRESS: &str = "millstream_job_numberOfInProgressCheckpoints";

/// The counting job with checkpoints every 20 ms, of which so many may be on their way.
fn counts(concurrent: u32) -> Job {
    let config = CheckpointConfig::new(20_000, |_| Ok("unused".to_owned()));
    Job { checkpoint: Some(CheckpointConfig { concurrent, ..config }), restart: Restart::None, ..job() }
}

/// Rows wait between the tasks, and barriers behind them.
fn options(setup: &Setup) -> RunOptions {
    RunOptions::new()
        .param("input", setup.path("bids-*.jsonl"))
        .param("output", setup.path("out"))
        .param("slow", "100")
        .checkpoints(setup.path("checkpoints"))
        .parallelism(2)
}

fn now(handle: &JobHandle, name: &str) -> usize {
    handle.metrics().sum(name, &[]).unwrap_or(0.0) as usize
}

/// Runs to the end. Gives how many were on their way at most.
fn finish(mut handle: JobHandle) -> usize {
    let mut most = 0;
    wait_for("the end", || {
        most = most.max(now(&handle, IN_PROGRESS));
        handle.state().is_over()
    });
    let end = handle.wait_for(Duration::from_secs(10)).expect("it does not end");
    assert_eq!(end.unwrap(), JobEnd::Finished);
    most
}

#[test]
fn as_many_are_on_their_way_as_may_be() {
    for concurrent in [1, 3] {
        let setup = Setup::new(16_000, 2);
        let most = finish(JobHandle::start(counts(concurrent), options(&setup)).unwrap());
        assert_eq!(most, concurrent as usize, "barriers wait for longer than the time from one checkpoint to the next");
        setup.check();
    }
}

/// Killed while several are on their way, and gone on with.
#[test]
fn killed_with_several_on_their_way() {
    let setup = Setup::new(24_000, 2);
    let (mut killed, mut finished) = (0, false);
    for completed in [1, 2, 1] {
        let handle = JobHandle::start(counts(3), options(&setup)).unwrap();
        wait_for("checkpoints beside others", || {
            (now(&handle, COMPLETED) >= completed && now(&handle, IN_PROGRESS) > 1) || handle.state().is_over()
        });
        finished = !kill_after(handle, Duration::from_millis(10));
        if finished {
            break;
        }
        killed += 1;
    }
    assert!(killed > 0, "it was never killed with several checkpoints on their way");
    if !finished {
        finish(JobHandle::start(counts(3), options(&setup)).unwrap());
    }
    setup.check();
}
