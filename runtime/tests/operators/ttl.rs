//! State that is forgotten after a time of the clock.

use std::collections::BTreeMap;

use millstream_runtime::graph::Frame;
use millstream_runtime::operators::*;
use millstream_runtime::record::{Change, ChangeKind};
use millstream_runtime::value::EvalError;
use proptest::prelude::*;

use crate::harness::*;
use crate::law::{changes, check, events};

const TTL: i64 = 15;

fn key(row: &Row) -> Result<i64, EvalError> {
    Ok(row.key)
}

fn score(row: &Row) -> Result<i64, EvalError> {
    Ok(row.time)
}

fn plain(row: &Row, _rank: i64) -> Row {
    *row
}

/// Calls `row` with every row and what its key still has, which it changes; keys are forgotten as the clock says.
fn play<S: Default>(events: &[Event<Row>], mut row: impl FnMut(&Row, &mut S)) {
    let (mut state, mut now): (BTreeMap<i64, (S, i64)>, i64) = (BTreeMap::new(), 0);
    for event in events {
        match event {
            Event::Clock(time) => {
                now = *time;
                state.retain(|_, (_, touched)| *touched + TTL > now);
            }
            Event::Row(of_key) => {
                let (kept, touched) = state.entry(of_key.key).or_default();
                *touched = now;
                row(of_key, kept);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn groups_begin_anew(events in events(60)) {
        let mut expected = Vec::new();
        play(&events, |row, ids: &mut Vec<i64>| {
            let group = |ids: &Vec<i64>| (row.key, i64::MIN, i64::MAX, ids.clone());
            let before = group(ids);
            ids.push(row.id);
            let after = group(ids);
            if before.3.is_empty() {
                expected.push(Change::insert(after));
            } else {
                expected.push(Change { kind: ChangeKind::UpdateBefore, row: before });
                expected.push(Change { kind: ChangeKind::UpdateAfter, row: after });
            }
        });
        prop_assert_eq!(run(|| TableAggregate::new(Collect).ttl(TTL), &events), expected);
    }

    #[test]
    fn first_rows_come_again(events in events(60)) {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        play(&events, |row, seen: &mut Option<Row>| {
            if seen.is_none() {
                first.push(*row);
            }
            match seen.replace(*row) {
                None => last.push(Change::insert(*row)),
                Some(before) => {
                    last.push(Change { kind: ChangeKind::UpdateBefore, row: before });
                    last.push(Change { kind: ChangeKind::UpdateAfter, row: *row });
                }
            }
        });
        prop_assert_eq!(run(|| KeepFirst::new(key, by_arrival::<Row>).ttl(TTL), &events), first.clone());
        prop_assert_eq!(run(|| CombineRows::new(Rule::Distinct, key, |_: &Row| false, |row| row).ttl(TTL), &events), first);
        prop_assert_eq!(run(|| DedupTable::last(key, by_arrival).ttl(TTL), &events), last);
    }
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn the_law(events in events(24), changes in changes(20)) {
        check(|| TableAggregate::new(Collect).ttl(TTL), &events);
        check(|| TopTable::new(Limit::new(2), key, score, plain).ttl(TTL), &events);
        check(|| KeepFirst::new(key, by_arrival::<Row>).ttl(TTL), &events);
        check(|| DedupTable::last(key, by_arrival).ttl(TTL), &events);
        check(|| CombineTable::new(Rule::ExceptAll, key, |row: &Row| row.id % 3 == 0, plain_row).ttl(TTL), &events);
        let mut events = changes;
        let half = events.len() / 2;
        events.insert(half, Event::Clock(100));
        events.insert(0, Event::Clock(0));
        check(|| TopTable::over_changes(Limit::new(2), key, score, plain).ttl(TTL), &events);
        check(|| TableAggregate::over_changes(Collect).ttl(TTL), &events);
    }
}

fn plain_row(row: Row) -> Row {
    Row { id: 0, ..row }
}

/// An operator with nothing to do says when it wants to hear from the clock, so that idle state goes.
#[test]
fn idle_state_goes() {
    let mut job = Job::new(1, || TableAggregate::new(Collect).ttl(TTL));
    job.feed(&[Event::Clock(5), Event::Row(row(1, 0, 7))]);
    assert_eq!(job.next_processing_time(), Some(5 + TTL));
    job.feed(&[Event::Clock(5 + TTL)]);
    assert_eq!(job.next_processing_time(), None);
    assert!(encode(job.snapshot()).is_empty());
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn the_law_of_frames(events in events(18)) {
        for frame in [Frame::Running, Frame::All, Frame::Rows(3), Frame::Ahead(2)] {
            check(|| Over::new(frame, crate::over::Ids).ttl(TTL), &events);
        }
    }
}

/// What is counted goes with the key; rows that wait for the watermark do not.
#[test]
fn frames_begin_anew_and_lose_no_row() {
    let mut job = Job::new(1, || Over::new(Frame::Running, crate::over::Ids).ttl(TTL));
    job.feed(&[Event::Clock(0), Event::Row(row(1, 5, 100)), Event::Watermark(5)]);
    assert_eq!(job.take(), [(100, vec![100])]);
    job.feed(&[Event::Row(row(1, 7, 101)), Event::Clock(TTL), Event::Clock(3 * TTL), Event::Watermark(7)]);
    assert_eq!(job.take(), [(101, vec![100, 101])], "a row that waits keeps its key");
    job.feed(&[Event::Clock(5 * TTL), Event::Row(row(1, 9, 102)), Event::Watermark(9)]);
    assert_eq!(job.take(), [(102, vec![102])], "it has been forgotten");
}

/// A row that waits for the one behind it waits no longer than that.
#[test]
fn a_row_looks_ahead_for_so_long() {
    let mut job = Job::new(1, || Over::new(Frame::Ahead(1), crate::over::Ids).ttl(TTL));
    job.feed(&[Event::Clock(0), Event::Row(row(1, 5, 100)), Event::Watermark(5), Event::Clock(TTL - 1)]);
    assert_eq!(job.take(), []);
    job.feed(&[Event::Clock(TTL)]);
    assert_eq!(job.take(), [(100, vec![])]);
    job.feed(&[Event::Row(row(1, 6, 101)), Event::Row(row(1, 7, 102)), Event::Watermark(7)]);
    assert_eq!(job.take(), [(101, vec![102])], "the next one begins anew");
}

/// A clock that is ahead for a moment keeps nothing for as long as that: neither where it goes back under the operator, nor between two
/// processes.
#[test]
fn what_was_touched_while_the_clock_was_ahead_goes_in_time() {
    let new = || Job::new(1, || KeepFirst::new(key, by_arrival::<Row>).ttl(TTL));
    let ahead = || {
        let mut job = new();
        job.feed(&[Event::Clock(100), Event::Row(row(1, 0, 1)), Event::Clock(1_000_000)]);
        job.feed(&[Event::Row(row(2, 0, 2)), Event::Row(row(3, 0, 3))]);
        assert_eq!(job.take().len(), 3);
        job
    };
    let mut restored = new();
    restored.restore(&encode(ahead().snapshot()));
    for mut job in [ahead(), restored] {
        job.feed(&[Event::Clock(200)]);
        assert_eq!(job.next_processing_time(), Some(200 + TTL));
        job.feed(&[Event::Clock(205), Event::Row(row(3, 0, 4)), Event::Clock(200 + TTL), Event::Row(row(2, 0, 5))]);
        assert_eq!(job.take(), [row(2, 0, 5)], "key 3 was touched since");
        job.feed(&[Event::Clock(205 + TTL), Event::Row(row(3, 0, 6))]);
        assert_eq!(job.take(), [row(3, 0, 6)]);
    }
}
