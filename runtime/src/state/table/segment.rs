//! A few entries of a key group that go into a checkpoint together.

use super::entry::Entry;

/// Entries lie in segments of so many: as many as a mark has bits. To encode them takes some microseconds.
pub(super) const SIZE: usize = 64;

/// Entries, one behind the other in the order in which they came (but the last fills the place of one that goes).
#[derive(Debug)]
pub(super) struct Segment<K, V> {
    pub list: Vec<Entry<K, V>>,
    /// The epoch that the marks are of; those of another say nothing.
    epoch: u32,
    /// The number of the snapshot for which it was last encoded.
    pub encoded: u32,
    /// Which entries were written to in the epoch.
    written: u64,
    /// Which of these came in it.
    came: u64,
    /// It is with a snapshot; this is only its place.
    pub is_away: bool,
}

impl<K, V> Segment<K, V> {
    pub fn with_capacity(entries: usize) -> Self {
        Segment { list: Vec::with_capacity(entries), epoch: 0, encoded: 0, written: 0, came: 0, is_away: false }
    }

    /// The place of one that a snapshot has.
    pub fn away() -> Self {
        Segment { is_away: true, ..Segment::with_capacity(0) }
    }

    /// An epoch begins, if it has not begun yet: says whether it was so.
    #[inline]
    pub fn begin(&mut self, epoch: u32) -> bool {
        let begins = self.epoch != epoch;
        if begins {
            (self.epoch, self.written, self.came) = (epoch, 0, 0);
        }
        begins
    }

    /// Marks an entry as written to in the epoch that has begun.
    #[inline]
    pub fn write(&mut self, place: usize) {
        self.written |= 1 << place;
    }

    /// Marks an entry as one that came in the epoch that has begun.
    #[inline]
    pub fn come(&mut self, place: usize) {
        self.written |= 1 << place;
        self.came |= 1 << place;
    }

    /// The marks of an entry in this epoch: whether it was written to, and whether it came.
    pub fn marks(&self, place: usize, epoch: u32) -> (bool, bool) {
        let of = |marks: u64| self.epoch == epoch && marks >> place & 1 == 1;
        (of(self.written), of(self.came))
    }

    /// Takes an entry out; the last fills its place.
    pub fn swap_remove(&mut self, place: usize) -> Entry<K, V> {
        let entry = self.list.swap_remove(place);
        let last = self.list.len();
        for marks in [&mut self.written, &mut self.came] {
            let of_last = *marks >> last & 1;
            *marks &= !(1 << last);
            if place != last {
                *marks = *marks & !(1 << place) | of_last << place;
            }
        }
        entry
    }

    /// How many entries were written to in this epoch.
    pub fn count_written(&self, epoch: u32) -> usize {
        if self.epoch == epoch { self.written.count_ones() as usize } else { 0 }
    }

    /// The entries that were written to in this epoch.
    pub fn written(&self, epoch: u32) -> impl Iterator<Item = &Entry<K, V>> {
        let mut left = if self.epoch == epoch { self.written } else { 0 };
        std::iter::from_fn(move || {
            let entry = self.list.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(entry)
        })
    }
}
