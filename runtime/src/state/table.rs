//! One key group in memory: many small shards, each encoded for a checkpoint by whoever needs it first.
//!
//! Nothing that is done for one row, nor at a barrier, may take as long as a key group is large: neither what a checkpoint costs the next
//! write, nor growing. So the group grows by linear hashing: one shard at a time is split in two, in order, and which shard a
//! key is in follows from its hash and their number alone.
//!
//! A [snapshot](Snapshot) takes all shards as they are, and that costs one reference. Who writes the checkpoint encodes them one by one;
//! when the task wants one that has not had its turn, it encodes that itself and takes it back. So what a checkpoint needs is encoded
//! once, and nothing is ever copied. Once all is encoded the task takes back what it has not yet asked for.
//!
//! A snapshot of what has changed needs no look at anything else: entries and shards say in which epoch, from one such snapshot to the
//! next, they were last written to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::State;
use super::entries::{Entries, Entry};
use crate::checkpoint::pieces;

/// A shard with more entries is a reason to split one. To encode so many takes some microseconds.
const FULL: usize = 64;

/// A shard that a snapshot may share: locked for as long as it takes to encode it.
type Cell<K, V> = Mutex<Option<Entries<K, V>>>;

/// The entries of one key group.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    /// The task's own shards. None: with the snapshot, or empty.
    own: Vec<Cell<K, V>>,
    /// How many shards there are. Those that `own` is too short for are with the snapshot, or empty.
    count: usize,
    /// What the last snapshot has taken, until it is encoded.
    shared: Option<Arc<Shared<K, V>>>,
    /// How many snapshots there were.
    snapshots: u32,
    /// How many of them were of what has changed; 0: the next one has everything.
    epoch: u32,
}

/// The shards that a snapshot has taken. Taken back: None.
#[derive(Debug)]
struct Shared<K, V> {
    shards: Vec<Cell<K, V>>,
    number: u32,
    form: Form,
    /// What was encoded when it was taken back.
    bytes: Mutex<Vec<u8>>,
}

/// What a snapshot wants of its shards.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Every key with its value.
    Entries,
    /// Every key with its value, as [`pieces`] have them.
    All,
    /// What has changed in this epoch, as [`pieces`] have it.
    Changes(u32),
}

/// What has changed in a key group.
pub(super) struct Shares<K, V> {
    /// How many entries it has.
    pub live: usize,
    /// How many of them are in the snapshot at most.
    pub most: usize,
    /// Nothing counts that was known before.
    pub anew: bool,
    pub snapshot: Snapshot<K, V>,
}

/// A key group as it was when a snapshot took it.
pub(super) struct Snapshot<K, V>(Mutex<Held<K, V>>);

enum Held<K, V> {
    Shared(Arc<Shared<K, V>>),
    Encoded(Vec<u8>),
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { own: Vec::new(), count: 1, shared: None, snapshots: 0, epoch: 0 }
    }
}

/// If somebody panicked while encoding, that was their matter: shards are only read there.
fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

#[inline]
fn mine<T>(cell: &mut Mutex<T>) -> &mut T {
    cell.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Form {
    fn encode<K: State, V: State>(self, shard: &Entries<K, V>, out: &mut Vec<u8>) {
        let put = |entry: &Entry<K, V>, out: &mut Vec<u8>| {
            pieces::put_encoded(|out| entry.key.encode(out), |out| entry.value.encode(out), out);
        };
        match self {
            Form::Entries => shard.list.iter().for_each(|entry| {
                entry.key.encode(out);
                entry.value.encode(out);
            }),
            Form::All => shard.list.iter().for_each(|entry| put(entry, out)),
            Form::Changes(epoch) if shard.epoch != epoch => {}
            Form::Changes(_) => {
                // In front of those that came again.
                shard.gone.iter().for_each(|(_, key)| pieces::removed_encoded(|out| key.encode(out), out));
                shard.written().for_each(|entry| put(entry, out));
            }
        }
    }
}

impl<K: State, V: State> Snapshot<K, V> {
    /// Appends what it wants of all shards. Any number of times: what is encoded is kept.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut held = lock(&self.0);
        if let Held::Shared(shared) = &*held {
            let mut bytes = Vec::new();
            for cell in &shared.shards {
                let mut cell = lock(cell);
                if let Some(shard) = &mut *cell
                    && shard.encoded != shared.number
                {
                    shared.form.encode(shard, &mut bytes);
                    shard.encoded = shared.number;
                }
            }
            bytes.append(&mut std::mem::take(&mut *lock(&shared.bytes)));
            *held = Held::Encoded(bytes);
        }
        if let Held::Encoded(bytes) = &*held {
            out.extend_from_slice(bytes);
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
    /// All entries, of a table that no snapshot has shared and that has not grown: one with `state: disk`, whose size has a bound and
    /// whose snapshots are made by other means. None: nothing was ever put in.
    #[cfg(feature = "disk")]
    pub fn plain(&mut self) -> Option<&Entries<K, V>> {
        mine(self.own.first_mut()?).as_ref()
    }

    /// The same, to be changed.
    #[cfg(feature = "disk")]
    pub fn plain_mut(&mut self) -> &mut Entries<K, V> {
        if self.own.is_empty() {
            self.own.push(Cell::default());
        }
        mine(&mut self.own[0]).get_or_insert_default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        let shared = self.shared.iter().flat_map(|shared| &shared.shards);
        self.own.iter().chain(shared).map(|cell| lock(cell).as_ref().map_or(0, |shard| shard.list.len())).sum()
    }

    pub fn is_empty(&self) -> bool {
        let shared = self.shared.iter().flat_map(|shared| &shared.shards);
        self.own.iter().chain(shared).all(|cell| lock(cell).as_ref().is_none_or(|shard| shard.list.is_empty()))
    }

    /// What it holds is what a checkpoint has.
    pub fn restored(&mut self) {
        self.epoch += 1;
    }

    /// Takes back all shards of a snapshot that nobody is going to encode any more.
    fn settle(&mut self) {
        let Some(shared) = self.shared.take() else { return };
        match Arc::try_unwrap(shared) {
            Err(shared) => self.shared = Some(shared),
            Ok(Shared { shards, .. }) if self.own.is_empty() => self.own = shards,
            Ok(Shared { shards, .. }) => {
                for (own, mut shard) in self.own.iter_mut().zip(shards) {
                    let shard = mine(&mut shard).take();
                    if shard.is_some() {
                        *mine(own) = shard;
                    }
                }
            }
        }
    }
}

impl<K: State, V: State> Table<K, V> {
    /// Where the key with this hash is, if it is there, to be read.
    pub fn read(&mut self, hash: u64) -> Option<&Entries<K, V>> {
        let number = shard_of(hash, self.count);
        if self.shared.is_some() && self.own.get_mut(number).is_none_or(|cell| mine(cell).is_none()) {
            self.take_back(number);
        }
        self.own.get_mut(number).and_then(|cell| mine(cell).as_ref())
    }

    /// All entries.
    pub fn iter(&mut self) -> impl Iterator<Item = &Entry<K, V>> {
        self.take_all_back();
        self.own.iter_mut().filter_map(|cell| mine(cell).as_ref()).flat_map(|shard| &shard.list)
    }

    /// Shares all entries with a snapshot, and says how many there are. None: there are none.
    pub fn share(&mut self) -> Option<(u64, Snapshot<K, V>)> {
        self.take_all_back();
        let count = self.len() as u64;
        (count > 0).then(|| (count, self.hand_over(Form::Entries)))
    }

    /// Shares with a snapshot what has changed since the last call; `anew`, and where that is not known: everything.
    pub fn share_changes(&mut self, anew: bool) -> Shares<K, V> {
        self.take_all_back();
        let (mut live, mut written) = (0, 0);
        for shard in self.own.iter_mut().filter_map(|cell| mine(cell).as_ref()) {
            live += shard.list.len();
            written += if shard.epoch == self.epoch { shard.list.len() } else { 0 };
        }
        let anew = anew || self.epoch == 0;
        let form = if anew { Form::All } else { Form::Changes(self.epoch) };
        let snapshot = self.hand_over(form);
        self.epoch += 1;
        Shares { live, most: if anew { live } else { written }, anew, snapshot }
    }

    fn hand_over(&mut self, form: Form) -> Snapshot<K, V> {
        self.snapshots += 1;
        let (shards, number) = (std::mem::take(&mut self.own), self.snapshots);
        let shared = Arc::new(Shared { shards, number, form, bytes: Mutex::default() });
        self.shared = Some(shared.clone());
        Snapshot(Mutex::new(Held::Shared(shared)))
    }

    /// Takes back one shard, encoded for the snapshot that it belongs to.
    fn take_back(&mut self, number: usize) {
        self.settle();
        let Some(shared) = &self.shared else { return };
        let Some(cell) = shared.shards.get(number) else { return };
        let mut cell = lock(cell);
        let Some(shard) = cell.take() else { return };
        if shard.encoded != shared.number {
            shared.form.encode(&shard, &mut lock(&shared.bytes));
        }
        if self.own.len() < self.count {
            self.own.resize_with(self.count, Cell::default);
        }
        *mine(&mut self.own[number]) = Some(shard);
    }

    /// Takes back all shards. Few are left where the checkpoint before is encoded.
    fn take_all_back(&mut self) {
        self.settle();
        let shards = self.shared.as_ref().map_or(0, |shared| shared.shards.len());
        (0..shards).for_each(|number| self.take_back(number));
        self.shared = None;
    }

    /// A shard of the task's own, to be written to.
    fn bring(&mut self, number: usize) -> &mut Entries<K, V> {
        self.take_back(number);
        if self.own.len() < self.count {
            self.own.resize_with(self.count, Cell::default);
        }
        let shard = mine(&mut self.own[number]).get_or_insert_default();
        shard.begin(self.epoch);
        shard
    }

    /// Where the key with this hash is or belongs, to be changed.
    #[inline]
    pub fn write(&mut self, hash: u64) -> &mut Entries<K, V> {
        let (mut number, epoch) = (shard_of(hash, self.count), self.epoch);
        let is_ready = |shard: &Entries<K, V>| shard.list.len() < FULL && shard.epoch == epoch;
        if !self.own.get_mut(number).is_some_and(|cell| mine(cell).as_ref().is_some_and(is_ready)) {
            number = self.prepare(hash);
        }
        mine(&mut self.own[number]).get_or_insert_default()
    }

    #[cold]
    fn prepare(&mut self, hash: u64) -> usize {
        if self.bring(shard_of(hash, self.count)).list.len() >= FULL && self.is_crowded() {
            self.grow();
        }
        let number = shard_of(hash, self.count);
        self.bring(number);
        number
    }

    /// Whether many shards hold something, and not only a few whose keys are all alike. Some tell of all.
    fn is_crowded(&self) -> bool {
        let sample = || (0..self.count).step_by(self.count.div_ceil(32));
        let holds = |number: &usize| {
            let shared = self.shared.as_ref().and_then(|shared| shared.shards.get(*number));
            let cells = self.own.get(*number).into_iter().chain(shared);
            cells.map(|cell| lock(cell).as_ref().map_or(0, |shard| shard.list.len())).sum::<usize>() >= FULL / 4
        };
        2 * sample().filter(holds).count() >= sample().count()
    }

    /// Splits the next shard.
    fn grow(&mut self) {
        let new = self.count;
        let level = (new + 1).next_power_of_two();
        let moved = self.bring(new - level / 2).split_off(|hash| bits(hash) & (level - 1) == new);
        self.own.push(Mutex::new(Some(moved)));
        self.count += 1;
    }

    /// Changes the entries whose values are like this.
    pub fn change<E>(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take_all_back();
        for shard in self.own.iter_mut().filter_map(|cell| mine(cell).as_mut()) {
            if shard.has(&which) {
                shard.begin(self.epoch);
                shard.change(&which, &mut change)?;
            }
        }
        Ok(())
    }

    /// The same, and takes away those of which `change` says that they may go. Gives back the memory of what has become small.
    pub fn sweep(&mut self, which: impl Fn(&V) -> bool, mut change: impl FnMut(&K, &mut V) -> bool)
    where
        K: Clone,
    {
        self.take_all_back();
        let mut len = 0;
        for shard in self.own.iter_mut().filter_map(|cell| mine(cell).as_mut()) {
            if shard.has(&which) {
                shard.begin(self.epoch);
                shard.sweep(&which, &mut change, |_| {});
            }
            len += shard.list.len();
        }
        if self.count > 1 && len < self.count * FULL / 16 {
            self.count = 1;
            for shard in std::mem::take(&mut self.own) {
                let Some(Entries { list, gone, epoch, .. }) = shard.into_inner().unwrap_or_else(PoisonError::into_inner) else {
                    continue;
                };
                for entry in list {
                    self.write(entry.hash).push(entry);
                }
                if epoch == self.epoch {
                    gone.into_iter().for_each(|gone| self.write(gone.0).gone.push(gone));
                }
            }
        }
    }

    /// Takes all entries. The next snapshot of what has changed has what is there then.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry<K, V>> + use<K, V> {
        self.take_all_back();
        let own = std::mem::take(self).own;
        own.into_iter().filter_map(|cell| cell.into_inner().unwrap_or_else(PoisonError::into_inner)).flat_map(|shard| shard.list)
    }
}

#[cfg(test)]
mod tests;
