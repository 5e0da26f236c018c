//! A part of a job fails while a checkpoint is on its way to the store, or is there although storage has said that it is not.

use std::time::Duration;

use millstream_runtime::sim::Fault;
use millstream_sim::{Kind, Plan, simulate_all};

/// Simulates with the first seeds. How often parts began again by themselves, and how often all of the job did.
fn restarts(plans: impl Iterator<Item = Plan>, seeds: u64) -> (u32, u32) {
    let plans: Vec<_> = plans.flat_map(|plan| (1..=seeds).map(move |seed| (seed, Kind::Apart, plan))).collect();
    let reports = simulate_all(&plans, |report| (report.alone, report.together));
    let restarts = reports.into_iter().map(|report| report.unwrap_or_else(|failure| panic!("{failure}")));
    restarts.fold((0, 0), |(alone, together), more| (alone + more.0, together + more.1))
}

/// The same with two seeds. How often parts began again by themselves.
fn alone(plans: impl Iterator<Item = Plan>) -> u32 {
    restarts(plans, 2).0
}

/// A part fails that may have taken part in a checkpoint already, and another one has not. What it has handed over counts no more, so the
/// next checkpoint is as good as any, and the failure stays its own.
#[test]
fn a_part_fails_while_a_checkpoint_is_taken() {
    let points = ["task.barrier", "task.snapshot", "task.acknowledge"];
    let plans =
        points.into_iter().flat_map(|point| (1..=9).map(move |visit| Plan::Meanwhile(point, visit, Duration::from_millis(900))));
    let (alone, together) = restarts(plans, 4);
    println!("{alone} parts have begun again by themselves, all of the job {together} times");
    assert!(alone >= 60, "only {alone} parts have begun again by themselves");
    assert_eq!(together, 0, "all of the job has begun again");
}

/// A commit fails, also one behind the last checkpoint, where there is nothing to come back for: then all of the job goes on from there.
#[test]
fn a_commit_of_a_part_fails() {
    let points = ["commit.begin", "commit.end"];
    let plans = points.into_iter().flat_map(|point| (1..=24).map(move |visit| Plan::At(point, visit, Fault::Error)));
    let (alone, together) = restarts(plans, 2);
    assert!(alone >= 20 && together >= 2, "{alone} parts have begun again by themselves, all of the job {together} times");
}

/// It begins again when the checkpoint is stored, and from that one: what it took before is in there.
#[test]
fn a_part_fails_while_a_checkpoint_is_stored() {
    let points = ["checkpoint.write", "checkpoint.manifest", "checkpoint.written", "checkpoint.retained", "commit.begin"];
    let plans =
        points.into_iter().flat_map(|point| [1, 3].map(|visit| Plan::Meanwhile(point, visit, Duration::from_millis(900))));
    let alone = alone(plans);
    assert!(alone >= 10, "only {alone} parts have begun again by themselves");
}

/// It begins again from an older checkpoint than the newest that can be seen, and its sink takes back what that one holds. So nobody goes on
/// from there, though the process is gone before there is another one.
#[test]
fn a_checkpoint_that_storage_has_not_spoken_of_counts_no_more_when_a_part_has_gone_back_behind_it() {
    let alone = alone((1..=4).map(Plan::Unsaid));
    assert!(alone >= 4, "only {alone} parts have begun again by themselves");
}

/// A checkpoint that its source cannot hear of is as good for the others.
#[test]
fn a_part_fails_as_its_source_hears_of_a_checkpoint() {
    let alone = alone((1..=5).map(Plan::Deaf));
    assert!(alone >= 8, "only {alone} parts have begun again by themselves");
}
