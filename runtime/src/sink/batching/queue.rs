//! Which rows go when: what waits, what is under way, and how much the service takes. Knows no clock and no threads.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::{BatchSettings, Entry, SendOutcome};
use crate::error::{JobError, JobResult};

/// Rows more under way after a request that went well.
const GROWTH: usize = 10;

#[derive(Debug)]
pub(super) struct Queue {
    settings: BatchSettings,
    /// In the order in which the rows came.
    waiting: VecDeque<Item>,
    waiting_bytes: usize,
    requests: BTreeMap<u64, Vec<Item>>,
    /// Rows in requests.
    under_way: usize,
    /// How many rows may be.
    limit: usize,
    next_row: u64,
    next_request: u64,
    /// When the oldest row that waits came.
    since: Option<Instant>,
    /// Rows before this one go whether or not they fill a batch.
    drain_to: u64,
    pause_until: Option<Instant>,
    /// Requests that came back, without one in between that went well.
    failures: u32,
}

#[derive(Debug)]
struct Item {
    number: u64,
    entry: Entry,
    tries: u32,
}

impl Queue {
    pub(super) fn new(settings: BatchSettings) -> Self {
        Queue {
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            requests: BTreeMap::new(),
            under_way: 0,
            limit: settings.batch_rows.saturating_mul(settings.in_flight),
            next_row: 0,
            next_request: 0,
            since: None,
            drain_to: 0,
            pause_until: None,
            failures: 0,
            settings,
        }
    }

    pub(super) fn push(&mut self, entries: impl IntoIterator<Item = Entry>, now: Instant) {
        for entry in entries {
            self.waiting_bytes += entry.bytes().len();
            self.waiting.push_back(Item { number: self.next_row, entry, tries: 0 });
            self.next_row += 1;
        }
        if self.since.is_none() && !self.waiting.is_empty() {
            self.since = Some(now);
        }
    }

    /// Rows that are not acknowledged.
    pub(super) fn outstanding(&self) -> usize {
        self.waiting.len() + self.under_way
    }

    pub(super) fn is_full(&self) -> bool {
        self.outstanding() >= self.settings.buffered
    }

    /// Everything that is there goes without waiting for more.
    pub(super) fn drain(&mut self) {
        self.drain_to = self.next_row;
    }

    /// The next request, if it may be made now: its number and its rows.
    pub(super) fn take(&mut self, now: Instant) -> Option<(u64, Vec<Entry>)> {
        if self.since.is_some_and(|since| now >= since + self.settings.linger) {
            self.drain();
        }
        self.pause_until = self.pause_until.filter(|until| now < *until);
        if self.pause_until.is_some() || self.requests.len() >= self.settings.in_flight {
            return None;
        }
        let most = self.settings.batch_rows.min(self.limit);
        let first = self.waiting.front()?;
        let full = self.waiting.len() >= most || self.waiting_bytes >= self.settings.batch_bytes;
        if !full && first.number >= self.drain_to {
            return None;
        }
        let (mut rows, mut bytes) = (0, 0);
        for item in self.waiting.iter().take(most) {
            let len = item.entry.bytes().len();
            if rows > 0 && bytes + len > self.settings.batch_bytes {
                break;
            }
            rows += 1;
            bytes += len;
        }
        if self.under_way > 0 && self.under_way + rows > self.limit {
            return None;
        }
        let items: Vec<Item> = self.waiting.drain(..rows).collect();
        self.waiting_bytes -= bytes;
        self.under_way += rows;
        self.since = (!self.waiting.is_empty()).then_some(now);
        let entries = items.iter().map(|item| item.entry.clone()).collect();
        let request = self.next_request;
        self.next_request += 1;
        self.requests.insert(request, items);
        Some((request, entries))
    }

    /// When `take` may have something without anything else happening.
    pub(super) fn next_time(&self) -> Option<Instant> {
        let front = self.waiting.front()?;
        match self.pause_until {
            Some(until) => Some(until),
            // Due, but for requests that are under way.
            None if front.number < self.drain_to => None,
            None => self.since.map(|since| since + self.settings.linger),
        }
    }

    /// What came of a request. Gives how many of its rows go again.
    pub(super) fn done(&mut self, request: u64, outcome: SendOutcome, now: Instant) -> JobResult<usize> {
        let Some(items) = self.requests.remove(&request) else { return Ok(0) };
        self.under_way -= items.len();
        let (entries, reason, after) = match outcome {
            SendOutcome::Sent => {
                self.failures = 0;
                let most = self.settings.batch_rows.saturating_mul(self.settings.in_flight);
                self.limit = self.limit.saturating_add(GROWTH).min(most);
                return Ok(0);
            }
            SendOutcome::Failed(error) => return Err(error),
            SendOutcome::Retry { entries, reason, after } => (entries, reason, after),
        };
        self.failures = self.failures.saturating_add(1);
        self.limit = (self.limit / 2).max(1);
        let pause = self.settings.retry.delay(self.failures).max(after.unwrap_or(Duration::ZERO));
        // A request that went well meanwhile does not shorten what the service has asked for.
        self.pause_until = self.pause_until.max(Some(now + pause));
        let again = items.into_iter().enumerate().filter(|(place, _)| entries.as_ref().is_none_or(|all| all.contains(place)));
        let mut count = 0;
        // Before everything that came later, whichever request comes back first.
        let mut place = 0;
        for (_, mut item) in again {
            item.tries += 1;
            if item.tries > self.settings.retry.retries {
                return Err(JobError::transient(format!("rows could not be sent in {} tries: {reason}", item.tries)));
            }
            while self.waiting.get(place).is_some_and(|other| other.number < item.number) {
                place += 1;
            }
            // They have waited long enough.
            self.drain_to = self.drain_to.max(item.number + 1);
            self.waiting_bytes += item.entry.bytes().len();
            self.waiting.insert(place, item);
            count += 1;
        }
        self.since = self.since.or_else(|| (!self.waiting.is_empty()).then_some(now));
        Ok(count)
    }

    /// How many rows may be under way now.
    #[cfg(test)]
    pub(super) fn limit(&self) -> usize {
        self.limit
    }
}
