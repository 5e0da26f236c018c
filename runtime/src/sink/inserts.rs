//! A stream into a sink of tables: every row is one that is added.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Committer, Compactor, GlobalCommitter, Sink, SinkContext, SinkWriter, WriterMetrics};
use crate::error::JobResult;
use crate::record::Change;

/// A sink of plain rows, made of one of changes.
#[derive(Clone, Debug)]
pub struct Inserts<S>(pub S);

impl<T, S: Sink<Change<T>>> Sink<T> for Inserts<S> {
    type Writer = InsertWriter<S::Writer>;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        self.0.writer(context).map(InsertWriter)
    }

    fn committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        self.0.committer(context)
    }

    fn compactor(&self, context: &SinkContext) -> JobResult<Option<Arc<dyn Compactor>>> {
        self.0.compactor(context)
    }

    fn global_committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn GlobalCommitter>>> {
        self.0.global_committer(context)
    }
}

/// Its writer.
#[derive(Debug)]
pub struct InsertWriter<W>(W);

impl<T, W: SinkWriter<Change<T>>> SinkWriter<T> for InsertWriter<W> {
    #[inline]
    fn write(&mut self, row: T) -> JobResult<()> {
        self.0.write(Change::insert(row))
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        self.0.end_of_batch()
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.0.poll_ready(context)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.0.poll_flush(context)
    }

    fn prepare_commit(&mut self, checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        self.0.prepare_commit(checkpoint)
    }

    fn snapshot(&mut self, checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        self.0.snapshot(checkpoint)
    }

    fn restore(&mut self, state: &[Vec<u8>]) -> JobResult<()> {
        self.0.restore(state)
    }

    fn next_wake(&self) -> Option<i64> {
        self.0.next_wake()
    }

    fn wake(&mut self, now: i64) -> JobResult<()> {
        self.0.wake(now)
    }

    fn metrics(&self) -> Option<WriterMetrics> {
        self.0.metrics()
    }
}
