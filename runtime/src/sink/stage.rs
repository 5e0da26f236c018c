//! The end of a chain: a sink's writer as a stage.

use std::sync::Arc;

use super::{Sink, SinkContext, SinkWriter};
use crate::error::{JobError, JobResult};
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder, Stage};
use crate::time::Watermark;

/// The state in a snapshot that holds what a sink wants to commit.
pub const COMMITTABLES: &str = "#committables";

/// A sink's writer as a stage.
pub struct SinkStage<T, S: Sink<T>> {
    sink: S,
    context: SinkContext,
    uid: Arc<str>,
    name: Arc<str>,
    /// Opened with the first row.
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

    fn watermark(&mut self, _watermark: Watermark) -> JobResult<()> {
        Ok(())
    }

    fn processing_time(&mut self, _now: i64) -> JobResult<()> {
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        None
    }

    fn finish(&mut self) -> JobResult<()> {
        self.end_of_batch()
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> JobResult<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let committables = writer.prepare_commit(snapshot.checkpoint());
        let committables = committables.map_err(|error| self.in_this_sink(error))?;
        if !committables.is_empty() {
            snapshot.operator(&self.uid).list(COMMITTABLES, String::new(), committables);
        }
        Ok(())
    }

    fn restore(&mut self, _state: &RestoredState) -> JobResult<()> {
        Ok(())
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
            first_error: None,
            late: 0,
        });
    }
}
