//! What people see of a sink's commits.

use std::sync::{Mutex, PoisonError};

use crate::sink::{CommitCounters, CommitCounts};

/// The commits of one sink since the process started, over all its attempts.
#[derive(Debug)]
pub(crate) struct SinkStatus {
    /// `counts into file`
    pub name: String,
    pub counters: CommitCounters,
    first_failure: Mutex<Option<String>>,
}

impl SinkStatus {
    pub(crate) fn new(name: &str) -> Self {
        SinkStatus { name: name.to_owned(), counters: CommitCounters::default(), first_failure: Mutex::default() }
    }

    pub(crate) fn counts(&self) -> CommitCounts {
        self.counters.read()
    }

    /// A committable is lost for this reason.
    pub(crate) fn lost(&self, reason: &str) {
        self.counters.failed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut first = self.first_failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| reason.to_owned());
    }

    /// Why the first one was lost; None: nothing is lost.
    pub(crate) fn first_failure(&self) -> Option<String> {
        self.first_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
