//! The stage of a side output, driven together with the operator's next stage.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use crate::error::JobError;
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// A stage that takes rows of type `S`, as one that hears everything of a stage of any rows.
#[derive(Debug)]
pub(super) struct SideStage<N, S> {
    stage: N,
    pub connected: bool,
    rows: PhantomData<fn(S)>,
}

impl<N, S> SideStage<N, S> {
    pub fn new(stage: N, connected: bool) -> Self {
        SideStage { stage, connected, rows: PhantomData }
    }
}

impl<N: Stage<S>, S> SideStage<N, S> {
    pub fn take(&mut self, row: S) -> Result<(), JobError> {
        self.stage.push(row)
    }
}

impl<T, S, N: Stage<S>> Stage<T> for SideStage<N, S> {
    fn push(&mut self, _row: T) -> Result<(), JobError> {
        Err(JobError::new("a row came to the side output of a process from somewhere else: a bug of the generated code"))
    }

    fn end_of_batch(&mut self) -> Result<(), JobError> {
        self.stage.end_of_batch()
    }

    fn flush(&mut self) -> Result<(), JobError> {
        self.stage.flush()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.stage.poll_ready(context)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.stage.poll_flush(context)
    }

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<Result<(), JobError>> {
        self.stage.poll_background(context)
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), JobError> {
        self.stage.watermark(watermark)
    }

    fn processing_time(&mut self, now: i64) -> Result<(), JobError> {
        self.stage.processing_time(now)
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.stage.next_processing_time()
    }

    fn finish(&mut self) -> Result<(), JobError> {
        self.stage.finish()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> Result<(), JobError> {
        self.stage.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredState) -> Result<(), JobError> {
        self.stage.restore(state)
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> Result<(), JobError> {
        self.stage.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> Result<(), JobError> {
        self.stage.checkpoint_aborted(checkpoint)
    }

    fn report(&self, reports: &mut Vec<OperatorReport>) {
        self.stage.report(reports);
    }
}
