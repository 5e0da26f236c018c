//! Dedup against obvious references.

use std::collections::BTreeMap;

use millstream_runtime::graph::Keep;
use millstream_runtime::operators::*;
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::events;
use crate::tables::play;

fn key(row: &Row) -> Result<i64, EvalError> {
    Ok(row.key)
}

fn time(row: &Row) -> Result<Timestamp, EvalError> {
    Ok(Timestamp(row.time))
}

fn by_key(events: &[Event<Row>]) -> BTreeMap<i64, Vec<Row>> {
    let mut by_key: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
    for event in events {
        if let Event::Row(row) = event {
            by_key.entry(row.key).or_default().push(*row);
        }
    }
    by_key
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn one_row_per_key(events in events(60)) {
        let groups = by_key(&events);
        // Ids grow with arrival: min_by gives the first of equals, max_by the last.
        let first: Vec<_> = groups.values().map(|rows| *rows.iter().min_by_key(|row| row.time).unwrap()).collect();
        let last: Vec<_> = groups.values().map(|rows| *rows.iter().max_by_key(|row| row.time).unwrap()).collect();
        for (keep, expected) in [(Keep::First, first), (Keep::Last, last)] {
            prop_assert_eq!(sorted(run(|| DedupFinal::new(keep, key, time), &events)), sorted(expected.clone()));
            prop_assert_eq!(sorted(play(run(|| DedupTable::new(keep, key, time), &events))), sorted(expected));
        }
        let first_to_come: Vec<_> = groups.values().map(|rows| rows[0]).collect();
        let last_to_come: Vec<_> = groups.values().map(|rows| rows[rows.len() - 1]).collect();
        prop_assert_eq!(sorted(run(|| KeepFirst::new(key, by_arrival::<Row>), &events)), sorted(first_to_come.clone()));
        prop_assert_eq!(sorted(run(|| DedupFinal::first(key, by_arrival), &events)), sorted(first_to_come));
        prop_assert_eq!(sorted(run(|| DedupFinal::last(key, by_arrival), &events)), sorted(last_to_come));
    }

    /// What is left of the table is what the other one emits, however keys are forgotten.
    #[test]
    fn the_end_of_the_table(events in events(60), within in 1..40i64) {
        for keep in [Keep::First, Keep::Last] {
            let table = play(run(|| DedupTable::new(keep, key, time).within(within), &events));
            prop_assert_eq!(sorted(run(|| DedupFinal::new(keep, key, time).within(within), &events)), sorted(table));
        }
    }

    #[test]
    fn the_earliest_whatever_the_order(events in events(60), within in prop_oneof![Just(None), (1..30i64).prop_map(Some)]) {
        // Only rows that are not late.
        let mut watermark = i64::MIN;
        let events: Vec<_> = events.into_iter().filter(|event| match event {
            Event::Watermark(time) => { watermark = *time; true }
            Event::Row(row) => row.time > watermark,
            _ => true,
        }).collect();
        let mut expected = Vec::new();
        for rows in by_key(&events).values_mut() {
            rows.sort_by_key(|row| row.time);
            let mut first: Option<i64> = None;
            for row in rows {
                if first.is_none_or(|first| within.is_some_and(|within| row.time >= first + within)) {
                    first = Some(row.time);
                    expected.push(*row);
                }
            }
        }
        let make = || match within {
            None => KeepFirstByTime::new(key, time),
            Some(within) => KeepFirstByTime::new(key, time).within(within),
        };
        prop_assert_eq!(sorted(run(make, &events)), sorted(expected));
    }
}

#[test]
fn within_forgets_keys() {
    let events = [(0, 1), (9, 2), (10, 3), (12, 4), (25, 5)].map(|(time, id)| Event::Row(row(0, time, id)));
    let ids = |rows: Vec<Row>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(run(|| KeepFirst::new(key, time).within(10), &events)), [1, 3, 5]);
    assert_eq!(ids(run(|| KeepFirst::new(key, time), &events)), [1]);
    // The watermark forgets, too: a row that comes behind it is a first one.
    let mut job = Job::new(1, || KeepFirst::new(key, time).within(10));
    job.feed(&[Event::Row(row(0, 0, 1)), Event::Watermark(10), Event::Row(row(0, 5, 2))]);
    assert_eq!(ids(job.take()), [1, 2]);
}

#[test]
fn the_earliest_comes_out_when_the_watermark_reaches_it() {
    let mut job = Job::new(1, || KeepFirstByTime::new(key, time));
    job.feed(&[Event::Row(row(0, 8, 1)), Event::Row(row(0, 5, 2)), Event::Watermark(4)]);
    assert!(job.take().is_empty());
    job.feed(&[Event::Watermark(5), Event::Watermark(20)]);
    assert_eq!(job.take(), [row(0, 5, 2)]);
    // Late rows do not wait.
    job.feed(&[Event::Row(row(1, 3, 3)), Event::Row(row(1, 2, 4))]);
    assert_eq!(job.take(), [row(1, 3, 3)]);
}

/// A row behind the watermark may repeat one that is forgotten: it goes aside, unless its key is still known.
#[test]
fn what_may_repeat_the_forgotten_goes_aside() {
    let aside = Seen::<Row>::default();
    let mut job = Job::new(1, || KeepFirst::new(key, time).within(10).with_late(aside.clone()));
    job.feed(&[Event::Row(row(1, 5, 100)), Event::Watermark(14), Event::Row(row(1, 6, 101))]);
    assert_eq!((job.take(), aside.take()), (vec![row(1, 5, 100)], vec![]), "a repetition");
    job.feed(&[Event::Watermark(15), Event::Row(row(1, 6, 102)), Event::Row(row(1, 15, 103)), Event::Row(row(2, 15, 104))]);
    assert_eq!((job.take(), aside.take()), (vec![row(1, 15, 103), row(2, 15, 104)], vec![row(1, 6, 102)]));
    // The moment goes through a checkpoint.
    let snapshot = encode(job.snapshot());
    let mut next = Job::new(2, || KeepFirst::new(key, time).within(10).with_late(aside.clone()));
    next.restore(&snapshot);
    next.feed(&[Event::Row(row(2, 14, 105)), Event::Row(row(3, 14, 106)), Event::Row(row(4, 15, 107))]);
    assert_eq!((next.take(), aside.take()), (vec![row(4, 15, 107)], vec![row(3, 14, 106)]));
}
