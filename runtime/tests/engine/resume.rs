//! Failures inside of the process: restart from the last checkpoint.

use std::path::Path;

use super::job::Setup;

/// A command line that contradicts itself removes nothing: `--fresh` would forget the checkpoint that `--from` names.
#[test]
fn fresh_and_from_exclude_each_other() {
    let setup = Setup::new(10, 1);
    let (checkpoints, named) = (setup.path("checkpoints"), setup.path("checkpoints/checkpoint-000001"));
    std::fs::create_dir_all(&named).unwrap();
    assert_eq!(setup.run(&["--checkpoint-dir", &checkpoints, "--from", &named, "--fresh"]), 2);
    assert!(Path::new(&named).exists());
}

/// A panic in an operator, cured when the job has given up: the next start goes on.
#[test]
fn a_panic_restarts_the_job_and_nothing_is_lost_or_repeated() {
    let setup = Setup::new(30_000, 4);
    let poison = setup.path("poison");
    std::fs::write(&poison, "").unwrap();
    std::fs::write(setup.path("bids-9.jsonl"), "{\"auction\":\"poison\",\"price\":1,\"time\":\"1970-01-01T00:10:00Z\"}\n")
        .unwrap();
    let checkpoints = setup.path("checkpoints");
    let args = ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "5ms", "--poison", &poison, "--rate", "60000"];
    assert_eq!(setup.run(&args), 1, "it gives up after three restarts");
    std::fs::remove_file(&poison).unwrap();
    assert_eq!(setup.run(&args), 0, "the next start goes on from the last checkpoint");
    setup.check();
    let mut left: Vec<_> = std::fs::read_dir(&checkpoints).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".lease-000001", ".lease-000002", ".lock"], "the checkpoints of a job that is done are gone");
}
