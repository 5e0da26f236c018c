//! Keyed state: one table per key group, shared with a snapshot shard by shard until it is encoded.
//!
//! Everything that may have to read the disk (with `state: disk`) can fail; in memory nothing does.

#[cfg(feature = "disk")]
use super::disk::{Fate, Spill, SpilledChanges, SpilledTable};
#[cfg(feature = "disk")]
use super::table::{COPIED, KNOWN};
use super::table::{Place, Shares, Snapshot, Table};
use super::{KeyHasher, Slot, State, StateError, StateReader};
use crate::checkpoint::pieces;
use crate::error::{JobError, JobResult};
use crate::record::Key;

/// One table per key group of the subtask.
#[derive(Debug)]
pub struct KeyedTables<K, V> {
    tables: Vec<Table<K, V>>,
    /// With `state: disk`: what is not in memory. Boxed, for it is large and there is mostly none.
    #[cfg(feature = "disk")]
    spill: Option<Box<Spill<K>>>,
}

impl<K: Key, V: Clone + State> KeyedTables<K, V> {
    /// Empty tables for the key groups of this subtask.
    pub fn new(hasher: &KeyHasher) -> Self {
        let tables = hasher.range().len();
        KeyedTables {
            tables: (0..tables).map(|_| Table::default()).collect(),
            #[cfg(feature = "disk")]
            spill: hasher.disk().filter(|_| tables > 0).map(|disk| Box::new(Spill::new(disk, tables))),
        }
    }

    /// One empty table, in memory whatever the others are; slots with table 0.
    pub fn one() -> Self {
        KeyedTables {
            tables: vec![Table::default()],
            #[cfg(feature = "disk")]
            spill: None,
        }
    }

    /// The place of a key, to be looked at and changed with one look-up. The slot comes from the subtask's [`KeyHasher`].
    #[inline]
    pub fn place(&mut self, slot: Slot, key: &K) -> JobResult<Place<'_, K, V>> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            spill.fetch(&mut self.tables, slot, key)?;
            let mut place = self.tables[slot.table as usize].place(slot.hash, key);
            if let Place::Occupied(place) = &mut place {
                place.gone = Some((slot.table, spill.gone()));
            }
            return Ok(place);
        }
        Ok(self.tables[slot.table as usize].place(slot.hash, key))
    }

    /// The value of a key.
    pub fn get(&mut self, slot: Slot, key: &K) -> JobResult<Option<&V>> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            spill.fetch(&mut self.tables, slot, key)?;
        }
        Ok(self.tables[slot.table as usize].get(slot.hash, key))
    }

    /// Whether there is no key at all.
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "disk")]
        if self.spill.as_ref().is_some_and(|spill| spill.all_away() > 0) {
            return false;
        }
        self.tables.iter().all(Table::is_empty)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        let in_memory: usize = self.tables.iter().map(Table::len).sum();
        #[cfg(feature = "disk")]
        return in_memory + self.spill.as_ref().map_or(0, |spill| spill.all_away());
        #[cfg(not(feature = "disk"))]
        in_memory
    }

    #[cfg(all(test, feature = "disk"))]
    pub(super) fn in_memory(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }

    /// Looks at all entries of one table.
    pub fn each<E: From<JobError>>(&mut self, table: u32, mut each: impl FnMut(Slot, &K, &V) -> Result<(), E>) -> Result<(), E> {
        let mut in_memory = self.tables[table as usize].iter();
        in_memory.try_for_each(|entry| each(entry.slot(table), &entry.key, &entry.value))?;
        drop(in_memory);
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            spill.each_away(table as usize, &mut self.tables[table as usize], |slot, key, value| {
                each(slot, &key, value)?;
                Ok::<_, E>(Fate::Stays)
            })?;
        }
        Ok(())
    }

    /// Changes the entries of one table whose values are like this.
    pub fn change<E: From<JobError>>(
        &mut self,
        table: u32,
        which: impl Fn(&V) -> bool,
        #[cfg_attr(not(feature = "disk"), allow(unused_mut))] mut change: impl FnMut(&K, &mut V) -> Result<(), E>,
    ) -> Result<(), E> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            let entries = &mut self.tables[table as usize];
            entries.change(&which, &mut change)?;
            return spill.each_away(table as usize, entries, |_, key, value| {
                let fate = if which(value) { Fate::Changed } else { Fate::Stays };
                if let Fate::Changed = fate {
                    change(&key, value)?;
                }
                Ok(fate)
            });
        }
        self.tables[table as usize].change(which, change)
    }

    /// Looks at all entries of one table, lets `change` change those that are like this, and takes away those of which it says
    /// that they may go. Gives back the memory of a table that has become small.
    pub fn sweep(
        &mut self,
        table: u32,
        which: impl Fn(&V) -> bool,
        #[cfg_attr(not(feature = "disk"), allow(unused_mut))] mut change: impl FnMut(&K, &mut V) -> bool,
    ) -> JobResult<()> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            let entries = &mut self.tables[table as usize];
            entries.sweep(&which, &mut change, |entry| {
                if entry.mark & (COPIED | KNOWN) != 0 {
                    spill.gone().push((table, entry.mark, entry.key.clone()));
                }
            });
            return spill.each_away(table as usize, entries, |_, key, value| {
                Ok(match which(value) {
                    false => Fate::Stays,
                    true if change(&key, value) => Fate::Goes,
                    true => Fate::Changed,
                })
            });
        }
        self.tables[table as usize].sweep(which, change, |_| {});
        Ok(())
    }

    /// Takes all entries of one table.
    pub fn drain<E: From<JobError>>(&mut self, table: u32, mut each: impl FnMut(K, V) -> Result<(), E>) -> Result<(), E> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            let entries = &mut self.tables[table as usize];
            spill.begin_anew(table as usize);
            spill.each_away(table as usize, entries, |_, key, value: &mut V| {
                each(key, value.clone())?;
                Ok::<_, E>(Fate::Goes)
            })?;
            let copied = entries.iter().filter(|entry| entry.mark & COPIED != 0);
            spill.gone().extend(copied.map(|entry| (table, entry.mark, entry.key.clone())));
        }
        self.tables[table as usize].drain().try_for_each(|entry| each(entry.key, entry.value))
    }

    /// How many tables there are.
    pub fn tables(&self) -> u32 {
        self.tables.len() as u32
    }

    /// Shares one table with a snapshot. None: it is empty.
    pub fn share(&mut self, table: u32) -> JobResult<Option<SharedTable<K, V>>> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            if spill.away(table as usize) == 0 && self.tables[table as usize].is_empty() {
                return Ok(None);
            }
            let shared = spill.snapshot(table as usize, &mut self.tables[table as usize])?;
            return Ok(Some(SharedTable(Shared::Spilled(shared))));
        }
        Ok(self.tables[table as usize].share().map(|(count, shared)| SharedTable(Shared::Table(count, shared))))
    }

    /// What is in one table is what the restored checkpoint has of it: from here on [`KeyedTables::share_changes`] gives what has changed.
    pub fn restored(&mut self, table: u32) -> JobResult<()> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            return spill.restored(table as usize, &mut self.tables[table as usize]);
        }
        self.tables[table as usize].restored();
        Ok(())
    }

    /// Shares with a snapshot what has changed in one table since the last call. `anew`, and where that is not known: all of it.
    pub fn share_changes(&mut self, table: u32, anew: bool) -> JobResult<SharedChanges<K, V>> {
        #[cfg(feature = "disk")]
        if let Some(spill) = &mut self.spill {
            let changes = spill.changes(table as usize, &mut self.tables[table as usize], anew)?;
            return Ok(SharedChanges(Changes::Spilled(changes)));
        }
        Ok(SharedChanges(Changes::Table(self.tables[table as usize].share_changes(anew))))
    }
}

/// What has changed in a table up to a snapshot.
pub struct SharedChanges<K, V>(Changes<K, V>);

enum Changes<K, V> {
    /// All of it is in memory.
    Table(Shares<K, V>),
    /// Not all of it was in memory.
    #[cfg(feature = "disk")]
    Spilled(SpilledChanges<V>),
}

impl<K: State, V: State> SharedChanges<K, V> {
    /// How many entries the table has.
    pub fn live(&self) -> u64 {
        match &self.0 {
            Changes::Table(shares) => shares.live as u64,
            #[cfg(feature = "disk")]
            Changes::Spilled(changes) => changes.live(),
        }
    }

    /// Whether it is all of the table: nothing that was written before counts.
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Changes::Table(shares) => shares.anew,
            #[cfg(feature = "disk")]
            Changes::Spilled(changes) => changes.is_whole(),
        }
    }

    /// About how many bytes it has in memory until it is encoded.
    pub fn weight(&self) -> usize {
        match &self.0 {
            Changes::Table(shares) => shares.most.saturating_mul(2 * size_of::<(K, V)>()),
            #[cfg(feature = "disk")]
            Changes::Spilled(changes) => changes.weight(),
        }
    }

    /// Appends a table of a [piece](pieces), with this name. Once: nobody else has it then.
    pub fn encode(&self, name: &[u8], out: &mut Vec<u8>) -> JobResult<()> {
        match &self.0 {
            Changes::Table(shares) => {
                pieces::write_table(name, shares.anew, out);
                if !shares.snapshot.give(out) {
                    return Err(JobError::transient("what has changed was encoded before, and is not there any more"));
                }
            }
            #[cfg(feature = "disk")]
            Changes::Spilled(changes) => changes.encode(name, out)?,
        }
        pieces::end(out);
        Ok(())
    }
}

/// A table as it was when a snapshot took it.
pub struct SharedTable<K, V>(Shared<K, V>);

enum Shared<K, V> {
    /// So many entries, all in memory.
    Table(u64, Snapshot<K, V>),
    /// Not all of it was in memory.
    #[cfg(feature = "disk")]
    Spilled(SpilledTable<V>),
}

impl<K: State, V: State> SharedTable<K, V> {
    /// Appends the number of entries, then each key and value.
    pub fn encode(&self, out: &mut Vec<u8>) -> JobResult<()> {
        match &self.0 {
            Shared::Table(count, entries) => {
                count.encode(out);
                entries.encode(out);
                Ok(())
            }
            #[cfg(feature = "disk")]
            Shared::Spilled(table) => table.encode(out),
        }
    }

    /// All entries.
    pub fn entries(&self) -> JobResult<Vec<(K, V)>> {
        let (mut bytes, mut entries) = (Vec::new(), Vec::new());
        self.encode(&mut bytes)?;
        decode_entries(&mut StateReader::new(&bytes), |key, value| {
            entries.push((key, value));
            Ok(())
        })?;
        Ok(entries)
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
        match tables.place(slot, &key).unwrap() {
            Place::Occupied(mut place) => *place.value() += 1,
            Place::Vacant(place) => {
                place.insert(key, 1);
            }
        }
    }

    #[test]
    fn a_snapshot_is_encoded_as_it_was() {
        let mut tables = KeyedTables::new(&KeyHasher::default());
        let (first, second) = (Slot { table: 0, hash: 7 }, Slot { table: 1, hash: 8 });
        count(&mut tables, first, 10);
        count(&mut tables, second, 20);
        let old = tables.share(0).unwrap().unwrap();
        count(&mut tables, first, 10);
        tables.sweep(1, |_| false, |_, _| true).unwrap();
        assert_eq!(tables.get(first, &10).unwrap(), Some(&2));
        assert_eq!(tables.get(second, &20).unwrap(), Some(&1));
        let mut bytes = Vec::new();
        old.encode(&mut bytes).unwrap();
        let mut entries = Vec::new();
        decode_entries(&mut StateReader::new(&bytes), |key: i64, value: i64| {
            entries.push((key, value));
            Ok(())
        })
        .unwrap();
        assert_eq!(entries, [(10, 1)], "as it was");
    }
}
