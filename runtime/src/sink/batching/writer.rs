//! The writer of a sink that sends batches: encodes rows and hands them to the engine.

use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::engine::{Shared, drive};
use super::{BatchSender, BatchSettings, Entry};
use crate::error::{JobError, JobResult};
use crate::formats::Encoder;
use crate::seam::now_micros;
use crate::sink::{SinkContext, SinkWriter, WriterMetrics};

/// Rows are handed over when so many bytes are there, also within a batch of the task.
const BLOCK: usize = 64 * 1024;

/// How often a task that gets no rows looks whether sending has failed, in microseconds.
const LOOK: i64 = 200_000;

/// Writes the rows of one subtask, encoded by `E`.
#[derive(Debug)]
pub struct BatchWriter<T, E> {
    encoder: E,
    settings: BatchSettings,
    block: Vec<u8>,
    /// Where the rows of the block end.
    ends: Vec<usize>,
    shared: Arc<Shared>,
    look_at: Option<i64>,
    row: PhantomData<fn(T)>,
}

impl<T, E: Encoder<T>> BatchWriter<T, E> {
    /// A writer with an engine of its own.
    ///
    /// # Errors
    /// Settings that contradict each other, and a call from outside of a running job.
    pub fn new(context: &SinkContext, settings: BatchSettings, encoder: E, sender: impl BatchSender) -> JobResult<Self> {
        settings.check()?;
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|_| JobError::new("a writer of batches works only inside of a running job"))?;
        let shared = Arc::new(Shared::new(settings));
        runtime.spawn(drive(shared.clone(), Arc::new(sender), settings, context.name.clone()));
        let (block, ends, row) = (Vec::new(), Vec::new(), PhantomData);
        Ok(BatchWriter { encoder, settings, block, ends, shared, look_at: None, row })
    }

    fn hand_over(&mut self) {
        if self.ends.is_empty() {
            return;
        }
        let block = Arc::new(std::mem::take(&mut self.block));
        let mut start = 0;
        let entries = self.ends.drain(..).map(|end| {
            let entry = Entry { block: block.clone(), start, end };
            start = end;
            entry
        });
        self.shared.lock().queue.push(entries, Instant::now());
        self.shared.tell_engine();
        if self.look_at.is_none() {
            self.look_at = Some(now_micros() + LOOK);
        }
    }

    #[cold]
    fn too_large(&self, from: usize) -> JobError {
        let row = &self.block[from..];
        let shown = String::from_utf8_lossy(&row[..row.len().min(120)]).into_owned();
        JobError::new(format!(
            "a row has {} bytes, and at most {} can be sent: {}..",
            row.len(),
            self.settings.row_bytes,
            shown.trim_end()
        ))
    }

    fn failure(&self) -> JobResult<()> {
        self.shared.lock().error.clone().map_or(Ok(()), Err)
    }
}

impl<T, E: Encoder<T>> SinkWriter<T> for BatchWriter<T, E> {
    #[inline]
    fn write(&mut self, row: T) -> JobResult<()> {
        let from = self.block.len();
        self.encoder.encode(&row, &mut self.block);
        if self.block.len() - from > self.settings.row_bytes {
            return Err(self.too_large(from));
        }
        self.ends.push(self.block.len());
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
        Ok(())
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        self.hand_over();
        Ok(())
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        let mut state = self.shared.lock();
        if let Some(error) = &state.error {
            return Poll::Ready(Err(error.clone()));
        }
        if !state.queue.is_full() {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.hand_over();
        let mut state = self.shared.lock();
        if let Some(error) = &state.error {
            return Poll::Ready(Err(error.clone()));
        }
        if state.queue.outstanding() == 0 {
            return Poll::Ready(Ok(()));
        }
        state.queue.drain();
        state.waker = Some(context.waker().clone());
        drop(state);
        self.shared.tell_engine();
        Poll::Pending
    }

    fn next_wake(&self) -> Option<i64> {
        self.look_at
    }

    fn wake(&mut self, now: i64) -> JobResult<()> {
        self.failure()?;
        self.look_at = (self.shared.lock().queue.outstanding() > 0).then_some(now + LOOK);
        Ok(())
    }

    fn metrics(&self) -> Option<WriterMetrics> {
        let state = self.shared.lock();
        Some(WriterMetrics { pending: state.queue.outstanding() as u64, ..state.metrics })
    }
}

impl<T, E> Drop for BatchWriter<T, E> {
    fn drop(&mut self) {
        self.shared.close();
    }
}
