//! A part of a job fails while a checkpoint is on its way to the store, or is there although storage has said that it is not.

use std::time::Duration;

use millstream_sim::{Kind, Plan, simulate_all};

/// Simulates with two seeds. How often parts began again by themselves.
fn alone(plans: impl Iterator<Item = Plan>) -> u32 {
    let plans: Vec<_> = plans.flat_map(|plan| (1..=2).map(move |seed| (seed, Kind::Apart, plan))).collect();
    let alone = simulate_all(&plans, |report| report.alone);
    alone.into_iter().map(|alone| alone.unwrap_or_else(|failure| panic!("{failure}"))).sum()
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
