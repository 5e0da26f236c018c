//! The trait of operators.

use std::task::{Context, Poll};

use super::{Collector, Failure, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator, Stage};
use crate::error::JobError;
use crate::time::Watermark;

/// One step of a pipeline: takes rows, gives rows.
///
/// The law of operators: `restore(snapshot(run(a))); run(b)` gives what `run(a ++ b)` gives, at every split and at any
/// parallelism before and after.
#[allow(unused_variables)]
pub trait Operator<In>: Send {
    /// The rows it makes.
    type Out;

    /// Called once, before `restore` and the first row.
    fn open(&mut self, context: &OperatorContext) {}

    /// Takes one row.
    fn process(&mut self, row: In, out: &mut impl Collector<Self::Out>) -> Result<(), Failure>;

    /// The head of the chain has processed a batch. Some: a watermark to send on.
    fn on_end_of_batch(&mut self, out: &mut impl Collector<Self::Out>) -> Result<Option<Watermark>, Failure> {
        Ok(None)
    }

    /// No later row is older than this. Watermarks only grow. The result goes on to the next stage, after the rows emitted here.
    /// `Watermark::MAX` is the last, at the end of every input, with event time or without: what is left comes out here, so
    /// that to the stages behind it comes before the end of time.
    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<Self::Out>) -> Result<Option<Watermark>, Failure> {
        Ok(Some(watermark))
    }

    /// The clock, in microseconds since the epoch: before every batch, and when `next_processing_time` has come.
    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<Self::Out>) -> Result<(), Failure> {
        Ok(())
    }

    /// When the operator wants to hear from the clock next.
    fn next_processing_time(&self) -> Option<i64> {
        None
    }

    /// Work beside the rows, such as answers of a lookup. Ready: something has come of it, the watermark goes on behind the rows
    /// emitted here, and it is asked again. Pending: it wakes the task.
    fn poll_background(
        &mut self,
        context: &mut Context<'_>,
        out: &mut impl Collector<Self::Out>,
    ) -> Poll<Result<Option<Watermark>, Failure>> {
        Poll::Pending
    }

    /// What it waits for in the background. Before a snapshot and before `finish` the engine waits until that is nothing.
    fn backlog(&self) -> Backlog {
        Backlog::Nothing
    }

    /// The input has ended; `Watermark::MAX` came before. Leaves the state empty, so that a second end after a restore adds nothing.
    fn finish(&mut self, out: &mut impl Collector<Self::Out>) -> Result<(), Failure> {
        Ok(())
    }

    /// Hands out the state as of now: cheap; parts are encoded later, on another thread.
    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        Ok(())
    }

    /// Takes back what `snapshot` of the same operator gave, at any parallelism: the key groups of this copy.
    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        Ok(())
    }

    /// The stage that takes rows which came too late, as they came in. It hears everything that the next stage hears.
    fn late(&self) -> Option<&dyn Stage<In>> {
        None
    }

    /// The same stage, to be driven.
    fn late_mut(&mut self) -> Option<&mut dyn Stage<In>> {
        None
    }

    /// Adds the operator's own counters: late rows and the like.
    fn report(&self, report: &mut OperatorReport) {}
}

/// What an operator waits for in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backlog {
    /// Every row that came in has been seen to.
    Nothing,
    /// Some rows wait; more may come.
    Some,
    /// No more rows until some are out.
    Full,
}
