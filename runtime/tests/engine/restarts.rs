//! What a job says when it fails and starts again: which task, what, where; that it is the same record; and no raw noise.

use super::job::Setup;
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
