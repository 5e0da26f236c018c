//! Which entries of keyed tables are in memory, and which on disk.
//!
//! An entry has a mark: whether it was asked for since the last look (then it stays for this time), whether a copy of it lies on
//! disk, and whether it differs from that. Entries that go are written only if they differ. For checkpoints that hold what has changed it
//! also says whether the entry differs from what the last one has, and whether that may have it; of entries that are not in memory
//! [`Changed`] knows. Keys on disk are the number of the
//! tables, the table, and the encoded key, so that a table can be read as a whole.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::Disk;
use super::changes::Changed;
use super::snapshot::{Away, Encoded, SpilledChanges, SpilledTable};
use crate::bytes::large_buffer;
use crate::checkpoint::pieces::InPlace;
use crate::error::JobResult;
use crate::record::Key;
use crate::state::table::{ASKED, CHANGED, COPIED, DIRTY, Entry, Gone, KNOWN, Table};
use crate::state::{Slot, State, StateError, StateReader, hash_bytes};

/// Entries with longer keys stay in memory: the store takes none of 64 KB.
const LONGEST_KEY: usize = 60_000;

/// So many calls from one look at the memory to the next.
const CALLS: u32 = 64;

/// Bytes in front of the key: the numbers of the tables and the table.
const PREFIX: usize = 6;

/// So many bytes of keys that have changed are never too many.
const KEYS: usize = 16 << 10;

/// So many entries are written at a time.
const BATCH: usize = 512;

/// Bytes of an entry beside key and value: its number in the hash table, and what allocations cost.
const OVERHEAD: usize = 32;

/// What does not belong to the entries in memory.
pub struct Spill<K> {
    disk: Arc<Disk>,
    number: u32,
    /// Per table, how many entries are on disk only.
    away: Vec<usize>,
    /// Entries that were removed and have a copy on disk or in a checkpoint.
    gone: Gone<K>,
    /// What has changed since the last checkpoint and is not in memory.
    changed: Changed,
    /// The entry that is looked at next: table, place.
    hand: (usize, usize),
    calls: u32,
    every: u32,
    /// The bytes of an encoded entry, on average.
    encoded: usize,
    /// How often that was looked at.
    looks: usize,
    charged: usize,
    /// What is being encoded at a barrier.
    shared: Encoded,
    has_written: bool,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<K> std::fmt::Debug for Spill<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spill").field("away", &self.away).finish_non_exhaustive()
    }
}

impl<K> Drop for Spill<K> {
    fn drop(&mut self) {
        self.disk.charge(self.charged, 0);
        self.disk.leave(self.number, self.has_written);
    }
}

impl<K: Key> Spill<K> {
    /// For so many tables.
    pub fn new(disk: Arc<Disk>, tables: usize) -> Self {
        let number = disk.enter();
        let every = if disk.cache() < 1 << 16 { 1 } else { CALLS };
        Spill {
            disk,
            number,
            away: vec![0; tables],
            gone: Vec::new(),
            changed: Changed::new(tables),
            hand: (0, 0),
            calls: 0,
            every,
            encoded: 16,
            looks: 0,
            charged: 0,
            shared: Encoded::default(),
            has_written: false,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Where removals are noted.
    pub fn gone(&mut self) -> &mut Gone<K> {
        &mut self.gone
    }

    /// All entries of a table are about to go: the next checkpoint has what is there then.
    pub fn begin_anew(&mut self, table: usize) {
        self.changed.begin_anew(table);
    }

    /// How many entries of a table are on disk only.
    pub fn away(&self, table: usize) -> usize {
        self.away[table]
    }

    /// How many entries of all tables are on disk only.
    pub fn all_away(&self) -> usize {
        self.away.iter().sum()
    }

    /// Brings the entry of a key into memory, if there is one.
    #[inline]
    pub fn fetch<V: State>(&mut self, tables: &mut [Table<K, V>], slot: Slot, key: &K) -> JobResult<()> {
        self.calls += 1;
        if self.calls >= self.every || !self.gone.is_empty() {
            self.settle(tables)?;
        }
        let table = slot.table as usize;
        if self.away[table] > 0 && tables[table].get(slot.hash, key).is_none() {
            self.load(&mut tables[table], slot, key)?;
        }
        Ok(())
    }

    /// Takes removed entries off the disk, and entries that nobody asks for out of memory if there are too many.
    pub fn settle<V: State>(&mut self, tables: &mut [Table<K, V>]) -> JobResult<()> {
        self.forget_gone()?;
        self.calls = 0;
        let entries: usize = tables.iter().map(|table| table.len()).sum();
        self.sample(tables);
        let each = size_of::<Entry<K, V>>() + OVERHEAD + self.encoded;
        let mut bytes = entries * each;
        let (most, share) = (self.disk.cache(), self.disk.share());
        // Where that takes too much memory, the next checkpoint has everything.
        self.changed.keep_within((share / 4).max(KEYS));
        let keys = self.changed.bytes();
        let total = self.disk.charge(self.charged, bytes + keys);
        if total > most && bytes > share {
            // A little more than is too much, so that it is not to be done again at once.
            let keep = (bytes - (total - most).min(bytes)).max(share) / each;
            let evicted = self.evict(tables, entries - (keep - keep / 16).min(entries))?;
            let after = (entries - evicted) * each;
            self.disk.charge(bytes, after);
            bytes = after;
            self.disk.tidy()?;
        }
        self.charged = bytes + keys;
        Ok(())
    }

    /// Looks at how large entries are.
    fn sample<V: State>(&mut self, tables: &mut [Table<K, V>]) {
        self.looks = self.looks.wrapping_add(1);
        let count = tables.len();
        let Some(entry) = tables[self.looks % count].sample(self.looks.wrapping_mul(7919)) else { return };
        self.value.clear();
        entry.key.encode(&mut self.value);
        entry.value.encode_local(&mut self.value);
        self.encoded = (15 * self.encoded + self.value.len()).div_ceil(16);
    }

    fn forget_gone(&mut self) -> JobResult<()> {
        while let Some((table, mark, key)) = self.gone.pop() {
            self.encode_key(table as usize, &key);
            if mark & KNOWN != 0 {
                self.changed.note(table as usize, &self.key[PREFIX..]);
            }
            if mark & COPIED != 0 {
                let store = self.disk.store()?;
                store.entries.remove(self.key.as_slice()).map_err(|error| self.disk.failed(&error))?;
            }
        }
        Ok(())
    }

    fn encode_key(&mut self, table: usize, key: &K) {
        self.key.clear();
        self.key.extend_from_slice(&self.number.to_be_bytes());
        self.key.extend_from_slice(&(table as u16).to_be_bytes());
        key.encode(&mut self.key);
    }

    fn load<V: State>(&mut self, entries: &mut Table<K, V>, slot: Slot, key: &K) -> JobResult<()> {
        let table = slot.table as usize;
        self.encode_key(table, key);
        let store = self.disk.store()?;
        let Some(bytes) = store.entries.get(&self.key).map_err(|error| self.disk.failed(&error))? else { return Ok(()) };
        let value = self.decode(&bytes)?;
        // Whether the last checkpoint has it is not known any more: it may.
        let dirty = if self.changed.forget(table, &self.key[PREFIX..]) { DIRTY } else { 0 };
        entries.insert(slot.hash, key.clone(), value, ASKED | COPIED | KNOWN | dirty);
        self.away[table] -= 1;
        Ok(())
    }

    fn decode<T: State>(&self, bytes: &[u8]) -> JobResult<T> {
        let mut input = StateReader::new(bytes);
        T::decode_local(&mut input).map_err(|error: StateError| self.disk.damaged(&error.to_string()))
    }

    /// Takes so many entries out of memory; gives how many it were.
    fn evict<V: State>(&mut self, tables: &mut [Table<K, V>], count: usize) -> JobResult<usize> {
        let store = self.disk.store()?;
        let mut batch = store.batch();
        // Twice around: what was asked for the first time goes the second time.
        let all: usize = tables.iter().map(|table| table.len() + 1).sum();
        let (mut evicted, mut looks) = (0, 2 * all + 1);
        while evicted < count && looks > 0 {
            looks -= 1;
            let (table, place) = self.hand;
            let entries = &mut tables[table];
            let Some((place, entry)) = entries.next_from(place) else {
                self.hand = ((table + 1) % tables.len(), 0);
                continue;
            };
            self.key.clear();
            self.key.extend_from_slice(&self.number.to_be_bytes());
            self.key.extend_from_slice(&(table as u16).to_be_bytes());
            entry.key.encode(&mut self.key);
            if entry.mark & ASKED != 0 || self.key.len() > LONGEST_KEY {
                entry.mark &= !ASKED;
                self.hand.1 = place + 1;
                continue;
            }
            if entry.mark & (CHANGED | COPIED) != COPIED {
                self.value.clear();
                entry.value.encode_local(&mut self.value);
                batch.insert(&store.entries, self.key.as_slice(), self.value.as_slice());
            }
            if entry.mark & DIRTY != 0 {
                self.changed.note(table, &self.key[PREFIX..]);
            }
            entries.evict(place);
            self.hand.1 = place;
            self.away[table] += 1;
            evicted += 1;
            if batch.len() >= BATCH {
                std::mem::replace(&mut batch, store.batch()).commit().map_err(|error| self.disk.failed(&error))?;
            }
        }
        batch.commit().map_err(|error| self.disk.failed(&error))?;
        self.has_written |= evicted > 0;
        Ok(evicted)
    }

    /// What a table has now, for a checkpoint: encoded as far as it is in memory, the rest is read when it is written.
    pub fn snapshot<V: State>(&mut self, table: usize, entries: &mut Table<K, V>) -> JobResult<SpilledTable<V>> {
        self.forget_gone()?;
        let away = self.away[table];
        let mut bytes = Vec::new();
        let mut in_memory = HashSet::new();
        for entry in entries.iter() {
            let from = bytes.len();
            entry.key.encode(&mut bytes);
            if away > 0 && entry.mark & COPIED != 0 {
                in_memory.insert(bytes[from..].to_vec());
            }
            entry.value.encode(&mut bytes);
        }
        Ok(SpilledTable::new((entries.len() + away) as u64, bytes, self.on_disk(table)?, in_memory))
    }

    /// What has changed in a table since the last call, for a checkpoint; all of it if `anew`, or if that is not known. What is in
    /// memory is encoded, the rest is read when it is written.
    pub fn changes<V: State>(&mut self, table: usize, entries: &mut Table<K, V>, anew: bool) -> JobResult<SpilledChanges<V>> {
        self.forget_gone()?;
        let keys = self.changed.take(table).filter(|_| !anew);
        let anew = keys.is_none();
        let away = self.away[table];
        // Tables come one after the other, from the first.
        if table == 0 {
            self.shared = Arc::new(Mutex::new(large_buffer(self.charged)));
        }
        let is_last = table + 1 == self.away.len();
        let shared = if is_last { std::mem::take(&mut self.shared) } else { self.shared.clone() };
        let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, mut in_place) = (bytes.len(), InPlace::default());
        for entry in entries.iter_mut() {
            if anew || entry.mark & DIRTY != 0 {
                in_place.put(|out| entry.key.encode(out), |out| entry.value.encode(out), &mut bytes);
            }
            entry.mark = entry.mark & !DIRTY | KNOWN;
        }
        let live = (entries.len() + away) as u64;
        let at = from..bytes.len();
        drop(bytes);
        Ok(SpilledChanges::new(live, keys, shared, at, self.on_disk(table)?))
    }

    /// What is in a table is what the last checkpoint has of it.
    pub fn restored<V>(&mut self, table: usize, entries: &mut Table<K, V>) -> JobResult<()> {
        self.forget_gone()?;
        self.changed.take(table);
        entries.iter_mut().for_each(|entry| entry.mark = entry.mark & !DIRTY | KNOWN);
        Ok(())
    }

    /// What of a table is on disk only, as it is now. None: nothing is.
    fn on_disk(&self, table: usize) -> JobResult<Option<Away>> {
        let count = self.away[table];
        if count == 0 {
            return Ok(None);
        }
        let snapshot = self.disk.store()?.snapshot();
        Ok(Some(Away { snapshot, disk: self.disk.clone(), prefix: self.prefix(table), count }))
    }

    fn prefix(&self, table: usize) -> Vec<u8> {
        [&self.number.to_be_bytes()[..], &(table as u16).to_be_bytes()].concat()
    }

    /// Every entry of a table that is on disk only, to be changed: gives what becomes of it.
    pub fn each_away<V: State, E: From<crate::error::JobError>>(
        &mut self,
        table: usize,
        entries: &mut Table<K, V>,
        mut each: impl FnMut(Slot, K, &mut V) -> Result<Fate, E>,
    ) -> Result<(), E> {
        self.forget_gone()?;
        if self.away[table] == 0 {
            return Ok(());
        }
        let store = self.disk.store()?;
        let mut batch = store.batch();
        let prefix = self.prefix(table);
        for item in store.entries.prefix(&prefix) {
            let (at, bytes) = item.into_inner().map_err(|error| self.disk.failed(&error))?;
            let encoded = &at[prefix.len()..];
            let slot = Slot { table: table as u32, hash: hash_bytes(encoded) };
            let key = K::decode(&mut StateReader::new(encoded)).map_err(|error| self.disk.damaged(&error.to_string()))?;
            if entries.get(slot.hash, &key).is_some() {
                continue;
            }
            let mut value = self.decode(&bytes)?;
            match each(slot, key, &mut value)? {
                Fate::Stays => continue,
                Fate::Changed => {
                    self.changed.note(table, encoded);
                    self.value.clear();
                    value.encode_local(&mut self.value);
                    batch.insert(&store.entries, at, self.value.as_slice());
                }
                Fate::Goes => {
                    self.changed.note(table, encoded);
                    self.away[table] -= 1;
                    batch.remove(&store.entries, at);
                }
            }
            if batch.len() >= BATCH {
                std::mem::replace(&mut batch, store.batch()).commit().map_err(|error| self.disk.failed(&error))?;
            }
        }
        Ok(batch.commit().map_err(|error| self.disk.failed(&error))?)
    }
}

/// What becomes of an entry on disk that was looked at.
pub enum Fate {
    /// Nothing.
    Stays,
    /// It has another value now.
    Changed,
    /// It is removed.
    Goes,
}
