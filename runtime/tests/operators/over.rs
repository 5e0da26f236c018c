//! Analytic frames against an obvious reference.

use millstream_runtime::graph::Frame;
use millstream_runtime::operators::{Aggregation, Analysis, Over};
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::events;

/// Collects the ids of the frame, in order. Rows with id 13 fail.
pub struct Ids;

impl Analysis for Ids {
    type In = Row;
    type Key = i64;
    type Acc = Vec<i64>;
    type Out = (i64, Vec<i64>);

    fn key(&self, row: &Row) -> Result<i64, EvalError> {
        Collect.key(row)
    }
    fn time(&self, row: &Row) -> Result<Timestamp, EvalError> {
        Collect.time(row)
    }
    fn add(&self, acc: &mut Vec<i64>, row: &Row) -> Result<(), EvalError> {
        Collect.add(acc, row)
    }
    fn merge(&self, acc: &mut Vec<i64>, other: &Vec<i64>) -> Result<(), EvalError> {
        Collect.merge(acc, other)
    }
    fn output(&self, row: Row, acc: &Vec<i64>) -> Result<(i64, Vec<i64>), EvalError> {
        Ok((row.id, acc.clone()))
    }
}

/// All rows that are not late, by key and time, and for each the ids of its frame. Gives also how many rows were late.
fn reference(frame: Frame, events: &[Event<Row>]) -> (Vec<(i64, Vec<i64>)>, u64) {
    let (mut watermark, mut late) = (i64::MIN, 0);
    let mut rows: Vec<Row> = Vec::new();
    for event in events {
        match event {
            Event::Row(row) if row.time <= watermark => late += 1,
            Event::Row(row) => rows.push(*row),
            Event::Watermark(time) => watermark = watermark.max(*time),
            _ => {}
        }
    }
    rows.sort_by_key(|row| (row.key, row.time));
    let mut out = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let of_key: Vec<&Row> = rows.iter().filter(|other| other.key == row.key).collect();
        let own = of_key.iter().position(|other| other.id == row.id).unwrap();
        let ids: Vec<i64> = match frame {
            Frame::Running => of_key[..=own].iter().map(|row| row.id).collect(),
            Frame::All => of_key.iter().filter(|other| other.time <= row.time).map(|row| row.id).collect(),
            Frame::Rows(count) => {
                of_key[..=own].iter().skip((own + 1).saturating_sub(count as usize)).map(|row| row.id).collect()
            }
            Frame::Time(length) => of_key
                .iter()
                .filter(|other| other.time <= row.time && other.time >= row.time - length)
                .map(|row| row.id)
                .collect(),
            Frame::Ahead(count) => of_key[own + 1..].iter().take(count as usize).map(|row| row.id).collect(),
        };
        out.push((rows[index].id, ids));
    }
    (out, late)
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn frames_equal_the_reference(events in events(60), count in 1..6u64, length in 1..30i64) {
        for frame in [Frame::Running, Frame::All, Frame::Rows(count), Frame::Time(length), Frame::Ahead(count)] {
            let (expected, late) = reference(frame, &events);
            let mut job = Job::new(1, || Over::new(frame, Ids));
            job.feed(&events);
            job.finish();
            prop_assert_eq!(sorted(job.take()), sorted(expected), "{:?}", frame);
            prop_assert_eq!(job.late(), late);
        }
    }

    /// Rows come out in order, and before the watermark that lets them out.
    #[test]
    fn rows_come_out_in_the_order_of_time(events in events(60)) {
        let mut job = Job::new(1, || Over::new(Frame::Running, Ids));
        let mut watermark = i64::MIN;
        for event in &events {
            job.feed(std::slice::from_ref(event));
            let out = job.take();
            if let Event::Watermark(time) = event {
                let times: Vec<i64> = out.iter().map(|(id, _)| time_of(&events, *id)).collect();
                prop_assert!(times.iter().all(|row| *row <= *time && *row > watermark), "{:?} at {}", times, time);
                watermark = *time;
            } else {
                prop_assert!(out.is_empty());
            }
        }
    }
}

fn time_of(events: &[Event<Row>], id: i64) -> i64 {
    let found = events.iter().find_map(|event| match event {
        Event::Row(row) if row.id == id => Some(row.time),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn a_row_that_cannot_be_added_is_left_out() {
    let events = [1, 13, 2].map(|id| Event::Row(row(0, id, id)));
    for frame in [Frame::Running, Frame::All, Frame::Rows(2), Frame::Time(100)] {
        let mut job = Job::with_policy(1, millstream_runtime::ErrorPolicy::Skip, || Over::new(frame, Ids));
        job.feed(&events);
        job.finish();
        assert_eq!(job.take(), [(1, vec![1]), (2, vec![1, 2])], "{frame:?}");
        assert_eq!(job.reports()[0].skipped, 1);
    }
}

/// The state of a key whose frame has run empty goes.
#[test]
fn keys_are_forgotten() {
    let mut job = Job::new(1, || Over::new(Frame::Time(10), Ids));
    job.feed(&[Event::Row(row(0, 5, 1)), Event::Watermark(15)]);
    let bytes = |job: &mut Job<Row, _>| encode(job.snapshot()).iter().map(|(_, _, _, bytes)| bytes.len()).sum::<usize>();
    let full = bytes(&mut job);
    job.feed(&[Event::Watermark(16)]);
    assert!(bytes(&mut job) < full);
}
