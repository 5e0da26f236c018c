//! The cases of the suite for sources.

use std::time::Duration;

use millstream::source::Source;
use millstream::{JobEnd, JobHandle};

use super::SourceContext;
use super::bench::{Bench, Run, wait_running};
use super::hands::{Hands, Step};
use crate::claims::Splits;
use crate::control::{Chance, PATIENCE};
use crate::job::stop;

/// Rows in a split that is read to its end.
const FEW: u32 = 250;

/// Rows in a split of a job that is stopped in the middle: readers emit up to about a thousand at once, which come before
/// the barrier of the stop.
const MANY: u32 = 4000;

/// For every 64 rows: the job takes long enough.
const PACE: Duration = Duration::from_millis(1);

fn splits<C: SourceContext>(wanted: u32) -> u32 {
    if C::CLAIMS.splits == Splits::One { 1 } else { wanted }
}

fn read<C: SourceContext>(splits: u32, parallelism: u32) {
    let bench = Bench::<C>::with(splits, FEW);
    let run = Run::of::<C>(parallelism);
    bench.finish(bench.start(run), run);
}

pub fn single_split<C: SourceContext>() {
    read::<C>(1, 1);
}

pub fn multiple_splits<C: SourceContext>() {
    read::<C>(4, 4);
}

pub fn parallelism_1_to_4<C: SourceContext>() {
    for parallelism in 1..=4 {
        read::<C>(splits::<C>(4), parallelism);
    }
}

pub fn metrics<C: SourceContext>() {
    let bench = Bench::<C>::with(splits::<C>(4), FEW);
    let run = Run::of::<C>(4);
    let mut handle = bench.start(run);
    #[allow(clippy::cast_precision_loss)]
    let all = bench.rows() as f64;
    let read = |handle: &JobHandle| handle.metrics().sum("millstream_source_numRecordsIn", &[("source", "rows")]);
    if run.bounded {
        assert_eq!(handle.wait_for(PATIENCE), Some(Ok(JobEnd::Finished)));
    } else {
        bench.wait_all(&handle);
        crate::control::wait_until("the metrics", || read(&handle) >= Some(all));
    }
    assert_eq!(read(&handle), Some(all));
    assert_eq!(handle.metrics().sum("millstream_source_numRecordsInErrors", &[]), Some(0.0));
    let readers = handle.metrics().samples().iter().filter(|s| s.definition.name == "millstream_source_numRecordsIn").count();
    assert_eq!(readers, 4);
}

pub fn idle_reader<C: SourceContext>() {
    let splits = splits::<C>(4);
    read::<C>(splits, splits + 1);
}

/// Everything is read, the job is stopped, the splits grow, and the job goes on.
fn resume<C: SourceContext>(before: u32, after: u32) {
    let splits = splits::<C>(4);
    let mut bench = Bench::<C>::with(splits, FEW);
    let handle = bench.start(Run::unbounded(before));
    bench.wait_seen(&handle, bench.rows());
    stop(handle);
    bench.check();
    let first = bench.rows();
    bench.may_lose();
    bench.write(splits, FEW);
    let run = Run::unbounded(after);
    let handle = bench.start(run);
    bench.reads_on();
    bench.finish(handle, run);
    // What was read before the stop did not come again.
    assert!(bench.ledger().seen() <= bench.rows() - first, "{} rows came after the resume", bench.ledger().seen());
}

pub fn stop_and_resume<C: SourceContext>() {
    resume::<C>(4, 4);
}

pub fn scale_up<C: SourceContext>() {
    resume::<C>(2, 4);
}

pub fn scale_down<C: SourceContext>() {
    resume::<C>(4, 2);
}

/// Stops in the middle and goes on, with so many readers each time.
fn in_the_middle<C: SourceContext>(parallelisms: &[u32]) {
    let splits = splits::<C>(4);
    // Every stop may let another thousand rows through per reader.
    let stops = parallelisms.len() - 1;
    let bench = Bench::<C>::with(splits, u32::try_from(stops).unwrap_or(1) * MANY * 4 / splits);
    bench.ledger().pace(PACE);
    for &parallelism in &parallelisms[..stops] {
        let handle = bench.start(Run::of::<C>(parallelism));
        bench.wait_seen(&handle, 1000);
        stop(handle);
        bench.check_so_far();
        assert!((bench.ledger().rows().len() as u64) < bench.rows(), "all rows were read before the stop");
    }
    bench.ledger().pace(Duration::ZERO);
    let run = Run::of::<C>(parallelisms[stops]);
    bench.finish(bench.start(run), run);
}

pub fn stopped_in_the_middle<C: SourceContext>() {
    in_the_middle::<C>(&[2, 2]);
}

pub fn rescaled_up_and_down<C: SourceContext>() {
    in_the_middle::<C>(&[1, 4, 2, 3]);
}

pub fn restored_before_the_first_row<C: SourceContext>() {
    let bench = Bench::<C>::with(splits::<C>(4), FEW);
    // The stop is asked for before the first reader has asked for a split.
    stop(bench.start(Run::of::<C>(2)));
    bench.check_so_far();
    let run = Run::of::<C>(3);
    bench.finish(bench.start(run), run);
}

/// What the source does without a job around it.
fn by_hand<T>(result: millstream::JobResult<T>) -> T {
    result.unwrap_or_else(|error| panic!("the source failed: {error}"))
}

/// Moves the source until it has ended, or all rows are there and no more come.
fn read_by_hand<S: Source<Row: std::fmt::Debug>>(hands: &mut Hands<S>, rows: u64) {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        match by_hand(hands.step(Duration::from_millis(50))) {
            Step::End => return,
            Step::Quiet if hands.out().len() as u64 >= rows => return,
            Step::Quiet | Step::Moved => {}
        }
        assert!(std::time::Instant::now() < deadline, "{} of {rows} rows came", hands.out().len());
    }
}

pub fn paused_and_resumed<C: SourceContext>() {
    let bench = Bench::<C>::with(splits::<C>(3), 4 * MANY / splits::<C>(3));
    let source = bench.source(C::CLAIMS.ends());
    let mut hands = by_hand(Hands::start(&source, None));
    crate::control::wait_until("the first rows", || by_hand(hands.step(PATIENCE)) == Step::Moved);
    let split = hands.selected().to_owned();
    let pauses = hands.set_paused(&split, true);
    // The other splits are read to their ends.
    while pauses && by_hand(hands.step(Duration::from_millis(200))) == Step::Moved {}
    assert!((hands.out().len() as u64) < bench.rows(), "all rows came although the split {split} was paused");

    let checkpoint = hands.snapshot();
    let before = hands.out().to_vec();
    hands.set_paused(&split, false);
    read_by_hand(&mut hands, bench.rows());
    bench.check_rows(hands.out());

    // From a checkpoint: nobody knows any more that the split was paused.
    let mut again = by_hand(Hands::start(&source, Some(checkpoint)));
    read_by_hand(&mut again, bench.rows() - before.len() as u64);
    bench.check_rows(&[&before, again.out()].concat());
}

pub fn failure_between_batches<C: SourceContext>() {
    let mut bench = Bench::<C>::with(1, FEW);
    let run = Run::unbounded(1);
    let handle = bench.start(run);
    bench.wait_seen(&handle, bench.rows());
    if let Err(error) = handle.checkpoint() {
        panic!("no checkpoint: {error}");
    }
    bench.ledger().faults.fail_after(u64::from(FEW / 2));
    bench.may_lose();
    bench.write(1, FEW);
    crate::control::wait_until("the failure", || bench.ledger().faults.happened() == 1);
    wait_running(&handle);
    bench.reads_on();
    bench.wait_all(&handle);
    assert_eq!(handle.restarts(), 1);
    assert_eq!(handle.kill(), Ok(JobEnd::Killed));
    bench.check();
}

pub fn failures_in_the_middle<C: SourceContext>() {
    let bench = Bench::<C>::with(splits::<C>(4), MANY / splits::<C>(4));
    bench.ledger().pace(PACE);
    let run = Run::of::<C>(3).with_checkpoints();
    let handle = bench.start(run);
    for (failure, after) in [700, 30, 1200].into_iter().enumerate() {
        bench.ledger().faults.fail_after(after);
        crate::control::wait_until("the failure", || bench.ledger().faults.happened() > failure as u64);
    }
    bench.ledger().pace(Duration::ZERO);
    bench.finish(handle, run);
}

pub fn splits_back<C: SourceContext>() {
    let bench = Bench::<C>::with(splits::<C>(4), FEW);
    let run = Run::of::<C>(2);
    bench.ledger().faults.fail_after(u64::from(FEW / 2));
    let handle = bench.start(run);
    crate::control::wait_until("the failure", || bench.ledger().faults.happened() == 1);
    bench.finish(handle, run);
}

pub fn killed_at_any_moment<C: SourceContext>() {
    let bench = Bench::<C>::with(splits::<C>(4), 3 * MANY / splits::<C>(4));
    bench.ledger().pace(PACE);
    let mut chance = Chance::new(7);
    let mut kills = 0;
    for round in 0..8 {
        let handle = bench.start(Run::of::<C>(1 + round % 4).with_checkpoints());
        std::thread::sleep(Duration::from_millis(chance.below(60)));
        match handle.kill() {
            Ok(JobEnd::Killed) => kills += 1,
            Ok(JobEnd::Finished) if kills >= 3 => return bench.check(),
            other => panic!("it ended before it was killed: {other:?}"),
        }
        bench.check_so_far();
    }
    assert!(kills >= 3, "it was killed {kills} times only");
    bench.ledger().pace(Duration::ZERO);
    let run = Run::of::<C>(2).with_checkpoints();
    bench.finish(bench.start(run), run);
}
