//! What only the inside shows: memory, and what goes out of a call.

use super::{Context, KeyedProcess, NoBroadcast, NoSide, Process, Processing, StatelessProcess};
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext};
use crate::time::Watermark;
use crate::value::{EvalError, Timestamp};

/// Each row (key, time) replaces the timer of its key.
struct Replace;

impl Process for Replace {
    type Input = (i64, i64);
    type Output = i64;
    type Side = NoSide;
    type State = i64;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, (_, time): (i64, i64), cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let before = std::mem::replace(cx.state(), time);
        cx.delete_event_timer(Timestamp(before));
        cx.event_timer(Timestamp(time));
        assert!(cx.event_timers().eq([Timestamp(time)]) && cx.clock_timers().next().is_none());
        Ok(())
    }

    fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(at.0);
        Ok(())
    }
}

struct Spec;

impl Processing for Spec {
    type Process = Replace;
    type In = (i64, i64);
    type Out = i64;
    type Key = i64;

    fn key(&self, row: &(i64, i64)) -> Result<i64, EvalError> {
        Ok(row.0)
    }

    fn input(&self, row: (i64, i64)) -> Result<(i64, i64), EvalError> {
        Ok(row)
    }

    fn output(&self, row: i64) -> Result<i64, EvalError> {
        Ok(row)
    }
}

struct Out(Vec<i64>);

impl Collector<i64> for Out {
    fn emit(&mut self, row: i64) -> Result<(), JobError> {
        self.0.push(row);
        Ok(())
    }

    fn reject(&mut self, error: EvalError) -> Result<(), JobError> {
        Err(JobError::new(error.to_string()))
    }
}

/// Setting and deleting a timer with every row keeps no more than the timers that stand.
#[test]
fn timers_that_are_replaced_cost_no_memory() {
    let mut operator = KeyedProcess::new(Replace, Spec);
    operator.open(&OperatorContext::single("op"));
    let mut out = Out(Vec::new());
    for number in 1..20_000 {
        operator.process((number % 7, 1_000_000 - number), &mut out).unwrap();
        if number % 100 == 0 {
            operator.on_watermark(Watermark(number), &mut out).unwrap();
        }
    }
    assert_eq!(operator.event.live(), 7);
    assert!(operator.event.queued() < 2_000, "{} timers are queued", operator.event.queued());
    operator.on_watermark(Watermark::MAX, &mut out).unwrap();
    assert_eq!(out.0, (0..7).map(|back| 1_000_000 - 19_999 + back).collect::<Vec<_>>(), "one of each key, in order");
}

/// Sends each row on so many times, and refuses those of no time behind what they have emitted.
struct Repeat;

impl Process for Repeat {
    type Input = (i64, i64);
    type Output = i64;
    type Side = NoSide;
    type State = ();
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, (row, times): (i64, i64), cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        // Nobody hears of them.
        cx.event_timer(Timestamp(row));
        cx.delete_event_timer(Timestamp(row));
        cx.clock_timer(Timestamp(row));
        (0..times.max(2)).for_each(|time| cx.emit(10 * row + time));
        match times {
            0 => Err(EvalError::new("never").into()),
            _ => Ok(()),
        }
    }
}

struct OfRepeat;

impl Processing for OfRepeat {
    type Process = Repeat;
    type In = (i64, i64);
    type Out = i64;
    type Key = i64;

    fn key(&self, row: &(i64, i64)) -> Result<i64, EvalError> {
        Ok(row.0)
    }

    fn input(&self, row: (i64, i64)) -> Result<(i64, i64), EvalError> {
        Ok(row)
    }

    fn output(&self, row: i64) -> Result<i64, EvalError> {
        if row % 10 == 3 { Err(EvalError::new("a three")) } else { Ok(row) }
    }
}

/// What is emitted comes out in its order, whether a call emits one row or many; what a call has emitted that failed, nowhere.
#[test]
fn rows_go_out_in_order_and_not_from_calls_that_fail() {
    fn run(mut operator: impl Operator<(i64, i64), Out = i64>) -> Vec<i64> {
        let mut out = Out(Vec::new());
        operator.process((1, 3), &mut out).unwrap();
        assert!(matches!(operator.process((2, 0), &mut out), Err(Failure::Row(_))));
        operator.process((3, 2), &mut out).unwrap();
        // The fourth row of it is none.
        assert!(operator.process((4, 4), &mut out).is_err());
        out.0
    }
    let expected = [10, 11, 12, 30, 31, 40, 41, 42];
    assert_eq!(run(StatelessProcess::new(Repeat, OfRepeat)), expected);
    let mut keyed = KeyedProcess::new(Repeat, OfRepeat);
    keyed.open(&OperatorContext::single("op"));
    assert_eq!(run(keyed), expected);
}

#[test]
fn timers_without_a_key_cost_no_memory() {
    let mut operator = StatelessProcess::new(Repeat, OfRepeat);
    for row in 0..100 {
        operator.process((row, 2), &mut Out(Vec::new())).unwrap();
    }
    assert!(operator.changes().event.is_nothing() && operator.changes().clock.is_nothing());
}
