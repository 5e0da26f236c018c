//! One key group in memory: many small shards, each copied by itself where a snapshot still reads it.
//!
//! Nothing that is done for one row, nor at a barrier, may take as long as a key group is large: neither the copy of what a snapshot
//! still reads, nor growing. So the group grows by linear hashing: one shard at a time is split in two, in order, and which shard a
//! key is in follows from its hash and their number alone. A snapshot takes all shards as they are, as a layer below, and costs one
//! reference; the first write to a shard copies it up. A layer that nobody reads any more is taken apart: its shards come up as they
//! are.

use std::sync::Arc;

use super::entries::{Entries, Entry};

/// A shard with more entries is a reason to split one. A copy of so many takes some microseconds.
const FULL: usize = 64;

/// The entries of one key group.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    top: Layer<K, V>,
    /// How many shards there are. Those that `top` is too short for are below.
    count: usize,
    /// Copies of what is still in use, left behind by snapshots: the next one takes them along, to be dropped where it is encoded.
    replaced: Vec<Entries<K, V>>,
}

/// Shards, as far as they were written to since the layer below was taken.
#[derive(Debug)]
struct Layer<K, V> {
    shards: Vec<Option<Entries<K, V>>>,
    below: Option<Arc<Layer<K, V>>>,
}

/// All entries of a key group as they were when a snapshot took them.
pub(super) struct Snapshot<K, V> {
    layer: Arc<Layer<K, V>>,
    count: usize,
    _replaced: Vec<Entries<K, V>>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { top: Layer { shards: Vec::new(), below: None }, count: 1, replaced: Vec::new() }
    }
}

impl<K, V> Layer<K, V> {
    #[inline]
    fn get(&self, number: usize) -> Option<&Entries<K, V>> {
        let mut layer = self;
        loop {
            if let Some(Some(shard)) = layer.shards.get(number) {
                return Some(shard);
            }
            layer = layer.below.as_deref()?;
        }
    }
}

impl<K, V> Snapshot<K, V> {
    pub fn iter(&self) -> impl Iterator<Item = &Entry<K, V>> {
        (0..self.count).filter_map(|number| self.layer.get(number)).flat_map(|shard| &shard.list)
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
    /// Where the key with this hash is, if it is there, to be read.
    pub fn read(&self, hash: u64) -> Option<&Entries<K, V>> {
        self.top.get(shard_of(hash, self.count))
    }

    /// All entries, of a table that no snapshot has shared and that has not grown: one with `state: disk`, whose size has a bound and
    /// whose snapshots are made by other means. None: nothing was ever put in.
    #[cfg(feature = "disk")]
    pub fn plain(&self) -> Option<&Entries<K, V>> {
        self.top.shards.first()?.as_ref()
    }

    /// The same, to be changed.
    #[cfg(feature = "disk")]
    pub fn plain_mut(&mut self) -> &mut Entries<K, V> {
        if self.top.shards.is_empty() {
            self.top.shards.push(None);
        }
        self.top.shards[0].get_or_insert_default()
    }

    fn shards(&self) -> impl Iterator<Item = &Entries<K, V>> {
        (0..self.count).filter_map(|number| self.top.get(number))
    }

    pub fn len(&self) -> usize {
        self.shards().map(|shard| shard.list.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.shards().all(|shard| shard.list.is_empty())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry<K, V>> {
        self.shards().flat_map(|shard| &shard.list)
    }

    /// Shares all entries with a snapshot. None: there are none.
    pub fn share(&mut self) -> Option<Snapshot<K, V>> {
        if self.is_empty() {
            return None;
        }
        self.settle();
        if !self.top.shards.is_empty() {
            let layer = Layer { shards: std::mem::take(&mut self.top.shards), below: self.top.below.take() };
            self.top.below = Some(Arc::new(layer));
        }
        let layer = self.top.below.clone()?;
        Some(Snapshot { layer, count: self.count, _replaced: std::mem::take(&mut self.replaced) })
    }

    /// Takes layers apart that no snapshot reads any more.
    fn settle(&mut self) {
        while let Some(below) = self.top.below.take() {
            let layer = match Arc::try_unwrap(below) {
                Ok(layer) => layer,
                Err(below) => {
                    self.top.below = Some(below);
                    return;
                }
            };
            self.top.below = layer.below;
            if self.top.shards.is_empty() {
                self.top.shards = layer.shards;
                continue;
            }
            for (place, shard) in self.top.shards.iter_mut().zip(layer.shards) {
                match (&place, shard) {
                    (None, shard) => *place = shard,
                    (Some(_), Some(old)) => self.replaced.push(old),
                    (Some(_), None) => {}
                }
            }
        }
    }
}

impl<K: Clone + Eq, V: Clone> Table<K, V> {
    /// Where the key with this hash is or belongs, to be changed.
    #[inline]
    pub fn write(&mut self, hash: u64) -> &mut Entries<K, V> {
        let mut number = shard_of(hash, self.count);
        if !matches!(self.top.shards.get(number), Some(Some(shard)) if shard.list.len() < FULL) {
            number = self.prepare(hash);
        }
        self.top.shards[number].get_or_insert_default()
    }

    #[cold]
    fn prepare(&mut self, hash: u64) -> usize {
        self.settle();
        if self.bring_up(shard_of(hash, self.count)).list.len() >= FULL && self.is_crowded() {
            self.grow();
        }
        let number = shard_of(hash, self.count);
        self.bring_up(number);
        number
    }

    /// A shard at the top: a copy of it, if it was below.
    fn bring_up(&mut self, number: usize) -> &mut Entries<K, V> {
        if self.top.shards.len() < self.count {
            self.top.shards.resize_with(self.count, || None);
        }
        let below = &self.top.below;
        let copy = || below.as_deref().and_then(|layer| layer.get(number)).cloned().unwrap_or_default();
        self.top.shards[number].get_or_insert_with(copy)
    }

    /// Whether many shards hold something, and not only a few whose keys are all alike. Some tell of all.
    fn is_crowded(&self) -> bool {
        let sample = || (0..self.count).step_by(self.count.div_ceil(32));
        let holds = |number: &usize| self.top.get(*number).is_some_and(|shard| shard.list.len() >= FULL / 4);
        2 * sample().filter(holds).count() >= sample().count()
    }

    /// Splits the next shard.
    fn grow(&mut self) {
        let new = self.count;
        let level = (new + 1).next_power_of_two();
        let moved = self.bring_up(new - level / 2).split_off(|hash| bits(hash) & (level - 1) == new);
        self.top.shards.push(Some(moved));
        self.count += 1;
    }

    /// Changes the entries whose values are like this. A shard that has none of them stays shared with a snapshot.
    pub fn change<E>(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> Result<(), E>,
    ) -> Result<(), E> {
        self.settle();
        for number in 0..self.count {
            if self.has(number, &which) {
                self.bring_up(number).change(&which, &mut change)?;
            }
        }
        Ok(())
    }

    fn has(&self, number: usize, which: impl Fn(&V) -> bool) -> bool {
        self.top.get(number).is_some_and(|shard| shard.has(which))
    }

    /// The same, and takes away those of which `change` says that they may go. Gives back the memory of what has become small.
    pub fn sweep(&mut self, which: impl Fn(&V) -> bool, mut change: impl FnMut(&K, &mut V) -> bool) {
        self.settle();
        for number in 0..self.count {
            if self.has(number, &which) {
                self.bring_up(number).sweep(&which, &mut change, |_| {});
            }
        }
        if self.count > 1 && self.len() < self.count * FULL / 16 {
            let entries: Vec<Entry<K, V>> = self.drain().collect();
            for entry in entries {
                self.write(entry.hash).push(entry);
            }
        }
    }

    /// Takes all entries.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry<K, V>> + use<K, V> {
        self.settle();
        let Table { top: Layer { shards, below }, count, .. } = std::mem::take(self);
        let mut shards = shards.into_iter();
        (0..count).flat_map(move |number| {
            let copy = || below.as_deref()?.get(number).cloned();
            shards.next().flatten().or_else(copy).unwrap_or_default().list
        })
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

    fn read(shared: &Option<Snapshot<u64, u64>>) -> Vec<(u64, u64)> {
        shared.iter().flat_map(|shared| sorted(shared.iter())).collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(std::ops::Range<u64>),
        Remove(std::ops::Range<u64>),
        Change(u64),
        Sweep(u64),
        Share,
        Drop(usize),
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
            3 => (0..3usize).prop_map(Step::Drop),
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
            let mut snapshots: Vec<(Option<Snapshot<u64, u64>>, Vec<(u64, u64)>)> = Vec::new();
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
                    Step::Drop(which) => drop((which < snapshots.len()).then(|| snapshots.remove(which))),
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
                assert_eq!(table.read(slot(*key).hash).and_then(|shard| shard.get(slot(*key), key)), Some(value));
            }
        }
    }

    /// What one row can cost does not grow with the key group, and the memory comes back.
    #[test]
    fn shards_stay_small() {
        let mut table = Table::default();
        for key in 0..100_000 {
            put(&mut table, key, key);
        }
        let largest = table.shards().map(|shard| shard.list.len()).max().unwrap();
        assert!(largest <= 2 * FULL, "{largest} entries in one shard");
        assert!((100_000 / FULL..6 * 100_000 / FULL).contains(&table.count), "{} shards", table.count);
        table.sweep(|_| true, |key, _| *key >= 10);
        assert_eq!((table.count, table.len()), (1, 10));
    }

    /// A write copies the shard that a snapshot still reads and no other; what is not read any more is copied no more, and what was
    /// copied for nothing goes with the next snapshot.
    #[test]
    fn a_write_copies_one_shard() {
        let mut table = Table::default();
        for key in 0..10_000 {
            put(&mut table, key, key);
        }
        let places = |table: &Table<u64, u64>| -> Vec<*const Entry<u64, u64>> {
            table.shards().map(|shard| shard.list.as_ptr()).collect()
        };
        let moved = |table: &Table<u64, u64>, before: &[*const Entry<u64, u64>]| {
            places(table).iter().zip(before).filter(|(now, before)| now != before).count()
        };
        let before = places(&table);
        let snapshot = table.share();
        assert_eq!(moved(&table, &before), 0);
        put(&mut table, 1, 0);
        put(&mut table, 1, 1);
        assert_eq!(moved(&table, &before), 1);
        drop(snapshot);
        for key in 0..10_000 {
            put(&mut table, key, key);
        }
        assert_eq!((moved(&table, &before), table.replaced.len()), (1, 1));
        assert!(table.share().is_some() && table.replaced.is_empty());
    }

    /// Keys whose hashes agree in what tells shards apart are no reason to make ever more of them.
    #[test]
    fn keys_that_are_alike_make_no_shards() {
        let mut table = Table::default();
        for key in 0..20_000u64 {
            let slot = Slot { table: 0, hash: key << 36 };
            if let Place::Vacant(place) = table.write(slot.hash).place(slot, &key) {
                place.insert(key, key);
            }
        }
        assert!(table.count < 1000, "{} shards", table.count);
        assert_eq!(table.len(), 20_000);
    }
}
