//! The entries of one key group in memory, and the place of a key among them.

use hashbrown::HashTable;
use hashbrown::hash_table::{Entry as TableEntry, OccupiedEntry, VacantEntry};

use super::Slot;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry<K, V> {
    pub(super) hash: u64,
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
    /// Twice the [epoch](Entries::epoch) in which it was last written to; one more: it came in that epoch.
    written: u32,
    #[cfg(feature = "disk")]
    pub(super) mark: u8,
}

/// It was asked for since its table was looked at for entries that can go to disk.
pub(super) const ASKED: u8 = 1;
/// A copy of it lies on disk.
#[cfg(feature = "disk")]
pub(super) const COPIED: u8 = 2;
/// It differs from its copy.
pub(super) const CHANGED: u8 = 4;
/// It differs from what the last checkpoint has of it, or is not there.
pub(super) const DIRTY: u8 = 8;
/// The last checkpoint may have it.
#[cfg(feature = "disk")]
pub(super) const KNOWN: u8 = 16;

/// It was given to somebody who may write to it.
const WRITTEN: u8 = ASKED | CHANGED | DIRTY;

/// Entries that are gone: the table, the mark, the key.
#[cfg(feature = "disk")]
pub(super) type Gone<K> = Vec<(u32, u8, K)>;

impl<K, V> Entry<K, V> {
    /// Where the entry belongs.
    pub fn slot(&self, table: u32) -> Slot {
        Slot { table, hash: self.hash }
    }

    /// Whether it was written to in this epoch.
    pub(super) fn is_of(&self, epoch: u32) -> bool {
        self.written >> 1 == epoch
    }

    /// Notes that it is given to somebody who may write to it.
    #[inline]
    fn touch(&mut self, epoch: u32, mark: u8) {
        if !self.is_of(epoch) {
            self.written = epoch << 1;
        }
        self.mark(mark);
    }

    /// Whether a checkpoint that began before this epoch may have it.
    fn is_older_than(&self, epoch: u32) -> bool {
        epoch != 0 && self.written != epoch << 1 | 1
    }

    /// Notes what a disk has to know of it; without one, nothing.
    #[inline]
    fn mark(&mut self, mark: u8) {
        #[cfg(feature = "disk")]
        {
            self.mark |= mark;
        }
        #[cfg(not(feature = "disk"))]
        let _ = mark;
    }
}

/// Entries lie one behind the other, in the order in which they came (but the last fills the place of one that goes): growing
/// moves only their numbers about, reading all of them is fast, and the order is the same in every run.
#[derive(Clone, Debug)]
pub(super) struct Entries<K, V> {
    numbers: HashTable<u32>,
    pub list: Vec<Entry<K, V>>,
    /// Checkpoints in pieces end epochs; 0: before the first, whoever writes need not say so. It is that of the last writer.
    pub epoch: u32,
    /// The number of the snapshot for which it was last encoded.
    pub encoded: u32,
    /// Hashes and keys of what was removed in the epoch, and was there before.
    pub gone: Vec<(u64, K)>,
    /// How many entries there were when it began.
    before: u32,
    /// Others than those that came since were written to, or are elsewhere.
    scattered: bool,
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Entries {
            numbers: HashTable::new(),
            list: Vec::new(),
            epoch: 0,
            encoded: 0,
            gone: Vec::new(),
            before: 0,
            scattered: false,
        }
    }
}

impl<K, V> Entries<K, V> {
    /// An epoch begins, if it has not begun yet: what is noted of the one before is of no more use.
    #[inline]
    pub fn begin(&mut self, epoch: u32) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.gone = Vec::new();
            self.before = self.list.len() as u32;
            self.scattered = false;
        }
    }

    /// The entries that were written to in this epoch.
    pub fn written(&self) -> impl Iterator<Item = &Entry<K, V>> {
        // Where rows only add keys, the others need not be looked at.
        let from = if self.scattered { 0 } else { self.before as usize };
        let list = if self.epoch == 0 { &[] } else { self.list.get(from..).unwrap_or_default() };
        list.iter().filter(|entry| entry.is_of(self.epoch))
    }

    /// The value of a key.
    pub fn get(&self, slot: Slot, key: &K) -> Option<&V>
    where
        K: Eq,
    {
        let same = |number: &u32| self.list[*number as usize].hash == slot.hash && self.list[*number as usize].key == *key;
        self.numbers.find(spread(slot.hash), same).map(|number| &self.list[*number as usize].value)
    }

    /// The place of a key, found with one look-up.
    #[inline]
    pub fn place(&mut self, slot: Slot, key: &K) -> Place<'_, K, V>
    where
        K: Eq,
    {
        let Entries { numbers, list, epoch, gone, scattered, .. } = self;
        let epoch = *epoch;
        let same = |number: &u32| {
            let entry = &list[*number as usize];
            entry.hash == slot.hash && entry.key == *key
        };
        match numbers.entry(spread(slot.hash), same, |number| spread(list[*number as usize].hash)) {
            TableEntry::Occupied(number) => Place::Occupied(Occupied {
                number,
                list,
                epoch,
                removed: gone,
                scattered,
                #[cfg(feature = "disk")]
                gone: None,
            }),
            TableEntry::Vacant(number) => Place::Vacant(Vacant { number, list, epoch, hash: slot.hash }),
        }
    }

    /// Whether a value is like this.
    pub fn has(&self, which: impl Fn(&V) -> bool) -> bool {
        self.list.iter().any(|entry| which(&entry.value))
    }

    /// Changes the values that are like this.
    pub fn change<E>(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> Result<(), E>,
    ) -> Result<(), E> {
        let epoch = self.epoch;
        self.scattered = true;
        self.list.iter_mut().filter(|entry| which(&entry.value)).try_for_each(|entry| {
            entry.touch(epoch, CHANGED | DIRTY);
            change(&entry.key, &mut entry.value)
        })
    }

    /// The same, and takes away those of which `change` says that they may go; `gone` sees them go. Gives back the memory of what has
    /// become small.
    pub fn sweep(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> bool,
        mut gone: impl FnMut(&Entry<K, V>),
    ) where
        K: Clone,
    {
        let mut number = 0;
        self.scattered = true;
        while let Some(entry) = self.list.get_mut(number) {
            if which(&entry.value) {
                entry.touch(self.epoch, CHANGED | DIRTY);
                if change(&entry.key, &mut entry.value) {
                    gone(entry);
                    if entry.is_older_than(self.epoch) {
                        self.gone.push((entry.hash, entry.key.clone()));
                    }
                    self.remove(number);
                    continue;
                }
            }
            number += 1;
        }
        self.shrink();
    }

    /// Takes an entry whose key is not there.
    pub fn push(&mut self, entry: Entry<K, V>) {
        let list = &self.list;
        self.numbers.insert_unique(spread(entry.hash), list.len() as u32, |number| spread(list[*number as usize].hash));
        self.list.push(entry);
    }

    /// Splits off the entries with such hashes. The order stays.
    pub fn split_off(&mut self, which: impl Fn(u64) -> bool) -> Self {
        let Entries { list, epoch, encoded, gone, .. } = std::mem::take(self);
        let half = list.len() / 2;
        let mut parts = [(); 2].map(|()| Entries {
            numbers: HashTable::with_capacity(half),
            list: Vec::with_capacity(half),
            gone: Vec::new(),
            epoch,
            encoded,
            before: 0,
            scattered: true,
        });
        for entry in list {
            parts[usize::from(which(entry.hash))].push(entry);
        }
        for removed in gone {
            parts[usize::from(which(removed.0))].gone.push(removed);
        }
        let [kept, moved] = parts;
        *self = kept;
        moved
    }

    /// Puts in an entry that came back from the disk.
    #[cfg(feature = "disk")]
    pub fn insert(&mut self, slot: Slot, key: K, value: V, mark: u8) {
        self.push(Entry { hash: slot.hash, key, value, written: 1, mark });
    }

    /// Takes away one entry; the last takes its place.
    pub fn remove(&mut self, number: usize) {
        let entry = self.list.swap_remove(number);
        self.scattered = true;
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
    epoch: u32,
    removed: &'a mut Vec<(u64, K)>,
    scattered: &'a mut bool,
    /// The number of the table, and where removals of what lies on disk or in a checkpoint are noted.
    #[cfg(feature = "disk")]
    pub(super) gone: Option<(u32, &'a mut Gone<K>)>,
}

impl<'a, K, V> Occupied<'a, K, V> {
    /// The value.
    #[inline]
    pub fn value(&mut self) -> &mut V {
        let entry = &mut self.list[*self.number.get() as usize];
        *self.scattered |= !entry.is_of(self.epoch);
        entry.touch(self.epoch, WRITTEN);
        &mut entry.value
    }

    /// The value, for as long as the tables.
    #[inline]
    pub fn into_value(self) -> &'a mut V {
        let entry = &mut self.list[*self.number.get() as usize];
        *self.scattered |= !entry.is_of(self.epoch);
        entry.touch(self.epoch, WRITTEN);
        &mut entry.value
    }

    /// Takes the key and its value away.
    pub fn remove(self) -> (K, V)
    where
        K: Clone,
    {
        let (number, place) = self.number.remove();
        let entry = self.list.swap_remove(number as usize);
        *self.scattered = true;
        if let Some(moved) = self.list.get(number as usize) {
            let before = self.list.len() as u32;
            if let Some(of_moved) = place.into_table().find_mut(spread(moved.hash), |number| *number == before) {
                *of_moved = number;
            }
        }
        if entry.is_older_than(self.epoch) {
            self.removed.push((entry.hash, entry.key.clone()));
        }
        #[cfg(feature = "disk")]
        if entry.mark & (COPIED | KNOWN) != 0
            && let Some((table, gone)) = self.gone
        {
            gone.push((table, entry.mark, entry.key.clone()));
        }
        (entry.key, entry.value)
    }
}

/// A key that has no value.
pub struct Vacant<'a, K, V> {
    number: VacantEntry<'a, u32>,
    list: &'a mut Vec<Entry<K, V>>,
    epoch: u32,
    hash: u64,
}

impl<'a, K, V> Vacant<'a, K, V> {
    /// Gives the key its first value.
    #[inline]
    pub fn insert(self, key: K, value: V) -> &'a mut V {
        let number = self.list.len();
        self.number.insert(number as u32);
        self.list.push(Entry {
            hash: self.hash,
            key,
            value,
            written: self.epoch << 1 | 1,
            #[cfg(feature = "disk")]
            mark: WRITTEN,
        });
        &mut self.list[number].value
    }
}
