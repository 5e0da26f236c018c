//! Lookups against a table that answers late, in any order and sometimes not at first: what comes out is what a loop over the rows and the
//! table gives, in order, or at least between the same watermarks.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use millstream_runtime::JobError;
use millstream_runtime::error::JobResult;
use millstream_runtime::graph::JoinKind;
use millstream_runtime::lookup::{Answer, KeyedTable, WholeTable};
use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::time::{Watermark, WindowBounds};
use millstream_runtime::value::{EvalError, Str};
use proptest::prelude::*;

use crate::harness::*;

/// Ids of both rows.
type Pair = (i64, Option<i64>);

/// By key; key 0 is null, and ids whose sum is divisible by 5 do not go together.
#[derive(Clone, Copy)]
struct Ids(JoinKind);

impl Joining for Ids {
    type Left = Row;
    type Right = Row;
    type Key = i64;
    type Out = Pair;

    fn left_key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn right_key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn can_match(&self, key: &i64) -> bool {
        *key != 0
    }
    fn key_texts(&self, row: &Row) -> Result<Vec<Str>, EvalError> {
        Ok(vec![row.key.to_string().into()])
    }
    fn matches(&self, left: &Row, right: &Row) -> Result<bool, EvalError> {
        Ok((left.id + right.id) % 5 != 0)
    }
    fn both(&self, left: &Row, right: &Row, _window: WindowBounds) -> Option<Pair> {
        self.0.pairs().then_some((left.id, Some(right.id)))
    }
    fn left_only(&self, left: &Row, _window: WindowBounds) -> Option<Pair> {
        (self.0.keeps(millstream_runtime::graph::Side::Left) || self.0 == JoinKind::Semi).then_some((left.id, None))
    }
}

/// The rows of the table for a key, some of which have none.
fn rows_of(key: i64) -> Vec<Row> {
    (0..key % 4).map(|number| row(key, 0, 10 * key + number)).collect()
}

#[derive(Debug, Default)]
struct Seen {
    asked: AtomicU32,
    now: AtomicU32,
    most: AtomicU32,
}

/// Answers after a while that differs from key to key, and refuses every third question at first.
#[derive(Clone)]
struct Slow {
    seen: Arc<Seen>,
    refused: Arc<Mutex<HashMap<String, u32>>>,
    in_flight: usize,
    retries: u32,
}

impl Slow {
    fn new(in_flight: usize) -> Self {
        Slow { seen: Arc::default(), refused: Arc::default(), in_flight, retries: 3 }
    }
}

impl KeyedTable for Slow {
    type Row = Row;

    fn ask(&self, key: &[Str]) -> Answer<Row> {
        let now = self.seen.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.seen.most.fetch_max(now, Ordering::SeqCst);
        let number = self.seen.asked.fetch_add(1, Ordering::SeqCst);
        let key: i64 = key[0].as_str().parse().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(number.wrapping_mul(7919) % 13) * 100));
        self.seen.now.fetch_sub(1, Ordering::SeqCst);
        let mut refused = self.refused.lock().unwrap();
        let times = refused.entry(key.to_string()).or_default();
        if key % 3 == 0 && *times == 0 {
            *times += 1;
            return Answer::Retry { reason: "busy".to_owned(), after: Some(Duration::from_micros(300)) };
        }
        Answer::Rows(rows_of(key))
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn retries(&self) -> u32 {
        self.retries
    }
}

/// What came out, in order.
#[derive(Clone, Debug, PartialEq)]
enum Came {
    Row(Pair),
    Watermark(i64),
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Came>>>);

impl Operator<Pair> for Log {
    type Out = Pair;

    fn process(&mut self, row: Pair, _out: &mut impl Collector<Pair>) -> Result<(), Failure> {
        self.0.lock().unwrap().push(Came::Row(row));
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<Pair>) -> Result<Option<Watermark>, Failure> {
        self.0.lock().unwrap().push(Came::Watermark(watermark.0));
        Ok(Some(watermark))
    }
}

type Tested<O> = Chained<O, Chained<Log, Discard>>;

fn chain<O: Operator<Row, Out = Pair>>(operator: O) -> (Tested<O>, Log) {
    let log = Log::default();
    let context = OperatorContext::single("lookup");
    (Chained::new(context.clone(), operator, Chained::new::<Pair>(context, log.clone(), Discard)), log)
}

/// Drives a stage as a task does: room first, and what happens in the background while rows wait.
pub async fn feed<S: Stage<Row>>(stage: &mut S, events: &[Event<Row>]) -> Result<(), JobError> {
    for event in events {
        poll_fn(|cx| stage.poll_ready(cx)).await?;
        match event {
            Event::Row(row) => stage.push(*row)?,
            Event::Watermark(time) => stage.watermark(Watermark(*time))?,
            Event::Clock(now) => stage.processing_time(*now)?,
            Event::EndOfBatch => {
                stage.end_of_batch()?;
                let mut turns = 0;
                poll_fn(|cx| {
                    turns += 1;
                    match stage.poll_background(cx) {
                        Poll::Pending if turns < 3 => {
                            cx.waker().wake_by_ref();
                            Poll::Pending
                        }
                        Poll::Pending => Poll::Ready(Ok(())),
                        done => done,
                    }
                })
                .await?;
            }
        }
    }
    poll_fn(|cx| stage.poll_flush(cx)).await
}

/// What a loop gives.
fn expected(kind: JoinKind, events: &[Event<Row>]) -> Vec<Came> {
    let mut out = Vec::new();
    for event in events {
        match event {
            Event::Row(left) => {
                let rows = if left.key == 0 { Vec::new() } else { rows_of(left.key) };
                let found: Vec<Row> = rows.into_iter().filter(|right| (left.id + right.id) % 5 != 0).collect();
                match kind {
                    JoinKind::Semi if !found.is_empty() => out.push(Came::Row((left.id, None))),
                    JoinKind::Anti | JoinKind::Left if found.is_empty() => out.push(Came::Row((left.id, None))),
                    JoinKind::Semi | JoinKind::Anti => {}
                    _ => out.extend(found.iter().map(|right| Came::Row((left.id, Some(right.id))))),
                }
            }
            Event::Watermark(time) => out.push(Came::Watermark(*time)),
            _ => {}
        }
    }
    out
}

fn input() -> impl Strategy<Value = Vec<Event<Row>>> {
    let row = (0..30i64, 0..100_000i64).prop_map(|(key, id)| Event::Row(row(key, 0, id)));
    let event = prop_oneof![8 => row, 1 => Just(Event::EndOfBatch), 1 => (0..100i64).prop_map(Event::Watermark)];
    proptest::collection::vec(event, 0..150).prop_map(|mut events| {
        // Watermarks only grow.
        let mut time = 0;
        for event in &mut events {
            if let Event::Watermark(at) = event {
                time += *at;
                *at = time;
            }
        }
        events
    })
}

fn kinds() -> impl Strategy<Value = JoinKind> {
    prop_oneof![Just(JoinKind::Inner), Just(JoinKind::Left), Just(JoinKind::Semi), Just(JoinKind::Anti)]
}

pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn in_order_rows_and_watermarks_come_as_from_a_loop(events in input(), kind in kinds(), in_flight in 1..9usize, cached: bool) {
        let table = Slow::new(in_flight);
        let cache = cached.then_some((1_000_000, 10));
        let (mut stage, log) = chain(LookupByKey::new(kind, "table", Ids(kind), table.clone(), true, cache));
        run(feed(&mut stage, &events)).unwrap();
        prop_assert_eq!(&*log.0.lock().unwrap(), &expected(kind, &events));
        prop_assert!(table.seen.most.load(Ordering::SeqCst) <= in_flight as u32);
    }

    #[test]
    fn without_order_no_row_comes_behind_its_watermark(events in input(), kind in kinds(), in_flight in 1..9usize) {
        let (mut stage, log) = chain(LookupByKey::new(kind, "table", Ids(kind), Slow::new(in_flight), false, None));
        run(feed(&mut stage, &events)).unwrap();
        let (came, expected) = (log.0.lock().unwrap().clone(), expected(kind, &events));
        let watermarks = |list: &[Came]| list.iter().filter(|came| matches!(came, Came::Watermark(_))).cloned().collect::<Vec<_>>();
        prop_assert_eq!(watermarks(&came), watermarks(&expected));
        prop_assert_eq!(sorted(came.clone()), sorted(expected.clone()), "the same rows");
        for (at, watermark) in came.iter().enumerate().filter(|(_, came)| matches!(came, Came::Watermark(_))) {
            let place = expected.iter().position(|came| came == watermark).unwrap();
            for row in expected[..place].iter().filter(|came| matches!(came, Came::Row(_))) {
                let count = |list: &[Came]| list.iter().filter(|came| *came == row).count();
                prop_assert!(count(&came[..at]) >= count(&expected[..place]), "{:?} comes behind {:?}", row, watermark);
            }
        }
    }
}

#[test]
fn a_key_in_the_cache_is_not_asked_for_until_it_is_too_old() {
    let table = Slow::new(4);
    let asked = || table.seen.asked.load(Ordering::SeqCst);
    let (mut stage, _) =
        chain(LookupByKey::new(JoinKind::Left, "table", Ids(JoinKind::Left), table.clone(), true, Some((100, 1000))));
    let rows: Vec<Event<Row>> = (0..50).map(|id| Event::Row(row(1, 0, id))).collect();
    let at = |now: i64| [vec![Event::Clock(now)], rows.clone()].concat();
    run(async {
        feed(&mut stage, &at(1000)).await.unwrap();
        assert_eq!(asked(), 1, "rows of one key share a question");
        feed(&mut stage, &at(1099)).await.unwrap();
        assert_eq!(asked(), 1);
        feed(&mut stage, &at(1100)).await.unwrap();
        assert_eq!(asked(), 2);
    });
}

#[test]
fn a_table_that_never_answers_fails_the_job_after_its_retries() {
    let mut table = Slow::new(4);
    table.retries = 0;
    let (mut stage, _) = chain(LookupByKey::new(JoinKind::Left, "table", Ids(JoinKind::Left), table, true, None));
    let error = run(feed(&mut stage, &[Event::Row(row(3, 0, 1))])).unwrap_err();
    assert_eq!(error.message(), "lookup table: busy\n  after 1 attempt");
    assert_eq!(error.kind(), millstream_runtime::error::ErrorKind::Transient);
}

/// A table that is another each time, and may be broken.
#[derive(Clone, Default)]
struct Changing {
    tries: Arc<AtomicU32>,
    loads: Arc<AtomicU32>,
    broken: Arc<AtomicBool>,
}

impl WholeTable for Changing {
    type Row = Row;
    type Version = u32;

    fn load(&self, known: Option<&u32>) -> JobResult<Option<(u32, Vec<Row>)>> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        if self.broken.load(Ordering::SeqCst) {
            return Err(JobError::new("broken"));
        }
        let number = self.loads.fetch_add(1, Ordering::SeqCst);
        assert_eq!(known.copied(), number.checked_sub(1));
        Ok(Some((number, vec![row(1, 0, i64::from(number)), row(2, 0, 7)])))
    }
}

#[test]
fn a_table_in_memory_is_there_before_the_first_row_and_is_loaded_again_in_time() {
    let table = Changing::default();
    let (mut stage, log) = chain(LookupInMemory::new(JoinKind::Left, "table", Ids(JoinKind::Left), table.clone(), Some(100)));
    let took = || std::mem::take(&mut *log.0.lock().unwrap());
    run(async {
        feed(&mut stage, &[Event::Clock(1000), Event::Row(row(1, 0, 1)), Event::Row(row(0, 0, 2)), Event::Row(row(9, 0, 3))])
            .await
            .unwrap();
        assert_eq!(took(), [Came::Row((1, Some(0))), Came::Row((2, None)), Came::Row((3, None))]);
        assert_eq!(stage.next_processing_time(), Some(1100));
        feed(&mut stage, &[Event::Clock(1100)]).await.unwrap();
        while table.loads.load(Ordering::SeqCst) < 2 || stage.next_processing_time().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
            feed(&mut stage, &[Event::EndOfBatch]).await.unwrap();
        }
        feed(&mut stage, &[Event::Row(row(1, 0, 1))]).await.unwrap();
        assert_eq!(took(), [Came::Row((1, Some(1)))]);
        // One that cannot be loaded for a moment keeps its rows.
        table.broken.store(true, Ordering::SeqCst);
        feed(&mut stage, &[Event::Clock(1300), Event::EndOfBatch]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        feed(&mut stage, &[Event::EndOfBatch, Event::Row(row(1, 0, 1))]).await.unwrap();
        assert_eq!(took(), [Came::Row((1, Some(1)))]);
    });
}

#[test]
fn a_first_load_that_takes_long_is_not_begun_again() {
    let table = Changing::default();
    let (mut stage, _) = chain(LookupInMemory::new(JoinKind::Left, "table", Ids(JoinKind::Left), table.clone(), Some(100)));
    run(async {
        Stage::<Row>::processing_time(&mut stage, 1000).unwrap();
        assert_eq!(stage.next_processing_time(), None);
        Stage::<Row>::processing_time(&mut stage, 2000).unwrap();
        feed(&mut stage, &[Event::Row(row(1, 0, 1))]).await.unwrap();
        assert_eq!(stage.next_processing_time(), Some(2100));
        Stage::<Row>::processing_time(&mut stage, 500).unwrap();
        assert_eq!(stage.next_processing_time(), Some(600), "the clock was set back");
    });
    assert_eq!(table.tries.load(Ordering::SeqCst), 1);
}

#[test]
fn a_table_that_cannot_be_loaded_again_is_tried_five_times_before_the_job_fails() {
    let table = Changing::default();
    let (mut stage, _) = chain(LookupInMemory::new(JoinKind::Left, "rates", Ids(JoinKind::Left), table.clone(), Some(100)));
    // On a clock that goes on when everything waits for it, the pauses take no time.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let error = runtime.block_on(async {
        feed(&mut stage, &[Event::Clock(1000), Event::Row(row(1, 0, 1))]).await.unwrap();
        table.broken.store(true, Ordering::SeqCst);
        feed(&mut stage, &[Event::Clock(1100)]).await.unwrap();
        poll_fn(|cx| match Stage::<Row>::poll_background(&mut stage, cx) {
            Poll::Ready(Err(error)) => Poll::Ready(error),
            Poll::Ready(Ok(())) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        })
        .await
    });
    assert_eq!(error.message(), "lookup rates: broken");
    assert_eq!(table.tries.load(Ordering::SeqCst), 7, "the first load, the one that was due, and five more tries");
}

#[test]
fn a_table_that_cannot_be_loaded_at_first_fails_the_job() {
    let table = Changing::default();
    table.broken.store(true, Ordering::SeqCst);
    let (mut stage, _) = chain(LookupInMemory::new(JoinKind::Left, "rates", Ids(JoinKind::Left), table, None));
    let error = run(feed(&mut stage, &[Event::Row(row(1, 0, 1))])).unwrap_err();
    assert_eq!(error.message(), "lookup rates: broken");
}
