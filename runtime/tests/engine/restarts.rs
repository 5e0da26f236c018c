//! What a job says when it fails and starts again: which task, what, where; that it is the same record; and no raw noise.

use std::time::Duration;

use millstream::{Job, JobEnd, JobHandle, JobState, Restart};

use super::job::{Setup, job};
use super::kill::command;

#[test]
fn a_panic_is_told_with_its_task_and_place_and_as_the_same_record() {
    let setup = Setup::new(2000, 1);
    let poison = setup.path("poison");
    std::fs::write(&poison, "").unwrap();
    std::fs::write(setup.path("bids-9.jsonl"), "{\"auction\":\"poison\",\"price\":1,\"time\":\"1970-01-01T00:00:10Z\"}\n")
        .unwrap();
    let checkpoints = setup.path("checkpoints");
    let args = ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "1h", "--poison", &poison, "--parallelism", "1"];
    let output = command(&setup.args(&args)).env_remove("RUST_BACKTRACE").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("counts: attempt 1 failed: bids (subtask 0) panicked: poisoned ("), "{said}");
    assert!(said.contains("tests/engine/job.rs:"), "{said}");
    assert!(said.contains("counts: attempt 2 begins in 0.0 s (failure 1)"), "{said}");
    assert!(said.contains("counts: attempt 2 begins anew: there is no checkpoint yet"), "{said}");
    assert!(!said.contains("thread '"), "raw noise: {said}");
    // From the second time on.
    let hint = "the same record";
    let second = said.find("attempt 2 failed").unwrap();
    assert!(!said[..second].contains(hint) && said[second..].contains(hint), "{said}");
    assert!(said.contains("counts: attempt 4 failed, and there is no other: `restart: fixed(3, 1ms)`, failure 4"), "{said}");
    assert!(said.trim_end().ends_with("routes the record to a stream of its own"), "{said}");
}

/// A stop does not wait for the delay of a restart: the job comes back at once, for what it is to stop with.
#[test]
fn a_stop_brings_a_job_back_that_waits_to_restart() {
    let late = || Job { restart: Restart::Fixed { attempts: 1, delay_micros: 3_600_000_000 }, ..job() };
    for with_savepoint in [false, true] {
        let setup = Setup::new(10_000, 2);
        let poison = setup.path("poison");
        std::fs::write(&poison, "").unwrap();
        // Small bids do not count.
        let bad = "{\"auction\":\"poison\",\"price\":1,\"time\":\"1970-01-01T00:00:00Z\"}\n";
        std::fs::write(setup.path("bids-9.jsonl"), bad).unwrap();
        let options = || setup.options(2000).checkpoints(setup.path("checkpoints")).parallelism(2);
        let handle = JobHandle::start(late(), options().param("poison", &poison)).unwrap();
        assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Restarting));
        std::fs::remove_file(&poison).unwrap();
        let from = if with_savepoint {
            let info = handle.stop_with_savepoint(setup.path("saved")).unwrap();
            assert!(matches!(handle.wait().unwrap(), JobEnd::Stopped(Some(_))));
            info.savepoint.unwrap()
        } else {
            let JobEnd::Stopped(Some(directory)) = handle.stop_with_checkpoint().unwrap() else { panic!("it has not stopped") };
            directory.into()
        };
        assert!(!setup.succeeded() && from.is_dir());
        let options = setup.options(1_000_000_000).checkpoints(setup.path("checkpoints"));
        let options = if with_savepoint { options.resume_from(from) } else { options };
        assert_eq!(JobHandle::start(job(), options).unwrap().wait().unwrap(), JobEnd::Finished);
        setup.check();
    }
}
