//! A process over two streams by one key: both see one state, as in a plain map, and the law holds.

use std::collections::{BTreeMap, BTreeSet};

use millstream_runtime::codegen::State;
use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::joins::{by_id, sides};
use crate::law::{check, events};

/// Rows of either stream.
pub enum Both {
    First(Row),
    Second(Row),
}

/// Ids: those of the second stream below zero.
#[derive(Clone, Debug, Default, State)]
pub struct Ids(Vec<i64>);

/// Says of each row what its key has seen; a row of the second stream sets a timer, which says it again and forgets it.
pub struct Pairs;

impl Process for Pairs {
    type Input = Both;
    type Output = (i64, Vec<i64>);
    type Side = NoSide;
    type State = Ids;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: Both, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (key, id) = match row {
            Both::First(row) => (row.key, row.id),
            Both::Second(row) => {
                // Behind any watermark there is: a late timer would fire at the next one, wherever that is.
                cx.event_timer(Timestamp(1_000_000 + row.time));
                (row.key, -row.id)
            }
        };
        cx.state().0.push(id);
        let ids = cx.state().0.clone();
        cx.emit((key, ids));
        Ok(())
    }

    fn on_event_timer(&mut self, _: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let key = cx.key_text().parse().unwrap();
        let ids = std::mem::take(&mut cx.state().0);
        cx.emit((key, ids));
        Ok(())
    }
}

/// By the key of either.
struct OfBoth;

impl Processing for OfBoth {
    type Process = Pairs;
    type In = Either<Row, Row>;
    type Out = (i64, Vec<i64>);
    type Key = i64;
    fn key(&self, row: &Self::In) -> Result<i64, EvalError> {
        Ok(row.key())
    }
    fn input(&self, row: Self::In) -> Result<Both, EvalError> {
        Ok(match row {
            Either::Left(row) => Both::First(row),
            Either::Right(row) => Both::Second(row),
        })
    }
    fn output(&self, row: Self::Out) -> Result<Self::Out, EvalError> {
        Ok(row)
    }
}

fn make() -> KeyedProcess<OfBoth> {
    KeyedProcess::new(Pairs, OfBoth)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn as_a_plain_map(events in events(90)) {
        let mut seen: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let mut timers = BTreeSet::new();
        let mut expected = Vec::new();
        for event in &events {
            let Event::Row(row) = event else { continue };
            let first = by_id(0, row);
            let ids = seen.entry(row.key).or_default();
            ids.push(if first { row.id } else { -row.id });
            expected.push((row.key, ids.clone()));
            if !first {
                timers.insert((row.time, row.key));
            }
        }
        expected.extend(timers.iter().map(|(_, key)| (*key, std::mem::take(seen.entry(*key).or_default()))));
        let mut job = Job::new(1, make);
        job.feed(&sides(&events, by_id));
        job.finish();
        prop_assert_eq!(sorted(job.take()), sorted(expected));
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn the_law(events in events(26)) {
        check(make, &sides(&events, by_id));
    }
}
