//! The sink of the connector `channel`: hands rows to the program as they come.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::channels::Channels;
use super::queue::Queue;
use crate::error::JobResult;
use crate::params::ParamValues;
use crate::sink::{Sink, SinkContext, SinkWriter};

/// Hands rows to the program.
#[derive(Debug)]
pub struct ChannelSink<T> {
    queue: Arc<Queue<T>>,
}

impl<T: Send + 'static> ChannelSink<T> {
    /// The channel of this sink, which the program holds the other end of.
    pub fn connect(params: &ParamValues, uid: &str) -> JobResult<Self> {
        Ok(ChannelSink { queue: Channels::of_sink(params, uid)? })
    }
}

impl<T: Send + 'static> Sink<T> for ChannelSink<T> {
    type Writer = ChannelWriter<T>;

    fn writer(&self, _context: &SinkContext) -> JobResult<Self::Writer> {
        Ok(ChannelWriter { queue: self.queue.clone(), rows: VecDeque::new() })
    }
}

/// Puts rows into the channel, a batch at a time. While it is full the task takes no input, and a checkpoint waits.
#[derive(Debug)]
pub struct ChannelWriter<T> {
    queue: Arc<Queue<T>>,
    rows: VecDeque<T>,
}

impl<T> ChannelWriter<T> {
    fn put(&mut self, context: Option<&mut Context<'_>>) -> Poll<JobResult<()>> {
        if self.rows.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.queue.poll_put(&mut self.rows, context).map(|put| {
            if put.is_err() {
                // The program has dropped its receiver: it wants no rows.
                self.rows.clear();
            }
            Ok(())
        })
    }
}

impl<T: Send> SinkWriter<T> for ChannelWriter<T> {
    #[inline]
    fn write(&mut self, row: T) -> JobResult<()> {
        self.rows.push_back(row);
        Ok(())
    }

    fn end_of_batch(&mut self) -> JobResult<()> {
        // What does not fit goes when there is room: `poll_ready` waits for it.
        let _ = self.put(None);
        Ok(())
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.put(Some(context))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        self.put(Some(context))
    }
}
