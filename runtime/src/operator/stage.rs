//! The trait of stages: what stands behind an operator, down to the end of the chain.

use std::task::{Context, Poll};

use super::{OperatorReport, RestoredState, SnapshotBuilder};
use crate::error::JobError;
use crate::time::Watermark;

/// The rest of a chain, as the one before it sees it: an operator with what follows, an exchange end, or a sink.
///
/// Everything comes in the order in which it happens. Barriers do not pass through: the engine calls `flush` and `snapshot`
/// between two batches and sends the barrier itself.
pub trait Stage<T>: Send {
    /// Takes a row.
    fn push(&mut self, row: T) -> Result<(), JobError>;

    /// Takes a batch of rows. Does not end with `end_of_batch`: that is the driver's call.
    fn push_batch(&mut self, rows: Vec<T>) -> Result<(), JobError> {
        for row in rows {
            self.push(row)?;
        }
        Ok(())
    }

    /// The head of the chain has processed a batch.
    fn end_of_batch(&mut self) -> Result<(), JobError>;

    /// Hands over rows held back for the sake of speed (exchange ends: partial batches): before a barrier, at a time-out.
    fn flush(&mut self) -> Result<(), JobError>;

    /// Whether it can take another batch; until then the task takes no input.
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        Poll::Ready(Ok(()))
    }

    /// Before a snapshot and after `finish`, behind `flush`: whether rows that go out in the background are out.
    fn poll_flush(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        Poll::Ready(Ok(()))
    }

    /// Work of the operators beside the rows. Ready: something has come of it. Pending: it wakes the task.
    fn poll_background(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        Poll::Pending
    }

    /// No later row is older than this.
    fn watermark(&mut self, watermark: Watermark) -> Result<(), JobError>;

    /// The clock, in microseconds since the epoch: before every batch, and when `next_processing_time` has come.
    fn processing_time(&mut self, now: i64) -> Result<(), JobError>;

    /// The earliest time at which some operator wants to hear from the clock.
    fn next_processing_time(&self) -> Option<i64>;

    /// The input has ended; `Watermark::MAX` came before.
    fn finish(&mut self) -> Result<(), JobError>;

    /// Takes the state of all operators.
    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> Result<(), JobError>;

    /// Gives all operators their state, before the first row.
    fn restore(&mut self, state: &RestoredState) -> Result<(), JobError>;

    /// This checkpoint, and with it all before it, is complete: sinks commit.
    fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), JobError>;

    /// This checkpoint will never complete.
    fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), JobError>;

    /// Adds one entry per operator.
    fn report(&self, reports: &mut Vec<OperatorReport>);
}

/// The end of a chain that nobody listens to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl<T> Stage<T> for Discard {
    #[inline]
    fn push(&mut self, _row: T) -> Result<(), JobError> {
        Ok(())
    }

    fn end_of_batch(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn watermark(&mut self, _watermark: Watermark) -> Result<(), JobError> {
        Ok(())
    }

    fn processing_time(&mut self, _now: i64) -> Result<(), JobError> {
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        None
    }

    fn finish(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn snapshot(&mut self, _snapshot: &mut SnapshotBuilder) -> Result<(), JobError> {
        Ok(())
    }

    fn restore(&mut self, _state: &RestoredState) -> Result<(), JobError> {
        Ok(())
    }

    fn checkpoint_complete(&mut self, _checkpoint: u64) -> Result<(), JobError> {
        Ok(())
    }

    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> Result<(), JobError> {
        Ok(())
    }

    fn report(&self, _reports: &mut Vec<OperatorReport>) {}
}
