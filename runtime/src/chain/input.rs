//! A chain that other chains feed.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use super::{Chain, ChainReport};
use crate::error::{JobError, JobResult};
use crate::exchange::Batch;
use crate::operator::{RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// How batches of a chain's inputs become rows of its first stage.
pub trait Inputs<T>: Send {
    /// Hands the rows of a batch of this input to the stage.
    fn push(&self, input: usize, batch: Batch, stage: &mut impl Stage<T>) -> JobResult<()>;
}

/// All inputs have rows of one type: a union.
#[derive(Clone, Copy, Debug)]
pub struct Union;

impl<T: 'static> Inputs<T> for Union {
    fn push(&self, _input: usize, batch: Batch, stage: &mut impl Stage<T>) -> JobResult<()> {
        stage.push_batch(rows(batch)?)
    }
}

/// The rows of a batch.
pub(super) fn rows<T: 'static>(batch: Batch) -> JobResult<Vec<T>> {
    match batch.downcast::<Vec<T>>() {
        Ok(rows) => Ok(*rows),
        Err(_) => Err(JobError::new(format!("a batch of other rows than {} came in", std::any::type_name::<T>()))),
    }
}

/// A chain whose first stage takes what `inputs` makes of batches.
#[derive(Debug)]
pub struct InputChain<T, I, S> {
    inputs: I,
    stage: S,
    row: PhantomData<fn(T)>,
}

impl<T, I: Inputs<T>, S: Stage<T>> InputChain<T, I, S> {
    pub(crate) fn new(inputs: I, stage: S) -> Self {
        InputChain { inputs, stage, row: PhantomData }
    }
}

impl<T, I: Inputs<T>, S: Stage<T>> Chain for InputChain<T, I, S> {
    fn batch(&mut self, input: usize, batch: Batch) -> JobResult<()> {
        self.inputs.push(input, batch, &mut self.stage)?;
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

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.stage.poll_background(context)
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

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.stage.checkpoint_aborted(checkpoint)
    }

    fn report(&self, report: &mut ChainReport) {
        self.stage.report(&mut report.operators);
    }
}
