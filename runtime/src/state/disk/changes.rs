//! Which keys have changed since the last checkpoint, of entries that are not in memory: they went to disk changed, were changed there,
//! or are gone.
//!
//! A key that is noted lies on disk as it is now, or is nowhere. One that is in memory again may still be noted as gone: what is in
//! memory counts. In the order of the keys, so that every run writes the same.

use std::collections::BTreeSet;

/// Bytes that a key costs beside its own.
const OVERHEAD: usize = 48;

/// See the module.
pub struct Changed {
    /// Per table; None: all of it has to be taken for changed.
    tables: Vec<Option<BTreeSet<Vec<u8>>>>,
    bytes: usize,
}

impl Changed {
    /// Of so many tables, of which no checkpoint knows anything.
    pub fn new(tables: usize) -> Self {
        Changed { tables: vec![None; tables], bytes: 0 }
    }

    /// A key has changed.
    pub fn note(&mut self, table: usize, key: &[u8]) {
        if let Some(keys) = &mut self.tables[table]
            && !keys.contains(key)
        {
            self.bytes += key.len() + OVERHEAD;
            keys.insert(key.to_vec());
        }
    }

    /// The entry of a key is in memory, with the mark for what was noted. Gives whether it was.
    pub fn forget(&mut self, table: usize, key: &[u8]) -> bool {
        let noted = self.tables[table].as_mut().is_some_and(|keys| keys.remove(key));
        if noted {
            self.bytes -= key.len() + OVERHEAD;
        }
        noted
    }

    /// The next checkpoint has all of the table.
    pub fn begin_anew(&mut self, table: usize) {
        let keys = self.tables[table].take();
        self.bytes -= keys.iter().flatten().map(|key| key.len() + OVERHEAD).sum::<usize>();
    }

    /// The next checkpoint has all of all tables, if their keys take more than this.
    pub fn keep_within(&mut self, bytes: usize) {
        if self.bytes > bytes {
            self.tables.fill(None);
            self.bytes = 0;
        }
    }

    /// How much memory the keys take, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What was noted for a checkpoint, which knows the table from here on. None: all of it.
    pub fn take(&mut self, table: usize) -> Option<BTreeSet<Vec<u8>>> {
        let keys = self.tables[table].replace(BTreeSet::new());
        self.bytes -= keys.iter().flatten().map(|key| key.len() + OVERHEAD).sum::<usize>();
        keys
    }
}
