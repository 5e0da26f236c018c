//! A chain that other chains feed.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use super::{Chain, ChainReport};
use crate::error::{JobError, JobResult};
use crate::exchange::Batch;
use crate::operator::{RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// A chain whose first stage takes rows of one type; several inputs are a union.
#[derive(Debug)]
pub struct InputChain<T, S> {
    stage: S,
    row: PhantomData<fn(T)>,
}

impl<T, S: Stage<T>> InputChain<T, S> {
    pub(crate) fn new(stage: S) -> Self {
        InputChain { stage, row: PhantomData }
    }
}

impl<T: Send + 'static, S: Stage<T>> Chain for InputChain<T, S> {
    fn batch(&mut self, _input: usize, batch: Batch) -> JobResult<()> {
        let rows = batch
            .downcast::<Vec<T>>()
            .map_err(|_| JobError::new(format!("a batch of other rows than {} came in", std::any::type_name::<T>())))?;
        self.stage.push_batch(*rows)?;
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
