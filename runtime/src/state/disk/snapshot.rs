//! A table that spills, as it was when a checkpoint took it.
//!
//! What was in memory was encoded then. What was on disk is read from a snapshot of the store, on the thread that writes the
//! checkpoint, while the task goes on.

use std::collections::{BTreeSet, HashSet};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fjall::{Readable, Snapshot};

use super::Disk;
use crate::checkpoint::pieces::{self, InPlace};
use crate::error::JobResult;
use crate::state::{State, StateReader};

/// Bytes that a key costs beside its own.
const OVERHEAD: usize = 48;

/// See the module.
pub struct SpilledTable<V> {
    count: u64,
    bytes: Vec<u8>,
    away: Option<Away>,
    /// Keys of copies on disk that do not count: the entries themselves were in memory.
    in_memory: HashSet<Vec<u8>>,
    value: PhantomData<fn() -> V>,
}

/// Entries on disk.
pub struct Away {
    // In front of the disk: it goes first.
    pub snapshot: Snapshot,
    pub disk: Arc<Disk>,
    pub prefix: Vec<u8>,
    pub count: usize,
}

impl Away {
    /// The entries, as they are on disk, but for copies of those that were in memory.
    fn each<V: State>(&self, in_memory: impl Fn(&[u8]) -> bool, mut each: impl FnMut(&[u8], V)) -> JobResult<()> {
        let Away { snapshot, disk, prefix, count } = self;
        let mut found = 0;
        for item in snapshot.prefix(&disk.store()?.entries, prefix) {
            let (at, bytes) = item.into_inner().map_err(|error| disk.failed(&error))?;
            let key = &at[prefix.len()..];
            if in_memory(key) {
                continue;
            }
            found += 1;
            each(key, self.decode(&bytes)?);
        }
        if found == *count { Ok(()) } else { Err(disk.damaged(&format!("{found} entries instead of {count}"))) }
    }

    /// The value of a key.
    fn get<V: State>(&self, key: &[u8]) -> JobResult<Option<V>> {
        let at = [self.prefix.as_slice(), key].concat();
        let found = self.snapshot.get(&self.disk.store()?.entries, at).map_err(|error| self.disk.failed(&error))?;
        found.map(|bytes| self.decode(&bytes)).transpose()
    }

    fn decode<V: State>(&self, bytes: &[u8]) -> JobResult<V> {
        V::decode_local(&mut StateReader::new(bytes)).map_err(|error| self.disk.damaged(&error.to_string()))
    }
}

impl<V: State> SpilledTable<V> {
    /// So many entries: those that are encoded already, and the others.
    pub fn new(count: u64, bytes: Vec<u8>, away: Option<Away>, in_memory: HashSet<Vec<u8>>) -> Self {
        SpilledTable { count, bytes, away, in_memory, value: PhantomData }
    }

    /// Appends the number of entries, then each key and value.
    pub fn encode(&self, out: &mut Vec<u8>) -> JobResult<()> {
        self.count.encode(out);
        out.extend_from_slice(&self.bytes);
        let Some(away) = &self.away else { return Ok(()) };
        away.each(
            |key| self.in_memory.contains(key),
            |key, value: V| {
                out.extend_from_slice(key);
                value.encode(out);
            },
        )
    }
}

/// What has changed in a table that spills, up to a checkpoint.
pub struct SpilledChanges<V> {
    /// How many entries the table has.
    live: u64,
    /// Keys that have changed and were not in memory. None: all of the table is meant.
    keys: Option<BTreeSet<Vec<u8>>>,
    /// What was in memory and has changed: here, among that of the other tables.
    shared: Encoded,
    at: Range<usize>,
    away: Option<Away>,
    value: PhantomData<fn() -> V>,
}

/// What was in memory of all tables of a state at a barrier. One buffer: as many as there are tables would be left behind as holes among
/// the entries when they are freed.
pub type Encoded = Arc<Mutex<Vec<u8>>>;

impl<V: State> SpilledChanges<V> {
    /// See the fields.
    pub fn new(live: u64, keys: Option<BTreeSet<Vec<u8>>>, shared: Encoded, at: Range<usize>, away: Option<Away>) -> Self {
        SpilledChanges { live, keys, shared, at, away, value: PhantomData }
    }

    /// How many entries the table has.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Whether it is all of the table.
    pub fn is_whole(&self) -> bool {
        self.keys.is_none()
    }

    /// About how many bytes it has in memory.
    pub fn weight(&self) -> usize {
        let keys = self.keys.iter().flatten().map(|key| key.len() + OVERHEAD).sum::<usize>();
        self.at.len() + keys
    }

    /// Appends a table of a piece up to its end. What was in memory comes last: it counts, whatever was noted of its key.
    pub fn encode(&self, name: &[u8], out: &mut Vec<u8>) -> JobResult<()> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &shared[self.at.clone()];
        pieces::write_table(name, self.keys.is_none(), out);
        let mut in_place = InPlace::default();
        let mut put = |key: &[u8], value: V, out: &mut Vec<u8>| {
            in_place.put(|out| out.extend_from_slice(key), |out| value.encode(out), out);
        };
        match (&self.keys, &self.away) {
            (None, Some(away)) => {
                // Found out here, so that the barrier need not wait for it.
                let in_memory = pieces::keys(bytes);
                away.each(|key| in_memory.contains(key), |key, value| put(key, value, out))?;
            }
            (None, None) => {}
            (Some(keys), away) => {
                for key in keys {
                    match away.as_ref().map(|away| away.get::<V>(key)).transpose()?.flatten() {
                        Some(value) => put(key, value, out),
                        None => pieces::removed(key, out),
                    }
                }
            }
        }
        out.extend_from_slice(bytes);
        Ok(())
    }
}
