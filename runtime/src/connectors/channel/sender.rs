//! The program's end of a `channel` source.

use std::fmt;
use std::sync::Arc;
use std::task::Poll;

use super::queue::{Gone, Queue};

/// Sends rows into a job. Clones send into the same source; when the last is dropped, the source ends, and with it the job, once
/// everything that was sent is worked off.
pub struct Sender<T> {
    queue: Arc<Queue<T>>,
}

/// The job is over: this row, and whatever else it has not taken, does not come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed<T>(
    /// The row.
    pub T,
);

/// Why a row was not sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrySend<T> {
    /// So many rows wait as `capacity` says.
    Full(T),
    /// The job is over.
    Closed(T),
}

impl<T> Sender<T> {
    pub(super) fn new(queue: Arc<Queue<T>>) -> Self {
        queue.add_sender();
        Sender { queue }
    }

    /// Sends a row; waits while the channel is full. When it returns, the row waits for the job: the job has not taken it yet.
    /// An error when the job is over. A call that is dropped before its end has sent nothing.
    pub async fn send(&self, row: T) -> Result<(), Closed<T>> {
        let mut row = Some(row);
        let sent = std::future::poll_fn(|context| self.queue.poll_put_one(&mut row, Some(context))).await;
        Self::outcome(sent, row)
    }

    /// The same for code that is not asynchronous: blocks the thread while the channel is full.
    pub fn send_blocking(&self, row: T) -> Result<(), Closed<T>> {
        let mut row = Some(row);
        let sent = super::channels::block_on(|context| self.queue.poll_put_one(&mut row, Some(context)), None);
        Self::outcome(sent.unwrap_or(Err(Gone)), row)
    }

    /// Sends a row if there is room for it.
    pub fn try_send(&self, row: T) -> Result<(), TrySend<T>> {
        let mut row = Some(row);
        let sent = self.queue.poll_put_one(&mut row, None);
        match (sent, row) {
            (Poll::Pending, Some(row)) => Err(TrySend::Full(row)),
            (Poll::Ready(Err(Gone)), Some(row)) => Err(TrySend::Closed(row)),
            _ => Ok(()),
        }
    }

    /// Whether the job is over.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    /// Rows that wait for the job.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn outcome(sent: Result<(), Gone>, row: Option<T>) -> Result<(), Closed<T>> {
        match (sent, row) {
            (Err(Gone), Some(row)) => Err(Closed(row)),
            _ => Ok(()),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender::new(self.queue.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.queue.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender({} waiting)", self.queue.len())
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the job is over: it takes no more rows")
    }
}

impl<T: fmt::Debug> std::error::Error for Closed<T> {}

impl<T> fmt::Display for TrySend<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySend::Full(_) => "the channel is full",
            TrySend::Closed(_) => "the job is over: it takes no more rows",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for TrySend<T> {}
