//! What the next checkpoint of an attempt builds upon.
//!
//! With state on disk a task hands over what has changed since the checkpoint before ([`pieces`](crate::checkpoint::pieces)). In: the parts of
//! checkpoints, those too that were given up, and which were stored. Out: whether the next checkpoint begins anew, and for one that
//! does not the files to build upon, and what is missing between these and its own pieces.
//!
//! - Every attempt begins anew: a checkpoint names only files that this attempt has written. So does the first one behind the return of a
//!   region, whose state of before counts no more.
//! - Pieces of checkpoints that were given up are carried into the next one, in their order, as they are: not encoded yet. If they are lost,
//!   become too many, or cannot be encoded, that begins anew.
//! - No checkpoint is stored whose pieces do not join: each is looked at, whatever the tasks were told.
//! - Once what has changed has become as much as there is, or there are many files, the next one begins anew. So a checkpoint is at most
//!   some times as large as its state.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::contents::LazyPiece;
use crate::checkpoint::DataFile;
use crate::error::{JobError, JobResult};
use crate::seam;

/// Bytes of pieces that are carried at most: they are in memory.
const CARRIED: u64 = 64 << 20;

/// When a chain of checkpoints has grown too long.
struct Limits {
    /// So many checkpoints after the first.
    checkpoints: usize,
    /// Bytes that are never too much.
    bytes: u64,
}

/// In a simulation there is little state, and much of it is to begin anew.
fn limits() -> Limits {
    if seam::is_simulated() { Limits { checkpoints: 6, bytes: 200 } } else { Limits { checkpoints: 200, bytes: 1 << 20 } }
}

/// A key group of a state of an operator.
type Group = (Arc<str>, Arc<str>, u16);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Increments {
    /// The newest checkpoint that begins anew: tasks look here. None: all of them have all state, with no pieces.
    anew: Option<Arc<AtomicU64>>,
    /// The one that is being taken begins anew.
    begins: bool,
    /// What has changed since the last one that was stored is not known any more.
    lost: bool,
    stored: Option<Chain>,
    /// Pieces of checkpoints that were given up.
    carried: Vec<LazyPiece>,
    carried_bytes: u64,
}

/// The checkpoints on which the next one builds, from the one that began anew.
#[derive(Clone, Debug, Default)]
struct Chain {
    files: Vec<DataFile>,
    /// The checkpoint of the last piece of each key group.
    last: HashMap<Group, u64>,
    checkpoints: usize,
    /// Of all files.
    bytes: u64,
    /// Of the files of the first, and how many entries these held.
    first: (u64, u64),
    /// How many entries there are now.
    live: u64,
}

/// The pieces of a checkpoint that is on its way to the store.
#[derive(Debug, Default)]
pub(super) struct Draft {
    begins: bool,
    chain: Chain,
    /// To be carried if it cannot be stored.
    pieces: Vec<LazyPiece>,
}

impl Increments {
    /// `in_pieces`: tasks hand over what has changed.
    pub(super) fn new(in_pieces: bool) -> Self {
        Increments { anew: in_pieces.then(|| Arc::new(AtomicU64::new(0))), ..Increments::default() }
    }

    /// Where tasks find the number of the newest checkpoint that begins anew.
    pub(super) fn anew(&self) -> Option<Arc<AtomicU64>> {
        self.anew.clone()
    }

    /// A checkpoint is about to begin. `alone`: nothing else is needed to read it.
    pub(super) fn begin(&mut self, id: u64, alone: bool) {
        let Some(anew) = &self.anew else { return };
        self.begins = alone || self.lost || self.stored.as_ref().is_none_or(Chain::is_long);
        if self.begins {
            anew.store(id, SeqCst);
        }
    }

    /// The checkpoint that was being taken is given up.
    pub(super) fn given_up(&mut self) {
        // Its tasks have handed over everything, and begin to count changes from there.
        self.lost |= self.begins;
    }

    /// A task's part of a checkpoint that was given up will never come.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// Takes the pieces of a task's part of a checkpoint that was given up.
    pub(super) fn keep(&mut self, pieces: Vec<LazyPiece>) {
        for piece in pieces {
            if self.lost || self.carried_bytes > CARRIED {
                self.lost = true;
                self.carried = Vec::new();
                self.carried_bytes = 0;
                continue;
            }
            self.carried_bytes += piece.weight as u64;
            self.carried.push(piece);
        }
    }

    /// All parts are there: brings what is carried before them. Gives the files to build upon. An error: they do not join, and the
    /// checkpoint is to be given up.
    pub(super) fn join(&mut self, id: u64, pieces: &mut Vec<LazyPiece>) -> JobResult<(Vec<DataFile>, Draft)> {
        if self.anew.is_none() {
            return Ok((Vec::new(), Draft::default()));
        }
        let mut carried = std::mem::take(&mut self.carried);
        self.carried_bytes = 0;
        let mut chain = match &self.stored {
            Some(stored) if !self.begins => stored.clone(),
            _ => {
                carried.clear();
                Chain::default()
            }
        };
        carried.append(pieces);
        let joins = if self.lost && !self.begins { Err("a part of one before it is lost") } else { chain.add(id, &carried) };
        if let Err(reason) = joins {
            self.lost = true;
            return Err(JobError::transient(format!("what has changed since the checkpoint before is not known: {reason}")));
        }
        let files = chain.files.clone();
        let to_carry = if self.begins { Vec::new() } else { carried.clone() };
        *pieces = carried;
        Ok((files, Draft { begins: self.begins, chain, pieces: to_carry }))
    }

    /// The checkpoint is stored, with its pieces in these files.
    pub(super) fn stored(&mut self, draft: Draft, files: Vec<DataFile>) {
        if self.anew.is_some() {
            let mut chain = draft.chain;
            chain.bytes += files.iter().map(|file| file.size).sum::<u64>();
            if chain.checkpoints == 1 {
                chain.first = (chain.bytes, chain.live);
            }
            chain.files.extend(files);
            self.lost &= !draft.begins;
            self.stored = Some(chain);
        }
    }

    /// The checkpoint could not be stored. `unreadable`: its pieces could not be encoded.
    pub(super) fn not_stored(&mut self, mut draft: Draft, unreadable: bool) {
        self.lost |= draft.begins || unreadable;
        // Before what has come since.
        let since = std::mem::take(&mut self.carried);
        draft.pieces.extend(since);
        self.carried_bytes = 0;
        self.keep(draft.pieces);
    }
}

impl Chain {
    fn is_long(&self) -> bool {
        let limits = limits();
        let (bytes, entries) = self.first;
        let now = if entries == 0 { bytes } else { (u128::from(bytes) * u128::from(self.live) / u128::from(entries)) as u64 };
        self.checkpoints > limits.checkpoints || self.bytes > now.saturating_mul(2).saturating_add(limits.bytes)
    }

    /// Adds the pieces of a checkpoint, and of those before it that were given up.
    fn add(&mut self, id: u64, pieces: &[LazyPiece]) -> Result<(), &'static str> {
        self.checkpoints += 1;
        self.live = 0;
        for LazyPiece { uid, state, group, piece, .. } in pieces {
            let last = self.last.insert((uid.clone(), state.clone(), *group), piece.checkpoint);
            if piece.since != 0 && last != Some(piece.since) {
                return Err("a piece does not fit the one before it");
            }
            if piece.checkpoint == id {
                self.live += piece.live;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Piece;
    use crate::operator::KeyGroupPart;

    fn part(group: u16, checkpoint: u64, since: u64, weight: usize) -> LazyPiece {
        let piece = Piece { checkpoint, since, live: 10 };
        let part = KeyGroupPart::new(group, |_| Ok(())).part;
        LazyPiece { uid: "u".into(), state: "s".into(), schema: "".into(), subtask: 0, group, piece, weight, part }
    }

    fn file(of: u64) -> DataFile {
        DataFile { name: "0000.state".into(), size: 1, xxh3: 1, of: Some(of) }
    }

    fn checkpoints(pieces: &[LazyPiece]) -> Vec<u64> {
        pieces.iter().map(|piece| piece.piece.checkpoint).collect()
    }

    /// After one that is stored.
    fn begun() -> Increments {
        let mut increments = Increments::new(true);
        increments.begin(1, false);
        let (files, draft) = increments.join(1, &mut vec![part(0, 1, 0, 100), part(1, 1, 0, 100)]).unwrap();
        assert_eq!(files, []);
        increments.stored(draft, vec![file(1)]);
        increments
    }

    fn next(increments: &mut Increments, id: u64, alone: bool) -> bool {
        increments.begin(id, alone);
        increments.anew().unwrap().load(SeqCst) == id
    }

    #[test]
    fn what_was_given_up_comes_with_the_next_in_order() {
        let mut increments = begun();
        assert!(!next(&mut increments, 2, false));
        increments.given_up();
        increments.keep(vec![part(0, 2, 1, 1)]);
        assert!(!next(&mut increments, 3, false));
        // Late, but before its next.
        increments.keep(vec![part(1, 2, 1, 1)]);
        let mut entries = vec![part(0, 3, 2, 1), part(1, 3, 2, 1)];
        let (files, draft) = increments.join(3, &mut entries).unwrap();
        assert_eq!((files, checkpoints(&entries)), (vec![file(1)], vec![2, 2, 3, 3]));
        // It cannot be stored, and the one behind it can.
        increments.not_stored(draft, false);
        increments.given_up();
        assert!(!next(&mut increments, 4, false));
        let mut entries = vec![part(0, 4, 3, 1), part(1, 4, 3, 1)];
        let (files, draft) = increments.join(4, &mut entries).unwrap();
        assert_eq!((files, checkpoints(&entries)), (vec![file(1)], vec![2, 2, 3, 3, 4, 4]));
        increments.stored(draft, vec![file(4)]);
        assert!(!next(&mut increments, 5, false));
        let mut entries = vec![part(0, 5, 4, 1), part(1, 5, 4, 1)];
        let (files, _) = increments.join(5, &mut entries).unwrap();
        assert_eq!((files, checkpoints(&entries)), (vec![file(1), file(4)], vec![5, 5]));
    }

    #[test]
    fn what_is_lost_makes_the_next_begin_anew() {
        // A task could not encode its part, and the next checkpoint has begun.
        let mut increments = begun();
        next(&mut increments, 2, false);
        increments.given_up();
        assert!(!next(&mut increments, 3, false));
        increments.lose();
        assert!(increments.join(3, &mut vec![part(0, 3, 2, 1), part(1, 3, 2, 1)]).is_err());
        increments.given_up();
        assert!(next(&mut increments, 4, false));
        // That is given up, too: it is tried until one is stored.
        increments.given_up();
        increments.keep(vec![part(0, 4, 0, 1), part(1, 4, 0, 1)]);
        assert!(next(&mut increments, 5, false));
        let mut entries = vec![part(0, 5, 0, 1), part(1, 5, 0, 1)];
        let (files, draft) = increments.join(5, &mut entries).unwrap();
        assert_eq!((files, checkpoints(&entries)), (vec![], vec![5, 5]));
        increments.stored(draft, vec![file(5)]);
        assert!(!next(&mut increments, 6, false));
        // A part that never came, whatever else was said: the pieces tell.
        assert!(increments.join(6, &mut vec![part(0, 6, 5, 1), part(1, 6, 4, 1)]).is_err());
        increments.given_up();
        assert!(next(&mut increments, 7, false));
    }

    #[test]
    fn a_savepoint_begins_anew_and_so_does_what_has_grown_long() {
        let mut increments = begun();
        assert!(next(&mut increments, 2, true));
        let (_, draft) = increments.join(2, &mut vec![part(0, 2, 0, 100), part(1, 2, 0, 100)]).unwrap();
        increments.stored(draft, vec![file(2)]);
        let mut id = 2;
        while !next(&mut increments, id + 1, false) {
            id += 1;
            let mut entries = vec![part(0, id, id - 1, 100_000), part(1, id, id - 1, 1)];
            let (files, draft) = increments.join(id, &mut entries).unwrap();
            assert_eq!(files.len() as u64, id - 2);
            increments.stored(draft, vec![DataFile { size: 100_000, ..file(id) }]);
        }
        assert_eq!(id, 2 + 11, "a megabyte more than is there");
    }

    #[test]
    fn what_cannot_be_encoded_is_not_carried() {
        let mut increments = begun();
        assert!(!next(&mut increments, 2, false));
        let (_, draft) = increments.join(2, &mut vec![part(0, 2, 1, 1), part(1, 2, 1, 1)]).unwrap();
        increments.not_stored(draft, true);
        increments.given_up();
        assert!(increments.carried.is_empty());
        assert!(next(&mut increments, 3, false));
    }

    #[test]
    fn too_much_to_be_carried_is_dropped() {
        let mut increments = begun();
        next(&mut increments, 2, false);
        increments.given_up();
        for _ in 0..3 {
            increments.keep(vec![part(0, 2, 1, 40 << 20)]);
        }
        assert!(increments.carried.is_empty());
        assert!(next(&mut increments, 3, false));
    }
}
