//! One key group in memory: entries in small segments, each encoded for a checkpoint by whoever needs it first.
//!
//! Nothing that is done for one row may take as long as a key group is large: neither what a checkpoint costs the next write, nor growing. So
//! entries lie in [segments](segment) of a fixed size, in the order in which they came; the [index] that finds them by the hashes of
//! their keys is the task's alone.
//!
//! A [snapshot](Snapshot) takes segments as they are, and leaves empty places. Who writes the checkpoint encodes them one by one; when the task
//! wants one that has not had its turn, it encodes that itself and takes it back. So what a checkpoint needs is encoded once, and nothing is
//! ever copied. Once all is encoded the task takes back what it has not yet asked for.
//!
//! A snapshot of what has changed takes only the segments that were written to since the one before: in them a bit tells of each entry. New keys
//! go into the last segments and leave all others alone, whatever their hashes are.

mod entry;
mod index;
mod place;
mod segment;
mod shared;

use std::sync::{Arc, Mutex, PoisonError};

use super::State;
pub(super) use entry::Entry;
#[cfg(feature = "disk")]
pub(super) use entry::{ASKED, CHANGED, COPIED, DIRTY, Gone, KNOWN};
#[cfg(not(feature = "disk"))]
use entry::{CHANGED, DIRTY};
use index::{Index, short};
pub use place::{Occupied, Place, Vacant};
use segment::{SIZE, Segment};
use shared::{Form, Shared};
pub(super) use shared::{Shares, Snapshot};

/// The entries of one key group.
#[derive(Debug)]
pub struct Table<K, V> {
    index: Index,
    segments: Vec<Segment<K, V>>,
    /// Numbers of the segments that have room; the last is filled first.
    open: Vec<u32>,
    len: usize,
    /// What the last snapshot has taken, until it is encoded.
    shared: Option<Arc<Shared<K, V>>>,
    /// How many snapshots there were.
    snapshots: u32,
    /// How many of them were of what has changed; 0: the next one has everything, and whoever writes need not say so.
    epoch: u32,
    /// Numbers of the segments that were written to in this epoch.
    written: Vec<u32>,
    /// Keys that were there when it began, and were removed.
    gone: Vec<K>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table {
            index: Index::default(),
            segments: Vec::new(),
            open: Vec::new(),
            len: 0,
            shared: None,
            snapshots: 0,
            epoch: 0,
            written: Vec::new(),
            gone: Vec::new(),
        }
    }
}

/// The segment of an entry, and its place there.
#[inline]
fn parts(number: u32) -> (usize, usize) {
    (number as usize / SIZE, number as usize % SIZE)
}

/// The number of an entry.
#[inline]
fn number_of(of: usize, place: usize) -> u32 {
    (of * SIZE + place) as u32
}

impl<K, V> Table<K, V> {
    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What it holds is what a checkpoint has.
    pub(super) fn restored(&mut self) {
        self.next_epoch();
    }

    fn next_epoch(&mut self) -> (Vec<u32>, Vec<K>) {
        self.epoch += 1;
        (std::mem::take(&mut self.written), std::mem::take(&mut self.gone))
    }

    /// A segment in which something is written to in this epoch.
    #[inline]
    fn begun(&mut self, of: usize) -> &mut Segment<K, V> {
        let segment = &mut self.segments[of];
        if segment.begin(self.epoch) {
            self.written.push(of as u32);
        }
        segment
    }

    /// An entry, noted as written to.
    #[inline]
    fn write(&mut self, number: u32, mark: u8) -> &mut Entry<K, V> {
        let (of, place) = parts(number);
        let segment = self.begun(of);
        segment.write(place);
        let entry = &mut segment.list[place];
        entry.mark(mark);
        entry
    }

    /// Puts in an entry whose key is not there.
    #[inline]
    fn come(&mut self, hash: u64, key: K, value: V) -> &mut V {
        let of = self.put(Entry::new(hash, key, value));
        let segment = self.begun(of);
        let place = segment.list.len() - 1;
        segment.come(place);
        &mut segment.list[place].value
    }

    /// Puts an entry behind the others of a segment that has room; gives the number of the segment.
    #[inline]
    fn put(&mut self, entry: Entry<K, V>) -> usize {
        let of = match self.open.last() {
            Some(open) => *open as usize,
            None => self.add_segment(),
        };
        let segment = &mut self.segments[of];
        self.index.insert(short(entry.hash), number_of(of, segment.list.len()));
        segment.list.push(entry);
        if segment.list.len() == SIZE {
            self.open.pop();
        }
        self.len += 1;
        of
    }

    #[cold]
    fn add_segment(&mut self) -> usize {
        let number = self.segments.len();
        // Many tables stay small.
        self.segments.push(Segment::with_capacity(if number == 0 { 0 } else { SIZE }));
        self.open.push(number as u32);
        number
    }

    /// Takes an entry out; the last of its segment fills its place.
    fn take_out(&mut self, number: u32) -> Entry<K, V> {
        let (of, place) = parts(number);
        let segment = &mut self.segments[of];
        if segment.list.len() == SIZE {
            self.open.push(of as u32);
        }
        let entry = segment.swap_remove(place);
        self.index.remove(short(entry.hash), number);
        if let Some(moved) = segment.list.get(place) {
            self.index.renumber(short(moved.hash), number_of(of, segment.list.len()), number);
        }
        self.len -= 1;
        entry
    }

    /// The same for a key that is gone from here on: the next snapshot of what has changed says so.
    fn remove(&mut self, number: u32) -> Entry<K, V>
    where
        K: Clone,
    {
        let (of, place) = parts(number);
        let (_, came) = self.segments[of].marks(place, self.epoch);
        let entry = self.take_out(number);
        if self.epoch != 0 && !came {
            self.gone.push(entry.key.clone());
        }
        entry
    }

    /// Takes back all segments of a snapshot that nobody is going to encode any more.
    fn settle(&mut self) {
        match self.shared.take().map(Arc::try_unwrap) {
            None => {}
            Some(Err(shared)) => self.shared = Some(shared),
            Some(Ok(shared)) => {
                for (number, cell) in shared.numbers.into_iter().zip(shared.segments) {
                    if let Some(segment) = cell.into_inner().unwrap_or_else(PoisonError::into_inner) {
                        self.segments[number as usize] = segment;
                    }
                }
            }
        }
    }
}

impl<K: State, V: State> Table<K, V> {
    /// The place of a key, with its hash.
    #[inline]
    pub(super) fn place(&mut self, hash: u64, key: &K) -> Place<'_, K, V>
    where
        K: Eq,
    {
        match self.find(hash, key) {
            Some(number) => Place::Occupied(Occupied {
                table: self,
                number,
                #[cfg(feature = "disk")]
                gone: None,
            }),
            None => Place::Vacant(Vacant { table: self, hash }),
        }
    }

    /// The value of a key, with its hash.
    pub(super) fn get(&mut self, hash: u64, key: &K) -> Option<&V>
    where
        K: Eq,
    {
        let (of, place) = parts(self.find(hash, key)?);
        Some(&self.segments[of].list[place].value)
    }

    /// The number of an entry, which is the task's own then, as is the place where it would come.
    #[inline]
    fn find(&mut self, hash: u64, key: &K) -> Option<u32>
    where
        K: Eq,
    {
        if self.shared.is_some() {
            self.bring(hash);
        }
        let segments = &self.segments;
        self.index.find(short(hash), |number| {
            let (of, place) = parts(number);
            let entry = &segments[of].list[place];
            entry.hash == hash && entry.key == *key
        })
    }

    /// Takes back what a key with this hash may need.
    #[inline(never)]
    fn bring(&mut self, hash: u64) {
        self.settle();
        let Some(shared) = &self.shared else { return };
        let candidates = self.index.all(short(hash)).map(|number| parts(number).0);
        for of in candidates.chain(self.open.last().map(|open| *open as usize)) {
            if self.segments[of].is_away
                && let Some(segment) = shared.take_back(of as u32)
            {
                self.segments[of] = segment;
            }
        }
    }

    /// Takes back all segments. Few are left where the checkpoint before is encoded.
    fn bring_all(&mut self) {
        self.settle();
        let Some(shared) = self.shared.take() else { return };
        for number in &shared.numbers {
            if let Some(segment) = shared.take_back(*number) {
                self.segments[*number as usize] = segment;
            }
        }
    }

    /// All entries.
    pub(super) fn iter(&mut self) -> impl Iterator<Item = &Entry<K, V>> {
        self.bring_all();
        self.segments.iter().flat_map(|segment| &segment.list)
    }

    /// Shares all entries with a snapshot, and says how many there are. None: there are none.
    pub(super) fn share(&mut self) -> Option<(u64, Snapshot<K, V>)> {
        self.bring_all();
        (self.len > 0).then(|| (self.len as u64, self.hand_over(Form::Entries, Vec::new(), Vec::new()).1))
    }

    /// Shares with a snapshot what has changed since the last call; `anew`, and where that is not known: everything.
    pub(super) fn share_changes(&mut self, anew: bool) -> Shares<K, V> {
        self.bring_all();
        let (epoch, anew) = (self.epoch, anew || self.epoch == 0);
        let (written, gone) = self.next_epoch();
        let (most, snapshot) = match anew {
            true => self.hand_over(Form::All, Vec::new(), Vec::new()),
            false => self.hand_over(Form::Changes(epoch), written, gone),
        };
        Shares { live: self.len, most, anew, snapshot }
    }

    /// Gives a snapshot the segments that it wants; says how many entries of them.
    fn hand_over(&mut self, form: Form, mut numbers: Vec<u32>, gone: Vec<K>) -> (usize, Snapshot<K, V>) {
        self.snapshots += 1;
        let mut most = self.len;
        if let Form::Changes(epoch) = form {
            numbers.sort_unstable();
            most = numbers.iter().map(|number| self.segments[*number as usize].count_written(epoch)).sum();
        } else {
            numbers = (0..self.segments.len() as u32).collect();
        }
        let take = |number: &u32| std::mem::replace(&mut self.segments[*number as usize], Segment::away());
        let segments = numbers.iter().map(take).map(|segment| Mutex::new(Some(segment))).collect();
        let (number, bytes) = (self.snapshots, Mutex::default());
        let shared = Arc::new(Shared { numbers, segments, gone: Mutex::new(gone), number, form, bytes });
        self.shared = Some(shared.clone());
        (most, Snapshot::new(shared))
    }

    /// Changes the entries whose values are like this.
    pub(super) fn change<E>(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> Result<(), E>,
    ) -> Result<(), E> {
        self.bring_all();
        for of in 0..self.segments.len() {
            for place in 0..self.segments[of].list.len() {
                if which(&self.segments[of].list[place].value) {
                    let entry = self.write(number_of(of, place), CHANGED | DIRTY);
                    change(&entry.key, &mut entry.value)?;
                }
            }
        }
        Ok(())
    }

    /// The same, and takes away those of which `change` says that they may go; `gone` sees them go. Gives back the memory of what has become
    /// small.
    pub(super) fn sweep(
        &mut self,
        which: impl Fn(&V) -> bool,
        mut change: impl FnMut(&K, &mut V) -> bool,
        mut gone: impl FnMut(&Entry<K, V>),
    ) where
        K: Clone,
    {
        self.bring_all();
        for of in 0..self.segments.len() {
            let mut place = 0;
            while let Some(entry) = self.segments[of].list.get(place) {
                if which(&entry.value) {
                    let entry = self.write(number_of(of, place), CHANGED | DIRTY);
                    if change(&entry.key, &mut entry.value) {
                        gone(&self.remove(number_of(of, place)));
                        continue;
                    }
                }
                place += 1;
            }
        }
        if self.segments.len() > 1 && self.len < self.segments.len() * SIZE / 4 {
            self.pack();
        }
    }

    /// Puts all entries into as few segments as they need.
    fn pack(&mut self) {
        let segments = std::mem::take(&mut self.segments);
        (self.index, self.len) = (Index::default(), 0);
        self.open.clear();
        self.written.clear();
        for mut segment in segments {
            let marks: Vec<_> = (0..segment.list.len()).map(|place| segment.marks(place, self.epoch)).collect();
            for (entry, marks) in segment.list.drain(..).zip(marks) {
                let of = self.put(entry);
                let place = self.segments[of].list.len() - 1;
                match marks {
                    (_, true) => self.begun(of).come(place),
                    (true, false) => self.begun(of).write(place),
                    (false, false) => {}
                }
            }
        }
    }

    /// Takes all entries. The next snapshot of what has changed has what is there then.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Entry<K, V>> + use<K, V> {
        self.bring_all();
        std::mem::take(self).segments.into_iter().flat_map(|segment| segment.list)
    }
}

/// With `state: disk` the table is a cache of what lies there. Snapshots are made by other means then.
#[cfg(feature = "disk")]
impl<K, V> Table<K, V> {
    /// One entry; another number, another one.
    pub(super) fn sample(&self, number: usize) -> Option<&Entry<K, V>> {
        let segment = self.segments.get(number % self.segments.len().max(1))?;
        segment.list.get(number % segment.list.len().max(1))
    }

    /// The first entry from this place on, and its place.
    pub(super) fn next_from(&mut self, place: usize) -> Option<(usize, &mut Entry<K, V>)> {
        let behind = |of: usize, segment: &Segment<K, V>| {
            if of == place / SIZE { place % SIZE < segment.list.len() } else { !segment.list.is_empty() }
        };
        let of = (place / SIZE..self.segments.len()).find(|of| behind(*of, &self.segments[*of]))?;
        let place = place.max(of * SIZE);
        Some((place, &mut self.segments[of].list[place % SIZE]))
    }

    /// Takes an entry out of memory; the next from its place on is one that was not looked at, if any is.
    pub(super) fn evict(&mut self, place: usize) {
        self.take_out(place as u32);
    }

    /// Puts in an entry that came back from the disk.
    pub(super) fn insert(&mut self, hash: u64, key: K, value: V, mark: u8) {
        self.put(Entry { hash, key, value, mark });
    }

    /// All entries, to set their marks.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<K, V>> {
        self.segments.iter_mut().flat_map(|segment| &mut segment.list)
    }
}

#[cfg(test)]
mod tests;
