//! Merging small committables between the completion of their checkpoint and their commit.
//!
//! Merging runs beside the job, only on committables of complete checkpoints. What waits and what is being merged is in every
//! checkpoint, so that a process that was killed merges again; a result is committed with the checkpoint that first holds it.
//! The inputs must stay until then.

use crate::error::JobResult;

/// Merges small committables into large ones. Called on any thread, several merges at a time; may block.
pub trait Compactor: Send + Sync {
    /// What happens to the committables of completed checkpoints. `waiting`: all that are there, oldest first; `checkpoint`: the
    /// one that has just been completed; `end`: the input has ended and nothing may wait any longer.
    fn plan(&self, waiting: Vec<Staged>, checkpoint: u64, end: bool) -> JobResult<CompactPlan>;

    /// Merges. Gives one or more new committables, durable like those that writers give. May be called again for the same
    /// inputs, also by another process: the inputs stay untouched.
    fn merge(&self, request: &[Staged]) -> JobResult<Vec<Vec<u8>>>;

    /// Prepares a result for the checkpoint that it will be committed with, like a writer's `prepare_commit`. `number`: counts
    /// the results of the checkpoint, from 0.
    fn seal(&self, result: Vec<u8>, checkpoint: u64, number: u64) -> JobResult<Vec<u8>>;
}

/// A committable of a completed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The checkpoint that it was made for.
    pub checkpoint: u64,
    /// The writer that made it.
    pub subtask: u32,
    /// What the writer gave.
    pub committable: Vec<u8>,
}

/// What happens to committables that wait. Each is in one of the three.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactPlan {
    /// Committed as they are.
    pub pass: Vec<Staged>,
    /// Merged, each group by itself.
    pub merge: Vec<Vec<Staged>>,
    /// They go on waiting.
    pub hold: Vec<Staged>,
}
