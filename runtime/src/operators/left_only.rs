//! Where late left rows of a join go: to a stage of their own (`late into x`), as they came in.
//!
//! Right rows, which look different, have none, and are counted.

use std::task::{Context, Poll};

use super::late::Late;
use crate::error::JobError;
use crate::operator::{Either, OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// A stage for left rows, as one that hears what the join hears.
#[derive(Debug, Default)]
pub struct LeftOnly<N>(pub N);

impl<N> Late<LeftOnly<N>> {
    /// Takes a left row.
    pub fn left<L>(&mut self, row: L) -> Result<(), JobError>
    where
        N: Stage<L>,
    {
        self.push(Either::<L, ()>::Left(row))
    }
}

impl<L, R, N: Stage<L>> Stage<Either<L, R>> for LeftOnly<N> {
    fn push(&mut self, row: Either<L, R>) -> Result<(), JobError> {
        match row {
            Either::Left(row) => self.0.push(row),
            Either::Right(_) => Ok(()),
        }
    }

    fn end_of_batch(&mut self) -> Result<(), JobError> {
        self.0.end_of_batch()
    }

    fn flush(&mut self) -> Result<(), JobError> {
        self.0.flush()
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), JobError> {
        self.0.watermark(watermark)
    }

    fn processing_time(&mut self, now: i64) -> Result<(), JobError> {
        self.0.processing_time(now)
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.0.next_processing_time()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.0.poll_ready(context)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.0.poll_flush(context)
    }

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.0.poll_background(context)
    }

    fn finish(&mut self) -> Result<(), JobError> {
        self.0.finish()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> Result<(), JobError> {
        self.0.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredState) -> Result<(), JobError> {
        self.0.restore(state)
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), JobError> {
        self.0.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), JobError> {
        self.0.checkpoint_aborted(checkpoint)
    }

    fn report(&self, reports: &mut Vec<OperatorReport>) {
        self.0.report(reports);
    }
}
