//! Processes against an obvious reference: state of all kinds, timers of both times, what is forgotten, side outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use millstream_runtime::aggregates::Accumulator;
use millstream_runtime::codegen::{ListState, MapState, Reduce, ReducingState, State, ValueState};
use millstream_runtime::operator::*;
use millstream_runtime::operators::*;
use millstream_runtime::state::kinds::AggregatingState;
use millstream_runtime::value::{EvalError, Timestamp};
use proptest::prelude::*;

use crate::harness::*;
use crate::law::{check, events};

/// What the process says of a call: key, what called it (0 a row, 1 a timer of event time, 2 of the clock), when, what it saw.
pub type Said = (i64, u8, i64, Vec<i64>);

#[derive(Clone, Debug, Default, State)]
pub struct Kept {
    rows: Vec<i64>,
    last: ValueState<i64>,
    recent: ListState<i64>,
    of_time: MapState<i64, i64>,
    sum: ReducingState<Sum>,
    count: AggregatingState<Count>,
}

#[derive(Clone, Debug, State)]
struct Sum(i64);

impl Reduce for Sum {
    fn reduce(&mut self, other: Self) {
        self.0 += other.0;
    }
}

#[derive(Clone, Debug, Default, State)]
struct Count(u64);

impl Accumulator for Count {
    type Input = i64;
    type Output = u64;
    fn add(&mut self, _value: i64) -> Result<(), EvalError> {
        self.0 += 1;
        Ok(())
    }
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.0 += other.0;
        Ok(())
    }
    fn finish(&self) -> Result<Option<u64>, EvalError> {
        Ok(Some(self.0))
    }
}

/// Does with each row one of the things that can be done, as its id says.
pub struct Script;

impl Script {
    fn look(cx: &mut Context<'_, Self>) -> Vec<i64> {
        let now = cx.now();
        let mut seen = vec![cx.watermark().map_or(-1, |time| time.0.min(1000))];
        let Some(kept) = cx.stored() else { return seen };
        seen.extend(kept.rows.iter().map(|id| id * 10));
        seen.extend(kept.last.get(now));
        seen.extend(kept.recent.iter(now));
        seen.extend(kept.of_time.iter(now).flat_map(|(key, id)| [key, id]));
        seen.extend(kept.sum.get().map(|sum| sum.0));
        // State that is as at first counts as none as soon as it is swept, which is up to the pace of sweeping.
        seen.extend(kept.count.get().ok().flatten().map(|count| count as i64).filter(|count| *count > 0));
        seen
    }
}

fn later(time: Timestamp, by: i64) -> Timestamp {
    Timestamp(time.0 + by)
}

impl Process for Script {
    type Input = Row;
    type Output = Said;
    type Side = i64;
    type State = Kept;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (now, time) = (cx.now(), cx.row_time().unwrap());
        match row.id % 13 {
            0 => cx.event_timer(later(time, 5)),
            1 => cx.delete_event_timer(later(time, 3)),
            2 => cx.clock_timer(later(now, 7)),
            3 => cx.delete_clock_timer(later(now, 4)),
            4 => cx.state().of_time.insert_until(row.time.rem_euclid(3), row.id, later(now, 9)),
            5 => cx.state().recent.push_until(row.id, later(now, 6)),
            6 => cx.clear(),
            7 => cx.event_timer(later(time, -20)),
            8 => cx.state().last.set_until(row.id, later(now, 11)),
            9 => cx.state().sum.add(Sum(row.id)),
            10 => cx.state().count.add(row.id)?,
            11 => {
                cx.emit((0, 9, 0, vec![]));
                cx.side(9);
                return Err(EvalError::new("a bad row").into());
            }
            _ => cx.state().rows.push(row.id),
        }
        let seen = Self::look(cx);
        cx.emit((row.key, 0, row.id, seen));
        Ok(())
    }

    fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if at.0 % 5 == 0 && at.0 < 100 {
            cx.event_timer(later(at, 4));
        }
        let seen = Self::look(cx);
        let key = cx.key_text().parse().unwrap();
        cx.emit((key, 1, at.0, seen));
        Ok(())
    }

    fn on_clock_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if at.0 % 4 == 0 {
            let now = cx.now();
            cx.clock_timer(later(now, 3));
        }
        let seen = Self::look(cx);
        let key = cx.key_text().parse().unwrap();
        cx.emit((key, 2, at.0, seen));
        Ok(())
    }
}

pub struct OfRows;

impl Processing for OfRows {
    type Process = Script;
    type In = Row;
    type Out = Said;
    type Key = i64;
    fn key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn time(&self, row: &Row) -> Result<Option<Timestamp>, EvalError> {
        Ok(Some(Timestamp(row.time)))
    }
    fn input(&self, row: Row) -> Result<Row, EvalError> {
        Ok(row)
    }
    fn output(&self, row: Said) -> Result<Said, EvalError> {
        Ok(row)
    }
}

/// The same, with everything in plain maps that are searched from end to end.
#[derive(Default)]
struct Model {
    keys: BTreeMap<i64, Of>,
    event: BTreeSet<(i64, i64)>,
    clock: BTreeSet<(i64, i64)>,
    watermark: Option<i64>,
    now: i64,
    ttl: Option<i64>,
    said: Vec<Said>,
}

#[derive(Default)]
struct Of {
    stored: bool,
    touched: i64,
    rows: Vec<i64>,
    last: Option<(i64, i64)>,
    recent: Vec<(i64, i64)>,
    of_time: Vec<(i64, i64, i64)>,
    sum: Option<i64>,
    count: i64,
}

impl Model {
    fn of(&mut self, key: i64) -> &mut Of {
        let (now, ttl) = (self.now, self.ttl);
        let of = self.keys.entry(key).or_default();
        if ttl.is_some_and(|ttl| of.touched + ttl <= now) {
            *of = Of::default();
        }
        of.touched = now;
        of
    }

    fn say(&mut self, key: i64, what: u8, at: i64) {
        let now = self.now;
        let mut seen = vec![self.watermark.map_or(-1, |time| time.min(1000))];
        let of = &self.keys[&key];
        if of.stored {
            seen.extend(of.rows.iter().map(|id| id * 10));
            seen.extend(of.last.filter(|(_, until)| now < *until).map(|(id, _)| id));
            seen.extend(of.recent.iter().filter(|(_, until)| now < *until).map(|(id, _)| id));
            for key in 0..3 {
                let last = of.of_time.iter().rev().find(|(other, ..)| *other == key);
                seen.extend(last.filter(|(.., until)| now < *until).into_iter().flat_map(|(key, id, _)| [*key, *id]));
            }
            seen.extend(of.sum);
            seen.extend(Some(of.count).filter(|count| *count > 0));
        }
        self.said.push((key, what, at, seen));
    }

    fn row(&mut self, row: Row) {
        let now = self.now;
        self.of(row.key);
        let of = self.of(row.key);
        let stored = of.stored;
        of.stored = true;
        match row.id % 13 {
            4 => of.of_time.push((row.time.rem_euclid(3), row.id, now + 9)),
            5 => of.recent.push((row.id, now + 6)),
            6 => *of = Of { touched: now, ..Of::default() },
            8 => of.last = Some((row.id, now + 11)),
            9 => of.sum = Some(of.sum.unwrap_or(0) + row.id),
            10 => of.count += 1,
            12 => of.rows.push(row.id),
            _ => of.stored = stored,
        }
        match row.id % 13 {
            0 => drop(self.event.insert((row.time + 5, row.key))),
            1 => drop(self.event.remove(&(row.time + 3, row.key))),
            2 => drop(self.clock.insert((now + 7, row.key))),
            3 => drop(self.clock.remove(&(now + 4, row.key))),
            7 => drop(self.event.insert((row.time - 20, row.key))),
            11 => return,
            _ => {}
        }
        self.say(row.key, 0, row.id);
    }

    fn watermark(&mut self, to: i64) {
        if self.watermark.is_some_and(|before| to <= before) {
            return;
        }
        self.watermark = Some(to);
        while let Some((at, key)) = self.event.first().copied().filter(|(at, _)| *at <= to) {
            self.event.pop_first();
            self.of(key);
            if at % 5 == 0 && at < 100 {
                self.event.insert((at + 4, key));
            }
            self.say(key, 1, at);
        }
    }

    fn clock(&mut self, now: i64) {
        self.now = now;
        for (at, key) in self.clock.clone().into_iter().filter(|(at, _)| *at <= now) {
            self.clock.remove(&(at, key));
            self.of(key);
            if at % 4 == 0 {
                self.clock.insert((now + 3, key));
            }
            self.say(key, 2, at);
        }
    }
}

/// The order within a key.
fn by_key(said: Vec<Said>) -> BTreeMap<i64, Vec<Said>> {
    let mut by_key: BTreeMap<i64, Vec<Said>> = BTreeMap::new();
    said.into_iter().for_each(|said| by_key.entry(said.0).or_default().push(said));
    by_key
}

fn make(ttl: Option<i64>) -> KeyedProcess<OfRows> {
    let process = KeyedProcess::new(Script, OfRows);
    match ttl {
        Some(ttl) => process.ttl(ttl),
        None => process,
    }
}

/// The clock goes back and forth.
fn jumping(max_len: usize) -> impl Strategy<Value = Vec<Event<Row>>> {
    events(max_len).prop_map(|mut events| {
        for (index, event) in events.iter_mut().enumerate() {
            if let Event::Clock(now) = event
                && index % 3 == 0
            {
                *now = (*now - 37).max(1);
            }
        }
        events
    })
}

/// No row with an error: those stop the harness.
fn good(events: Vec<Event<Row>>) -> Vec<Event<Row>> {
    events.into_iter().filter(|event| !matches!(event, Event::Row(row) if row.id % 13 == 11)).collect()
}

fn check_against_model(events: &[Event<Row>], ttl: Option<i64>) {
    let mut model = Model { ttl, ..Model::default() };
    for event in events {
        match event {
            Event::Row(row) => model.row(*row),
            Event::Watermark(time) => model.watermark(*time),
            Event::Clock(now) => model.clock(*now),
            Event::EndOfBatch => {}
        }
    }
    model.watermark(i64::MAX);
    let mut job = Job::with_policy(1, millstream_runtime::ErrorPolicy::Skip, || make(ttl));
    job.feed(events);
    job.finish();
    assert_eq!(by_key(job.take()), by_key(model.said));
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn as_the_reference(events in events(90), ttl in prop_oneof![Just(None), (3..40i64).prop_map(Some)]) {
        check_against_model(&events, ttl);
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn the_law(events in events(26), jumping in jumping(26), ttl in prop_oneof![Just(None), (3..40i64).prop_map(Some)]) {
        check(|| make(ttl), &good(events));
        // Timers alone: what is forgotten by a clock that jumps cannot be the same whenever one looks.
        let timers = |event: &Event<Row>| !matches!(event, Event::Row(row) if matches!(row.id % 13, 4..=6 | 8));
        check(|| make(None), &good(jumping).into_iter().filter(timers).collect::<Vec<_>>());
    }
}

/// Of a time that is set many times and of a clock that goes back and forth, nothing fires twice and nothing is lost.
#[test]
fn a_clock_that_jumps_neither_loses_nor_doubles_timers() {
    let mut job = Job::new(1, || make(None));
    let set = |id: i64| Event::Row(row(1, 0, 13 * id + 2));
    let fired = |job: &mut Job<Row, KeyedProcess<OfRows>>| -> Vec<i64> {
        job.take().into_iter().filter(|said| said.1 == 2).map(|said| said.2).collect()
    };
    job.feed(&[Event::Clock(100), set(1), set(2), Event::Clock(106)]);
    assert_eq!(job.next_processing_time(), Some(107));
    assert_eq!(fired(&mut job), [] as [i64; 0]);
    // Far ahead: what is due fires. Back again: it has fired, and what is set now is due by this clock.
    job.feed(&[Event::Clock(1_000_000)]);
    assert_eq!(fired(&mut job), [107]);
    job.feed(&[Event::Clock(50), set(3), Event::Clock(56)]);
    assert_eq!(fired(&mut job), [] as [i64; 0]);
    job.feed(&[Event::Clock(57), Event::Clock(58), Event::Clock(107)]);
    assert_eq!(fired(&mut job), [57]);
}

/// What was due while the job was down fires as soon as it is told the time.
#[test]
fn overdue_timers_fire_promptly() {
    let mut job = Job::new(2, || make(None));
    job.feed(&[Event::Clock(100), Event::Row(row(1, 0, 15)), Event::Row(row(2, 0, 15))]);
    let snapshot = encode(job.snapshot());
    let mut job = Job::new(3, || make(None));
    job.restore(&snapshot);
    assert!(job.next_processing_time().is_some_and(|at| at <= 107));
    job.feed(&[Event::Clock(9_000)]);
    assert_eq!(sorted(job.take()).len(), 2);
}

/// Keys whose state is over leave nothing behind, without a row that asks for them.
#[test]
fn what_is_over_frees_its_memory() {
    for ttl in [None, Some(12)] {
        let mut job = Job::new(1, || make(ttl));
        job.feed(&[Event::Clock(1)]);
        for key in 0..500 {
            job.feed(&[Event::Row(row(key, 0, 13 + 4)), Event::Row(row(key, 0, 13 + 5)), Event::Row(row(key, 0, 13 + 8))]);
        }
        let full = encode(job.snapshot()).iter().map(|part| part.3.len()).sum::<usize>();
        let mut rounds = 0;
        while let Some(next) = job.next_processing_time() {
            job.feed(&[Event::Clock(next.max(20))]);
            rounds += 1;
            assert!(rounds < 500, "the sweep does not end");
        }
        let left = encode(job.snapshot());
        assert!(full > 5_000 && left.is_empty(), "{full} {left:?}");
    }
}

/// Rows by their key, for a process that emits numbers; four is none.
struct Numbers<P>(PhantomData<fn() -> P>);

impl<P: Process<Input = Row, Output = i64>> Processing for Numbers<P> {
    type Process = P;
    type In = Row;
    type Out = i64;
    type Key = i64;
    fn key(&self, row: &Row) -> Result<i64, EvalError> {
        Ok(row.key)
    }
    fn input(&self, row: Row) -> Result<Row, EvalError> {
        Ok(row)
    }
    fn output(&self, row: i64) -> Result<i64, EvalError> {
        if row == 4 { Err(EvalError::new("four")) } else { Ok(row) }
    }
}

/// A row that fails leaves nothing in the outputs, and what comes out at the side is a stage of its own.
#[test]
fn side_outputs_and_failed_rows() {
    struct Odd;
    impl Process for Odd {
        type Input = Row;
        type Output = i64;
        type Side = String;
        type State = ();
        type Broadcast = NoBroadcast;
        type Shared = ();
        fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
            cx.side(format!("{} of {}", row.id, cx.key_text()));
            cx.emit(row.id);
            if row.id == 3 { Err(EvalError::new("three").into()) } else { Ok(()) }
        }
        fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
            cx.emit(-1);
            Ok(())
        }
    }
    let side = Seen::default();
    let mut job = Job::with_policy(1, millstream_runtime::ErrorPolicy::Skip, || {
        KeyedProcess::new(Odd, Numbers::<Odd>(PhantomData)).with_side(side.clone())
    });
    job.feed(&(1..6).map(|id| Event::Row(row(9, 0, id))).collect::<Vec<_>>());
    job.feed(&[Event::Watermark(8)]);
    job.finish();
    assert_eq!(job.take(), [1, 2, 5, -1]);
    assert_eq!(side.take(), ["1 of 9", "2 of 9", "4 of 9", "5 of 9"]);
    assert_eq!(side.watermarks(), [8, i64::MAX]);
    assert_eq!(job.reports()[0].skipped, 2);
}

/// Timers that set the next one for ever are an error at the end of the input, not a job that never ends.
#[test]
fn timers_without_end_are_an_error() {
    struct Ever;
    impl Process for Ever {
        type Input = Row;
        type Output = i64;
        type Side = NoSide;
        type State = ();
        type Broadcast = NoBroadcast;
        type Shared = ();
        fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
            cx.event_timer(Timestamp(row.time));
            Ok(())
        }
        fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
            cx.event_timer(later(at, 1));
            Ok(())
        }
    }
    let mut stage = Chained::new(OperatorContext::single("op"), KeyedProcess::new(Ever, Numbers::<Ever>(PhantomData)), Discard);
    stage.push(row(1, 5, 1)).unwrap();
    stage.watermark(millstream_runtime::time::Watermark(50)).unwrap();
    let error = stage.watermark(millstream_runtime::time::Watermark::MAX).unwrap_err();
    assert!(error.message().contains("without end"), "{error}");
}
