//! The checkpoints on which the next one builds: their files, and what is known of the pieces in them.
//!
//! In: the files of a checkpoint that was restored, and of those that are stored. Out: whether the next one fits, which files it needs, and
//! whether there are too many. Once what has changed has become as much as there is, the chain is long: it is to be
//! [compacted](super::compaction), or where there is little of it the next checkpoint begins anew. A chain that cannot be
//! compacted, or grows faster than that, becomes too long, and then the next one begins anew whatever that costs. So a checkpoint is at
//! most some times as large as its state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::contents::LazyPiece;
use crate::checkpoint::{DataFile, PieceAt, PieceFile, folder_of};
use crate::seam;

/// When a chain of checkpoints has grown too long.
struct Limits {
    /// So many checkpoints after the first.
    checkpoints: usize,
    /// Bytes that are never too much.
    bytes: u64,
    /// With fewer bytes than this the next one begins anew.
    little: u64,
    /// With state in memory, a checkpoint of fewer bytes is written as a whole.
    whole: u64,
    /// A checkpoint from elsewhere of fewer bytes is not taken over: the first one of the job's own holds all state.
    taken_over: u64,
}

/// In a simulation there is little state, and much of it is to begin anew or to be compacted.
fn limits() -> Limits {
    match seam::is_simulated() {
        true => Limits { checkpoints: 6, bytes: 200, little: 10_000, whole: 2000, taken_over: 2000 },
        false => Limits { checkpoints: 200, bytes: 1 << 20, little: 8 << 20, whole: 4 << 20, taken_over: 8 << 20 },
    }
}

/// Whether a checkpoint of so many bytes, of state in memory, is best written as a whole.
pub(super) fn is_small(bytes: u64) -> bool {
    bytes < limits().whole
}

/// A key group of a state of an operator.
type Group = (Arc<str>, Arc<str>, u16);

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// Where it began: of two chains of an attempt the numbers differ.
    began: u64,
    /// The newest of them.
    pub newest: u64,
    pub files: Vec<Arc<PieceFile>>,
    groups: HashMap<Group, Last>,
    checkpoints: usize,
}

/// What is known of the pieces of a key group.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// The checkpoint of the last one, and how many entries there are since.
    checkpoint: u64,
    live: u64,
    /// The one that needs nothing before it: its checkpoint, its bytes, and how many entries it has.
    base: u64,
    bytes: u64,
    entries: u64,
}

impl Chain {
    /// Begins with this checkpoint.
    pub fn begin(checkpoint: u64) -> Self {
        Chain { began: checkpoint, ..Chain::default() }
    }

    /// That of a checkpoint with these files.
    pub fn of(checkpoint: u64, files: &[Arc<PieceFile>]) -> Self {
        let mut chain = Chain { began: checkpoint, newest: checkpoint, ..Chain::default() };
        let mut checkpoints = HashSet::new();
        for at in files.iter().flat_map(|file| &file.pieces) {
            checkpoints.insert(at.piece.checkpoint);
            let last = chain.groups.entry((at.of.uid.clone(), at.of.state.clone(), at.group)).or_default();
            (last.checkpoint, last.live) = (at.piece.checkpoint, at.piece.live);
        }
        chain.checkpoints = checkpoints.len();
        chain.append(files.to_vec());
        chain
    }

    /// The same, with these files up to this checkpoint.
    #[cfg(test)]
    pub fn going_on(&self, checkpoint: u64, files: &[Arc<PieceFile>]) -> Self {
        Chain { began: self.began, ..Chain::of(checkpoint, files) }
    }

    fn is_over(&self, times: u64) -> bool {
        let limits = limits();
        let held = || self.groups.values().filter(|last| last.checkpoint == self.newest);
        let live = held().map(|last| last.live).sum::<u64>();
        let (bytes, entries) = held().fold((0, 0), |(bytes, entries), last| (bytes + last.bytes, entries + last.entries));
        let now = if entries == 0 { bytes } else { (u128::from(bytes) * u128::from(live) / u128::from(entries)) as u64 };
        let most = now.saturating_mul(2).saturating_add(limits.bytes);
        self.checkpoints > limits.checkpoints * times as usize || self.size() > most.saturating_mul(times)
    }

    /// Bytes of its files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.file.size).sum()
    }

    /// Whether it has grown so long that something is to be done about it.
    pub fn is_long(&self) -> bool {
        self.is_over(1)
    }

    /// Whether there is no waiting for that any more.
    pub fn is_too_long(&self) -> bool {
        self.is_over(2)
    }

    /// Whether to write everything anew costs little.
    pub fn is_little(&self) -> bool {
        self.size() < limits().little
    }

    /// What is to be compacted.
    pub fn plan(&self) -> Plan {
        Plan { began: self.began, checkpoint: self.newest, folder: folder_of(self.newest), files: self.files.clone() }
    }

    /// The same, with these files of the newest checkpoint, and wherever that is.
    pub fn plan_with(&self, files: Vec<Arc<PieceFile>>) -> Plan {
        let mut plan = self.plan();
        plan.files.extend(files);
        plan
    }

    /// What of a checkpoint in this folder, of another run, is to be copied, if there is so much of it that this is worth it.
    pub fn from_elsewhere(checkpoint: u64, folder: String, files: &[Arc<PieceFile>]) -> Option<Plan> {
        let chain = Chain::of(checkpoint, files);
        (chain.size() >= limits().taken_over).then(|| Plan { folder, ..chain.plan() })
    }

    /// Whether these files stand for the first ones of this chain.
    pub fn fits(&self, compacted: &Compacted) -> bool {
        self.began == compacted.plan.began && self.newest >= compacted.plan.checkpoint
    }

    /// Puts them there.
    pub fn put(&mut self, compacted: &Compacted) {
        let Compacted { plan, files } = compacted;
        let replaced: HashSet<(Option<u64>, &str)> = plan.files.iter().map(|file| (file.file.of, &*file.file.name)).collect();
        let since = self.files.iter().filter(|file| !replaced.contains(&(file.file.of, &*file.file.name)));
        let files: Vec<_> = files.iter().chain(since).cloned().collect();
        *self = Chain { began: self.began, ..Chain::of(self.newest, &files) };
    }

    /// Adds the pieces of a checkpoint, and of those before it that were given up.
    pub fn add(&mut self, id: u64, pieces: &[LazyPiece]) -> Result<(), &'static str> {
        self.newest = id;
        self.checkpoints += 1;
        for LazyPiece { uid, state, group, piece, .. } in pieces {
            let last = self.groups.entry((uid.clone(), state.clone(), *group)).or_default();
            if piece.since != 0 && last.checkpoint != piece.since {
                return Err("a piece does not fit the one before it");
            }
            (last.checkpoint, last.live) = (piece.checkpoint, piece.live);
        }
        Ok(())
    }

    /// Adds the files with those pieces. Files go of which nothing counts any more.
    pub fn append(&mut self, files: Vec<Arc<PieceFile>>) {
        for PieceFile { file, pieces } in files.iter().map(|file| &**file) {
            let len = |at: &PieceAt| at.at.end - at.at.start;
            // What stands around the pieces.
            let rest = file.size.saturating_sub(pieces.iter().map(len).sum()) / pieces.len().max(1) as u64;
            for at in pieces.iter().filter(|at| at.piece.since == 0) {
                let last = self.groups.entry((at.of.uid.clone(), at.of.state.clone(), at.group)).or_default();
                (last.base, last.bytes, last.entries) = (at.piece.checkpoint, len(at) + rest, at.piece.live);
            }
        }
        let counts = |at: &PieceAt| {
            let last = self.groups.get(&(at.of.uid.clone(), at.of.state.clone(), at.group));
            last.is_none_or(|last| last.base <= at.piece.checkpoint)
        };
        self.files.extend(files);
        self.files.retain(|file| file.pieces.iter().any(counts));
    }
}

/// A chain, or the first part of one, that is to be compacted.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    began: u64,
    /// The newest checkpoint in it, and its folder.
    pub checkpoint: u64,
    folder: String,
    pub files: Vec<Arc<PieceFile>>,
}

impl Plan {
    /// Where a file is.
    pub fn path(&self, file: &DataFile) -> String {
        match file.of {
            Some(of) if of == self.checkpoint => format!("{}/{}", self.folder, file.name),
            _ => file.path(&self.folder),
        }
    }
}

/// It is.
#[derive(Clone, Debug)]
pub(super) struct Compacted {
    pub plan: Plan,
    /// What stands for its files.
    pub files: Vec<Arc<PieceFile>>,
}
