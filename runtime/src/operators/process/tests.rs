//! Memory: what only the inside shows.

use super::{Context, KeyedProcess, NoBroadcast, NoSide, Process, Processing};
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
