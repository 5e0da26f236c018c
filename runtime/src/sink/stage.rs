//! The end of a chain: a sink's writer as a stage.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Sink, SinkContext, SinkWriter, WriterMetrics};
use crate::error::{JobError, JobResult};
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// The state in a snapshot that holds what a writer wants to have committed.
pub(crate) const COMMITTABLES: &str = "#committables";

/// The state that announces how many committables a writer has made for a checkpoint: written even if there are none.
pub(crate) const SUMMARY: &str = "#summary";

/// The state that holds what the writer itself keeps.
const WRITER: &str = "writer";

/// A sink's writer as a stage.
pub struct SinkStage<T, S: Sink<T>> {
    sink: S,
    context: SinkContext,
    uid: Arc<str>,
    name: Arc<str>,
    /// Opened with the first row, or with restored state.
    writer: Option<S::Writer>,
    rows: u64,
}

impl<T, S: Sink<T>> std::fmt::Debug for SinkStage<T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SinkStage").field("uid", &self.uid).finish_non_exhaustive()
    }
}

impl<T, S: Sink<T>> SinkStage<T, S> {
    pub(crate) fn new(sink: S, name: &str, context: SinkContext) -> Self {
        SinkStage { uid: context.uid.as_str().into(), name: name.into(), sink, context, writer: None, rows: 0 }
    }

    #[cold]
    fn open(&mut self) -> JobResult<()> {
        let writer = self.sink.writer(&self.context).map_err(|error| error.context(&self.name))?;
        self.writer = Some(writer);
        Ok(())
    }

    #[cold]
    fn in_this_sink(&self, error: JobError) -> JobError {
        error.context(&self.name)
    }

    /// What the writer counted.
    pub fn metrics(&self) -> Option<WriterMetrics> {
        self.writer.as_ref().and_then(SinkWriter::metrics)
    }
}

impl<T: Send, S: Sink<T>> Stage<T> for SinkStage<T, S> {
    #[inline]
    fn push(&mut self, row: T) -> JobResult<()> {
        if self.writer.is_none() {
            self.open()?;
        }
        self.rows += 1;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write(row).map_err(|error| self.in_this_sink(error))
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.end_of_batch().map_err(|error| self.in_this_sink(error))
    }

    fn flush(&mut self) -> JobResult<()> {
        self.end_of_batch()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        writer.poll_ready(context).map_err(|error| self.in_this_sink(error))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        writer.poll_flush(context).map_err(|error| self.in_this_sink(error))
    }

    fn watermark(&mut self, _watermark: Watermark) -> JobResult<()> {
        Ok(())
    }

    fn processing_time(&mut self, now: i64) -> JobResult<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        match writer.next_wake() {
            Some(at) if at <= now => writer.wake(now).map_err(|error| self.in_this_sink(error)),
            _ => Ok(()),
        }
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.writer.as_ref().and_then(SinkWriter::next_wake)
    }

    fn finish(&mut self) -> JobResult<()> {
        self.end_of_batch()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> JobResult<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let checkpoint = snapshot.checkpoint();
        let taken = writer.prepare_commit(checkpoint).and_then(|committables| Ok((committables, writer.snapshot(checkpoint)?)));
        let (committables, state) = taken.map_err(|error| self.in_this_sink(error))?;
        let summary = u32::try_from(committables.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        let own = snapshot.operator(&self.uid);
        own.list(SUMMARY, String::new(), vec![summary]);
        if !committables.is_empty() {
            own.list(COMMITTABLES, String::new(), committables);
        }
        if !state.is_empty() {
            own.list(WRITER, String::new(), state);
        }
        Ok(())
    }

    fn restore(&mut self, state: &RestoredState) -> JobResult<()> {
        let Some(state) = state.operator(&self.uid) else { return Ok(()) };
        let state = state.list(WRITER, "")?;
        if state.is_empty() {
            return Ok(());
        }
        self.open()?;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.restore(state).map_err(|error| self.in_this_sink(error))
    }

    fn checkpoint_complete(&mut self, _checkpoint: u64) -> JobResult<()> {
        Ok(())
    }

    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> JobResult<()> {
        Ok(())
    }

    fn report(&self, reports: &mut Vec<OperatorReport>) {
        reports.push(OperatorReport {
            uid: self.uid.clone(),
            name: self.name.clone(),
            rows_in: self.rows,
            rows_out: self.rows,
            skipped: 0,
            routed: 0,
            first_error: None,
            late: 0,
            stray: 0,
            sent: self.metrics(),
        });
    }
}
