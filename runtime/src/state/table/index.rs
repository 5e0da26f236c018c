//! Where the entry of a key lies: from a part of its hash to a number.
//!
//! It grows by linear hashing, one shard at a time, in order, so that no row ever pays for the growth of all of it. Which shard a hash is in
//! follows from the hash and their count alone. Hashes lie beside the numbers: neither a search nor growth looks at entries that have
//! another hash.

use hashbrown::HashTable;

/// As many entries per shard as to fill tables of hashbrown, which have powers of two: up to twice as many are in a shard before its turn to be
/// split comes. To split one takes some microseconds.
pub(super) const FULL: usize = 832;

/// Of a hash what is kept.
pub(super) type Short = u32;

/// Without the bits that tell key groups apart.
#[inline]
pub(super) fn short(hash: u64) -> Short {
    (hash >> 16) as u32
}

#[derive(Debug)]
struct Row {
    short: Short,
    number: u32,
}

/// Numbers of entries by the hashes of their keys.
#[derive(Debug, Default)]
pub(super) struct Index {
    shards: Vec<HashTable<Row>>,
    len: usize,
}

/// For the tables of hashbrown, which look at the lowest and the highest bits: in one shard the lowest of `short` agree.
#[inline]
fn spread(short: Short) -> u64 {
    u64::from(short).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

/// In which of `count` shards a hash belongs: the last shards have been split by one bit more than those that are still to be split.
#[inline]
fn shard_of(short: Short, count: usize) -> usize {
    let level = count.next_power_of_two();
    let number = short as usize & (level - 1);
    if number < count { number } else { number - level / 2 }
}

impl Index {
    /// The number that is noted for this hash, and is the right one.
    #[inline]
    pub fn find(&self, short: Short, is_right: impl Fn(u32) -> bool) -> Option<u32> {
        let shard = self.shards.get(shard_of(short, self.shards.len()))?;
        shard.find(spread(short), |row| row.short == short && is_right(row.number)).map(|row| row.number)
    }

    /// All numbers that are noted for this hash.
    pub fn all(&self, short: Short) -> impl Iterator<Item = u32> {
        let shard = self.shards.get(shard_of(short, self.shards.len()));
        let rows = shard.into_iter().flat_map(move |shard| shard.iter_hash(spread(short)));
        rows.filter(move |row| row.short == short).map(|row| row.number)
    }

    /// Notes a number that is not there.
    #[inline]
    pub fn insert(&mut self, short: Short, number: u32) {
        if self.len >= self.shards.len() * FULL {
            self.grow();
        }
        self.len += 1;
        let shard = shard_of(short, self.shards.len());
        self.shards[shard].insert_unique(spread(short), Row { short, number }, |row| spread(row.short));
    }

    /// Forgets a number.
    pub fn remove(&mut self, short: Short, number: u32) {
        let shard = shard_of(short, self.shards.len());
        let Some(shard) = self.shards.get_mut(shard) else { return };
        if let Ok(place) = shard.find_entry(spread(short), |row| row.number == number) {
            place.remove();
            self.len -= 1;
        }
    }

    /// What had one number has another now.
    pub fn renumber(&mut self, short: Short, from: u32, to: u32) {
        let shard = shard_of(short, self.shards.len());
        let Some(shard) = self.shards.get_mut(shard) else { return };
        if let Some(row) = shard.find_mut(spread(short), |row| row.number == from) {
            row.number = to;
        }
    }

    /// Splits the next shard, or makes the first. Both halves get tables of their size.
    #[cold]
    fn grow(&mut self) {
        let new = self.shards.len();
        if new == 0 {
            return self.shards.push(HashTable::new());
        }
        let level = (new + 1).next_power_of_two();
        let old = std::mem::take(&mut self.shards[new - level / 2]);
        let mut halves = [(); 2].map(|()| HashTable::with_capacity(old.len() / 2));
        for row in old {
            let half = usize::from(row.short as usize & (level - 1) == new);
            halves[half].insert_unique(spread(row.short), row, |row| spread(row.short));
        }
        let [kept, moved] = halves;
        self.shards[new - level / 2] = kept;
        self.shards.push(moved);
    }

    /// The largest number of entries in one shard.
    #[cfg(test)]
    pub fn largest(&self) -> usize {
        self.shards.iter().map(HashTable::len).max().unwrap_or(0)
    }
}
