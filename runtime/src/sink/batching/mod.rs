//! The base of sinks that send rows to a service in batches: by count, bytes and time, several requests at once, as many as the
//! service takes.
//!
//! In: rows, encoded. Out: requests, made by a [`BatchSender`]. At-least-once: a checkpoint waits until everything before it
//! was acknowledged, so that nothing needs to be kept in it; after a failure rows since the last checkpoint are sent again.
//!
//! - A batch goes when it is full by rows or bytes, when its oldest row has waited long enough, and before a barrier.
//! - How many rows may be under way adapts to the service: halved when rows come back, a few more with every success.
//! - What came back is sent again before everything else, in its old order, after a growing delay or the one the service
//!   asked for; after so many tries the job fails.
//! - The task's thread never waits: a full buffer is backpressure.

mod engine;
mod queue;
#[cfg(test)]
mod tests;
mod writer;

pub use writer::BatchWriter;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::RetryPolicy;
use crate::error::{JobError, JobResult};

/// Sends batches to a service.
pub trait BatchSender: Send + Sync + 'static {
    /// Sends rows. Called for several batches at the same time. The future is dropped when it takes too long; blocking work
    /// belongs on a thread of its own (`tokio::task::spawn_blocking`).
    fn send(&self, batch: Arc<[Entry]>) -> Sending;
}

/// A request under way.
pub type Sending = Pin<Box<dyn Future<Output = SendOutcome> + Send>>;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The service has all rows.
    Sent,
    /// The service does not have these rows, and may take them later.
    Retry {
        /// Their places in the batch; None: all.
        entries: Option<Vec<usize>>,
        /// Why, for people.
        reason: String,
        /// Not before so long.
        after: Option<Duration>,
    },
    /// It will never take them: the job fails.
    Failed(JobError),
}

/// An encoded row.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Shared by the rows of a batch of the task: a row costs no allocation.
    block: Arc<Vec<u8>>,
    start: usize,
    end: usize,
}

impl Entry {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.block[self.start..self.end]
    }
}

/// How rows are batched and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSettings {
    /// Rows in a request, at most.
    pub batch_rows: usize,
    /// Bytes in a request, at most.
    pub batch_bytes: usize,
    /// Bytes of one row, at most: larger ones are an error.
    pub row_bytes: usize,
    /// How long a row may wait for others.
    pub linger: Duration,
    /// Requests at the same time.
    pub in_flight: usize,
    /// Rows that may wait and be under way before the task takes no more.
    pub buffered: usize,
    /// How long a request may take.
    pub timeout: Duration,
    /// Whether a request that took too long fails the job instead of being made again.
    pub fail_on_timeout: bool,
    /// How often a row is sent again, and after which pauses.
    pub retry: RetryPolicy,
}

impl Default for BatchSettings {
    fn default() -> Self {
        BatchSettings {
            batch_rows: 500,
            batch_bytes: 4 << 20,
            row_bytes: 1 << 20,
            linger: Duration::from_secs(1),
            in_flight: 4,
            buffered: 10_000,
            timeout: Duration::from_secs(30),
            fail_on_timeout: false,
            retry: RetryPolicy { retries: 10, first_delay: Duration::from_millis(100), longest_delay: Duration::from_secs(30) },
        }
    }
}

impl BatchSettings {
    /// Refuses settings that contradict each other.
    pub fn check(&self) -> JobResult<()> {
        let wrong = |message: String| Err(JobError::new(message));
        if self.batch_rows == 0 || self.in_flight == 0 || self.timeout.is_zero() {
            return wrong("batches, requests at a time and their time-out must be more than zero".into());
        }
        if self.buffered <= self.batch_rows {
            return wrong(format!(
                "the buffer of {} rows must be larger than a batch of {}: else none would ever be full",
                self.buffered, self.batch_rows
            ));
        }
        if self.batch_bytes < self.row_bytes {
            return wrong(format!(
                "a batch of {} bytes must have room for the largest row, which may be {}",
                self.batch_bytes, self.row_bytes
            ));
        }
        Ok(())
    }
}
