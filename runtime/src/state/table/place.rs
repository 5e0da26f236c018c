//! The place of a key: found once, then looked at, changed, filled or emptied.

use super::Table;
use super::entry::WRITTEN;
#[cfg(feature = "disk")]
use super::entry::{COPIED, Gone, KNOWN};

/// What a key has: nothing yet, or a value.
pub enum Place<'a, K, V> {
    /// The key has a value.
    Occupied(Occupied<'a, K, V>),
    /// The key has none.
    Vacant(Vacant<'a, K, V>),
}

/// A key that has a value.
pub struct Occupied<'a, K, V> {
    pub(super) table: &'a mut Table<K, V>,
    pub(super) number: u32,
    /// The number of the table, and where removals of what lies on disk or in a checkpoint are noted.
    #[cfg(feature = "disk")]
    pub(in crate::state) gone: Option<(u32, &'a mut Gone<K>)>,
}

impl<'a, K, V> Occupied<'a, K, V> {
    /// The value.
    #[inline]
    pub fn value(&mut self) -> &mut V {
        &mut self.table.write(self.number, WRITTEN).value
    }

    /// The value, for as long as the tables.
    #[inline]
    pub fn into_value(self) -> &'a mut V {
        &mut self.table.write(self.number, WRITTEN).value
    }

    /// Takes the key and its value away.
    pub fn remove(self) -> (K, V)
    where
        K: Clone,
    {
        let entry = self.table.remove(self.number);
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
    pub(super) table: &'a mut Table<K, V>,
    pub(super) hash: u64,
}

impl<'a, K, V> Vacant<'a, K, V> {
    /// Gives the key its first value.
    #[inline]
    pub fn insert(self, key: K, value: V) -> &'a mut V {
        self.table.come(self.hash, key, value)
    }
}
