//! Aggregates without a window, count windows, and tables at the end of the input.

use std::collections::BTreeMap;

use millstream_runtime::ErrorPolicy;
use millstream_runtime::aggregates::{Accumulator, Count, Distinct, Retract};
use millstream_runtime::operators::*;
use millstream_runtime::record::{Change, ChangeKind};
use millstream_runtime::time::WindowBounds;
use millstream_runtime::value::EvalError;
use proptest::prelude::*;

use crate::harness::*;
use crate::law::{changes, events};

/// Plays a changelog: what is taken back must stand, what is new must not.
pub fn play<T: Clone + PartialEq + std::fmt::Debug>(changes: Vec<Change<T>>) -> Vec<T> {
    let mut standing: Vec<T> = Vec::new();
    for change in changes {
        if change.kind.adds() {
            standing.push(change.row);
        } else {
            let index = standing.iter().position(|row| *row == change.row);
            standing.remove(index.unwrap_or_else(|| panic!("{:?} does not stand", change.row)));
        }
    }
    standing
}

/// The ids of each key that stand in the end.
fn reference<'a>(changes: impl Iterator<Item = (bool, &'a Row)>) -> Vec<Group> {
    let mut groups: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (adds, row) in changes {
        let ids = groups.entry(row.key).or_default();
        if adds { ids.push(row.id) } else { ids.retain(|id| *id != row.id) }
    }
    groups.into_iter().filter(|(_, ids)| !ids.is_empty()).map(|(key, ids)| (key, i64::MIN, i64::MAX, ids)).collect()
}

fn rows(events: &[Event<Row>]) -> Vec<Row> {
    events.iter().filter_map(|event| if let Event::Row(row) = event { Some(*row) } else { None }).collect()
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn over_rows(events in events(60)) {
        let rows = rows(&events);
        let expected = sorted(reference(rows.iter().map(|row| (true, row))));
        prop_assert_eq!(sorted(run(|| FinalAggregate::new(Collect), &events)), expected.clone());
        prop_assert_eq!(sorted(play(run(|| TableAggregate::new(Collect), &events))), expected);
    }

    #[test]
    fn over_changes(events in changes(60)) {
        let changes: Vec<_> = events.iter().map(|event| if let Event::Row(change) = event { change.clone() } else { panic!() }).collect();
        let expected = sorted(reference(changes.iter().map(|change| (change.kind.adds(), &change.row))));
        prop_assert_eq!(sorted(run(|| FinalAggregate::over_changes(Collect), &events)), expected.clone());
        let table = run(|| TableAggregate::over_changes(Collect), &events);
        prop_assert_eq!(sorted(play(table.clone())), expected.clone());
        // The table again, by its key and without.
        let mut job = Job::new(1, || Final::new(|row: &Row| Ok(row.key)));
        let as_rows = |change: &Change<Group>| Change { kind: change.kind, row: row(change.row.0, 0, change.row.3.iter().sum()) };
        job.feed(&table.iter().map(|change| Event::Row(as_rows(change))).collect::<Vec<_>>());
        job.finish();
        let sums: Vec<_> = play(table.clone()).iter().map(|group| row(group.0, 0, group.3.iter().sum())).collect();
        prop_assert_eq!(sorted(job.take()), sorted(sums));
        let bag = run(|| FinalBag::new(|row: &Row| Ok(row.key)), &events);
        prop_assert_eq!(sorted(bag), sorted(play(changes)));
    }

    #[test]
    fn count_windows(events in events(80), size in 1..6u64, step in 1..6u64) {
        let mut by_key: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for row in rows(&events) {
            by_key.entry(row.key).or_default().push(row.id);
        }
        let group = |key: i64, ids: &[i64]| (key, i64::MIN, i64::MAX, ids.to_vec());
        let (mut tumbling, mut sliding) = (Vec::new(), Vec::new());
        for (key, ids) in &by_key {
            tumbling.extend(ids.chunks(size as usize).map(|ids| group(*key, ids)));
            let mut end = 0;
            while end < ids.len() {
                end += step as usize;
                let window = &ids[end.saturating_sub(size as usize).min(ids.len())..end.min(ids.len())];
                if !window.is_empty() {
                    sliding.push(group(*key, window));
                }
            }
        }
        prop_assert_eq!(sorted(run(|| CountWindow::new(size, Collect), &events)), sorted(tumbling));
        prop_assert_eq!(sorted(run(|| SlidingCountWindow::new(size, step, Collect), &events)), sorted(sliding));
    }
}

fn change(kind: ChangeKind, row: Row) -> Event<Change<Row>> {
    Event::Row(Change { kind, row })
}

#[test]
fn a_table_says_what_happens_to_its_rows() {
    use ChangeKind::*;
    let mut job = Job::new(1, || TableAggregate::over_changes(Collect));
    job.feed(&[
        change(Insert, row(1, 0, 5)),
        change(Insert, row(1, 0, 6)),
        change(Delete, row(1, 0, 5)),
        change(Delete, row(1, 0, 6)),
    ]);
    // Taken back with nothing there: dropped, the group does not go below nothing.
    job.feed(&[change(Delete, row(1, 0, 9)), change(UpdateAfter, row(1, 0, 7))]);
    let kinds: Vec<_> = job.take().into_iter().map(|change| (change.kind, change.row.3)).collect();
    let expected = [
        (Insert, vec![5]),
        (UpdateBefore, vec![5]),
        (UpdateAfter, vec![5, 6]),
        (UpdateBefore, vec![5, 6]),
        (UpdateAfter, vec![6]),
        (Delete, vec![6]),
        (Insert, vec![7]),
    ];
    assert_eq!(kinds, expected);
}

/// C55: the rows that fail are left out and counted; a group that has no value has no row until it has one again.
#[test]
fn rows_without_a_value_are_left_out_and_counted() {
    use ChangeKind::*;
    let mut job = Job::with_policy(1, ErrorPolicy::Skip, || TableAggregate::over_changes(Collect));
    job.feed(&[change(Insert, row(1, 0, 5)), change(Insert, row(1, 0, 13)), change(Insert, row(1, 0, 666))]);
    job.feed(&[change(Insert, row(1, 0, 7)), change(Delete, row(1, 0, 666))]);
    let kinds: Vec<_> = job.take().into_iter().map(|change| (change.kind, change.row.3)).collect();
    assert_eq!(kinds, [(Insert, vec![5]), (Delete, vec![5]), (Insert, vec![5, 7])]);
    let report = &job.reports()[0];
    assert_eq!((report.rows_in, report.rows_out, report.skipped), (5, 3, 3));
    assert_eq!(report.first_error.as_deref(), Some("unlucky"));
}

/// Counts rows and distinct ids; `K` is the key: `()` for one group of all rows.
struct Counts<K>(fn(&Row) -> K);

impl<K: millstream_runtime::record::Key> Aggregation for Counts<K> {
    type In = Row;
    type Key = K;
    type Acc = (Count<i64>, Distinct<Count<i64>, i64>);
    type Out = (K, i64, i64);

    fn key(&self, row: &Row) -> Result<K, EvalError> {
        Ok((self.0)(row))
    }
    fn add(&self, acc: &mut Self::Acc, row: &Row) -> Result<(), EvalError> {
        acc.0.add(row.id)?;
        acc.1.add(row.time)
    }
    fn retract(&self, acc: &mut Self::Acc, row: &Row) -> Result<(), EvalError> {
        acc.0.retract(row.id)?;
        acc.1.retract(row.time)
    }
    fn output(&self, key: &K, _window: WindowBounds, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        Ok((key.clone(), acc.0.finish()?.unwrap_or(-1), acc.1.finish()?.unwrap_or(-1)))
    }
}

/// C51: an emptied group goes and comes back, the one group without keys shows 0, and nothing goes below nothing.
#[test]
fn emptied_groups_go_and_come_back() {
    use ChangeKind::*;
    // (group, value, id)
    let steps = [
        change(Insert, row(0, 7, 1)),
        change(Insert, row(0, 7, 2)),
        change(Delete, row(0, 7, 1)),
        change(Delete, row(0, 7, 2)),
        change(Insert, row(0, 7, 3)),
        change(Delete, row(25, 9, 9)),
    ];
    let mut job = Job::new(1, || TableAggregate::over_changes(Counts(|row| row.key)));
    let mut after_each = Vec::new();
    let mut all = Vec::new();
    for step in &steps {
        job.feed(std::slice::from_ref(step));
        all.extend(job.take());
        after_each.push(play(all.clone()));
    }
    let expected = [vec![(0, 1, 1)], vec![(0, 2, 1)], vec![(0, 1, 1)], vec![], vec![(0, 1, 1)], vec![(0, 1, 1)]];
    assert_eq!(after_each, expected);
    assert_eq!(job.reports()[0].stray, 1);
    let mut job = Job::new(1, || TableAggregate::over_changes(Counts(|_| ())));
    let mut distinct = Vec::new();
    for step in &steps[..5] {
        job.feed(std::slice::from_ref(step));
        distinct.extend(job.take().last().map(|change| (change.kind.adds(), change.row.2)));
    }
    assert_eq!(distinct, [(true, 1), (true, 1), (true, 1), (true, 0), (true, 1)]);
}

/// Rows behind `final` may be of any time: no watermark goes before them.
#[test]
fn what_comes_at_the_end_is_not_late() {
    let time = |row: &Row| Ok::<_, EvalError>(millstream_runtime::value::Timestamp(row.time));
    let key = |row: &Row| Ok::<_, EvalError>(row.key);
    let rows = [Event::Row(row(1, 5, 100)), Event::Watermark(20), Event::Row(row(2, 25, 101)), Event::Watermark(30)];
    let changes: Vec<_> = [row(1, 5, 100), row(2, 25, 101)]
        .into_iter()
        .flat_map(|row| [change(ChangeKind::Insert, row), Event::Watermark(row.time + 5)])
        .collect();
    fn ends<In: Keyed, O: millstream_runtime::operator::Operator<In>>(make: impl Fn() -> O, events: &[Event<In>])
    where
        O::Out: std::fmt::Debug + Send,
    {
        let mut job = Job::new(1, make);
        job.feed(events);
        assert_eq!(job.watermarks(), [] as [i64; 0]);
        job.finish();
        assert_eq!((job.take().len(), job.watermarks()), (2, vec![i64::MAX]));
    }
    ends(|| FinalAggregate::new(Collect), &rows);
    ends(|| FinalAggregate::over_changes(Collect), &changes);
    ends(|| DedupFinal::last(key, time), &rows);
    ends(|| Final::new(key), &changes);
    ends(|| FinalBag::new(key), &changes);
}
