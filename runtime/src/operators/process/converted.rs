//! The stage of a side output behind what turns the user's rows into those of the job.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use crate::error::JobError;
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;
use crate::value::Convert;

/// A stage that takes rows of type `T`, as one of what becomes them.
#[derive(Debug)]
pub struct Converted<N, T> {
    next: N,
    rows: PhantomData<fn() -> T>,
}

impl<N: Stage<T>, T> Converted<N, T> {
    /// Before this stage.
    pub fn new(next: N) -> Self {
        Converted { next, rows: PhantomData }
    }
}

impl<S: Convert<T>, T, N: Stage<T>> Stage<S> for Converted<N, T> {
    fn push(&mut self, row: S) -> Result<(), JobError> {
        self.next.push(row.convert())
    }

    fn end_of_batch(&mut self) -> Result<(), JobError> {
        self.next.end_of_batch()
    }

    fn flush(&mut self) -> Result<(), JobError> {
        self.next.flush()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.next.poll_ready(context)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.next.poll_flush(context)
    }

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.next.poll_background(context)
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), JobError> {
        self.next.watermark(watermark)
    }

    fn processing_time(&mut self, now: i64) -> Result<(), JobError> {
        self.next.processing_time(now)
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.next.next_processing_time()
    }

    fn finish(&mut self) -> Result<(), JobError> {
        self.next.finish()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> Result<(), JobError> {
        self.next.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredState) -> Result<(), JobError> {
        self.next.restore(state)
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), JobError> {
        self.next.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), JobError> {
        self.next.checkpoint_aborted(checkpoint)
    }

    fn report(&self, reports: &mut Vec<OperatorReport>) {
        self.next.report(reports);
    }
}
