//! Calls of functions that answer late, in any order, or never: what comes out is what a loop gives, in order, or at least between the same
//! watermarks, and no row is lost or called with twice.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::time::Watermark;
use millstream_runtime::value::EvalError;
use millstream_runtime::{ErrorPolicy, JobError};
use proptest::prelude::*;

use crate::harness::*;
use crate::lookups::{feed, run};

/// What came out, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Row(i64, i64),
    Watermark(i64),
    Error(String),
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Came>>>);

impl Operator<(i64, i64)> for Log {
    type Out = ();

    fn process(&mut self, (id, answer): (i64, i64), _: &mut impl Collector<()>) -> Result<(), Failure> {
        self.0.lock().unwrap().push(Came::Row(id, answer));
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _: &mut impl Collector<()>) -> Result<Option<Watermark>, Failure> {
        self.0.lock().unwrap().push(Came::Watermark(watermark.0));
        Ok(Some(watermark))
    }
}

impl Operator<ErrorRow> for Log {
    type Out = ();

    fn process(&mut self, row: ErrorRow, _: &mut impl Collector<()>) -> Result<(), Failure> {
        let text = format!("{} {}", row.raw.unwrap_or_default(), row.error);
        self.0.lock().unwrap().push(Came::Error(text));
        Ok(())
    }
}

/// Calls that are on their way, and the most there have been.
#[derive(Clone, Default)]
struct Seen(Arc<(AtomicI64, AtomicI64)>);

/// Ten times the key, after a while; for keys that 7 divides an error, and never for those that 11 divides.
async fn ask(row: Row, seen: Seen) -> (Row, Result<i64, EvalError>) {
    let now = seen.0.0.fetch_add(1, Ordering::SeqCst) + 1;
    seen.0.1.fetch_max(now, Ordering::SeqCst);
    let answer = async {
        for _ in 0..row.id % 5 {
            tokio::task::yield_now().await;
        }
        match row.key {
            key if key % 7 == 0 => Err(EvalError::new("seven")),
            key if key % 11 == 0 => std::future::pending().await,
            key => {
                tokio::time::sleep(Duration::from_micros(row.id.unsigned_abs() % 7 * 50)).await;
                Ok(key * 10)
            }
        }
    };
    // Long enough for the answers that come, on a machine that is busy.
    let patience = if row.key % 11 == 0 { 1000 } else { 60_000_000 };
    let answer = in_time(patience, answer).await;
    seen.0.0.fetch_sub(1, Ordering::SeqCst);
    (row, answer)
}

/// Feeds the operator; gives what came and the most calls that were on their way.
fn answered(events: &[Event<Row>], ordered: bool, in_flight: u64) -> (Vec<Came>, i64) {
    let (log, seen) = (Log::default(), Seen::default());
    let of = seen.clone();
    let operator = CallAsync::new("ask", ordered, in_flight, move |row| ask(row, of.clone()), |row: Row, value| (row.id, value));
    let context = OperatorContext { on_error: ErrorPolicy::Into, ..OperatorContext::single("ask") };
    let rest = Chained::new::<(i64, i64)>(context.clone(), log.clone(), Discard);
    let errors: ErrorStage = Box::new(Chained::new::<ErrorRow>(context.clone(), log.clone(), Discard));
    let mut stage = Chained::with_errors::<Row>(context, operator, rest, ErrorsInto(errors));
    run(feed(&mut stage, events)).unwrap();
    let came = log.0.lock().unwrap().clone();
    (came, seen.0.1.load(Ordering::SeqCst))
}

/// What a loop gives.
fn expected(events: &[Event<Row>]) -> Vec<Came> {
    let mut out = Vec::new();
    for event in events {
        match event {
            Event::Row(Row { key, id, .. }) => out.push(match key {
                key if key % 7 == 0 => Came::Error(format!("row {id} seven")),
                key if key % 11 == 0 => Came::Error(format!("row {id} there was no answer within 1ms")),
                key => Came::Row(*id, key * 10),
            }),
            Event::Watermark(time) => out.push(Came::Watermark(*time)),
            _ => {}
        }
    }
    out
}

fn input() -> impl Strategy<Value = Vec<Event<Row>>> {
    let row = (1..30i64, 0..100_000i64).prop_map(|(key, id)| Event::Row(row(key, 0, id)));
    let event = prop_oneof![8 => row, 1 => Just(Event::EndOfBatch), 1 => (1..100i64).prop_map(Event::Watermark)];
    proptest::collection::vec(event, 0..120).prop_map(|mut events| {
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

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn in_order_rows_errors_and_watermarks_come_as_from_a_loop(events in input(), in_flight in 1..9u64) {
        let (came, most) = answered(&events, true, in_flight);
        prop_assert_eq!(came, expected(&events));
        prop_assert!(most <= in_flight as i64, "{} calls at once", most);
    }

    #[test]
    fn without_order_no_row_comes_behind_its_watermark(events in input(), in_flight in 1..9u64) {
        let (came, most) = answered(&events, false, in_flight);
        let expected = expected(&events);
        prop_assert!(most <= in_flight as i64, "{} calls at once", most);
        prop_assert_eq!(sorted(came.clone()), sorted(expected.clone()), "the same rows");
        for (at, watermark) in came.iter().enumerate().filter(|(_, came)| matches!(came, Came::Watermark(_))) {
            let place = expected.iter().position(|came| came == watermark).unwrap();
            for row in expected[..place].iter().filter(|came| !matches!(came, Came::Watermark(_))) {
                let count = |list: &[Came]| list.iter().filter(|came| *came == row).count();
                prop_assert!(count(&came[..at]) >= count(&expected[..place]), "{:?} comes behind {:?}", row, watermark);
            }
        }
    }
}

/// Also one in work that blocks, on a thread of its own.
#[test]
fn a_panic_fails_the_task_with_the_name_of_the_function() {
    let only_the_first = |row: Row| {
        assert_eq!(row.id, 1, "only the first");
        Ok(0_i64)
    };
    fails(move |row| async move { (row, only_the_first(row)) });
    fails(move |row| async move { (row, millstream_runtime::waiting::blocking(move || only_the_first(row)).await) });
}

fn fails<Fut>(ask: impl Fn(Row) -> Fut + Clone + Send + 'static)
where
    Fut: Future<Output = (Row, Result<i64, EvalError>)> + Send + 'static,
{
    let operator = CallAsync::new("ask", true, 4, ask, |row: Row, value| (row.id, value));
    let context = OperatorContext::single("ask");
    let mut stage = Chained::new::<Row>(context.clone(), operator, Chained::new::<(i64, i64)>(context, Log::default(), Discard));
    let events = [Event::Row(row(1, 0, 1)), Event::Row(row(1, 0, 2))];
    let error: JobError = run(feed(&mut stage, &events)).unwrap_err();
    assert!(
        error.message().contains("the async function ask panicked: ") && error.message().contains("only the first"),
        "{error}"
    );
    assert_eq!(error.kind(), millstream_runtime::error::ErrorKind::Transient);
}
