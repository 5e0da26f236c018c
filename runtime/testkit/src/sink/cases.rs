//! The cases of the suite for sinks. Each is told the module that its test is in.

use std::time::Duration;

use millstream::sink::{CommitRequest, Sink, SinkStart, SinkWriter};
use millstream::{JobEnd, JobHandle};

use super::SinkContext;
use super::bench::Bench;
use super::process::run_and_die;
use crate::claims::Delivery;
use crate::control::{Chance, PATIENCE, wait_until};
use crate::faults::Step;
use crate::job::stop;

/// Rows of a job.
const ROWS: u64 = 1000;

/// Between two batches of a job that takes long enough to be stopped in the middle.
const PACE: Duration = Duration::from_millis(1);

/// Between checkpoints, where there are failures.
const OFTEN: Option<Duration> = Some(Duration::from_millis(10));

fn bench<C: SinkContext>(rows: u64) -> Bench<C> {
    let bench = Bench::<C>::open();
    bench.gate().up_to(rows);
    bench
}

pub fn basic<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(ROWS / 2);
    let handle = bench.start(1, None);
    bench.wait_emitted(&handle, ROWS / 2);
    checkpoint(&handle);
    // The second half is in no checkpoint but the last.
    bench.gate().then_end();
    bench.gate().up_to(ROWS);
    bench.finish(handle, ROWS);
}

pub fn without_checkpoints<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(ROWS);
    bench.gate().then_end();
    bench.finish(bench.start_without_checkpoints(2), ROWS);
}

pub fn parallelism_1_to_4<C: SinkContext>(_module: &str) {
    for parallelism in 1..=4 {
        let bench = bench::<C>(ROWS);
        bench.gate().then_end();
        bench.finish(bench.start(parallelism, None), ROWS);
    }
}

pub fn metrics<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(ROWS);
    bench.gate().then_end();
    let mut handle = bench.start(3, None);
    assert_eq!(handle.wait_for(PATIENCE), Some(Ok(JobEnd::Finished)));
    let metrics = handle.metrics();
    #[allow(clippy::cast_precision_loss)]
    let all = ROWS as f64;
    assert_eq!(metrics.sum("millstream_sink_numRecordsSend", &[("sink", "tested")]), Some(all));
    if C::CLAIMS.two_phase {
        let committed = metrics.sum("millstream_sink_successfulCommittables", &[("sink", "tested")]);
        assert!(committed >= Some(1.0), "{committed:?}");
        assert_eq!(metrics.sum("millstream_sink_pendingCommittables", &[]), Some(0.0));
    }
}

pub fn invisible_before_commit<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(ROWS);
    let handle = bench.start(2, None);
    bench.wait_emitted(&handle, ROWS);
    // Long enough for the rows to reach the writers and be flushed, were they to be.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(bench.visible(), [""; 0], "rows are seen before their checkpoint");
    checkpoint(&handle);
    settled(&bench, ROWS);
    bench.gate().then_end();
    bench.finish(handle, ROWS);
}

/// The rows of complete checkpoints are there; where small files wait to be merged, none is there twice.
fn settled<C: SinkContext>(bench: &Bench<C>, rows: u64) {
    bench.check(rows, if C::CLAIMS.delayed { Delivery::AtMostOnce } else { Delivery::ExactlyOnce });
}

fn checkpoint(handle: &JobHandle) {
    if let Err(error) = handle.checkpoint() {
        panic!("no checkpoint: {error}");
    }
}

/// Stopped after equal parts of the rows, with so many writers each.
fn stopped<C: SinkContext>(parallelisms: &[u32]) {
    let parts = parallelisms.len() as u64;
    let bench = Bench::<C>::open();
    for (part, &parallelism) in (1..parts).zip(parallelisms) {
        bench.gate().up_to(ROWS * part / parts);
        let handle = bench.start(parallelism, None);
        bench.wait_emitted(&handle, ROWS * part / parts);
        stop(handle);
        // A stop is no failure: nothing comes twice, whatever the sink claims.
        settled(&bench, ROWS * part / parts);
    }
    bench.gate().up_to(ROWS);
    bench.gate().then_end();
    bench.finish(bench.start(parallelisms[parallelisms.len() - 1], None), ROWS);
    bench.check(ROWS, Delivery::ExactlyOnce);
}

pub fn start_from_checkpoint<C: SinkContext>(_module: &str) {
    stopped::<C>(&[2, 2]);
}

pub fn scale_up<C: SinkContext>(_module: &str) {
    stopped::<C>(&[2, 4]);
}

pub fn scale_down<C: SinkContext>(_module: &str) {
    stopped::<C>(&[4, 2]);
}

pub fn rescaled_up_and_down<C: SinkContext>(_module: &str) {
    stopped::<C>(&[1, 4, 2, 3]);
}

pub fn restored_before_the_first_row<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(ROWS);
    // The stop is asked for before the source has asked for its splits.
    stop(bench.start(2, None));
    bench.gate().then_end();
    bench.finish(bench.start(3, None), ROWS);
}

pub fn failures_in_the_middle<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(20 * ROWS);
    bench.gate().pace(PACE);
    let handle = bench.start(3, OFTEN);
    for (failure, after) in [300, 1, 900, 2500].into_iter().enumerate() {
        bench.faults().fail_after(after);
        wait_until("the failure", || bench.faults().happened() > failure as u64);
    }
    bench.gate().pace(Duration::ZERO);
    bench.gate().then_end();
    bench.finish(handle, 20 * ROWS);
}

pub fn killed_at_any_moment<C: SinkContext>(_module: &str) {
    let rows = 100 * ROWS;
    let bench = bench::<C>(rows);
    bench.gate().pace(PACE);
    let mut chance = Chance::new(11);
    for round in 0..8 {
        let handle = bench.start(1 + round % 4, OFTEN);
        std::thread::sleep(Duration::from_millis(chance.below(60)));
        assert_eq!(handle.kill(), Ok(JobEnd::Killed));
        if C::CLAIMS.delivery == Delivery::ExactlyOnce {
            bench.check(rows, Delivery::AtMostOnce);
        }
    }
    // Enough is written for the last start; it need not take long.
    let last = bench.gate().emitted() + ROWS;
    bench.gate().up_to(last);
    bench.gate().pace(Duration::ZERO);
    bench.gate().then_end();
    bench.finish(bench.start(2, OFTEN), last);
}

/// The commit of the first half fails at this step, and the job with it.
fn crash<C: SinkContext>(step: Step, after: u32) {
    let bench = bench::<C>(ROWS / 2);
    let handle = bench.start_once(2);
    bench.wait_emitted(&handle, ROWS / 2);
    bench.faults().fail_at(step);
    // Where small files wait to be merged, it takes a few checkpoints until there is something to commit.
    let tries = if C::CLAIMS.delayed { 200 } else { 1 };
    let failed = (0..tries).any(|_| {
        std::thread::sleep(Duration::from_millis(2));
        handle.checkpoint().is_err()
    });
    assert!(failed, "the checkpoint should not have been committed");
    bench.fails(handle);
    assert_eq!(bench.faults().happened(), 1);
    bench.check(ROWS / 2, Delivery::AtMostOnce);
    // Another start commits it before it reads on.
    let handle = bench.start(after, None);
    checkpoint(&handle);
    settled(&bench, ROWS / 2);
    bench.gate().up_to(ROWS);
    bench.gate().then_end();
    bench.finish(handle, ROWS);
}

pub fn crash_before_commit<C: SinkContext>(_module: &str) {
    crash::<C>(Step::Before, 2);
}

pub fn crash_in_the_middle_of_a_commit<C: SinkContext>(_module: &str) {
    crash::<C>(Step::Within, 2);
}

pub fn crash_after_a_commit<C: SinkContext>(_module: &str) {
    crash::<C>(Step::After, 2);
}

pub fn crash_at_each_step_and_rescale<C: SinkContext>(_module: &str) {
    for (step, after) in [(Step::Before, 4), (Step::Within, 1), (Step::After, 3)] {
        crash::<C>(step, after);
    }
}

/// Without the engine: the same committables, again and again.
pub fn committed_twice<C: SinkContext>(_module: &str) {
    let bench = Bench::<C>::open();
    let context = |subtask| millstream::sink::SinkContext {
        name: "rows".to_owned(),
        uid: "sink/rows/tested".to_owned(),
        subtask,
        parallelism: 2,
        run: "0123456789abcdef".to_owned(),
        first_checkpoint: 1,
        retained: 1,
        checkpoints: None,
        replace: false,
    };
    let sink = made(bench.context().sink());
    let mut committer = made(sink.committer(&context(0))).unwrap_or_else(|| panic!("it claims two phases and has no committer"));
    made(committer.start(&SinkStart::Fresh));
    let mut requests = Vec::new();
    for subtask in 0..2 {
        let mut writer = made(sink.writer(&context(subtask)));
        for number in (0..10).filter(|number| number % 2 == u64::from(subtask)) {
            made(writer.write(bench.context().row(number)));
        }
        made(writer.end_of_batch());
        let committables = made(writer.prepare_commit(1));
        requests.extend(committables.into_iter().map(|committable| CommitRequest::new(1, subtask, committable)));
    }
    made(committer.commit(&mut requests.clone()));
    bench.check(10, Delivery::ExactlyOnce);
    made(committer.commit(&mut requests.clone()));
    bench.check(10, Delivery::ExactlyOnce);
    drop(committer);
    let again = made(bench.context().sink());
    let mut committer = made(again.committer(&context(0))).unwrap_or_else(|| panic!("no committer"));
    let start = SinkStart::Resumed { checkpoint: 1 };
    made(committer.start(&start));
    made(committer.commit(&mut requests));
    made(committer.discard_unknown(&start, &[]));
    bench.check(10, Delivery::ExactlyOnce);
}

fn made<T>(result: millstream::JobResult<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

pub fn committed_by_another_process<C: SinkContext>(module: &str) {
    let bench = bench::<C>(ROWS);
    let status = run_and_die(&bench, module, ROWS / 2);
    assert!(!status.success(), "the other process should have died: {status}");
    assert_eq!(bench.visible(), [""; 0], "the other process died before its commit");
    bench.gate().then_end();
    bench.finish(bench.start(3, None), ROWS);
    // The rows that the other process had staged were committed, not written again.
    assert_eq!(bench.gate().emitted(), ROWS / 2, "its checkpoint was not taken up");
}

pub fn unknown_pendings_are_aborted<C: SinkContext>(_module: &str) {
    let bench = bench::<C>(ROWS / 2);
    let handle = bench.start(2, None);
    bench.wait_emitted(&handle, ROWS / 2);
    checkpoint(&handle);
    bench.gate().up_to(ROWS);
    bench.wait_emitted(&handle, ROWS);
    std::thread::sleep(Duration::from_millis(20));
    // The second half is written, and nothing will ever complete it.
    assert_eq!(handle.kill(), Ok(JobEnd::Killed));
    bench.gate().then_end();
    bench.finish(bench.start(4, None), ROWS);
}
