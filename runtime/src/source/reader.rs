//! The task's half of a source: reads the splits that it is given.

use std::task::{Context, Poll};

use super::split::Split;
use crate::error::JobResult;

/// Reads splits and emits their rows, on the task. Never blocks: waiting is done by [fetcher threads](super::fetch).
pub trait SourceReader: Send {
    /// What it emits.
    type Row;
    /// What it reads.
    type Split: Split;

    /// New splits to read.
    fn add_splits(&mut self, splits: Vec<Self::Split>) -> JobResult<()>;

    /// No split will follow.
    fn no_more_splits(&mut self);

    /// A message of the source's own from the enumerator.
    fn source_event(&mut self, _event: &[u8]) -> JobResult<()> {
        Ok(())
    }

    /// Emits some rows, a batch at most, moving the splits' positions along. `Pending` registers the waker.
    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<Self::Row>) -> Poll<JobResult<ReaderStatus>>;

    /// The splits that are not read to their end, with the position behind the last row emitted.
    fn snapshot(&self) -> Vec<Self::Split>;
}

/// What a poll of a reader has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderStatus {
    /// There may be more.
    More,
    /// It wants another split: ask the enumerator, and poll again when there is one.
    NeedsSplit,
    /// All splits are read, and no more will come.
    End,
}

/// Where a reader puts its rows.
pub trait SourceOutput<T> {
    /// A split whose rows will come: it takes part in the watermark from now on. The same id again changes nothing.
    fn split_added(&mut self, split: &str);

    /// The split that the following rows belong to.
    fn select_split(&mut self, split: &str);

    /// A row of the selected split.
    fn emit(&mut self, row: T) -> JobResult<()>;

    /// A record of the selected split that is not a row. An error when the policy is to fail, else it is counted by its reason.
    /// `message` is only called for those that are shown.
    fn reject(&mut self, reason: &str, message: impl FnOnce() -> String) -> JobResult<()>;

    /// All rows of this split have been emitted: it takes part in the watermark no more.
    fn split_finished(&mut self, split: &str);

    /// A message of the source's own to the enumerator. It arrives before anything that this reader asks for later.
    fn send_event(&mut self, event: Vec<u8>);
}
