//! Committers, and what comes of a commit.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::error::JobResult;

/// Makes staged rows visible. Runs beside the coordinator, one call at a time; may block.
///
/// An attempt goes: `start`; after a failure `commit` of everything that the restored checkpoint holds; `discard_unknown`;
/// `commit` after every completed checkpoint that holds something; `finish` if the job ends.
pub trait Committer: Send {
    /// Before the first task of an attempt starts. Checks that the target can be written and makes it ready; on a fresh start
    /// refuses by the sink's policy for what exists. Removes nothing that somebody may still want: another sink may refuse.
    fn start(&mut self, start: &SinkStart) -> JobResult<()>;

    /// Makes these visible, in order. They are of one checkpoint, and all of earlier ones are settled. A request that is left
    /// alone counts as committed; the methods of [`CommitRequest`] say otherwise: who stops at one that has to be tried later says so of
    /// all behind it, too. May be called again with the same ones, also
    /// by another process: it must not do it twice.
    ///
    /// # Errors
    /// Failures whose reason is not known: the job fails, and after a restart the same requests come again.
    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()>;

    /// The job begins: all sinks have agreed, and everything that the restored checkpoint holds is committed. On a fresh start what is to be
    /// replaced goes now. What earlier processes of this run have
    /// staged otherwise, or committed after that checkpoint, comes again from the sources: it must go. `waiting`: committables
    /// that are still held for a compactor and have to stay.
    fn discard_unknown(&mut self, _start: &SinkStart, _waiting: &[Vec<u8>]) -> JobResult<()> {
        Ok(())
    }

    /// How requests that cannot be committed now are tried again.
    fn retry(&self) -> RetryPolicy {
        RetryPolicy::default()
    }

    /// The job has ended and everything is committed: what only a resume would need can go.
    fn finish(&mut self) -> JobResult<()> {
        Ok(())
    }
}

/// Hears of whole checkpoints, once per sink: to write a marker or a table's manifest.
///
/// Behind a committer it is called as soon as all committables of a checkpoint are settled, with those that were committed;
/// without a committer, with all of them, once the checkpoint is complete. Checkpoints without committables are left out.
pub trait GlobalCommitter: Send {
    /// Before the first task of an attempt starts.
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        Ok(())
    }

    /// Commits a checkpoint. May be called again with the same one: it must not do it twice.
    fn commit(&mut self, checkpoint: u64, committables: &[Vec<u8>]) -> JobResult<CommitOutcome>;

    /// How a commit is tried again.
    fn retry(&self) -> RetryPolicy {
        RetryPolicy::default()
    }

    /// The job has ended and everything is committed.
    fn finish(&mut self) -> JobResult<()> {
        Ok(())
    }
}

/// How an attempt starts, as committers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkStart {
    /// From the beginning.
    Fresh,
    /// From this checkpoint. What it holds is committed next, whether it was before or not.
    Resumed {
        /// The number of the checkpoint.
        checkpoint: u64,
    },
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// Now visible.
    Committed,
    /// It was visible before.
    AlreadyCommitted,
    /// Not possible now: try again later, as the retry policy says.
    RetryLater(String),
    /// It will never be possible, for a reason that is known: its rows are lost, which is counted and said; the job goes on.
    Failed(String),
}

/// One committable on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRequest {
    checkpoint: u64,
    subtask: u32,
    committable: Vec<u8>,
    retries: u32,
    outcome: CommitOutcome,
}

impl CommitRequest {
    /// A committable of this checkpoint.
    pub fn new(checkpoint: u64, subtask: u32, committable: Vec<u8>) -> Self {
        CommitRequest { checkpoint, subtask, committable, retries: 0, outcome: CommitOutcome::Committed }
    }

    /// The checkpoint that it was made for.
    pub fn checkpoint(&self) -> u64 {
        self.checkpoint
    }

    /// The writer that made it.
    pub fn subtask(&self) -> u32 {
        self.subtask
    }

    /// What the writer gave.
    pub fn committable(&self) -> &[u8] {
        &self.committable
    }

    /// How often it was tried before, in this process.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// It was committed before, by an earlier process perhaps.
    pub fn already_committed(&mut self) {
        self.outcome = CommitOutcome::AlreadyCommitted;
    }

    /// It cannot be committed now: try again later.
    pub fn retry_later(&mut self, reason: impl Into<String>) {
        self.outcome = CommitOutcome::RetryLater(reason.into());
    }

    /// A part of it is committed: try again later with the rest.
    pub fn update_and_retry_later(&mut self, rest: Vec<u8>, reason: impl Into<String>) {
        self.committable = rest;
        self.retry_later(reason);
    }

    /// It can never be committed, and it is known why. Its rows are lost: that is counted and said at the end.
    pub fn failed(&mut self, reason: impl Into<String>) {
        self.outcome = CommitOutcome::Failed(reason.into());
    }

    /// What came of it so far.
    pub fn outcome(&self) -> &CommitOutcome {
        &self.outcome
    }

    /// Ready for the next try. `retries`: made before it.
    pub(crate) fn again(mut self, retries: u32) -> Self {
        self.retries = retries;
        self.outcome = CommitOutcome::Committed;
        self
    }

    pub(crate) fn into_committable(self) -> Vec<u8> {
        self.committable
    }
}

/// How often and when commits are tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Beyond the first try; then the job fails (and restarts, if it may).
    pub retries: u32,
    /// Before the first of them.
    pub first_delay: Duration,
    /// Every delay is twice the one before it, up to this.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    /// Ten retries, after 100 ms, 200 ms and so on up to 10 s: half a minute in all.
    fn default() -> Self {
        RetryPolicy { retries: 10, first_delay: Duration::from_millis(100), longest_delay: Duration::from_secs(10) }
    }
}

impl RetryPolicy {
    /// The pause before a retry, counted from 1.
    pub fn delay(&self, retry: u32) -> Duration {
        let factor = 1_u32.checked_shl(retry.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first_delay.saturating_mul(factor).min(self.longest_delay)
    }
}

/// Counters of a sink's commits, since the process started.
#[derive(Debug, Default)]
pub(crate) struct CommitCounters {
    pub total: AtomicU64,
    pub committed: AtomicU64,
    pub already_committed: AtomicU64,
    pub failed: AtomicU64,
    pub retried: AtomicU64,
    pub pending: AtomicU64,
}

impl CommitCounters {
    pub(crate) fn read(&self) -> CommitCounts {
        CommitCounts {
            total: self.total.load(Relaxed),
            committed: self.committed.load(Relaxed),
            already_committed: self.already_committed.load(Relaxed),
            failed: self.failed.load(Relaxed),
            retried: self.retried.load(Relaxed),
            pending: self.pending.load(Relaxed),
        }
    }
}

/// Counters of a sink's commits at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitCounts {
    /// Committables that came to the committer.
    pub total: u64,
    /// Made visible.
    pub committed: u64,
    /// Had been visible before.
    pub already_committed: u64,
    /// Lost, for a known reason.
    pub failed: u64,
    /// Tries that were not the first.
    pub retried: u64,
    /// Of complete checkpoints, and not yet settled.
    pub pending: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_a_limit() {
        let policy = RetryPolicy::default();
        let delays = [1, 2, 3, 7, 8, 40, u32::MAX].map(|retry| policy.delay(retry).as_millis());
        assert_eq!(delays, [100, 200, 400, 6400, 10_000, 10_000, 10_000]);
    }
}
