//! Keyed state: one hash table per key group, copied on the first write after a snapshot.
//!
//! A key is encoded and hashed once ([`KeyHasher`]); the hash gives its key group and its place in the table. A snapshot moves
//! each table behind a reference count, which costs the pipeline nothing. The next write to a table takes it back: for free
//! if it has been encoded by then, by a copy if not.

use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::{Entry as TableEntry, OccupiedEntry, VacantEntry};

use super::{KeyGroupRange, KeyGroups, State, StateError, StateReader, hash_bytes};
use crate::error::JobError;
use crate::operator::OperatorContext;
use crate::record::Key;

/// Finds the place of keys: their key group and their hash.
#[derive(Clone, Debug)]
pub struct KeyHasher {
    groups: KeyGroups,
    range: KeyGroupRange,
    scratch: Vec<u8>,
}

/// The place of a key in the tables of a subtask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The number of the table, counted from the first key group of the subtask.
    pub table: u32,
    hash: u64,
}

impl KeyHasher {
    /// For the key groups of this subtask.
    pub fn new(context: &OperatorContext) -> Self {
        KeyHasher { groups: context.key_groups(), range: context.key_group_range(), scratch: Vec::with_capacity(64) }
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

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry<K, V> {
    hash: u64,
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
}

impl<K, V> Entry<K, V> {
    /// Where the entry belongs.
    pub fn slot(&self, table: u32) -> Slot {
        Slot { table, hash: self.hash }
    }
}

/// One table per key group of the subtask.
#[derive(Clone, Debug)]
pub struct KeyedTables<K, V> {
    tables: Vec<Table<K, V>>,
}

/// One key group. Where `shared` is there, `owned` is empty.
#[derive(Clone, Debug)]
struct Table<K, V> {
    owned: Entries<K, V>,
    shared: Option<Arc<Entries<K, V>>>,
}

/// Entries lie one behind the other, in the order in which they came (but the last fills the place of one that goes): growing
/// moves only their numbers about, reading all of them is fast, and the order is the same in every run.
#[derive(Clone, Debug)]
struct Entries<K, V> {
    numbers: HashTable<u32>,
    list: Vec<Entry<K, V>>,
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Entries { numbers: HashTable::new(), list: Vec::new() }
    }
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { owned: Entries::default(), shared: None }
    }
}

impl<K, V> Entries<K, V> {
    /// Takes away one entry; the last takes its place.
    fn remove(&mut self, number: usize) {
        let entry = self.list.swap_remove(number);
        let same = |other: &u32| *other as usize == number;
        if let Ok(place) = self.numbers.find_entry(spread(entry.hash), same) {
            place.remove();
        }
        if let Some(moved) = self.list.get(number) {
            let before = self.list.len();
            if let Some(of_moved) = self.numbers.find_mut(spread(moved.hash), |other| *other as usize == before) {
                *of_moved = number as u32;
            }
        }
    }

    /// Gives back memory when three of four places are free.
    fn shrink(&mut self) {
        let len = self.list.len();
        if self.list.capacity() > 64 && len < self.list.capacity() / 4 {
            self.list.shrink_to(2 * len);
            let list = &self.list;
            self.numbers.shrink_to(2 * len, |number| spread(list[*number as usize].hash));
        }
    }
}

/// All keys of a key group agree in `hash % groups`; the table looks at other bits first.
#[inline]
fn spread(hash: u64) -> u64 {
    hash.rotate_left(32)
}

impl<K, V> Table<K, V> {
    fn read(&self) -> &Entries<K, V> {
        self.shared.as_deref().unwrap_or(&self.owned)
    }
}

impl<K: Clone, V: Clone> Table<K, V> {
    #[inline]
    fn write(&mut self) -> &mut Entries<K, V> {
        if self.shared.is_some() {
            self.take_back();
        }
        &mut self.owned
    }

    #[cold]
    fn take_back(&mut self) {
        if let Some(shared) = self.shared.take() {
            self.owned = Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone());
        }
    }
}

/// What a key has: nothing yet, or a value.
pub enum Place<'a, K, V> {
    /// The key has a value.
    Occupied(Occupied<'a, K, V>),
    /// The key has none.
    Vacant(Vacant<'a, K, V>),
}

/// A key that has a value.
pub struct Occupied<'a, K, V> {
    number: OccupiedEntry<'a, u32>,
    list: &'a mut Vec<Entry<K, V>>,
}

impl<'a, K, V> Occupied<'a, K, V> {
    /// The value.
    #[inline]
    pub fn value(&mut self) -> &mut V {
        &mut self.list[*self.number.get() as usize].value
    }

    /// The value, for as long as the tables.
    #[inline]
    pub fn into_value(self) -> &'a mut V {
        &mut self.list[*self.number.get() as usize].value
    }

    /// Takes the key and its value away.
    pub fn remove(self) -> (K, V) {
        let (number, place) = self.number.remove();
        let entry = self.list.swap_remove(number as usize);
        if let Some(moved) = self.list.get(number as usize) {
            let before = self.list.len() as u32;
            if let Some(of_moved) = place.into_table().find_mut(spread(moved.hash), |number| *number == before) {
                *of_moved = number;
            }
        }
        (entry.key, entry.value)
    }
}

/// A key that has no value.
pub struct Vacant<'a, K, V> {
    number: VacantEntry<'a, u32>,
    list: &'a mut Vec<Entry<K, V>>,
    hash: u64,
}

impl<'a, K, V> Vacant<'a, K, V> {
    /// Gives the key its first value.
    #[inline]
    pub fn insert(self, key: K, value: V) -> &'a mut V {
        let number = self.list.len();
        self.number.insert(number as u32);
        self.list.push(Entry { hash: self.hash, key, value });
        &mut self.list[number].value
    }
}

impl<K: Key, V: Clone> KeyedTables<K, V> {
    /// Empty tables for these key groups.
    pub fn new(range: KeyGroupRange) -> Self {
        KeyedTables { tables: (0..range.len()).map(|_| Table::default()).collect() }
    }

    /// One empty table; slots with table 0.
    pub fn one() -> Self {
        KeyedTables { tables: vec![Table::default()] }
    }

    /// The place of a key, to be looked at and changed with one look-up. The slot comes from the subtask's [`KeyHasher`].
    #[inline]
    pub fn place(&mut self, slot: Slot, key: &K) -> Place<'_, K, V> {
        let Entries { numbers, list } = self.tables[slot.table as usize].write();
        let same = |number: &u32| {
            let entry = &list[*number as usize];
            entry.hash == slot.hash && entry.key == *key
        };
        match numbers.entry(spread(slot.hash), same, |number| spread(list[*number as usize].hash)) {
            TableEntry::Occupied(number) => Place::Occupied(Occupied { number, list }),
            TableEntry::Vacant(number) => Place::Vacant(Vacant { number, list, hash: slot.hash }),
        }
    }

    /// The value of a key.
    pub fn get(&self, slot: Slot, key: &K) -> Option<&V> {
        let Entries { numbers, list } = self.tables[slot.table as usize].read();
        let same = |number: &u32| list[*number as usize].hash == slot.hash && list[*number as usize].key == *key;
        numbers.find(spread(slot.hash), same).map(|number| &list[*number as usize].value)
    }

    /// Whether there is no key at all.
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|table| table.read().list.is_empty())
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.read().list.len()).sum()
    }

    /// All entries of one table.
    pub fn table(&self, table: u32) -> impl Iterator<Item = &Entry<K, V>> {
        self.tables[table as usize].read().list.iter()
    }

    /// The entries of one table whose values are like this, to be changed.
    pub fn values_mut(&mut self, table: u32, which: impl Fn(&V) -> bool) -> impl Iterator<Item = (&K, &mut V)> {
        let table = &mut self.tables[table as usize];
        // Nothing to change: a table that is shared with a snapshot stays shared.
        let any = table.read().list.iter().any(|entry| which(&entry.value));
        let list: &mut [Entry<K, V>] = if any { &mut table.write().list } else { &mut [] };
        list.iter_mut().filter(move |entry| which(&entry.value)).map(|entry| (&entry.key, &mut entry.value))
    }

    /// Looks at all entries of one table, lets `change` change those that are like this, and takes away those of which it says
    /// that they may go. Gives back the memory of a table that has become small.
    pub fn sweep(&mut self, table: u32, which: impl Fn(&V) -> bool, mut change: impl FnMut(&K, &mut V) -> bool) {
        let table = &mut self.tables[table as usize];
        // Nothing to change: a table that is shared with a snapshot stays shared.
        if !table.read().list.iter().any(|entry| which(&entry.value)) {
            return;
        }
        let entries = table.write();
        let mut number = 0;
        while let Some(entry) = entries.list.get_mut(number) {
            if which(&entry.value) && change(&entry.key, &mut entry.value) {
                entries.remove(number);
            } else {
                number += 1;
            }
        }
        entries.shrink();
    }

    /// Takes all entries of one table.
    pub fn drain(&mut self, table: u32) -> impl Iterator<Item = Entry<K, V>> + use<K, V> {
        std::mem::take(self.tables[table as usize].write()).list.into_iter()
    }

    /// How many tables there are.
    pub fn tables(&self) -> u32 {
        self.tables.len() as u32
    }

    /// Shares one table with a snapshot. None: it is empty.
    pub fn share(&mut self, table: u32) -> Option<SharedTable<K, V>> {
        let table = &mut self.tables[table as usize];
        if table.read().list.is_empty() {
            return None;
        }
        let owned = &mut table.owned;
        let shared = table.shared.get_or_insert_with(|| Arc::new(std::mem::take(owned)));
        Some(SharedTable(shared.clone()))
    }
}

/// A table as it was when a snapshot took it.
pub struct SharedTable<K, V>(Arc<Entries<K, V>>);

impl<K: State, V: State> SharedTable<K, V> {
    /// Appends the number of entries, then each key and value.
    pub fn encode(&self, out: &mut Vec<u8>) {
        (self.0.list.len() as u64).encode(out);
        for entry in &self.0.list {
            entry.key.encode(out);
            entry.value.encode(out);
        }
    }
}

/// Reads what [`SharedTable::encode`] wrote.
pub fn decode_entries<K: State, V: State>(
    input: &mut StateReader<'_>,
    mut take: impl FnMut(K, V) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let count = read::<u64>(input)?;
    for _ in 0..count {
        let key = read::<K>(input)?;
        let value = read::<V>(input)?;
        take(key, value)?;
    }
    Ok(())
}

/// Reads one value of restored state.
pub fn read<T: State>(input: &mut StateReader<'_>) -> Result<T, JobError> {
    T::decode(input).map_err(broken)
}

#[cold]
fn broken(error: StateError) -> JobError {
    JobError::new(format!("the checkpoint's state cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(tables: &mut KeyedTables<i64, i64>, slot: Slot, key: i64) {
        match tables.place(slot, &key) {
            Place::Occupied(mut place) => *place.value() += 1,
            Place::Vacant(place) => {
                place.insert(key, 1);
            }
        }
    }

    #[test]
    fn a_snapshot_costs_a_copy_of_what_is_written_before_it_is_encoded_and_nothing_else() {
        let mut tables = KeyedTables::new(KeyGroupRange { start: 0, end: 2 });
        let (first, second) = (Slot { table: 0, hash: 7 }, Slot { table: 1, hash: 8 });
        count(&mut tables, first, 10);
        count(&mut tables, second, 20);
        let (old, kept) = (tables.share(0).unwrap(), tables.share(1).unwrap());
        count(&mut tables, first, 10);
        tables.sweep(1, |_| false, |_, _| true);
        assert_eq!((tables.get(first, &10), tables.get(second, &20)), (Some(&2), Some(&1)));
        let mut bytes = Vec::new();
        old.encode(&mut bytes);
        let mut entries = Vec::new();
        decode_entries(&mut StateReader::new(&bytes), |key: i64, value: i64| {
            entries.push((key, value));
            Ok(())
        })
        .unwrap();
        assert_eq!(entries, [(10, 1)], "as it was");
        assert_eq!((Arc::strong_count(&old.0), Arc::strong_count(&kept.0)), (1, 2), "the other one is still shared");
        let place = kept.0.list.as_ptr();
        drop(kept);
        count(&mut tables, second, 20);
        assert_eq!(tables.tables[1].owned.list.as_ptr(), place, "it was encoded: no copy");
    }
}
