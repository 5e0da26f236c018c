//! `mode: at_least_once`: barriers block nothing. Killed and gone on with, every row counts, and some may count again.

use std::collections::BTreeMap;
use std::time::Duration;

use millstream::{CheckpointConfig, CheckpointMode, Job, JobEnd, JobHandle, RunOptions};

use super::job::{Setup, expected, job, kill_after, output, wait_for};

/// Bids by auction and minute.
fn counts(lines: &[String]) -> BTreeMap<String, i64> {
    let counts = lines.iter().map(|line| {
        let (window, rest) = line.split_once(",\"bids\":").unwrap();
        (window.to_owned(), rest.split_once(',').unwrap().0.parse().unwrap())
    });
    counts.collect()
}

#[test]
fn killed_and_gone_on_with_every_row_counts() {
    let setup = Setup::new(16_000, 3);
    let at_least_once = || Job {
        checkpoint: Some(CheckpointConfig {
            mode: CheckpointMode::AtLeastOnce,
            ..CheckpointConfig::new(10_000, |_| Ok("unused".to_owned()))
        }),
        ..job()
    };
    let options = || {
        RunOptions::new()
            .param("input", setup.path("bids-*.jsonl"))
            .param("output", setup.path("out"))
            .param("rate", "40000")
            .param("slow", "40")
            .checkpoints(setup.path("checkpoints"))
            .parallelism(2)
    };
    let start = || JobHandle::start(at_least_once(), options()).unwrap();
    let (mut resumed, mut finished) = (0, false);
    for time in [50, 150, 100, 50] {
        let handle = start();
        let completed = || handle.metrics().sum("millstream_job_numberOfCompletedCheckpoints", &[]).unwrap_or(0.0);
        wait_for("a checkpoint", || completed() > 0.0 || handle.state().is_over());
        finished = !kill_after(handle, Duration::from_millis(time));
        if finished {
            break;
        }
        resumed += 1;
    }
    assert!(resumed > 0, "it was never killed behind a checkpoint");
    assert!(finished || start().wait_for(Duration::from_secs(60)) == Some(Ok(JobEnd::Finished)));
    let (found, expected) = (output(&setup.out()), expected(0..setup.bids));
    let (counted, all) = (counts(&found), counts(&expected));
    assert_eq!(found.len(), expected.len(), "a window is missing, or there twice");
    assert!(counted.keys().eq(all.keys()));
    for (window, bids) in &all {
        assert!(counted[window] >= *bids, "{window}: {} of {bids}", counted[window]);
    }
}
