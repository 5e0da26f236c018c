//! One output with several consumers.

use std::task::Poll;

use super::Stage;
use crate::error::JobError;

/// In `impl Stage<..>` for a stage of two, `first` and `second`: all calls without a row go to both.
macro_rules! both_stages {
    () => {
        fn end_of_batch(&mut self) -> Result<(), crate::error::JobError> {
            self.first.end_of_batch()?;
            self.second.end_of_batch()
        }

        fn flush(&mut self) -> Result<(), crate::error::JobError> {
            self.first.flush()?;
            self.second.flush()
        }

        fn poll_ready(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), crate::error::JobError>> {
            crate::operator::fan_out::both(self.first.poll_ready(context), self.second.poll_ready(context))
        }

        fn poll_flush(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), crate::error::JobError>> {
            crate::operator::fan_out::both(self.first.poll_flush(context), self.second.poll_flush(context))
        }

        fn poll_background(
            &mut self,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), crate::error::JobError>> {
            crate::operator::fan_out::any(self.first.poll_background(context), self.second.poll_background(context))
        }

        fn watermark(&mut self, watermark: crate::time::Watermark) -> Result<(), crate::error::JobError> {
            self.first.watermark(watermark)?;
            self.second.watermark(watermark)
        }

        fn processing_time(&mut self, now: i64) -> Result<(), crate::error::JobError> {
            self.first.processing_time(now)?;
            self.second.processing_time(now)
        }

        fn next_processing_time(&self) -> Option<i64> {
            crate::operator::fan_out::earliest(self.first.next_processing_time(), self.second.next_processing_time())
        }

        fn finish(&mut self) -> Result<(), crate::error::JobError> {
            self.first.finish()?;
            self.second.finish()
        }

        fn snapshot(&mut self, snapshot: &mut crate::operator::SnapshotBuilder) -> Result<(), crate::error::JobError> {
            self.first.snapshot(snapshot)?;
            self.second.snapshot(snapshot)
        }

        fn restore(&mut self, state: &crate::operator::RestoredState) -> Result<(), crate::error::JobError> {
            self.first.restore(state)?;
            self.second.restore(state)
        }

        fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), crate::error::JobError> {
            self.first.checkpoint_complete(checkpoint)?;
            self.second.checkpoint_complete(checkpoint)
        }

        fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), crate::error::JobError> {
            self.first.checkpoint_aborted(checkpoint)?;
            self.second.checkpoint_aborted(checkpoint)
        }

        fn report(&self, reports: &mut Vec<crate::operator::OperatorReport>) {
            self.first.report(reports);
            self.second.report(reports);
        }
    };
}
pub(super) use both_stages;

/// Hands every row to both stages; nest for more.
#[derive(Clone, Debug)]
pub struct FanOut<A, B> {
    first: A,
    second: B,
}

impl<A, B> FanOut<A, B> {
    /// A stage that hands every row to `first` (a clone) and then to `second`.
    pub fn new(first: A, second: B) -> Self {
        FanOut { first, second }
    }
}

impl<T: Clone, A: Stage<T>, B: Stage<T>> Stage<T> for FanOut<A, B> {
    #[inline]
    fn push(&mut self, row: T) -> Result<(), JobError> {
        self.first.push(row.clone())?;
        self.second.push(row)
    }

    both_stages!();
}

/// Ready when both are, failed when one is. Both are asked: each wakes the task by itself.
pub(crate) fn both(a: Poll<Result<(), JobError>>, b: Poll<Result<(), JobError>>) -> Poll<Result<(), JobError>> {
    match (a, b) {
        (Poll::Ready(Err(error)), _) | (_, Poll::Ready(Err(error))) => Poll::Ready(Err(error)),
        (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => Poll::Ready(Ok(())),
        _ => Poll::Pending,
    }
}

/// Ready when one is, failed when one is. Both are asked: each wakes the task by itself.
pub(crate) fn any(a: Poll<Result<(), JobError>>, b: Poll<Result<(), JobError>>) -> Poll<Result<(), JobError>> {
    match (a, b) {
        (Poll::Ready(Err(error)), _) | (_, Poll::Ready(Err(error))) => Poll::Ready(Err(error)),
        (Poll::Pending, Poll::Pending) => Poll::Pending,
        _ => Poll::Ready(Ok(())),
    }
}

/// The earlier of two times that may be absent.
pub(super) fn earliest(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
