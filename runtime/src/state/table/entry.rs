//! A key with its value, and what a disk has to know of it.

use crate::state::Slot;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry<K, V> {
    pub(in crate::state) hash: u64,
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
    #[cfg(feature = "disk")]
    pub(in crate::state) mark: u8,
}

/// It was asked for since its table was looked at for entries that can go to disk.
pub(in crate::state) const ASKED: u8 = 1;
/// A copy of it lies on disk.
#[cfg(feature = "disk")]
pub(in crate::state) const COPIED: u8 = 2;
/// It differs from its copy.
pub(in crate::state) const CHANGED: u8 = 4;
/// It differs from what the last checkpoint has of it, or is not there.
pub(in crate::state) const DIRTY: u8 = 8;
/// The last checkpoint may have it.
#[cfg(feature = "disk")]
pub(in crate::state) const KNOWN: u8 = 16;

/// It was given to somebody who may write to it.
pub(super) const WRITTEN: u8 = ASKED | CHANGED | DIRTY;

/// Entries that are gone: the table, the mark, the key.
#[cfg(feature = "disk")]
pub(in crate::state) type Gone<K> = Vec<(u32, u8, K)>;

impl<K, V> Entry<K, V> {
    /// One that was just put in.
    pub(super) fn new(hash: u64, key: K, value: V) -> Self {
        Entry {
            hash,
            key,
            value,
            #[cfg(feature = "disk")]
            mark: WRITTEN,
        }
    }

    /// Where the entry belongs.
    pub fn slot(&self, table: u32) -> Slot {
        Slot { table, hash: self.hash }
    }

    /// Notes what a disk has to know of it; without one, nothing.
    #[inline]
    pub(super) fn mark(&mut self, mark: u8) {
        #[cfg(feature = "disk")]
        {
            self.mark |= mark;
        }
        #[cfg(not(feature = "disk"))]
        let _ = mark;
    }
}
