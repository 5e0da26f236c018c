//! Jobs in this process: watched, checkpointed, stopped, drained, killed, resumed from a named checkpoint.

use std::path::{Path, PathBuf};
use std::time::Duration;

use millstream::{Job, JobEnd, JobHandle, JobState, Restart, RunOptions};

use super::job::{Setup, expected, job, output, running, wait_for};

fn options(setup: &Setup, rate: u64) -> RunOptions {
    setup.options(rate).checkpoints(setup.path("checkpoints"))
}

/// Checkpoints until some output is committed: the last of them.
fn checkpoint_with_output(handle: &JobHandle, out: &Path) -> PathBuf {
    let mut folder = None;
    wait_for("committed output", || {
        let info = handle.checkpoint().unwrap();
        folder = info.folder;
        // A checkpoint that was asked for has its output committed when the answer comes.
        !output(out).is_empty()
    });
    folder.unwrap()
}

fn subset(found: &[String], all: &[String]) -> bool {
    found.windows(2).all(|pair| pair[0] != pair[1]) && found.iter().all(|line| all.binary_search(line).is_ok())
}

/// Killed after a checkpoint, then resumed from it at another parallelism, though newer ones exist.
#[test]
fn killed_and_resumed_from_a_named_checkpoint() {
    let setup = Setup::new(40_000, 4);
    let all = expected(0..setup.bids);
    let handle = running(options(&setup, 5_000).parallelism(2));
    let named = checkpoint_with_output(&handle, &setup.out());
    assert!(named.join("manifest.json").is_file());
    // The named one would be removed when the next is complete.
    let kept = setup.folder.path().join("kept").join(named.file_name().unwrap());
    copy(&named, &kept);
    handle.checkpoint().unwrap();
    assert_eq!(handle.kill().unwrap(), JobEnd::Killed);
    let committed = output(&setup.out());
    assert!(committed.len() < all.len() && subset(&committed, &all), "killed in the middle");

    let handle = JobHandle::start(job(), options(&setup, 1_000_000_000).parallelism(3).resume_from(&kept)).unwrap();
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    setup.check();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_checkpoint_that_is_not_there_is_refused() {
    let setup = Setup::new(10, 1);
    let handle = JobHandle::start(job(), options(&setup, 1000).resume_from(setup.path("nowhere"))).unwrap();
    let error = handle.wait().unwrap_err();
    assert!(error.message().starts_with("cannot resume from `"), "{error}");
    assert!(error.message().contains("nowhere"), "{error}");
}

/// Stopped with a checkpoint, no open window is emitted; drained, every row that was read is in the result.
#[test]
fn stopping_keeps_windows_open_and_draining_emits_them() {
    let setup = Setup::new(60_000, 1);
    let all = expected(0..setup.bids);
    let handle = JobHandle::start(job(), options(&setup, 8_000).parallelism(1)).unwrap();
    checkpoint_with_output(&handle, &setup.out());
    let Ok(JobEnd::Stopped(Some(directory))) = handle.stop_with_checkpoint() else { panic!("it did not stop") };
    assert_eq!(directory, setup.path("checkpoints"));
    let stopped = output(&setup.out());
    assert!(!stopped.is_empty() && stopped.len() < all.len() && subset(&stopped, &all));

    let handle = JobHandle::start(job(), options(&setup, 8_000).parallelism(2)).unwrap();
    handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(handle.drain().unwrap(), JobEnd::Finished);
    let drained = output(&setup.out());
    // One file, read in order: the rows that were read are the first so many, and each of them is in the output.
    let bids: u64 = drained.iter().map(|line| count_of(line)).sum();
    let read = (0..setup.bids).filter(|number| number * 13 % 400 >= 100).nth(usize::try_from(bids).unwrap());
    assert_eq!(drained, expected(0..read.expect("drained in the middle")));
    assert!(subset(&stopped, &drained));
}

fn count_of(line: &str) -> u64 {
    line.split("\"bids\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
}

/// A handle that is dropped takes its job along.
#[test]
fn dropping_the_handle_kills_the_job() {
    let setup = Setup::new(60_000, 2);
    let handle = JobHandle::start(job(), options(&setup, 10_000)).unwrap();
    assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running));
    drop(handle);
    // The checkpoint directory is free again, and nothing is committed.
    assert_eq!(output(&setup.out()), [""; 0]);
    let handle = JobHandle::start(job(), options(&setup, 1_000_000_000)).unwrap();
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    setup.check();
}

/// A panic in an operator is a restart. Cured, the job goes on by itself, and the count of restarts tells.
#[test]
fn restarts_are_seen() {
    let setup = Setup::new(2000, 1);
    let poison = setup.path("poison");
    std::fs::write(&poison, "").unwrap();
    std::fs::write(setup.path("bids-9.jsonl"), "{\"auction\":\"poison\",\"price\":1,\"time\":\"1970-01-01T00:00:10Z\"}\n")
        .unwrap();
    let handle = JobHandle::start(job(), options(&setup, 1_000_000_000).param("poison", &poison)).unwrap();
    let error = handle.wait().unwrap_err();
    assert!(error.message().contains("poisoned"), "{error}");
    let patient = Job { restart: Restart::Fixed { attempts: 1_000_000, delay_micros: 1000 }, ..job() };
    let mut handle = JobHandle::start(patient, options(&setup, 1_000_000_000).param("poison", &poison)).unwrap();
    wait_for("a restart", || handle.restarts() > 0);
    std::fs::remove_file(&poison).unwrap();
    assert_eq!(handle.wait_for(Duration::from_secs(60)).unwrap().unwrap(), JobEnd::Finished);
    assert!(handle.restarts() > 0);
    setup.check();
    let mut handle = JobHandle::start(job(), options(&setup, 1_000_000_000).replace()).unwrap();
    assert_eq!(handle.wait_for(Duration::from_secs(60)).unwrap().unwrap(), JobEnd::Finished);
    assert_eq!((handle.restarts(), handle.state()), (0, JobState::Finished));
    setup.check();
}
