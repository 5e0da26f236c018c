//! The timers of all keys, by time.
//!
//! What counts is the state of the keys: the queue may hold times that are no longer there. It never holds many more than
//! there are timers, so that setting and deleting again and again costs no memory.

use super::context::ChangedTimers;
use crate::state::Slot;
use crate::time::DueQueue;

/// Timers of one kind.
#[derive(Debug)]
pub(super) struct Timers<K> {
    queue: DueQueue<K>,
    live: usize,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Timers { queue: DueQueue::default(), live: 0 }
    }
}

impl<K: Clone> Timers<K> {
    /// Takes what a call has changed for this key.
    #[inline]
    pub fn take(&mut self, changed: &mut ChangedTimers, slot: Slot, key: &K) {
        if changed.is_nothing() {
            return;
        }
        self.live = (self.live + changed.set.len()).saturating_sub(std::mem::take(&mut changed.deleted));
        for at in changed.set.drain(..) {
            self.queue.push(at, slot, key.clone());
        }
    }

    /// Takes one from a checkpoint.
    pub fn restore(&mut self, at: i64, slot: Slot, key: &K) {
        self.live += 1;
        self.queue.push(at, slot, key.clone());
    }

    /// One has fired.
    pub fn fired(&mut self) {
        self.live = self.live.saturating_sub(1);
    }

    /// Puts one back that was taken before its time.
    pub fn put_back(&mut self, at: i64, slot: Slot, key: K) {
        self.queue.push(at, slot, key);
    }

    /// The first that is due; whether it still counts, the state of its key says.
    #[inline]
    pub fn pop(&mut self, now: i64) -> Option<(i64, Slot, K)> {
        self.queue.pop(now)
    }

    /// When the next may be due.
    pub fn next(&self) -> Option<i64> {
        self.queue.next()
    }

    /// How many timers there are.
    pub fn live(&self) -> usize {
        self.live
    }

    /// How many times are in the queue, whether they still count or not.
    #[cfg(test)]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Whether the queue should be filled anew, with [`Timers::clear`] and [`Timers::restore`].
    pub fn is_mostly_stale(&self) -> bool {
        self.queue.len() > 2 * self.live + 1024
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Timers::default();
    }
}
