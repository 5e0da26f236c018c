//! Joins against a nested loop over everything that came, and the law for every kind of them.

use millstream_runtime::graph::JoinKind;
use millstream_runtime::operator::Either;
use millstream_runtime::operators::*;
use millstream_runtime::record::Change;
use millstream_runtime::time::{Sliding, Tumbling, WindowBounds};
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::{changes, check, events};
use crate::tables::play;

/// Ids of both rows, and the start of the window.
pub type Pair = (Option<i64>, Option<i64>, i64);

/// By key, but rows of key 0 have none; ids whose sum is divisible by 5 do not go together.
pub struct Ids(pub JoinKind);

fn goes(left: &Row, right: &Row) -> bool {
    left.key == right.key && left.key != 0 && (left.id + right.id) % 5 != 0
}

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
    fn left_time(&self, row: &Row) -> Result<Timestamp, EvalError> {
        Ok(Timestamp(row.time))
    }
    fn right_time(&self, row: &Row) -> Result<Timestamp, EvalError> {
        Ok(Timestamp(row.time))
    }
    fn matches(&self, left: &Row, right: &Row) -> Result<bool, EvalError> {
        Ok((left.id + right.id) % 5 != 0)
    }
    fn both(&self, left: &Row, right: &Row, window: WindowBounds) -> Option<Pair> {
        self.0.pairs().then_some((Some(left.id), Some(right.id), window.start.0))
    }
    fn left_only(&self, left: &Row, window: WindowBounds) -> Option<Pair> {
        Some((Some(left.id), None, window.start.0))
    }
    fn right_only(&self, right: &Row, window: WindowBounds) -> Option<Pair> {
        Some((None, Some(right.id), window.start.0))
    }
}

impl Keyed for Either<Row, Row> {
    fn key(&self) -> i64 {
        match self {
            Either::Left(row) | Either::Right(row) => row.key,
        }
    }
}

impl Keyed for Either<Change<Row>, Change<Row>> {
    fn key(&self) -> i64 {
        match self {
            Either::Left(change) | Either::Right(change) => change.row.key,
        }
    }
}

impl Keyed for Either<Row, Change<Row>> {
    fn key(&self) -> i64 {
        match self {
            Either::Left(row) => row.key,
            Either::Right(change) => change.row.key,
        }
    }
}

const KINDS: [JoinKind; 6] = [JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full, JoinKind::Semi, JoinKind::Anti];

fn kind() -> impl Strategy<Value = JoinKind> {
    prop::sample::select(&KINDS[..])
}

/// The join of all rows, in all pairs that `near` allows.
fn nested_loop(kind: JoinKind, lefts: &[Row], rights: &[Row], window: i64, near: impl Fn(&Row, &Row) -> bool) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut met = vec![false; rights.len()];
    for left in lefts {
        let mut any = false;
        for (right, met) in rights.iter().zip(&mut met) {
            if goes(left, right) && near(left, right) {
                (any, *met) = (true, true);
                if kind.pairs() {
                    pairs.push((Some(left.id), Some(right.id), window));
                }
            }
        }
        let alone = match kind {
            JoinKind::Semi => any,
            _ => !any && matches!(kind, JoinKind::Left | JoinKind::Full | JoinKind::Anti),
        };
        if alone {
            pairs.push((Some(left.id), None, window));
        }
    }
    if matches!(kind, JoinKind::Right | JoinKind::Full) {
        let alone = rights.iter().zip(met).filter(|(_, met)| !met);
        pairs.extend(alone.map(|(right, _)| (None, Some(right.id), window)));
    }
    pairs
}

/// Deals rows to the two sides.
pub fn sides<T: Clone>(events: &[Event<T>], left: impl Fn(usize, &T) -> bool) -> Vec<Event<Either<T, T>>> {
    let deal = |(index, event): (usize, &Event<T>)| match event {
        Event::Row(row) if left(index, row) => Event::Row(Either::Left(row.clone())),
        Event::Row(row) => Event::Row(Either::Right(row.clone())),
        Event::Watermark(time) => Event::Watermark(*time),
        Event::Clock(now) => Event::Clock(*now),
        Event::EndOfBatch => Event::EndOfBatch,
    };
    events.iter().enumerate().map(deal).collect()
}

pub fn by_id(_: usize, row: &Row) -> bool {
    row.id % 2 == 0
}

fn change_by_id(_: usize, change: &Change<Row>) -> bool {
    change.row.id % 2 == 0
}

/// The rows of both sides that are not late.
fn in_time(events: &[Event<Row>]) -> (Vec<Row>, Vec<Row>) {
    let mut watermark = i64::MIN;
    let mut rows = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Watermark(time) => watermark = watermark.max(*time),
            Event::Row(row) if row.time > watermark => {
                if by_id(0, row) {
                    rows.0.push(*row)
                } else {
                    rows.1.push(*row)
                }
            }
            _ => {}
        }
    }
    rows
}

fn rows_of(events: &[Event<Row>]) -> (Vec<Row>, Vec<Row>) {
    let rows = events.iter().filter_map(|event| if let Event::Row(row) = event { Some(*row) } else { None });
    rows.partition(|row| by_id(0, row))
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn tables_at_every_moment(events in changes(30), kind in kind()) {
        let events = sides(&events, change_by_id);
        for length in 0..=events.len() {
            let seen = &events[..length];
            let split = |left: bool| {
                let of_side = seen.iter().filter_map(|event| match event {
                    Event::Row(Either::Left(change)) if left => Some(change.clone()),
                    Event::Row(Either::Right(change)) if !left => Some(change.clone()),
                    _ => None,
                });
                play(of_side.collect())
            };
            let (lefts, rights) = (split(true), split(false));
            let expected = nested_loop(kind, &lefts, &rights, i64::MIN, |_, _| true);
            let mut job = Job::new(1, || UnboundedJoin::<_, OverChanges, OverChanges, OverChanges>::new(kind, Ids(kind)));
            job.feed(seen);
            prop_assert_eq!(sorted(play(job.take())), sorted(expected), "{:?} after {}", kind, length);
        }
    }

    #[test]
    fn streams(events in events(60), kind in kind()) {
        let (lefts, rights) = rows_of(&events);
        let expected = sorted(nested_loop(kind, &lefts, &rights, i64::MIN, |_, _| true));
        let events = sides(&events, by_id);
        let table = run(|| UnboundedJoin::<_, OverRows, OverRows, OverChanges>::new(kind, Ids(kind)), &events);
        prop_assert_eq!(sorted(play(table)), expected.clone());
        if matches!(kind, JoinKind::Inner | JoinKind::Semi) {
            let stream = run(|| UnboundedJoin::<_, OverRows, OverRows, OverRows>::new(kind, Ids(kind)), &events);
            prop_assert_eq!(sorted(stream), expected);
        }
    }

    #[test]
    fn within(events in events(60), kind in kind(), from in -30..20i64, width in 0..30i64) {
        let (lefts, rights) = in_time(&events);
        let near = |left: &Row, right: &Row| (from..=from + width).contains(&(right.time - left.time));
        let expected = nested_loop(kind, &lefts, &rights, i64::MIN, near);
        let events = sides(&events, by_id);
        let mut job = Job::new(1, || IntervalJoin::new(kind, from, from + width, Ids(kind)));
        job.feed(&events);
        let late = job.late();
        job.finish();
        prop_assert_eq!(sorted(job.take()), sorted(expected));
        let rows = events.iter().filter(|event| matches!(event, Event::Row(_))).count();
        prop_assert_eq!(late as usize, rows - lefts.len() - rights.len());
    }

    #[test]
    fn over_windows(events in events(60), kind in kind(), size in 1..30i64) {
        // Late is what comes behind the end of its window.
        let mut watermark = i64::MIN;
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for event in &events {
            match event {
                Event::Watermark(time) => watermark = watermark.max(*time),
                Event::Row(row) if row.time.div_euclid(size) * size + size - 1 > watermark => {
                    if by_id(0, row) { lefts.push(*row) } else { rights.push(*row) }
                }
                _ => {}
            }
        }
        let mut starts: Vec<i64> = lefts.iter().chain(&rights).map(|row| row.time.div_euclid(size) * size).collect();
        starts.sort();
        starts.dedup();
        let mut expected = Vec::new();
        for start in starts {
            let inside = |rows: &[Row]| -> Vec<Row> {
                rows.iter().filter(|row| (start..start + size).contains(&row.time)).copied().collect()
            };
            expected.extend(nested_loop(kind, &inside(&lefts), &inside(&rights), start, |_, _| true));
        }
        let events = sides(&events, by_id);
        prop_assert_eq!(sorted(run(|| WindowJoin::new(kind, Tumbling::new(size, 0), Ids(kind)), &events)), sorted(expected));
    }

    #[test]
    fn over_windows_that_overlap(rows in prop::collection::vec((0..4i64, -20..40i64), 0..40), kind in kind()) {
        let rows: Vec<Row> = rows.iter().enumerate().map(|(id, (key, time))| row(*key, *time, id as i64)).collect();
        let (lefts, rights): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| by_id(0, row));
        let mut expected = Vec::new();
        for start in (-32..40).step_by(4) {
            let inside = |rows: &[Row]| -> Vec<Row> {
                rows.iter().filter(|row| (start..start + 12).contains(&row.time)).copied().collect()
            };
            expected.extend(nested_loop(kind, &inside(&lefts), &inside(&rights), start, |_, _| true));
        }
        let events: Vec<_> = sides(&rows.into_iter().map(Event::Row).collect::<Vec<_>>(), by_id);
        prop_assert_eq!(sorted(run(|| WindowJoin::new(kind, Sliding::new(12, 4, 0), Ids(kind)), &events)), sorted(expected));
    }

    #[test]
    fn as_of(events in events(60), outer in any::<bool>()) {
        let kind = if outer { JoinKind::Left } else { JoinKind::Inner };
        let (lefts, _) = in_time(&events);
        let (_, rights) = rows_of(&events);
        // Versions that come when rows of their time have been joined are too late for those.
        let late = rights.iter().any(|right| !in_time(&events).1.contains(right));
        prop_assume!(!late);
        let mut expected = Vec::new();
        for left in &lefts {
            let versions = rights.iter().filter(|right| right.key == left.key && left.key != 0 && right.time <= left.time);
            // Of equal times the last to come.
            let newest = versions.max_by_key(|right| (right.time, right.id)).filter(|right| (left.id + right.id) % 5 != 0);
            match newest {
                Some(right) => expected.push((Some(left.id), Some(right.id), i64::MIN)),
                None if outer => expected.push((Some(left.id), None, i64::MIN)),
                None => {}
            }
        }
        let events = sides(&events, by_id);
        prop_assert_eq!(sorted(run(|| TemporalJoin::<_, OverRows>::new(kind, Ids(kind)), &events)), sorted(expected));
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn law_of_tables(events in changes(14), kind in kind()) {
        let events = sides(&events, change_by_id);
        check(|| UnboundedJoin::<_, OverChanges, OverChanges, OverChanges>::new(kind, Ids(kind)), &events);
    }

    #[test]
    fn law_in_time(events in events(16), kind in kind(), lateness in prop_oneof![Just(0i64), 1..20i64]) {
        let events = sides(&events, by_id);
        check(|| IntervalJoin::new(kind, -8, 5, Ids(kind)), &events);
        check(|| WindowJoin::new(kind, Tumbling::new(10, 0), Ids(kind)).allow_late(lateness), &events);
        check(|| WindowJoin::new(kind, Sliding::new(12, 4, 0), Ids(kind)).allow_late(lateness), &events);
        check(|| TemporalJoin::<_, OverRows>::new(JoinKind::Left, Ids(kind)), &events);
    }
}

/// C48: the row beside nulls comes back when the last partner is gone, and the result is that of a join at every moment.
#[test]
fn the_row_beside_nulls_comes_and_goes() {
    let mut job =
        Job::new(1, || UnboundedJoin::<_, OverChanges, OverChanges, OverChanges>::new(JoinKind::Left, Ids(JoinKind::Left)));
    let (left, x, y) = (row(3, 0, 1), row(3, 0, 2), row(3, 0, 3));
    let mut standing: Vec<Pair> = Vec::new();
    let steps = [
        (Either::Right(Change::insert(x)), vec![]),
        (Either::Right(Change::delete(x)), vec![]),
        (Either::Left(Change::insert(left)), vec![(Some(1), None, i64::MIN)]),
        (Either::Right(Change::insert(x)), vec![(Some(1), Some(2), i64::MIN)]),
        (Either::Right(Change::delete(x)), vec![(Some(1), None, i64::MIN)]),
        (Either::Right(Change::insert(y)), vec![(Some(1), Some(3), i64::MIN)]),
        (Either::Right(Change::delete(y)), vec![(Some(1), None, i64::MIN)]),
        (Either::Left(Change::delete(left)), vec![]),
    ];
    for (number, (step, expected)) in steps.into_iter().enumerate() {
        job.feed(&[Event::Row(step)]);
        let mut all: Vec<Change<Pair>> = standing.into_iter().map(Change::insert).collect();
        all.extend(job.take());
        standing = play(all);
        assert_eq!(standing, expected, "after step {number}");
    }
}

/// A row that is in time for some of its windows only: those that are over have forgotten what it might have met there.
#[test]
fn a_window_that_is_over_takes_no_more_rows() {
    let join = || WindowJoin::new(JoinKind::Left, Sliding::new(12, 4, 0), Ids(JoinKind::Left));
    let mut job = Job::new(1, join);
    job.feed(&[Event::Row(Either::Right(row(3, 2, 1))), Event::Watermark(12), Event::Row(Either::Left(row(3, 9, 2)))]);
    assert!(job.take().is_empty());
    job.finish();
    let expected: Vec<Pair> = vec![(Some(2), None, 4), (Some(2), None, 8)];
    assert_eq!(sorted(job.take()), sorted(expected));
    assert_eq!(job.late(), 0);
}

/// The times of both rows of a pair are behind the watermark that has gone on.
#[test]
fn an_interval_holds_the_watermark_back() {
    use millstream_runtime::operator::{Chained, Stage};
    use millstream_runtime::time::Watermark;
    let seen = Seen::<Pair>::default();
    let join = IntervalJoin::new(JoinKind::Inner, -5, 20, Ids(JoinKind::Inner));
    let mut chain = Chained::new(context(0, 1, millstream_runtime::ErrorPolicy::Fail), join, seen.clone());
    chain.push(Either::Left(row(1, 10, 1))).unwrap();
    chain.watermark(Watermark(29)).unwrap();
    chain.push(Either::Right(row(1, 30, 2))).unwrap();
    assert_eq!(seen.take(), [(Some(1), Some(2), i64::MIN)]);
    assert_eq!(seen.watermarks(), [9]);
}
