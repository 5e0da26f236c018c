//! The program's end of a `channel` sink.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::queue::Queue;

/// Receives the rows of a sink, as the job makes them. When it is dropped the job goes on, and what comes to the sink is left out.
pub struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// Taken from the queue and not yet given out, the next row last.
    ahead: Vec<T>,
}

/// Why no row was received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryReceive {
    /// None is there yet.
    Empty,
    /// None will come: the job is over.
    Ended,
}

/// Rows that are taken at once, with one lock.
const AHEAD: usize = 64;

impl<T> Receiver<T> {
    pub(super) fn new(queue: Arc<Queue<T>>) -> Self {
        Receiver { queue, ahead: Vec::new() }
    }

    /// The next row; None: the job is over, and all rows were received. A call that is dropped before its end loses no row.
    pub async fn recv(&mut self) -> Option<T> {
        if self.ahead.is_empty() {
            std::future::poll_fn(|context| self.queue.poll_take(AHEAD, &mut self.ahead, Some(context))).await;
            self.ahead.reverse();
        }
        self.ahead.pop()
    }

    /// The same for code that is not asynchronous: blocks the thread until a row is there.
    pub fn recv_blocking(&mut self) -> Option<T> {
        self.wait(None).unwrap_or(None)
    }

    /// The next row, if it comes within this time.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, TryReceive> {
        // A time beyond all clocks is no limit.
        match self.wait(Instant::now().checked_add(timeout)) {
            Some(Some(row)) => Ok(row),
            Some(None) => Err(TryReceive::Ended),
            None => Err(TryReceive::Empty),
        }
    }

    /// The next row, if it is there.
    pub fn try_recv(&mut self) -> Result<T, TryReceive> {
        if self.ahead.is_empty() {
            if self.queue.poll_take(AHEAD, &mut self.ahead, None).is_pending() {
                return Err(TryReceive::Empty);
            }
            self.ahead.reverse();
        }
        self.ahead.pop().ok_or(TryReceive::Ended)
    }

    /// None: the time is over.
    fn wait(&mut self, until: Option<Instant>) -> Option<Option<T>> {
        if self.ahead.is_empty() {
            let (queue, ahead) = (&self.queue, &mut self.ahead);
            super::channels::block_on(|context| queue.poll_take(AHEAD, ahead, Some(context)), until)?;
            self.ahead.reverse();
        }
        Some(self.ahead.pop())
    }
}

/// All rows until the job is over; blocks the thread while it waits.
impl<T> Iterator for Receiver<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.recv_blocking()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver({} waiting)", self.queue.len() + self.ahead.len())
    }
}

impl fmt::Display for TryReceive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryReceive::Empty => "no row is there yet",
            TryReceive::Ended => "the job is over",
        })
    }
}

impl std::error::Error for TryReceive {}
