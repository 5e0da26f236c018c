//! One output with any number of consumers, which are known when the chain is built.

use std::task::{Context, Poll};

use crate::error::{JobError, JobResult};
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder, Stage, any, both};
use crate::time::Watermark;

/// Hands every row to all of its stages: one virtual call per stage. Without any, rows go nowhere.
pub struct Fork<T>(pub(super) Vec<Box<dyn Stage<T>>>);

impl<T> Fork<T> {
    fn each(&mut self, call: impl FnMut(&mut Box<dyn Stage<T>>) -> JobResult<()>) -> JobResult<()> {
        self.0.iter_mut().try_for_each(call)
    }
}

impl<T: Clone> Stage<T> for Fork<T> {
    #[inline]
    fn push(&mut self, row: T) -> JobResult<()> {
        let Some((last, others)) = self.0.split_last_mut() else { return Ok(()) };
        for stage in others {
            stage.push(row.clone())?;
        }
        last.push(row)
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        self.each(|stage| stage.end_of_batch())
    }

    fn flush(&mut self) -> JobResult<()> {
        self.each(|stage| stage.flush())
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.0.iter_mut().map(|stage| stage.poll_ready(context)).reduce(both).unwrap_or(Poll::Ready(Ok(())))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.0.iter_mut().map(|stage| stage.poll_flush(context)).reduce(both).unwrap_or(Poll::Ready(Ok(())))
    }

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.0.iter_mut().map(|stage| stage.poll_background(context)).reduce(any).unwrap_or(Poll::Pending)
    }

    fn watermark(&mut self, watermark: Watermark) -> JobResult<()> {
        self.each(|stage| stage.watermark(watermark))
    }

    fn processing_time(&mut self, now: i64) -> JobResult<()> {
        self.each(|stage| stage.processing_time(now))
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.0.iter().filter_map(|stage| stage.next_processing_time()).min()
    }

    fn finish(&mut self) -> JobResult<()> {
        self.each(|stage| stage.finish())
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> JobResult<()> {
        self.each(|stage| stage.snapshot(snapshot))
    }

    fn restore(&mut self, state: &RestoredState) -> JobResult<()> {
        self.each(|stage| stage.restore(state))
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        self.each(|stage| stage.checkpoint_complete(checkpoint))
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.each(|stage| stage.checkpoint_aborted(checkpoint))
    }

    fn report(&self, reports: &mut Vec<OperatorReport>) {
        self.0.iter().for_each(|stage| stage.report(reports));
    }
}
