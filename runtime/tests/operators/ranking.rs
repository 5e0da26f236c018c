//! `top`, `sort`, sets and tables under another key, against recomputation from all rows that stand.

use std::collections::BTreeMap;

use millstream_runtime::operators::*;
use millstream_runtime::record::{Change, ChangeKind};
use millstream_runtime::time::Tumbling;
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::{changes, check, check_single, events};
use crate::tables::play;

fn key(row: &Row) -> Result<i64, EvalError> {
    Ok(row.key)
}

/// Few values, so that there are ties.
fn score(row: &Row) -> Result<i64, EvalError> {
    Ok(row.id % 4)
}

fn time(row: &Row) -> Result<Timestamp, EvalError> {
    Ok(Timestamp(row.time))
}

fn ranked(row: &Row, rank: i64) -> (Row, i64) {
    (*row, rank)
}

fn plain(row: &Row, _rank: i64) -> Row {
    *row
}

/// A limit: how many, with ties, the latest of equals first.
fn limits() -> impl Strategy<Value = Limit> {
    (1..4usize, any::<bool>(), any::<bool>()).prop_map(|(count, ties, latest_first)| Limit {
        ties,
        latest_first,
        ..Limit::new(count)
    })
}

/// The first rows of each key with their ranks, of rows in the order of their arrival.
fn reference(rows: &[Row], limit: Limit) -> Vec<(Row, i64)> {
    let mut by_key: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_key.entry(row.key).or_default().push(*row);
    }
    let mut out = Vec::new();
    for mut rows in by_key.into_values() {
        if limit.latest_first {
            rows.reverse();
        }
        rows.sort_by_key(|row| row.id % 4);
        for (at, row) in rows.iter().enumerate() {
            let better = rows.iter().filter(|other| other.id % 4 < row.id % 4).count();
            let rank = if limit.ties { better } else { at };
            if rank < limit.count {
                out.push((*row, rank as i64 + 1));
            }
        }
    }
    out
}

fn rows(events: &[Event<Row>]) -> Vec<Row> {
    events.iter().filter_map(|event| if let Event::Row(row) = event { Some(*row) } else { None }).collect()
}

/// The rows that stand, in the order in which they came.
fn standing(events: &[Event<Change<Row>>]) -> Vec<Row> {
    let changes = events.iter().filter_map(|event| if let Event::Row(change) = event { Some(change.clone()) } else { None });
    play(changes.collect())
}

fn only_rows(rows: Vec<(Row, i64)>) -> Vec<Row> {
    rows.into_iter().map(|(row, _)| row).collect()
}

/// Which side a row is of, and the row without its own number: few values, so that rows repeat.
fn second(row: &Row) -> bool {
    row.id % 3 == 0
}

fn value(row: Row) -> Row {
    Row { id: 0, ..row }
}

fn count(rule: Rule, first: usize, second: usize) -> usize {
    match rule {
        Rule::Distinct => first.min(1),
        Rule::Intersect => first.min(second).min(1),
        Rule::IntersectAll => first.min(second),
        Rule::Except => {
            if second == 0 {
                first.min(1)
            } else {
                0
            }
        }
        Rule::ExceptAll => first.saturating_sub(second),
    }
}

fn sets(rows: &[Row], rule: Rule) -> Vec<Row> {
    let mut counts: BTreeMap<Row, [usize; 2]> = BTreeMap::new();
    for row in rows {
        let side = usize::from(rule != Rule::Distinct && second(row));
        counts.entry(value(*row)).or_default()[side] += 1;
    }
    counts.into_iter().flat_map(|(row, [a, b])| std::iter::repeat_n(row, count(rule, a, b))).collect()
}

fn side(rule: Rule) -> impl Fn(&Row) -> bool + Send + Clone {
    move |row| rule != Rule::Distinct && second(row)
}

const RULES: [Rule; 5] = [Rule::Distinct, Rule::Intersect, Rule::IntersectAll, Rule::Except, Rule::ExceptAll];

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn top_of_a_stream(events in events(60), limit in limits()) {
        let expected = reference(&rows(&events), limit);
        let table = run(|| TopTable::new(limit, key, score, ranked).ranked(), &events);
        prop_assert_eq!(sorted(play(table)), sorted(expected.clone()));
        let unranked = run(|| TopTable::new(limit, key, score, plain), &events);
        prop_assert_eq!(sorted(play(unranked)), sorted(only_rows(expected.clone())));
        let at_the_end = run(|| Flatten::new(FinalAggregate::new(TopRows::new(limit, key, score, ranked, by_arrival))), &events);
        prop_assert_eq!(sorted(at_the_end), sorted(expected));
    }

    #[test]
    fn top_of_a_table(events in changes(60), limit in limits()) {
        let expected = reference(&standing(&events), limit);
        let table = run(|| TopTable::over_changes(limit, key, score, ranked).ranked(), &events);
        if !limit.ties {
            // A rank is never taken twice, whatever the moment.
            let mut ranks = std::collections::BTreeSet::new();
            for Change { kind, row: (row, rank) } in &table {
                let place = (row.key, *rank);
                let fits = if kind.adds() { ranks.insert(place) } else { ranks.remove(&place) };
                prop_assert!(fits);
            }
        }
        prop_assert_eq!(sorted(play(table)), sorted(expected.clone()));
        let unranked = run(|| TopTable::over_changes(limit, key, score, plain), &events);
        prop_assert_eq!(sorted(play(unranked)), sorted(only_rows(expected.clone())));
        let all = Limit { keeps_rest: true, ..limit };
        let rows = || TopRows::new(all, key, score, ranked, by_arrival);
        prop_assert_eq!(sorted(run(|| Flatten::new(FinalAggregate::over_changes(rows())), &events)), sorted(expected));
    }

    #[test]
    fn top_in_windows(events in events(60), limit in limits()) {
        let mut by_window: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
        let mut watermark = i64::MIN;
        for event in &events {
            match event {
                Event::Watermark(time) => watermark = *time,
                Event::Row(row) if row.time.div_euclid(10) * 10 + 9 > watermark => {
                    by_window.entry(row.time.div_euclid(10)).or_default().push(*row);
                }
                _ => {}
            }
        }
        let expected: Vec<_> = by_window.values().flat_map(|rows| reference(rows, limit)).collect();
        let make = || WindowAggregate::new(Tumbling::new(10, 0), TopRows::new(limit, key, score, ranked, time));
        let mut job = Job::new(1, || Flatten::new(make()).hold_back(10));
        // No row is late by the watermarks that go on.
        let mut seen = Vec::new();
        for event in &events {
            job.feed(std::slice::from_ref(event));
            let late = job.watermarks().last().copied().unwrap_or(i64::MIN);
            let new = job.take();
            let before = seen.last().copied().unwrap_or(i64::MIN);
            prop_assert!(new.iter().all(|(row, _): &(Row, i64)| row.time > before));
            seen.push(late);
            by_window.clear();
        }
        prop_assert_eq!(sorted(run(|| Flatten::new(make()), &events)), sorted(expected));
    }

    #[test]
    fn sets_of_streams(events in events(60)) {
        let rows = rows(&events);
        for rule in RULES {
            let expected = sets(&rows, rule);
            prop_assert_eq!(sorted(play(run(|| CombineTable::new(rule, value_key, side(rule), value), &events))), sorted(expected.clone()));
            if !matches!(rule, Rule::Except | Rule::ExceptAll) {
                prop_assert_eq!(sorted(run(|| CombineRows::new(rule, value_key, side(rule), value), &events)), sorted(expected));
            }
        }
    }

    #[test]
    fn sets_of_tables(events in changes(60)) {
        let rows = standing(&events);
        for rule in RULES {
            let table = run(|| CombineTable::over_changes(rule, value_key, side(rule), value), &events);
            prop_assert_eq!(sorted(play(table)), sorted(sets(&rows, rule)));
        }
    }

    #[test]
    fn the_last_row_of_another_key(events in changes(60)) {
        let mut last: BTreeMap<i64, Row> = BTreeMap::new();
        standing(&events).into_iter().for_each(|row| { last.insert(row.key, row); });
        let table = run(|| Materialize::new(key), &events);
        prop_assert_eq!(sorted(play(table)), sorted(last.into_values().collect()));
    }

    #[test]
    fn sorted_by_time(events in events(60)) {
        let (mut watermark, mut expected) = (i64::MIN, Vec::new());
        for event in &events {
            match event {
                Event::Watermark(time) => watermark = *time,
                Event::Row(row) if row.time > watermark => expected.push(*row),
                _ => {}
            }
        }
        let late = rows(&events).len() - expected.len();
        expected.sort_by_key(|row| (row.time, row.id % 4));
        let make = || Sort::new(time, score);
        let mut job = Job::new(1, make);
        job.feed(&events);
        job.finish();
        prop_assert_eq!(job.take(), expected);
        prop_assert_eq!(job.late(), late as u64);
        // With a stage of their own late rows lose nothing, and are no longer counted.
        let aside = Seen::default();
        let mut job = Job::new(1, || Sort::new(time, score).with_late(aside.clone()));
        job.feed(&events);
        job.finish();
        prop_assert_eq!((job.take().len(), aside.take().len(), job.late()), (rows(&events).len() - late, late, 0));
        // Rows that all come at the end, in any order: none is late.
        let mut all = rows(&events);
        all.sort_by_key(|row| row.id % 4);
        prop_assert_eq!(run(|| Sort::new(at_the_end::<Row>, score), &events), all);
    }

    #[test]
    fn an_update_of_which_one_row_passes(events in changes(60), odd in any::<bool>()) {
        let passes = move |row: &Row| (row.id % 2 == 0) != odd;
        let table = run(|| FilterTable::new(move |change: &Change<Row>| Ok(passes(&change.row))), &events);
        let expected = standing(&events).into_iter().filter(passes).collect();
        prop_assert_eq!(sorted(play(table.clone())), sorted(expected));
        // Old and new rows of updates stand side by side.
        for (at, change) in table.iter().enumerate() {
            match change.kind {
                ChangeKind::UpdateBefore => prop_assert_eq!(table[at + 1].kind, ChangeKind::UpdateAfter),
                ChangeKind::UpdateAfter => prop_assert_eq!(table[at - 1].kind, ChangeKind::UpdateBefore),
                _ => {}
            }
        }
    }
}

fn value_key(row: &Row) -> Result<(i64, i64), EvalError> {
    Ok((row.key, row.time))
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn the_law(events in events(24), changes in changes(24), limit in limits()) {
        check(|| TopTable::new(limit, key, score, ranked).ranked(), &events);
        check(|| TopTable::over_changes(limit, key, score, ranked).ranked(), &changes);
        check(|| TopTable::over_changes(limit, key, score, plain), &changes);
        check(|| Flatten::new(FinalAggregate::new(TopRows::new(limit, key, score, ranked, time))), &events);
        check(|| Flatten::new(WindowAggregate::new(Tumbling::new(10, 0), TopRows::new(limit, key, score, ranked, time))), &events);
        check(|| Materialize::new(key), &changes);
        check_single(|| Sort::new(time, score), &events);
        for rule in [Rule::Intersect, Rule::ExceptAll] {
            check(|| CombineTable::over_changes(rule, key, side(rule), value), &changes);
            check(|| CombineTable::new(rule, key, side(rule), value), &events);
        }
        check(|| CombineRows::new(Rule::Distinct, key, |_: &Row| false, value), &events);
    }
}

fn change(kind: ChangeKind, id: i64, score: i64) -> Event<Change<Row>> {
    Event::Row(Change { kind, row: row(0, score, id) })
}

/// C52: a row that went never comes back, ties go to the one that came earlier, and ranks are never taken twice.
#[test]
fn rows_behind_the_first_come_back_only_if_they_stand() {
    use ChangeKind::*;
    let steps: Vec<Vec<Event<Change<Row>>>> = vec![
        vec![change(Insert, 1, 10)],
        vec![change(Insert, 2, 20)],
        vec![change(Insert, 3, 30)],
        vec![change(Delete, 1, 10)],
        vec![change(Delete, 3, 30)],
        vec![change(Insert, 4, 20)],
        vec![change(Insert, 5, 20)],
        vec![change(UpdateBefore, 2, 20), change(UpdateAfter, 2, 5)],
    ];
    let by_score = |row: &Row| Ok::<_, EvalError>(std::cmp::Reverse(row.time));
    let shown = |limit: Limit| {
        let mut job = Job::new(1, || TopTable::over_changes(limit, key, by_score, plain));
        let mut all = Vec::new();
        steps
            .iter()
            .map(|step| {
                job.feed(step);
                all.extend(job.take());
                let mut ids: Vec<i64> = play(all.clone()).into_iter().map(|row| row.id).collect();
                ids.sort_unstable();
                ids
            })
            .collect::<Vec<_>>()
    };
    let expected: [&[i64]; 8] = [&[1], &[1, 2], &[2, 3], &[2, 3], &[2], &[2, 4], &[2, 4], &[4, 5]];
    assert_eq!(shown(Limit::new(2)), expected);
    assert_eq!(shown(Limit { ties: true, ..Limit::new(2) })[6], [2, 4, 5]);
    // A sink that keeps one row per rank ends right in whatever order it hears of them.
    let mut job = Job::new(1, || TopTable::over_changes(Limit::new(2), key, by_score, ranked).ranked());
    job.feed(&steps.concat());
    let mut ranks = BTreeMap::new();
    for Change { kind, row: (row, rank) } in job.take() {
        if kind.adds() {
            ranks.insert(rank, row.id)
        } else {
            ranks.remove(&rank)
        };
    }
    assert_eq!(ranks, BTreeMap::from([(1, 4), (2, 5)]));
    // What is not there cannot go: counted.
    job.feed(&[change(Delete, 9, 7)]);
    assert_eq!((job.take().len(), job.reports()[0].stray), (0, 1));
}

/// Who finds rows by the key needs no old rows.
#[test]
fn upserts_say_new_rows_only() {
    use ChangeKind::*;
    let events = [change(Insert, 1, 10), change(Insert, 2, 20), change(Delete, 2, 20), change(Delete, 1, 10)];
    let by_score = |row: &Row| Ok::<_, EvalError>(std::cmp::Reverse(row.time));
    let table = run(|| Upserts::new(TopTable::over_changes(Limit::new(1), key, by_score, plain)), &events);
    let kinds: Vec<_> = table.into_iter().map(|change| (change.kind, change.row.id)).collect();
    assert_eq!(kinds, [(Insert, 1), (UpdateAfter, 2), (UpdateAfter, 1), (Delete, 1)]);
}
