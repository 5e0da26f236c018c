//! A chain whose first operator has two inputs.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use super::{Chain, ChainReport};
use crate::error::{JobError, JobResult};
use crate::exchange::Batch;
use crate::graph::Side;
use crate::operator::{Either, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// A chain whose first stage takes rows of two types; each of its inputs belongs to one side.
#[derive(Debug)]
pub struct TwoInputChain<L, R, S> {
    /// By the number of the input.
    sides: Vec<Side>,
    stage: S,
    rows: PhantomData<fn(L, R)>,
}

impl<L, R, S: Stage<Either<L, R>>> TwoInputChain<L, R, S> {
    pub(crate) fn new(sides: &[Side], stage: S) -> Self {
        TwoInputChain { sides: sides.to_vec(), stage, rows: PhantomData }
    }
}

/// The rows of a batch.
fn rows<T: 'static>(batch: Batch) -> JobResult<Vec<T>> {
    match batch.downcast::<Vec<T>>() {
        Ok(rows) => Ok(*rows),
        Err(_) => Err(JobError::new(format!("a batch of other rows than {} came in", std::any::type_name::<T>()))),
    }
}

impl<L: Send + 'static, R: Send + 'static, S: Stage<Either<L, R>>> Chain for TwoInputChain<L, R, S> {
    fn batch(&mut self, input: usize, batch: Batch) -> JobResult<()> {
        match self.sides.get(input) {
            Some(Side::Left) => {
                for row in rows::<L>(batch)? {
                    self.stage.push(Either::Left(row))?;
                }
            }
            Some(Side::Right) => {
                for row in rows::<R>(batch)? {
                    self.stage.push(Either::Right(row))?;
                }
            }
            None => return Err(JobError::new(format!("a batch came in on input {input}, which the chain does not have"))),
        }
        self.stage.end_of_batch()
    }

    fn watermark(&mut self, watermark: Watermark) -> JobResult<()> {
        self.stage.watermark(watermark)
    }

    fn processing_time(&mut self, now: i64) -> JobResult<()> {
        self.stage.processing_time(now)
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.stage.next_processing_time()
    }

    fn flush(&mut self) -> JobResult<()> {
        self.stage.flush()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.stage.poll_ready(context)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.stage.poll_flush(context)
    }

    fn finish(&mut self) -> JobResult<()> {
        self.stage.finish()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> JobResult<()> {
        self.stage.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredState) -> JobResult<()> {
        self.stage.restore(state)
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        self.stage.checkpoint_complete(checkpoint)
    }

    fn report(&self, report: &mut ChainReport) {
        self.stage.report(&mut report.operators);
    }
}
