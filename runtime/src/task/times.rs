//! What a task spends its time on: busy, idle, or waiting for room in its output.
//!
//! The clock is read when a task begins and ends to wait, which is once per batch at the most. Room for output is waited for before
//! input is, so a task that has neither counts as backpressured, not as idle.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Instant;

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Busy = 0,
    /// It waits for input.
    Idle = 1,
    /// It waits for room in its output, or for its sink.
    Backpressured = 2,
}

/// Microseconds spent on each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub busy: u64,
    pub idle: u64,
    pub backpressured: u64,
}

/// The times of one task, written by it alone.
#[derive(Debug)]
pub(crate) struct TaskTimes {
    started: Instant,
    spent: [AtomicU64; 3],
    /// What it does now, in the two lowest bits, and since when, in microseconds after `started`.
    now: AtomicU64,
}

impl Default for TaskTimes {
    fn default() -> Self {
        TaskTimes { started: Instant::now(), spent: Default::default(), now: AtomicU64::new(Doing::Idle as u64) }
    }
}

impl TaskTimes {
    /// Up to now.
    pub(crate) fn read(&self) -> Spent {
        let now = self.now.load(Relaxed);
        let mut spent = [0, 1, 2].map(|index: usize| self.spent[index].load(Relaxed));
        if let Some(current) = spent.get_mut((now & 3) as usize) {
            *current += self.elapsed().saturating_sub(now >> 2);
        }
        Spent { busy: spent[0], idle: spent[1], backpressured: spent[2] }
    }

    /// It does something else now. Called by the task only.
    pub(crate) fn enter(&self, doing: Doing) {
        let (before, elapsed) = (self.now.load(Relaxed), self.elapsed());
        if let Some(spent) = self.spent.get((before & 3) as usize) {
            spent.store(spent.load(Relaxed) + elapsed.saturating_sub(before >> 2), Relaxed);
        }
        self.now.store(elapsed << 2 | doing as u64, Relaxed);
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX >> 2)
    }
}

/// Waits for something; only if it has to does the clock run for `doing`.
pub(crate) async fn waiting<F: Future>(times: &TaskTimes, doing: Doing, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut waits = false;
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Pending => {
            if !std::mem::replace(&mut waits, true) {
                times.enter(doing);
            }
            Poll::Pending
        }
        Poll::Ready(output) => {
            if waits {
                times.enter(Doing::Busy);
            }
            Poll::Ready(output)
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn time_is_told_apart() {
        let started = Instant::now();
        let times = TaskTimes::default();
        times.enter(Doing::Busy);
        std::thread::sleep(Duration::from_millis(20));
        waiting(&times, Doing::Backpressured, tokio::time::sleep(Duration::from_millis(40))).await;
        waiting(&times, Doing::Idle, async {}).await;
        times.enter(Doing::Idle);
        std::thread::sleep(Duration::from_millis(10));
        let spent = times.read();
        assert!(spent.busy >= 20_000 && spent.backpressured >= 40_000 && spent.idle >= 10_000, "{spent:?}");
        // Nothing counts twice, however long the machine takes.
        let whole = started.elapsed();
        assert!(Duration::from_micros(spent.busy + spent.idle + spent.backpressured) <= whole, "{spent:?} of {whole:?}");
    }
}
