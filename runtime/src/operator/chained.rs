//! An operator and the stage behind it, as one stage.
//!
//! Applies the job's error policy to rows that cannot be computed, counts, and gives the operator's state its uid.

use std::task::{Context, Poll};

use super::errors::{self, ErrorOutput, ErrorsOf, NoErrors};
use super::fan_out::{any, both, earliest};
use super::{Backlog, Collector, Failure, Operator, OperatorContext, OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::error::JobError;
use crate::graph::ErrorPolicy;
use crate::time::Watermark;
use crate::value::{EvalError, Str};

/// An operator in front of the next stage, and the stage that takes what it cannot compute, if there is one.
#[derive(Debug)]
pub struct Chained<O, N, E = NoErrors> {
    operator: O,
    next: N,
    errors: E,
    rows_in: u64,
    counters: Counters,
    context: OperatorContext,
}

impl<O, N> Chained<O, N> {
    /// Opens the operator and puts it before `next`.
    pub fn new<In>(context: OperatorContext, operator: O, next: N) -> Self
    where
        O: Operator<In>,
        N: Stage<O::Out>,
    {
        Chained::with_errors(context, operator, next, NoErrors)
    }
}

impl<O, N, E> Chained<O, N, E> {
    /// The same; rows that cannot be computed go to `errors`.
    pub fn with_errors<In>(context: OperatorContext, mut operator: O, next: N, errors: E) -> Self
    where
        O: Operator<In>,
        N: Stage<O::Out>,
        E: ErrorsOf<In>,
    {
        operator.open(&context);
        Chained { operator, next, errors, rows_in: 0, counters: Counters::default(), context }
    }

    fn output(&mut self) -> (&mut O, Output<'_, N, E>) {
        let output =
            Output { next: &mut self.next, counters: &mut self.counters, context: &self.context, errors: &mut self.errors };
        (&mut self.operator, output)
    }
}

impl<O, N, E> Chained<O, N, E> {
    /// Takes what has come of the operator's background work. Says whether anything has.
    fn work<In>(&mut self, context: &mut Context<'_>) -> Result<bool, JobError>
    where
        O: Operator<In>,
        N: Stage<O::Out>,
        E: ErrorsOf<In>,
    {
        let mut any = false;
        loop {
            let (operator, mut output) = self.output();
            match operator.poll_background(context, &mut output) {
                Poll::Pending => return Ok(any),
                Poll::Ready(Ok(None)) => {}
                Poll::Ready(Ok(Some(watermark))) => self.send_on::<In>(watermark)?,
                Poll::Ready(Err(failure)) => output.settle(failure, None)?,
            }
            any = true;
        }
    }

    /// A watermark that the operator has let through.
    fn send_on<In>(&mut self, watermark: Watermark) -> Result<(), JobError>
    where
        O: Operator<In>,
        N: Stage<O::Out>,
        E: ErrorsOf<In>,
    {
        if let Some(late) = self.operator.late_mut() {
            late.watermark(watermark)?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.watermark(watermark)?;
        }
        self.next.watermark(watermark)
    }
}

impl<In, O, N, E> Stage<In> for Chained<O, N, E>
where
    O: Operator<In>,
    N: Stage<O::Out>,
    E: ErrorsOf<In>,
{
    #[inline]
    fn push(&mut self, row: In) -> Result<(), JobError> {
        self.rows_in += 1;
        let kept = self.errors.keep(&row);
        let (operator, mut output) = self.output();
        match operator.process(row, &mut output) {
            Ok(()) => Ok(()),
            Err(failure) => output.settle(failure, E::describe(kept)),
        }
    }

    fn end_of_batch(&mut self) -> Result<(), JobError> {
        let (operator, mut output) = self.output();
        match operator.on_end_of_batch(&mut output) {
            Ok(None) => {}
            Ok(Some(watermark)) => self.next.watermark(watermark)?,
            Err(failure) => output.settle(failure, None)?,
        }
        if let Some(late) = self.operator.late_mut() {
            late.end_of_batch()?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.end_of_batch()?;
        }
        self.next.end_of_batch()
    }

    fn flush(&mut self) -> Result<(), JobError> {
        if let Some(late) = self.operator.late_mut() {
            late.flush()?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.flush()?;
        }
        self.next.flush()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.work::<In>(context)?;
        if self.operator.backlog() == Backlog::Full {
            return Poll::Pending;
        }
        let late = self.operator.late_mut().map_or(Poll::Ready(Ok(())), |late| late.poll_ready(context));
        let errors = self.errors.stage_mut().map_or(Poll::Ready(Ok(())), |errors| errors.poll_ready(context));
        both(both(late, errors), self.next.poll_ready(context))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        if self.work::<In>(context)? {
            Stage::<In>::flush(self)?;
        }
        if self.operator.backlog() != Backlog::Nothing {
            return Poll::Pending;
        }
        let late = self.operator.late_mut().map_or(Poll::Ready(Ok(())), |late| late.poll_flush(context));
        let errors = self.errors.stage_mut().map_or(Poll::Ready(Ok(())), |errors| errors.poll_flush(context));
        both(both(late, errors), self.next.poll_flush(context))
    }

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        let own = match self.work::<In>(context) {
            Ok(true) => Poll::Ready(self.next.end_of_batch()),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        };
        let late = self.operator.late_mut().map_or(Poll::Pending, |late| late.poll_background(context));
        let errors = self.errors.stage_mut().map_or(Poll::Pending, |errors| errors.poll_background(context));
        any(any(own, late), any(errors, self.next.poll_background(context)))
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), JobError> {
        let (operator, mut output) = self.output();
        let onward = match operator.on_watermark(watermark, &mut output) {
            Ok(onward) => onward,
            Err(failure) => {
                output.settle(failure, None)?;
                Some(watermark)
            }
        };
        onward.map_or(Ok(()), |onward| self.send_on::<In>(onward))
    }

    fn processing_time(&mut self, now: i64) -> Result<(), JobError> {
        let (operator, mut output) = self.output();
        if let Err(failure) = operator.on_processing_time(now, &mut output) {
            output.settle(failure, None)?;
        }
        if let Some(late) = self.operator.late_mut() {
            late.processing_time(now)?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.processing_time(now)?;
        }
        self.next.processing_time(now)
    }

    fn next_processing_time(&self) -> Option<i64> {
        let late = self.operator.late().and_then(|late| late.next_processing_time());
        let errors = self.errors.stage().and_then(|errors| errors.next_processing_time());
        earliest(earliest(self.operator.next_processing_time(), late), earliest(errors, self.next.next_processing_time()))
    }

    fn finish(&mut self) -> Result<(), JobError> {
        let (operator, mut output) = self.output();
        if let Err(failure) = operator.finish(&mut output) {
            output.settle(failure, None)?;
        }
        if let Some(late) = self.operator.late_mut() {
            late.finish()?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.finish()?;
        }
        self.next.finish()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> Result<(), JobError> {
        self.operator.snapshot(snapshot.operator(&self.context.uid))?;
        if let Some(late) = self.operator.late_mut() {
            late.snapshot(snapshot)?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.snapshot(snapshot)?;
        }
        self.next.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredState) -> Result<(), JobError> {
        if let Some(state) = state.operator(&self.context.uid) {
            self.operator.restore(state).map_err(|error| error.context(format!("restoring {}", self.context.uid)))?;
        }
        if let Some(late) = self.operator.late_mut() {
            late.restore(state)?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.restore(state)?;
        }
        self.next.restore(state)
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), JobError> {
        if let Some(late) = self.operator.late_mut() {
            late.checkpoint_complete(checkpoint)?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.checkpoint_complete(checkpoint)?;
        }
        self.next.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), JobError> {
        if let Some(late) = self.operator.late_mut() {
            late.checkpoint_aborted(checkpoint)?;
        }
        if let Some(errors) = self.errors.stage_mut() {
            errors.checkpoint_aborted(checkpoint)?;
        }
        self.next.checkpoint_aborted(checkpoint)
    }

    fn report(&self, reports: &mut Vec<OperatorReport>) {
        let mut report = OperatorReport {
            uid: self.context.uid.clone(),
            name: self.context.name.clone(),
            rows_in: self.rows_in,
            rows_out: self.counters.rows_out,
            skipped: self.counters.skipped,
            routed: self.counters.routed,
            first_error: self.counters.first_error.clone(),
            late: 0,
            stray: 0,
            sent: None,
        };
        self.operator.report(&mut report);
        reports.push(report);
        if let Some(late) = self.operator.late() {
            late.report(reports);
        }
        if let Some(errors) = self.errors.stage() {
            errors.report(reports);
        }
        self.next.report(reports);
    }
}

#[derive(Debug, Default)]
struct Counters {
    rows_out: u64,
    skipped: u64,
    routed: u64,
    first_error: Option<String>,
}

/// The collector that the operator sees: the next stage, and the policy for rows that have no value.
struct Output<'a, N, E> {
    next: &'a mut N,
    counters: &'a mut Counters,
    context: &'a OperatorContext,
    errors: &'a mut E,
}

impl<N, E: ErrorOutput> Output<'_, N, E> {
    /// `row` is the row as text, where there is one to blame and somebody wants it.
    #[cold]
    fn settle(&mut self, failure: Failure, row: Option<Str>) -> Result<(), JobError> {
        let error = match failure {
            Failure::Fatal(error) => return Err(error),
            Failure::Row(error) => error,
        };
        if self.context.on_error == ErrorPolicy::Fail {
            return Err(JobError::new(error.to_string()).context(&self.context.name));
        }
        let routed = errors::send(self.errors, &self.context.name, &error, row)?;
        if !routed && self.context.on_error == ErrorPolicy::Into {
            // Behind the stream of errors itself: nowhere else to go.
            return Err(JobError::new(error.to_string()).context(&self.context.name));
        }
        self.counters.skipped += 1;
        self.counters.routed += u64::from(routed);
        self.counters.first_error.get_or_insert_with(|| error.to_string());
        Ok(())
    }
}

impl<T, N: Stage<T>, E: ErrorOutput> Collector<T> for Output<'_, N, E> {
    #[inline]
    fn emit(&mut self, row: T) -> Result<(), JobError> {
        self.counters.rows_out += 1;
        self.next.push(row)
    }

    #[cold]
    fn reject(&mut self, error: EvalError) -> Result<(), JobError> {
        self.settle(Failure::Row(error), None)
    }

    #[cold]
    fn reject_row(&mut self, error: EvalError, row: &dyn Fn() -> Str) -> Result<(), JobError> {
        let row = self.errors.stage().is_some().then(row);
        self.settle(Failure::Row(error), row)
    }
}
