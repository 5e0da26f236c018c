//! What a join keeps: key → the rows of both sides.
//!
//! By key, as a rule: rows of both sides come to the subtask of their key group. With `broadcast` every subtask gets all rows of
//! the joined side, and those before `join` come to any subtask, so nothing goes with key groups. Then a checkpoint holds the
//! left rows as a list that is dealt out anew when the parallelism changes, and the joined side as every subtask has it.
//! Subtasks may have come to different moments, and have forgotten what is over for them: whoever goes on takes the joined side
//! of the one that was furthest behind, which lacks nothing. One that has come to its end has forgotten everything and says nothing.

use std::sync::Arc;

use crate::error::{JobError, JobResult};
use crate::operator::{Failure, OperatorContext, OperatorSnapshot, RestoredOperator, Spread};
use crate::record::Key;
use crate::state::{KeyedState, KeyedTables, Place, SharedTable, Slot, State, StateError, decode_from_slice, encode_to_vec};
use crate::time::Progress;

/// So many rows of a key stay together when they are dealt out.
const DEALT_TOGETHER: usize = 64;

/// The clock of a key that was never noted.
const NEVER: i64 = i64::MIN;

/// The rows of both sides by key, `A` as the left ones are kept, `B` as the right ones.
#[derive(Debug)]
pub(super) struct JoinState<K, A, B> {
    rows: KeyedState<K, (Vec<A>, Vec<B>)>,
    broadcast: bool,
    /// Whether this subtask speaks of the rows of the joined side: of several that get them, the first.
    counts: bool,
    /// Whether this subtask has come to its end: its rows before `join` are over while those of others may go on.
    ended: bool,
}

/// A part of the left rows of a key: the watermark of their subtask, when the key was touched last, the key, the rows.
type Dealt<K, A> = (i64, i64, K, Vec<A>);

/// The joined side of a subtask: its watermark, and the rows by key.
type Joined<K, B> = (i64, Vec<(K, Vec<B>)>);

/// What a restore found.
pub(super) struct Found<K> {
    /// When keys were touched last, of a broadcast join.
    pub touched: Vec<(Slot, K, i64)>,
    /// Whether all rows come from subtasks that had come to the same moment.
    pub same_moment: bool,
}

impl<K, A, B> JoinState<K, A, B>
where
    K: Key,
    A: Clone + State + Send + Sync + 'static,
    B: Clone + State + Send + Sync + 'static,
{
    /// By key. To be opened before use.
    pub fn new() -> Self {
        JoinState { rows: KeyedState::new("rows"), broadcast: false, counts: true, ended: false }
    }

    /// The joined side comes to every subtask.
    pub fn broadcast(&mut self) {
        self.broadcast = true;
    }

    /// Whether the joined side comes to every subtask.
    pub fn is_broadcast(&self) -> bool {
        self.broadcast
    }

    /// As [`KeyedState::open`].
    pub fn open(&mut self, context: &OperatorContext) {
        self.counts = !self.broadcast || context.subtask == 0;
        // With `broadcast` rows of all keys come to all subtasks: it stays laid out for all key groups, as it was made.
        if !self.broadcast {
            self.rows.open(context);
        }
    }

    /// Where a key belongs.
    #[inline]
    pub fn slot(&mut self, key: &K) -> JobResult<Slot> {
        self.rows.slot(key)
    }

    /// The place of a key.
    #[inline]
    pub fn place(&mut self, slot: Slot, key: &K) -> JobResult<Place<'_, K, (Vec<A>, Vec<B>)>> {
        self.rows.place(slot, key)
    }

    /// Forgets the rows of a key; with `broadcast` the left ones.
    pub fn forget(&mut self, slot: Slot, key: &K) -> JobResult<()> {
        if !self.broadcast {
            return self.rows.forget(slot, key);
        }
        let Place::Occupied(mut place) = self.rows.place(slot, key)? else { return Ok(()) };
        if place.value().1.is_empty() {
            place.remove();
        } else {
            place.value().0.clear();
        }
        Ok(())
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Forgets everything: no row comes any more.
    pub fn finish(&mut self) {
        self.rows.clear();
        self.ended = true;
    }

    /// Whether this subtask counts what happens to rows of the joined side.
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// A row of the joined side that cannot be computed is reported by one subtask.
    #[inline]
    pub fn once(&self, result: Result<(), Failure>) -> Result<(), Failure> {
        match result {
            Err(Failure::Row(_)) if !self.counts() => Ok(()),
            other => other,
        }
    }

    /// Hands the rows to a checkpoint, with the clocks of their keys where there are any.
    pub fn snapshot(
        &mut self,
        progress: &Progress,
        touched: Option<&mut KeyedState<K, i64>>,
        snapshot: &mut OperatorSnapshot,
    ) -> JobResult<()> {
        if !self.broadcast {
            return self.rows.snapshot(progress, snapshot);
        }
        let watermark = progress.watermark();
        let rows = Arc::new(share(self.rows.tables_mut())?);
        let touched = touched.map(|touched| share(touched.tables_mut())).transpose()?.unwrap_or_default();
        let joined = rows.clone();
        let dealt = move || {
            let touched: hashbrown::HashMap<K, i64> = entries(&touched)?.into_iter().collect();
            let mut items = Vec::new();
            for (key, (lefts, _)) in entries(&rows)? {
                let at = touched.get(&key).copied().unwrap_or(NEVER);
                items.extend(lefts.chunks(DEALT_TOGETHER).map(|rows| {
                    let dealt: Dealt<K, A> = (watermark, at, key.clone(), rows.to_vec());
                    encode_to_vec(&dealt)
                }));
            }
            Ok(items)
        };
        snapshot.shared("rows", <Dealt<K, A>>::schema(), Spread::Deal, dealt);
        if self.ended {
            return Ok(());
        }
        let copy = move || {
            let all = entries(&joined)?.into_iter().filter(|(_, (_, rights))| !rights.is_empty());
            let copy: Joined<K, B> = (watermark, all.map(|(key, (_, rights))| (key, rights)).collect());
            Ok(vec![encode_to_vec(&copy)])
        };
        snapshot.shared("joined", <Joined<K, B>>::schema(), Spread::All, copy);
        Ok(())
    }

    /// Takes the rows of a checkpoint, and calls `each` with the rows of every key; left rows are in no order if they come from
    /// several subtasks.
    pub fn restore(
        &mut self,
        state: &RestoredOperator,
        progress: &mut Progress,
        mut each: impl FnMut(Slot, &K, &mut (Vec<A>, Vec<B>)),
    ) -> JobResult<Found<K>> {
        let mut found = Found { touched: Vec::new(), same_moment: true };
        if !self.broadcast {
            // What a broadcast join left is refused, for its types are others.
            state.list("joined", &format!("by key, {}", <(K, A, B)>::schema()))?;
            self.rows.restore(state, progress, each)?;
            return Ok(found);
        }
        let mut keys = Vec::new();
        let mut oldest: Option<Joined<K, B>> = None;
        for copy in state.list("joined", &<Joined<K, B>>::schema())? {
            let copy: Joined<K, B> = decode_from_slice(copy).map_err(broken)?;
            if oldest.as_ref().is_none_or(|oldest| copy.0 < oldest.0) {
                oldest = Some(copy);
            }
        }
        let (behind, joined) = oldest.unwrap_or((i64::MIN, Vec::new()));
        for (key, rights) in joined {
            let slot = self.rows.slot(&key)?;
            if let Place::Vacant(place) = self.rows.place(slot, &key)? {
                place.insert(key.clone(), (Vec::new(), rights));
                keys.push((slot, key));
            }
        }
        let mut moments: Option<(i64, i64)> = None;
        for item in state.list("rows", &<Dealt<K, A>>::schema())? {
            let (watermark, touched, key, rows): Dealt<K, A> = decode_from_slice(item).map_err(broken)?;
            let (least, most) = moments.unwrap_or((watermark, watermark));
            moments = Some((least.min(watermark), most.max(watermark)));
            let slot = self.rows.slot(&key)?;
            match self.rows.place(slot, &key)? {
                Place::Occupied(mut place) => place.value().0.extend(rows),
                Place::Vacant(place) => {
                    place.insert(key.clone(), (rows, Vec::new()));
                    keys.push((slot, key.clone()));
                }
            }
            if touched != NEVER {
                found.touched.push((slot, key, touched));
            }
        }
        for (slot, key) in keys {
            if let Place::Occupied(mut place) = self.rows.place(slot, &key)? {
                each(slot, &key, place.value());
            }
        }
        found.same_moment = moments.is_none_or(|(least, most)| least == most);
        *progress = Progress::restored(vec![moments.map_or(behind, |(least, _)| least)]);
        Ok(found)
    }
}

/// All tables, as they are now.
fn share<K: Key, V: Clone + State>(tables: &mut KeyedTables<K, V>) -> JobResult<Vec<SharedTable<K, V>>> {
    (0..tables.tables()).filter_map(|table| tables.share(table).transpose()).collect()
}

/// The entries of all tables.
fn entries<K: Key, V: State>(tables: &[SharedTable<K, V>]) -> JobResult<Vec<(K, V)>> {
    let all: Vec<_> = tables.iter().map(SharedTable::entries).collect::<JobResult<_>>()?;
    Ok(all.into_iter().flatten().collect())
}

#[cold]
fn broken(error: StateError) -> JobError {
    JobError::new(format!("the checkpoint's state cannot be read: {error}"))
}
