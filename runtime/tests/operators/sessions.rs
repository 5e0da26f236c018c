//! Sessions against an obvious reference.

use millstream_runtime::operators::SessionAggregate;
use proptest::prelude::*;

use crate::harness::*;
use crate::law::events;

/// Sorted by time, a session goes on while the next row is not more than the gap away.
fn reference(gap: i64, rows: &[Row]) -> Vec<Group> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| (row.key, row.time));
    let mut sessions: Vec<Group> = Vec::new();
    for row in rows {
        match sessions.last_mut() {
            Some((key, _, end, ids)) if *key == row.key && row.time <= *end => {
                *end = row.time + gap;
                ids.push(row.id);
                ids.sort();
            }
            _ => sessions.push((row.key, row.time, row.time + gap, vec![row.id])),
        }
    }
    sessions
}

/// As the operator promises it with late rows, with a list of all sessions and no timers.
fn reference_with_lateness(gap: i64, lateness: i64, events: &[Event<Row>]) -> (Vec<Group>, u64) {
    let mut sessions: Vec<(Group, bool)> = Vec::new();
    let (mut watermark, mut late, mut out) = (i64::MIN, 0, Vec::new());
    for event in events.iter().chain(&[Event::Watermark(i64::MAX)]) {
        match event {
            Event::Row(row) => {
                let (start, end) = (row.time, row.time + gap);
                let touches = |(other, _): &(Group, bool)| other.0 == row.key && other.1 <= end && start <= other.2;
                let mut merged = (row.key, start, end, vec![]);
                for (other, _) in sessions.iter().filter(|session| touches(session)) {
                    merged.1 = merged.1.min(other.1);
                    merged.2 = merged.2.max(other.2);
                    merged.3.extend(&other.3);
                }
                if (merged.2 - 1).saturating_add(lateness) <= watermark {
                    late += 1;
                    continue;
                }
                sessions.retain(|session| !touches(session));
                merged.3.push(row.id);
                merged.3.sort();
                let over = merged.2 - 1 <= watermark;
                if over {
                    out.push(merged.clone());
                }
                sessions.push((merged, over));
            }
            Event::Watermark(time) if *time > watermark => {
                watermark = *time;
                for (session, fired) in &mut sessions {
                    if session.2 - 1 <= watermark && !*fired {
                        *fired = true;
                        out.push(session.clone());
                    }
                }
                sessions.retain(|(session, _)| (session.2 - 1).saturating_add(lateness) > watermark);
            }
            _ => {}
        }
    }
    (out, late)
}

/// C09: the result depends on the times alone. All 5,040 orders.
#[test]
fn any_order_of_arrival_gives_the_same_sessions() {
    let (a, b, c) = (0, 1, 2);
    let mut rows =
        [row(a, 0, 1), row(a, 15000, 2), row(a, 8000, 3), row(b, 0, 4), row(b, 10000, 5), row(c, 0, 6), row(c, 10001, 7)];
    let expected =
        sorted(vec![(a, 0, 25000, vec![1, 2, 3]), (b, 0, 20000, vec![4, 5]), (c, 0, 10000, vec![6]), (c, 10001, 20001, vec![7])]);
    let mut orders = 0;
    permute(&mut rows, 0, &mut |rows| {
        let events: Vec<_> = rows.iter().map(|row| Event::Row(*row)).collect();
        assert_eq!(sorted(run(|| SessionAggregate::new(10000, Collect), &events)), expected, "{rows:?}");
        orders += 1;
    });
    assert_eq!(orders, 5040);
}

fn permute(rows: &mut [Row; 7], from: usize, each: &mut impl FnMut(&[Row; 7])) {
    if from == rows.len() {
        return each(rows);
    }
    for index in from..rows.len() {
        rows.swap(from, index);
        permute(rows, from + 1, each);
        rows.swap(from, index);
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn results_equal_the_reference(events in events(50), gap in 1..15i64) {
        let rows: Vec<_> = events.iter().filter_map(|event| if let Event::Row(row) = event { Some(*row) } else { None }).collect();
        let events: Vec<_> = rows.iter().map(|row| Event::Row(*row)).collect();
        prop_assert_eq!(sorted(run(|| SessionAggregate::new(gap, Collect), &events)), sorted(reference(gap, &rows)));
    }

    #[test]
    fn results_with_watermarks_equal_the_reference(events in events(60), gap in 1..15i64, lateness in prop_oneof![Just(0i64), 1..40i64]) {
        let (expected, late) = reference_with_lateness(gap, lateness, &events);
        let mut job = Job::new(1, || SessionAggregate::new(gap, Collect).allow_late(lateness));
        job.feed(&events);
        job.finish();
        prop_assert_eq!(sorted(job.take()), sorted(expected));
        prop_assert_eq!(job.late(), late);
    }
}

#[test]
fn a_late_row_that_prolongs_an_open_session_is_not_late() {
    let mut job = Job::new(1, || SessionAggregate::new(10, Collect));
    job.feed(&[Event::Row(row(0, 20, 1)), Event::Watermark(25)]);
    // By itself [11, 21) is over; with the open session it is [11, 30).
    job.feed(&[Event::Row(row(0, 11, 2)), Event::Row(row(1, 11, 3))]);
    job.finish();
    assert_eq!(job.take(), [(0, 11, 30, vec![1, 2])]);
    assert_eq!(job.late(), 1);
}

#[test]
fn sessions_over_the_clock_come_out_after_the_gap() {
    let mut job = Job::new(1, || SessionAggregate::new(10, Collect).in_processing_time());
    job.feed(&[Event::Clock(0), Event::Row(row(0, 0, 1)), Event::Clock(6), Event::Row(row(0, 0, 2)), Event::Clock(15)]);
    assert!(job.take().is_empty());
    assert_eq!(job.next_processing_time(), Some(16));
    job.feed(&[Event::Clock(16)]);
    assert_eq!(job.take(), [(0, 0, 16, vec![1, 2])]);
}
