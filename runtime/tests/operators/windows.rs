//! Windows over time against an obvious reference.

use std::collections::{BTreeMap, BTreeSet};

use millstream_runtime::operators::{EarlyAggregate, WindowAggregate};
use millstream_runtime::time::{Cumulative, Global, Sliding, Tumbling, WindowAssigner, WindowBounds};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::events;

/// All windows that a time is in, from a list of all windows there are.
type Windows = Vec<(i64, i64)>;

fn tumbling(size: i64, offset: i64) -> Windows {
    (-200..200).map(|n| (n * size + offset, (n + 1) * size + offset)).collect()
}

fn sliding(size: i64, step: i64, offset: i64) -> Windows {
    (-400..400).map(|n| (n * step + offset, n * step + offset + size)).collect()
}

fn cumulative(max: i64, step: i64, offset: i64) -> Windows {
    let steps = (max + step - 1) / step;
    (-200..200).flat_map(|n| (1..=steps).map(move |k| (n * max + offset, n * max + offset + (k * step).min(max)))).collect()
}

/// Every row goes into every window it is in; every watermark looks at every window. Gives the rows and how many were late.
fn reference(windows: &Windows, lateness: i64, events: &[Event<Row>]) -> (Vec<Group>, u64) {
    let mut contents: BTreeMap<((i64, i64), i64), Vec<i64>> = BTreeMap::new();
    let mut fired: BTreeSet<(i64, i64)> = BTreeSet::new();
    let (mut watermark, mut late, mut out) = (i64::MIN, 0, Vec::new());
    let end = [Event::Watermark(i64::MAX)];
    for event in events.iter().chain(&end) {
        match event {
            Event::Row(row) => {
                let all: Vec<_> = windows.iter().filter(|(start, end)| *start <= row.time && row.time < *end).collect();
                let open: Vec<_> = all.iter().filter(|(_, end)| end - 1 + lateness > watermark).collect();
                if open.is_empty() && !all.is_empty() {
                    late += 1;
                }
                for window in open {
                    let ids = contents.entry((**window, row.key)).or_default();
                    ids.push(row.id);
                    if window.1 - 1 <= watermark {
                        out.push((row.key, window.0, window.1, ids.clone()));
                    }
                }
            }
            Event::Watermark(time) if *time > watermark => {
                watermark = *time;
                for window in windows {
                    if window.1 - 1 <= watermark && fired.insert(*window) {
                        for ((_, key), ids) in contents.iter().filter(|((other, _), _)| other == window) {
                            out.push((*key, window.0, window.1, ids.clone()));
                        }
                    }
                }
                // A window that was empty when it was over takes rows as one that has fired.
            }
            _ => {}
        }
    }
    for (_, _, _, ids) in &mut out {
        ids.sort();
    }
    (out, late)
}

fn compare<W: WindowAssigner>(make: impl Fn() -> W, windows: Windows, lateness: i64, events: &[Event<Row>]) {
    let (expected, late) = reference(&windows, lateness, events);
    let mut job = Job::new(1, || WindowAggregate::new(make(), Collect).allow_late(lateness));
    job.feed(events);
    job.finish();
    assert_eq!(sorted(job.take()), sorted(expected));
    assert_eq!(job.late(), late);
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn results_equal_the_reference(
        events in events(60),
        lateness in prop_oneof![Just(0i64), 1..40i64],
        (size, step, offset) in (1..20i64, 1..20i64, -5..5i64),
    ) {
        compare(|| Tumbling::new(size, offset), tumbling(size, offset), lateness, &events);
        compare(|| Sliding::new(size, step, offset), sliding(size, step, offset), lateness, &events);
        let (max, step) = (size.max(step), size.min(step));
        compare(|| Cumulative::new(max, step, offset), cumulative(max, step, offset), lateness, &events);
    }

    #[test]
    fn a_time_is_in_as_many_windows_as_there_are(time in -1000..1000i64, size in 1..30i64, step in 1..30i64, offset in -9..9i64) {
        let tumbling = all_windows(&Tumbling::new(size, offset), time);
        prop_assert_eq!(tumbling.len(), 1);
        prop_assert!(tumbling[0].start.0 <= time && time < tumbling[0].end.0);
        prop_assert_eq!((tumbling[0].start.0 - offset).rem_euclid(size), 0);
        let whole = size * step;
        let sliding = all_windows(&Sliding::new(whole, step, offset), time);
        prop_assert_eq!(sliding.len() as i64, whole / step);
        for pair in sliding.windows(2) {
            prop_assert_eq!(pair[1].start.0 - pair[0].start.0, step);
        }
        for window in &sliding {
            prop_assert!(window.start.0 <= time && time < window.end.0 && window.end.0 - window.start.0 == whole);
        }
        let cumulative = all_windows(&Cumulative::new(whole, step, offset), time);
        let full = cumulative.last().unwrap();
        prop_assert_eq!(full.end.0 - full.start.0, whole);
        prop_assert_eq!(cumulative.len() as i64, (full.end.0 - time + step - 1) / step);
        prop_assert!(cumulative.iter().all(|window| window.start == full.start && time < window.end.0));
    }
}

/// The windows of a time, as the operator would find them.
fn all_windows(assigner: &impl WindowAssigner, time: i64) -> Vec<WindowBounds> {
    let pane = assigner.pane(time);
    assert!(pane.start.0 <= time && time < pane.end.0, "the pane of a time has it");
    let mut windows: Vec<WindowBounds> = Vec::new();
    while let Some(window) = assigner.next_window(pane.start.0, windows.last().map_or(i64::MIN, |window| window.end.0)) {
        windows.push(window);
    }
    assert_eq!(windows.last().map(|window| window.end.0), assigner.last_end(pane.start.0));
    windows
}

/// C11: floor arithmetic below 1970. Seconds as given there.
#[test]
fn times_before_1970_fall_into_the_right_window() {
    let events = [(-1, 1), (-5000, 2), (-5001, 3), (0, 4)].map(|(time, id)| Event::Row(row(0, time, id)));
    let rows = run(|| WindowAggregate::new(Tumbling::new(5000, 0), Collect), &events);
    assert_eq!(sorted(rows), sorted(vec![(0, -10000, -5000, vec![3]), (0, -5000, 0, vec![1, 2]), (0, 0, 5000, vec![4])]));
}

#[test]
fn a_window_is_over_exactly_one_microsecond_before_its_end() {
    let mut job = Job::new(1, || WindowAggregate::new(Tumbling::new(10, 0), Collect));
    job.feed(&[Event::Row(row(0, 3, 1)), Event::Watermark(8)]);
    assert!(job.take().is_empty());
    job.feed(&[Event::Watermark(9)]);
    assert_eq!(job.take(), [(0, 0, 10, vec![1])]);
    job.feed(&[Event::Row(row(0, 9, 2)), Event::Row(row(0, 10, 3))]);
    assert_eq!(job.late(), 1);
    job.finish();
    assert_eq!(job.take(), [(0, 10, 20, vec![3])]);
}

#[test]
fn early_results_are_replaced() {
    use millstream_runtime::record::ChangeKind::*;
    let mut job = Job::new(1, || EarlyAggregate::new(Tumbling::new(100, 0), Collect, 10).allow_late(50));
    let shown = |job: &mut Job<Row, _>| -> Vec<_> {
        job.take().into_iter().map(|change: millstream_runtime::record::Change<Group>| (change.kind, change.row.3)).collect()
    };
    job.feed(&[Event::Watermark(1), Event::Row(row(0, 3, 1)), Event::Watermark(8)]);
    assert!(shown(&mut job).is_empty(), "time has not passed a multiple of ten");
    job.feed(&[Event::Watermark(9)]);
    assert_eq!(shown(&mut job), [(Insert, vec![1])]);
    job.feed(&[Event::Watermark(25), Event::Row(row(0, 30, 2)), Event::Row(row(0, 4, 3)), Event::Watermark(29)]);
    assert_eq!(shown(&mut job), [(UpdateBefore, vec![1]), (UpdateAfter, vec![1, 2, 3])]);
    job.feed(&[Event::Row(row(0, 31, 4)), Event::Watermark(99)]);
    assert_eq!(shown(&mut job), [(UpdateBefore, vec![1, 2, 3]), (UpdateAfter, vec![1, 2, 3, 4])]);
    job.feed(&[Event::Row(row(0, 5, 5))]);
    assert_eq!(shown(&mut job), [(UpdateBefore, vec![1, 2, 3, 4]), (UpdateAfter, vec![1, 2, 3, 4, 5])], "late, but not too late");
    job.feed(&[Event::Watermark(149), Event::Row(row(0, 5, 6))]);
    job.finish();
    assert!(shown(&mut job).is_empty());
    assert_eq!(job.late(), 1);
}

#[test]
fn a_row_within_the_allowed_lateness_brings_the_window_out_again() {
    let mut job = Job::new(1, || WindowAggregate::new(Tumbling::new(10, 0), Collect).allow_late(5));
    job.feed(&[Event::Row(row(0, 3, 1)), Event::Row(row(7, 3, 2)), Event::Watermark(9)]);
    job.take();
    job.feed(&[Event::Row(row(0, 4, 3)), Event::Watermark(13), Event::Row(row(0, 5, 4))]);
    assert_eq!(job.take(), [(0, 0, 10, vec![1, 3]), (0, 0, 10, vec![1, 3, 4])]);
    job.feed(&[Event::Watermark(14), Event::Row(row(0, 4, 5))]);
    job.finish();
    assert!(job.take().is_empty());
    assert_eq!(job.late(), 1);
}

#[test]
fn the_global_window_comes_out_at_the_end_of_the_input() {
    let mut job = Job::new(1, || WindowAggregate::new(Global, Collect));
    job.feed(&[
        Event::Row(row(0, 3, 1)),
        Event::Watermark(1_000_000),
        Event::Row(row(0, -5, 2)),
        Event::Row(row(0, i64::MAX, 3)),
    ]);
    assert!(job.take().is_empty());
    job.finish();
    assert_eq!(job.take(), [(0, i64::MIN, i64::MAX, vec![1, 2, 3])]);
}

#[test]
fn windows_over_the_clock_come_out_with_it_and_at_the_end() {
    let mut job = Job::new(1, || WindowAggregate::new(Tumbling::new(10, 0), Collect).in_processing_time());
    job.feed(&[Event::Clock(12), Event::Row(row(0, 999, 1)), Event::Watermark(5000)]);
    assert_eq!(job.next_processing_time(), Some(20));
    job.feed(&[Event::Clock(19), Event::Row(row(0, -999, 2))]);
    assert!(job.take().is_empty());
    job.feed(&[Event::Clock(20)]);
    assert_eq!(job.take(), [(0, 10, 20, vec![1, 2])]);
    assert_eq!(job.next_processing_time(), None);
    job.feed(&[Event::Row(row(0, 0, 3))]);
    job.finish();
    assert_eq!(job.take(), [(0, 20, 30, vec![3])]);
    assert_eq!(job.late(), 0);
}

#[test]
fn the_ends_of_time_do_no_harm() {
    let rows = [i64::MIN, i64::MIN + 1, -1, i64::MAX - 1, i64::MAX].map(|time| Event::Row(row(0, time, time)));
    let count = |rows: Vec<Group>| rows.into_iter().map(|(_, _, _, ids)| ids.len()).sum::<usize>();
    assert_eq!(count(run(|| WindowAggregate::new(Tumbling::new(10, -3), Collect).allow_late(i64::MAX), &rows)), 5);
    for offset in [i64::MIN, i64::MAX] {
        run(|| WindowAggregate::new(Sliding::new(10, 3, offset), Collect), &rows);
        run(|| WindowAggregate::new(Cumulative::new(i64::MAX, 1 << 60, offset), Collect), &rows);
    }
}
