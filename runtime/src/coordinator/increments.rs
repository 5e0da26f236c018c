//! What the next checkpoint of an attempt builds upon.
//!
//! A task hands over what has changed since the checkpoint before ([`pieces`](crate::checkpoint::pieces)). In: the parts of
//! checkpoints, those too that were given up, and which were stored. Out: whether the next checkpoint begins anew, and for one that
//! does not the files to build upon, and what is missing between these and its own pieces.
//!
//! - State in memory of which there is little comes as a whole each time: that costs next to nothing, and such a checkpoint needs no other.
//! - An attempt goes on from the job's own checkpoint that it has restored, and a region that comes back from that which it has: what
//!   they hold is known then. A state that does not know begins anew by itself, with pieces that need nothing before them.
//! - Pieces of checkpoints that were given up are carried into the next one, in their order, as they are: not encoded yet. If they are lost,
//!   become too many, or cannot be encoded, that begins anew.
//! - No checkpoint is stored whose pieces do not join: each is looked at, whatever the tasks were told.
//! - A chain that has grown [long](super::lineage) is compacted beside all this, and the next checkpoint builds upon what that gives.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::asked::Asked;
use super::contents::LazyPiece;
use super::lineage::{Chain, Compacted, Plan, is_small};
use super::retention::Pin;
use super::storage::Checkpoint;
use crate::checkpoint::{DataFile, PieceFile};
use crate::error::{JobError, JobResult};
use crate::job::StateConfig;

/// Bytes of pieces that are carried at most: they are in memory. A checkpoint of more leaves memory file by file as it is written, and if it
/// cannot be stored the next one begins anew.
const CARRIED: u64 = 64 << 20;

/// So often in a row compaction may fail before the next checkpoint begins anew.
const TRIES: u32 = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Increments {
    /// Where tasks look.
    asked: Arc<Asked>,
    /// What is small comes as a whole.
    in_memory: bool,
    /// The bytes of the newest checkpoint.
    size: u64,
    /// The checkpoints that are on their way, from the oldest on.
    begun: VecDeque<Begun>,
    /// What has changed since the last one that was stored is not known any more.
    lost: bool,
    stored: Option<Chain>,
    /// Pieces of checkpoints that were given up.
    carried: Vec<LazyPiece>,
    carried_bytes: u64,
    /// A compaction is on its way.
    compacting: bool,
    /// What has come of one, until a checkpoint is stored that names it. Kept where it is until then.
    compacted: Option<(Compacted, Pin)>,
    /// So often in a row it has failed.
    failed: u32,
    /// What lies elsewhere is being copied, and the first checkpoint waits for that.
    taking_over: bool,
    /// Keeps the copy where it is until a checkpoint is stored that names it.
    taken_over: Option<Pin>,
}

/// A checkpoint that is on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    id: u64,
    /// It begins anew.
    begins: bool,
    /// It comes as a whole, with no pieces.
    whole: bool,
}

/// The pieces of a checkpoint that is on its way to the store.
#[derive(Debug, Default)]
pub(super) struct Draft {
    begun: Begun,
    /// It names what a compaction gave.
    compacted: bool,
    chain: Chain,
    /// To be carried if it cannot be stored.
    pieces: Vec<LazyPiece>,
    /// They are too much for that.
    too_much: bool,
}

impl Draft {
    /// What it builds upon.
    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }
}

impl Increments {
    /// Of a job that begins.
    pub(super) fn new(state: StateConfig) -> Self {
        Increments { in_memory: matches!(state, StateConfig::Memory), ..Increments::default() }
    }

    /// The same, behind the restore of a checkpoint of so many bytes.
    pub(super) fn behind(self, size: u64) -> Self {
        Increments { size, ..self }
    }

    /// The same, behind the restore of a checkpoint of the job's own with these files, on which the first one builds.
    pub(super) fn upon(self, checkpoint: u64, files: &[Arc<PieceFile>]) -> Self {
        let stored = Chain::of(checkpoint, files);
        Increments { stored: Some(stored).filter(|chain| !chain.files.is_empty()), ..self }
    }

    /// What is to be copied of a checkpoint in this folder elsewhere, which was restored, before the first one builds upon it. None: it is not
    /// worth that.
    pub(super) fn takes_over(&mut self, checkpoint: &Checkpoint, folder: &str) -> Option<Plan> {
        let plan = Chain::from_elsewhere(checkpoint.manifest.checkpoint, folder.to_owned(), &checkpoint.to_build_upon);
        self.taking_over = plan.is_some();
        plan
    }

    /// Whether the first checkpoint waits for that.
    pub(super) fn is_taking_over(&self) -> bool {
        self.taking_over
    }

    /// It is copied; or why not, then the first checkpoint holds all state. Gives that, if it is of interest.
    pub(super) fn taken_over(&mut self, result: Result<(Compacted, Pin), String>) -> Option<String> {
        // One that did not wait for it may have begun.
        if !std::mem::take(&mut self.taking_over) {
            return None;
        }
        match result {
            Ok((compacted, pin)) => {
                self.stored = Some(Chain::of(compacted.plan.checkpoint, &compacted.files));
                self.taken_over = Some(pin);
                None
            }
            Err(reason) => Some(reason),
        }
    }

    /// A region begins again from the newest checkpoint that is stored, or from this one that was restored; None: from nothing. What it has
    /// handed over since counts no more.
    pub(super) fn goes_back(&mut self, checkpoint: Option<u64>, is_of_region: impl Fn(&str) -> bool) {
        let gone = self.carried.extract_if(.., |piece| is_of_region(&piece.uid));
        self.carried_bytes -= gone.map(|piece| piece.weight as u64).sum::<u64>();
        self.lost |= self.stored.as_ref().is_some_and(|chain| Some(chain.newest) != checkpoint);
    }

    /// Files of what is stored that have nothing of a region.
    pub(super) fn of_others(&self, is_of_region: impl Fn(&str) -> bool) -> HashSet<String> {
        let files = self.stored.iter().flat_map(|chain| &chain.files);
        let others = files.filter(|file| !file.pieces.iter().any(|at| is_of_region(&at.of.uid)));
        others.map(|file| file.file.path("")).collect()
    }

    /// Where tasks find what they are to hand over.
    pub(super) fn asked(&self) -> Arc<Asked> {
        self.asked.clone()
    }

    /// A checkpoint is about to begin. `alone`: nothing else is needed to read it.
    pub(super) fn begin(&mut self, id: u64, alone: bool) {
        self.taking_over = false;
        let whole = self.in_memory && is_small(self.size);
        // Nothing builds upon one that comes as a whole.
        let behind_whole = self.begun.back().is_some_and(|before| before.whole);
        let begins = whole || alone || self.lost || behind_whole || self.stored.as_ref().is_none_or(|chain| self.is_over(chain));
        if begins {
            self.asked.everything(id, !whole);
        }
        self.begun.push_back(Begun { id, begins, whole });
    }

    /// Whether there is no going on with this chain.
    fn is_over(&self, chain: &Chain) -> bool {
        let is_shorter = self.compacted.as_ref().is_some_and(|(compacted, _)| chain.fits(compacted));
        !is_shorter && chain.is_long() && (chain.is_little() || chain.is_too_long() || self.failed >= TRIES)
    }

    /// What is to be compacted now, if anything is. It has begun then.
    pub(super) fn plan(&mut self) -> Option<Plan> {
        let chain = self.stored.as_ref().filter(|chain| chain.is_long() && !self.is_over(chain))?;
        if self.lost || self.compacting || self.compacted.is_some() {
            return None;
        }
        self.compacting = true;
        Some(chain.plan())
    }

    /// A compaction has come to its end.
    pub(super) fn compacted(&mut self, result: JobResult<(Compacted, Pin)>) {
        self.compacting = false;
        match result {
            Ok((compacted, pin)) => {
                self.failed = 0;
                let fits = self.stored.as_ref().is_some_and(|chain| chain.fits(&compacted));
                self.compacted = fits.then_some((compacted, pin));
            }
            Err(_) => self.failed += 1,
        }
    }

    /// A checkpoint that was being taken is given up.
    pub(super) fn given_up(&mut self, id: u64) {
        // Its tasks have handed over everything, and begin to count changes from there.
        self.lost |= self.begun.iter().any(|begun| begun.id == id && begun.begins);
        self.begun.retain(|begun| begun.id != id);
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
        // What was given up behind it stays where it is.
        let (mut carried, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.carried).into_iter().partition(|piece| piece.piece.checkpoint <= id);
        self.carried_bytes = later.iter().map(|piece| piece.weight as u64).sum();
        self.carried = later;
        let begun = self.begun.iter().find(|begun| begun.id == id).copied().unwrap_or(Begun { id, ..Begun::default() });
        let mut chain = match &self.stored {
            Some(stored) if !begun.begins => stored.clone(),
            _ => {
                carried.clear();
                Chain::begin(id)
            }
        };
        let shorter = self.compacted.as_ref().filter(|(compacted, _)| chain.fits(compacted));
        let compacted = shorter.map(|(compacted, _)| chain.put(compacted)).is_some();
        carried.append(pieces);
        let joins = if self.lost && !begun.begins { Err("a part of one before it is lost") } else { chain.add(id, &carried) };
        if let Err(reason) = joins {
            self.lost = true;
            return Err(JobError::transient(format!("what has changed since the checkpoint before is not known: {reason}")));
        }
        let files = chain.files.iter().map(|file| file.file.clone()).collect();
        let too_much = carried.iter().map(|piece| piece.weight as u64).sum::<u64>() > CARRIED;
        let to_carry = if begun.begins || too_much { Vec::new() } else { carried.clone() };
        *pieces = carried;
        Ok((files, Draft { begun, compacted, chain, pieces: to_carry, too_much }))
    }

    /// The checkpoint is stored, with its pieces in these files. `size`: its bytes, without what it builds upon.
    pub(super) fn stored(&mut self, draft: Draft, files: Vec<Arc<PieceFile>>, size: u64) {
        let Draft { begun, compacted, mut chain, .. } = draft;
        self.begun.retain(|other| other.id != begun.id);
        chain.append(files);
        if begun.begins {
            (self.lost, self.failed) = (false, 0);
        }
        // It is named now, or stands for nothing any more.
        self.compacted.take_if(|_| compacted || begun.begins);
        self.taken_over = None;
        self.size = size.max(chain.size());
        self.stored = Some(chain).filter(|_| !begun.whole);
    }

    /// The checkpoint could not be stored. `unreadable`: its pieces could not be encoded.
    pub(super) fn not_stored(&mut self, mut draft: Draft, unreadable: bool) {
        self.lost |= draft.begun.begins || draft.too_much || unreadable;
        // Before what has come since.
        let since = std::mem::take(&mut self.carried);
        draft.pieces.extend(since);
        self.carried_bytes = 0;
        self.keep(draft.pieces);
    }
}

#[cfg(test)]
mod tests;
