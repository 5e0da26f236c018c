//! How far an operator's event time has come, key group by key group after a restore.

use super::Watermark;
use crate::state::Slot;

/// The watermark of an operator.
///
/// After a restore the input starts with no watermark, but rows that were late must stay late: each key group keeps the
/// watermark of its last run until the new one has caught up with all of them.
#[derive(Clone, Debug)]
pub struct Progress {
    watermark: i64,
    /// By table (key group of the subtask).
    restored: Option<Box<[i64]>>,
}

impl Default for Progress {
    fn default() -> Self {
        Progress { watermark: i64::MIN, restored: None }
    }
}

impl Progress {
    /// Goes on from these watermarks, one per key group of the subtask.
    pub fn restored(watermarks: Vec<i64>) -> Self {
        let watermark = watermarks.iter().copied().min().unwrap_or(i64::MIN);
        let differ = watermarks.iter().any(|other| *other != watermark);
        Progress { watermark, restored: differ.then(|| watermarks.into_boxed_slice()) }
    }

    /// The watermark up to which all key groups have come.
    #[inline]
    pub fn watermark(&self) -> i64 {
        self.watermark
    }

    /// The watermark of the key group of a key.
    #[inline]
    pub fn of(&self, slot: Slot) -> i64 {
        self.of_table(slot.table)
    }

    /// The watermark of a key group.
    #[inline]
    pub fn of_table(&self, table: u32) -> i64 {
        match &self.restored {
            None => self.watermark,
            Some(restored) => restored.get(table as usize).map_or(self.watermark, |before| self.watermark.max(*before)),
        }
    }

    /// Takes a new watermark. False: it brings nothing new.
    #[inline]
    pub fn advance(&mut self, watermark: Watermark) -> bool {
        if watermark.0 <= self.watermark {
            return false;
        }
        self.watermark = watermark.0;
        if self.restored.as_ref().is_some_and(|restored| restored.iter().all(|before| *before <= watermark.0)) {
            self.restored = None;
        }
        true
    }
}
