//! What a task shows of itself while it runs.

use std::sync::Mutex;
use std::time::Duration;

use super::times::TaskTimes;
use crate::chain::ChainReport;
use crate::seam::Instant;

/// How often a task publishes.
const INTERVAL: Duration = Duration::from_millis(100);

/// Counters of one task, published a few times per second.
#[derive(Debug, Default)]
pub(crate) struct TaskStatus {
    published: Mutex<StatusSnapshot>,
    pub times: TaskTimes,
}

/// Counters of one task at some moment.
#[derive(Clone, Debug)]
pub(crate) struct StatusSnapshot {
    pub report: ChainReport,
    pub watermark: i64,
    pub ended: bool,
}

impl Default for StatusSnapshot {
    fn default() -> Self {
        StatusSnapshot { report: ChainReport::default(), watermark: i64::MIN, ended: false }
    }
}

impl TaskStatus {
    pub(crate) fn read(&self) -> StatusSnapshot {
        self.published.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    pub(crate) fn publish(&self, snapshot: StatusSnapshot) {
        *self.published.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = snapshot;
    }
}

/// Says when to publish.
#[derive(Debug)]
pub(crate) struct PublishClock {
    next: Instant,
}

impl PublishClock {
    pub(crate) fn new() -> Self {
        PublishClock { next: Instant::now() }
    }

    /// When the next time is.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            self.next = now + INTERVAL;
        }
        due
    }
}
