//! One key group in memory: shards of so many entries, each shared with a snapshot and copied by itself.
//!
//! Nothing that is done for one row may take as long as a key group is large: neither the copy of what a snapshot still reads, nor
//! growing. So the group grows by linear hashing: one shard at a time is split in two, in order, and which shard a key is in follows
//! from its hash and their number alone.

use std::sync::Arc;

use super::entries::{Entries, Entry};

/// A shard with more entries is a reason to split one. A copy of so many takes about 0.1 ms.
const FULL: usize = 1024;

/// The entries of one key group.
#[derive(Clone, Debug)]
pub(super) struct Table<K, V> {
    /// Most key groups of most jobs are small: the first shard is reached without a further step.
    first: Shard<K, V>,
    more: Vec<Shard<K, V>>,
}

/// Where `shared` is there, `owned` is empty.
#[derive(Clone, Debug)]
struct Shard<K, V> {
    owned: Entries<K, V>,
    shared: Option<Arc<Entries<K, V>>>,
}

impl<K, V> From<Entries<K, V>> for Shard<K, V> {
    fn from(owned: Entries<K, V>) -> Self {
        Shard { owned, shared: None }
    }
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { first: Entries::default().into(), more: Vec::new() }
    }
}

impl<K, V> Shard<K, V> {
    #[inline]
    fn read(&self) -> &Entries<K, V> {
        self.shared.as_deref().unwrap_or(&self.owned)
    }

    fn share(&mut self) -> Option<Arc<Entries<K, V>>> {
        if self.read().list.is_empty() {
            return None;
        }
        let owned = &mut self.owned;
        Some(self.shared.get_or_insert_with(|| Arc::new(std::mem::take(owned))).clone())
    }
}

impl<K: Clone, V: Clone> Shard<K, V> {
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

/// The bits that tell shards apart: not those that tell key groups apart, nor those that a table of entries looks at first.
#[inline]
fn bits(hash: u64) -> usize {
    (hash >> 16) as usize
}

/// In which of `count` shards a hash belongs: the last shards have been split by one bit more than those that are still to be split.
#[inline]
fn shard_of(hash: u64, count: usize) -> usize {
    let level = count.next_power_of_two();
    let number = bits(hash) & (level - 1);
    if number < count { number } else { number - level / 2 }
}

impl<K, V> Table<K, V> {
    fn count(&self) -> usize {
        1 + self.more.len()
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Shard<K, V> {
        if self.more.is_empty() {
            return &self.first;
        }
        match shard_of(hash, self.count()) {
            0 => &self.first,
            number => &self.more[number - 1],
        }
    }

    fn shards(&self) -> impl Iterator<Item = &Shard<K, V>> {
        std::iter::once(&self.first).chain(&self.more)
    }

    fn shards_mut(&mut self) -> impl Iterator<Item = &mut Shard<K, V>> {
        std::iter::once(&mut self.first).chain(&mut self.more)
    }

    /// Where the key with this hash is, if it is there, to be read.
    pub fn read(&self, hash: u64) -> &Entries<K, V> {
        self.shard(hash).read()
    }

    pub fn len(&self) -> usize {
        self.shards().map(|shard| shard.read().list.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.shards().all(|shard| shard.read().list.is_empty())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry<K, V>> {
        self.shards().flat_map(|shard| &shard.read().list)
    }

    /// Shares all entries with a snapshot.
    pub fn share(&mut self) -> Vec<Arc<Entries<K, V>>> {
        self.shards_mut().filter_map(Shard::share).collect()
    }
}

impl<K: Clone + Eq, V: Clone> Table<K, V> {
    /// Where the key with this hash is or belongs, to be changed.
    #[inline]
    pub fn write(&mut self, hash: u64) -> &mut Entries<K, V> {
        if self.shard(hash).read().list.len() >= FULL {
            self.grow();
        }
        if self.more.is_empty() {
            return self.first.write();
        }
        let number = shard_of(hash, self.count());
        self.shard_mut(number).write()
    }

    fn shard_mut(&mut self, number: usize) -> &mut Shard<K, V> {
        if number == 0 { &mut self.first } else { &mut self.more[number - 1] }
    }

    /// Splits the next shard, unless it is only that many keys are alike.
    #[cold]
    fn grow(&mut self) {
        let new = self.count();
        if self.len() < new * FULL / 4 {
            return;
        }
        let level = (new + 1).next_power_of_two();
        let split = self.shard_mut(new - level / 2).write();
        let moved = split.split_off(|hash| bits(hash) & (level - 1) == new);
        self.more.push(moved.into());
    }

    /// Changes the entries whose values are like this.
    pub fn change<E>(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> Result<(), E>,
    ) -> Result<(), E> {
        for shard in self.shards_mut() {
            // Nothing to change: what is shared with a snapshot stays shared.
            if shard.read().list.iter().any(|entry| which(&entry.value)) {
                let mut list = shard.write().list.iter_mut().filter(|entry| which(&entry.value));
                list.try_for_each(|entry| change(&entry.key, &mut entry.value))?;
            }
        }
        Ok(())
    }

    /// The same, and takes away those of which `change` says that they may go. Gives back the memory of what has become small.
    pub fn sweep(&mut self, which: impl Fn(&V) -> bool, mut change: impl FnMut(&K, &mut V) -> bool) {
        for shard in self.shards_mut() {
            if shard.read().list.iter().any(|entry| which(&entry.value)) {
                let entries = shard.write();
                entries.sweep(&which, &mut change);
                entries.shrink();
            }
        }
        if !self.more.is_empty() && self.len() < self.count() * FULL / 16 {
            let entries: Vec<Entry<K, V>> = self.drain().collect();
            for entry in entries {
                self.write(entry.hash).push(entry);
            }
        }
    }

    /// Takes all entries.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry<K, V>> + use<K, V> {
        let Table { first, more } = std::mem::take(self);
        std::iter::once(first).chain(more).flat_map(|mut shard| std::mem::take(shard.write()).list)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::state::entries::Place;
    use crate::state::{Slot, hash_bytes};

    fn slot(key: u64) -> Slot {
        Slot { table: 0, hash: hash_bytes(&key.to_le_bytes()) }
    }

    fn put(table: &mut Table<u64, u64>, key: u64, value: u64) {
        match table.write(slot(key).hash).place(slot(key), &key) {
            Place::Occupied(mut place) => *place.value() = value,
            Place::Vacant(place) => drop(place.insert(key, value)),
        }
    }

    fn sorted<'a>(entries: impl Iterator<Item = &'a Entry<u64, u64>>) -> Vec<(u64, u64)> {
        let mut entries: Vec<_> = entries.map(|entry| (entry.key, entry.value)).collect();
        entries.sort_unstable();
        entries
    }

    fn read(shared: &[Arc<Entries<u64, u64>>]) -> Vec<(u64, u64)> {
        sorted(shared.iter().flat_map(|shard| &shard.list))
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(std::ops::Range<u64>),
        Remove(std::ops::Range<u64>),
        Change(u64),
        Sweep(u64),
        Share,
        Drop,
        Drain,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let keys = || (0..20_000u64, 1..6_000u64).prop_map(|(from, count)| from..from + count);
        let step = prop_oneof![
            8 => keys().prop_map(Step::Put),
            3 => keys().prop_map(Step::Remove),
            2 => (2..7u64).prop_map(Step::Change),
            2 => (1..7u64).prop_map(Step::Sweep),
            4 => Just(Step::Share),
            2 => Just(Step::Drop),
            1 => Just(Step::Drain),
        ];
        prop::collection::vec(step, 1..30)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// A map does the same, and a snapshot sees nothing of what comes after it.
        #[test]
        fn it_is_a_map_with_snapshots(steps in steps()) {
            let (mut table, mut model) = (Table::default(), BTreeMap::new());
            let mut snapshots: Vec<(Vec<Arc<Entries<u64, u64>>>, Vec<(u64, u64)>)> = Vec::new();
            for (number, step) in (1u64..).zip(steps) {
                match step {
                    Step::Put(keys) => for key in keys {
                        put(&mut table, key, number);
                        model.insert(key, number);
                    },
                    Step::Remove(keys) => for key in keys {
                        if let Place::Occupied(place) = table.write(slot(key).hash).place(slot(key), &key) {
                            place.remove();
                        }
                        model.remove(&key);
                    },
                    Step::Change(of) => {
                        let change = |_: &u64, value: &mut u64| { *value += 1; Ok::<_, ()>(()) };
                        table.change(|value| value % of == 0, change).unwrap();
                        model.values_mut().filter(|value| **value % of == 0).for_each(|value| *value += 1);
                    }
                    Step::Sweep(of) => {
                        table.sweep(|value| value % 2 == 0, |key, _| key % of == 0);
                        model.retain(|key, value| *value % 2 != 0 || key % of != 0);
                    }
                    Step::Share => snapshots.push((table.share(), model.iter().map(|(key, value)| (*key, *value)).collect())),
                    Step::Drop => drop(snapshots.pop()),
                    Step::Drain => {
                        let drained: Vec<_> = table.drain().collect();
                        assert!(sorted(drained.iter()).into_iter().eq(std::mem::take(&mut model)));
                    }
                }
                assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
                for (shared, then) in &snapshots {
                    assert!(read(shared) == *then, "a snapshot has changed");
                }
            }
            assert!(sorted(table.iter()).into_iter().eq(model.iter().map(|(key, value)| (*key, *value))));
            for (key, value) in &model {
                assert_eq!(table.read(slot(*key).hash).get(slot(*key), key), Some(value));
            }
        }
    }

    /// What one row can cost does not grow with the key group, and the memory comes back.
    #[test]
    fn shards_stay_small() {
        let mut table = Table::default();
        let largest = |table: &Table<u64, u64>| table.shards().map(|shard| shard.read().list.len()).max().unwrap();
        for key in 0..100_000 {
            put(&mut table, key, key);
        }
        assert!(largest(&table) <= FULL + FULL / 4, "{} entries in one shard", largest(&table));
        assert!((98..400).contains(&table.count()), "{} shards", table.count());
        table.sweep(|_| true, |key, _| *key >= 10);
        assert_eq!((table.count(), table.len()), (1, 10));
    }

    /// Keys whose hashes agree in what tells shards apart are no reason to make ever more of them.
    #[test]
    fn keys_that_are_alike_make_no_shards() {
        let mut table = Table::default();
        for key in 0..20_000u64 {
            let slot = Slot { table: 0, hash: key << 48 };
            if let Place::Vacant(place) = table.write(slot.hash).place(slot, &key) {
                place.insert(key, key);
            }
        }
        assert!(table.count() < 100, "{} shards", table.count());
        assert_eq!(table.len(), 20_000);
    }
}
