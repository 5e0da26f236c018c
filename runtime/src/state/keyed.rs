//! The keyed state of one operator: its tables, with how they go into checkpoints and come back.
//!
//! Each key group's part begins with the watermark of the operator, so that after a restore, at any parallelism, every key
//! group goes on from where it stood: what was late stays late, what has been emitted is not emitted again.

use super::tables::{KeyedTables, SharedTable, decode_entries, read};
use super::{KeyHasher, Place, Slot, State, StateReader, encode_to_vec};
use crate::checkpoint::{Piece, pieces};
use crate::error::{JobError, JobResult};
use crate::operator::{Form, KeyGroupPart, OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::record::Key;
use crate::time::Progress;

/// A value per key, for operators that keep one map.
#[derive(Debug)]
pub struct KeyedState<K, V> {
    name: &'static str,
    hasher: KeyHasher,
    tables: KeyedTables<K, V>,
}

impl<K, V> KeyedState<K, V>
where
    K: Key,
    V: Clone + State + Send + Sync + 'static,
{
    /// Empty state with a name that is unique in its operator. To be opened before use.
    pub fn new(name: &'static str) -> Self {
        let hasher = KeyHasher::default();
        let tables = KeyedTables::new(&hasher);
        KeyedState { name, hasher, tables }
    }

    /// Lays it out for the key groups of this subtask.
    pub fn open(&mut self, context: &OperatorContext) {
        self.hasher = KeyHasher::new(context);
        self.tables = KeyedTables::new(&self.hasher);
    }

    /// Where a key belongs.
    #[inline]
    pub fn slot(&mut self, key: &K) -> Result<Slot, JobError> {
        self.hasher.slot(key)
    }

    /// The place of a key, to be looked at and changed with one look-up.
    #[inline]
    pub fn place(&mut self, slot: Slot, key: &K) -> JobResult<Place<'_, K, V>> {
        self.tables.place(slot, key)
    }

    /// The tables.
    pub fn tables(&self) -> &KeyedTables<K, V> {
        &self.tables
    }

    /// The tables.
    pub fn tables_mut(&mut self) -> &mut KeyedTables<K, V> {
        &mut self.tables
    }

    /// Forgets a key.
    pub fn forget(&mut self, slot: Slot, key: &K) -> JobResult<()> {
        if let Place::Occupied(place) = self.tables.place(slot, key)? {
            place.remove();
        }
        Ok(())
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.tables = KeyedTables::new(&self.hasher);
    }

    /// Hands the state to a checkpoint.
    pub fn snapshot(&mut self, progress: &Progress, snapshot: &mut OperatorSnapshot) -> JobResult<()> {
        let start = self.hasher.range().start;
        let mut parts = Vec::new();
        if let Form::Pieces { checkpoint, since } = snapshot.form() {
            for table in 0..self.tables.tables() {
                let watermark = progress.of_table(table);
                let changes = self.tables.share_changes(table, since == 0)?;
                // All of it needs nothing before it.
                let since = if changes.is_whole() { 0 } else { since };
                let piece = Piece { checkpoint, since, live: changes.live() };
                let is_nothing = piece.live == 0 && watermark == i64::MIN;
                let weight = changes.weight();
                parts.push(KeyGroupPart::piece((start + table) as u16, piece, weight, move |out| {
                    if is_nothing {
                        piece.nothing(out);
                        return Ok(());
                    }
                    piece.table(&encode_to_vec(&watermark), out);
                    changes.encode(&[], out)?;
                    pieces::end(out);
                    Ok(())
                }));
            }
            snapshot.in_pieces(self.name, Self::schema(), parts);
            return Ok(());
        }
        for table in 0..self.tables.tables() {
            let watermark = progress.of_table(table);
            let shared = self.tables.share(table)?;
            if shared.is_some() || watermark != i64::MIN {
                let part = Part { watermark, shared };
                parts.push(KeyGroupPart::new((start + table) as u16, move |out| part.encode(out)));
            }
        }
        snapshot.keyed(self.name, Self::schema(), parts);
        Ok(())
    }

    /// Takes the state of a checkpoint, and calls `each` with every entry. What that changes in a value is no change for later checkpoints: it
    /// must come out the same whenever the entry is restored.
    pub fn restore(
        &mut self,
        state: &RestoredOperator,
        progress: &mut Progress,
        mut each: impl FnMut(Slot, &K, &mut V),
    ) -> Result<(), JobError> {
        let mut watermarks = vec![i64::MIN; self.hasher.range().len()];
        for part in state.keyed(self.name, &Self::schema())? {
            let (group, bytes) = part?;
            let mut input = StateReader::new(&bytes);
            let watermark = read::<i64>(&mut input)?;
            let table = u32::from(group).wrapping_sub(self.hasher.range().start);
            if let Some(of_table) = watermarks.get_mut(table as usize) {
                *of_table = watermark;
            }
            decode_entries(&mut input, |key: K, mut value: V| {
                let slot = self.hasher.slot(&key)?;
                each(slot, &key, &mut value);
                if let Place::Vacant(place) = self.tables.place(slot, &key)? {
                    place.insert(key, value);
                }
                Ok(())
            })?;
        }
        for group in state.in_pieces(self.name, &Self::schema()) {
            let table = u32::from(group).wrapping_sub(self.hasher.range().start);
            if table < self.tables.tables() {
                self.tables.restored(table)?;
            }
        }
        *progress = Progress::restored(watermarks);
        Ok(())
    }

    fn schema() -> String {
        format!("keyed{{watermark:int64,entries:map<{},{}>}}", K::schema(), V::schema())
    }
}

struct Part<K, V> {
    watermark: i64,
    shared: Option<SharedTable<K, V>>,
}

impl<K: State, V: State> Part<K, V> {
    fn encode(&self, out: &mut Vec<u8>) -> JobResult<()> {
        self.watermark.encode(out);
        match &self.shared {
            Some(shared) => shared.encode(out)?,
            None => 0u64.encode(out),
        }
        Ok(())
    }
}
