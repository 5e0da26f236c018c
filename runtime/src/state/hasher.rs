//! The place of keys: a key is encoded and hashed once; the hash gives its key group and its place in the table.

use super::{KeyGroupRange, KeyGroups, State, hash_bytes};
use crate::error::JobError;
use crate::operator::OperatorContext;

/// Finds the place of keys: their key group and their hash.
#[derive(Clone, Debug)]
pub struct KeyHasher {
    groups: KeyGroups,
    range: KeyGroupRange,
    scratch: Vec<u8>,
    #[cfg(feature = "disk")]
    disk: Option<std::sync::Arc<super::Disk>>,
}

/// The place of a key in the tables of a subtask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The number of the table, counted from the first key group of the subtask.
    pub table: u32,
    pub(super) hash: u64,
}

impl Slot {
    /// The place in [`KeyedTables::one`](super::KeyedTables::one).
    pub fn in_one(self) -> Slot {
        Slot { table: 0, ..self }
    }
}

impl KeyHasher {
    /// For the key groups of this subtask.
    pub fn new(context: &OperatorContext) -> Self {
        KeyHasher {
            groups: context.key_groups(),
            range: context.key_group_range(),
            scratch: Vec::with_capacity(64),
            #[cfg(feature = "disk")]
            disk: context.disk.clone(),
        }
    }

    /// Where entries go that do not fit into memory.
    #[cfg(feature = "disk")]
    pub(super) fn disk(&self) -> Option<std::sync::Arc<super::Disk>> {
        self.disk.clone()
    }

    /// The key groups of the subtask.
    pub fn range(&self) -> KeyGroupRange {
        self.range
    }

    /// The place of a key. A key of another subtask's key group is a bug of the exchange, and reported.
    #[inline]
    pub fn slot<K: State>(&mut self, key: &K) -> Result<Slot, JobError> {
        self.scratch.clear();
        key.encode(&mut self.scratch);
        let hash = hash_bytes(&self.scratch);
        let group = self.groups.of_hash(hash);
        let table = u32::from(group).wrapping_sub(self.range.start);
        if table as usize >= self.range.len() {
            return Err(wrong_subtask(group, self.range));
        }
        Ok(Slot { table, hash })
    }
}

impl Default for KeyHasher {
    fn default() -> Self {
        KeyHasher::new(&OperatorContext::single(""))
    }
}

#[cold]
fn wrong_subtask(group: u16, range: KeyGroupRange) -> JobError {
    JobError::new(format!(
        "a row of key group {group} came to the subtask of key groups {}..{}: the exchange before it uses another key",
        range.start, range.end
    ))
}
