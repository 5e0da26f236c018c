//! A table that spills, as it was when a checkpoint took it.
//!
//! What was in memory was encoded then. What was on disk is read from a snapshot of the store, on the thread that writes the
//! checkpoint, while the task goes on.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

use fjall::{Readable, Snapshot};

use super::Disk;
use crate::error::JobResult;
use crate::state::{State, StateReader};

/// See the module.
pub struct SpilledTable<V> {
    count: u64,
    bytes: Vec<u8>,
    away: Option<Away>,
    value: PhantomData<fn() -> V>,
}

/// Entries on disk.
pub struct Away {
    // In front of the disk: it goes first.
    pub snapshot: Snapshot,
    pub disk: Arc<Disk>,
    pub prefix: Vec<u8>,
    pub count: usize,
    /// Keys of copies that do not count: the entries themselves were in memory.
    pub in_memory: HashSet<Vec<u8>>,
}

impl<V: State> SpilledTable<V> {
    /// So many entries: those that are encoded already, and the others.
    pub fn new(count: u64, bytes: Vec<u8>, away: Option<Away>) -> Self {
        SpilledTable { count, bytes, away, value: PhantomData }
    }

    /// Appends the number of entries, then each key and value.
    pub fn encode(&self, out: &mut Vec<u8>) -> JobResult<()> {
        self.count.encode(out);
        out.extend_from_slice(&self.bytes);
        let Some(Away { snapshot, disk, prefix, count, in_memory }) = &self.away else { return Ok(()) };
        let mut found = 0;
        for item in snapshot.prefix(&disk.store()?.entries, prefix) {
            let (at, bytes) = item.into_inner().map_err(|error| disk.failed(&error))?;
            let key = &at[prefix.len()..];
            if in_memory.contains(key) {
                continue;
            }
            found += 1;
            out.extend_from_slice(key);
            let value = V::decode_local(&mut StateReader::new(&bytes)).map_err(|error| disk.damaged(&error.to_string()))?;
            value.encode(out);
        }
        if found == *count { Ok(()) } else { Err(disk.damaged(&format!("{found} entries instead of {count}"))) }
    }
}
