//! What a join does with rows that come too late.
//!
//! Left rows can go to a stream of their own (`late into x`), as they came in; right ones, which look different, are counted.

use std::task::{Context, Poll};

use crate::error::JobError;
use crate::operator::{Discard, Either, OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// Late rows of a join: a stage for left ones, or a counter.
#[derive(Debug)]
pub struct LeftLate<N = Discard> {
    stage: LeftOnly<N>,
    routed: bool,
    rows: u64,
}

impl LeftLate {
    /// All are counted.
    pub fn counted() -> Self {
        LeftLate { stage: LeftOnly(Discard), routed: false, rows: 0 }
    }
}

impl<N> LeftLate<N> {
    /// Left ones go to this stage, the others are counted.
    pub fn to(stage: N) -> Self {
        LeftLate { stage: LeftOnly(stage), routed: true, rows: 0 }
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// A late right row.
    #[cold]
    pub fn right(&mut self) {
        self.rows += 1;
    }

    /// A late left row.
    #[cold]
    pub fn left<L>(&mut self, row: L) -> Result<(), JobError>
    where
        N: Stage<L>,
    {
        if self.routed {
            return self.stage.0.push(row);
        }
        self.rows += 1;
        Ok(())
    }

    /// The stage for left rows, as one that hears what the join hears.
    pub fn stage<L, R>(&self) -> Option<&dyn Stage<Either<L, R>>>
    where
        N: Stage<L>,
    {
        self.routed.then_some(&self.stage as &dyn Stage<Either<L, R>>)
    }

    /// The same, to be driven.
    pub fn stage_mut<L, R>(&mut self) -> Option<&mut dyn Stage<Either<L, R>>>
    where
        N: Stage<L>,
    {
        self.routed.then_some(&mut self.stage as &mut dyn Stage<Either<L, R>>)
    }
}

/// A stage for left rows.
#[derive(Debug)]
struct LeftOnly<N>(N);

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
