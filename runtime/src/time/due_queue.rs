//! Event-time timers: which keys have something to do, and when.
//!
//! Timers are not part of checkpoints: operators set them again from their restored state.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::state::Slot;

/// Keys by the time at which they are due. A key may be in it several times; operators skip what no longer holds.
#[derive(Clone, Debug)]
pub struct DueQueue<K> {
    heap: BinaryHeap<Due<K>>,
}

impl<K> Default for DueQueue<K> {
    fn default() -> Self {
        DueQueue { heap: BinaryHeap::new() }
    }
}

impl<K> DueQueue<K> {
    /// Adds a key that is due when the watermark has reached `at`.
    pub fn push(&mut self, at: i64, slot: Slot, key: K) {
        self.heap.push(Due { at, slot, key });
    }

    /// The time of the first.
    #[inline]
    pub fn next(&self) -> Option<i64> {
        self.heap.peek().map(|due| due.at)
    }

    /// Takes the first, if it is due at this watermark.
    #[inline]
    pub fn pop(&mut self, watermark: i64) -> Option<(i64, Slot, K)> {
        if self.next()? > watermark {
            return None;
        }
        self.heap.pop().map(|due| (due.at, due.slot, due.key))
    }

    /// Entries that are due later are due then.
    pub fn no_later_than(&mut self, at: i64) {
        self.heap = self.heap.drain().map(|due| Due { at: due.at.min(at), ..due }).collect();
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.heap.clear();
    }
}

#[derive(Clone, Debug)]
struct Due<K> {
    at: i64,
    slot: Slot,
    key: K,
}

impl<K> PartialEq for Due<K> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<K> Eq for Due<K> {}

impl<K> PartialOrd for Due<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The heap gives its greatest first: the earliest is the greatest.
impl<K> Ord for Due<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at)
    }
}
