//! The task's half of a source: reads the splits that it is given.

use std::task::{Context, Poll};

use super::split::Split;
use crate::error::JobResult;
use crate::operator::ErrorRow;

/// Reads splits and emits their rows, on the task. Never blocks: waiting is done by [fetcher threads](super::fetch).
///
/// The order of calls: [`start`](Self::start), then the rest in any order, one after the other. After anything that the
/// coordinator says the reader is polled again, whether its waker was used or not; polls for no reason are legal.
pub trait SourceReader: Send {
    /// What it emits.
    type Row;
    /// What it reads.
    type Split: Split;

    /// Once, before everything else. Splits of a checkpoint come like all others, from the enumerator.
    fn start(&mut self) -> JobResult<()> {
        Ok(())
    }

    /// New splits to read.
    fn add_splits(&mut self, splits: Vec<Self::Split>) -> JobResult<()>;

    /// No split will follow: the end is reached when those that are there are read.
    fn no_more_splits(&mut self);

    /// A message of the source's own from the enumerator.
    fn source_event(&mut self, _event: &[u8]) -> JobResult<()> {
        Ok(())
    }

    /// Emits some rows, a batch at most, moving the splits' positions along. `Pending` registers the waker.
    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<Self::Row>) -> Poll<JobResult<ReaderStatus>>;

    /// The splits that are not read to their end, with the position behind the last row emitted. A split that was read
    /// to its end is here until its last row is emitted.
    fn snapshot(&self) -> Vec<Self::Split>;

    /// What `snapshot` has just given is part of this checkpoint: for readers that hold something until it is complete.
    fn snapshot_taken(&mut self, _checkpoint: u64) {}

    /// Whether rows that it has not read may be older than those that it has, although it has no split now: between two stages
    /// of a source. Then its watermark waits, and it is not idle.
    fn holds_watermark(&self) -> bool {
        false
    }

    /// This checkpoint, and with it all before it, is complete.
    fn checkpoint_complete(&mut self, _checkpoint: u64) -> JobResult<()> {
        Ok(())
    }

    /// This checkpoint is given up. What belongs to it belongs to the next one: nothing need be done, but for what is held for it.
    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> JobResult<()> {
        Ok(())
    }

    /// Stops reading a split that is too far ahead of others, or goes on with it. Rows that are on their way may still be emitted.
    /// Gives whether it can do so: if not, the reader is stopped as a whole once all of its splits are too far ahead.
    fn set_paused(&mut self, _split: &str, _paused: bool) -> bool {
        false
    }
}

/// What a poll of a reader has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderStatus {
    /// There may be more. Legal even where there is none.
    More,
    /// It has nothing to read and wants another split. The enumerator is asked, once; the reader is polled again when
    /// the coordinator has anything to say to it.
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
    fn emit(&mut self, row: T) -> JobResult<()> {
        self.emit_record(row, ErrorRow::default)
    }

    /// When what follows was fetched from outside, in microseconds since the epoch: for metrics, once per chunk at the most. Wrappers
    /// hand it on.
    fn fetched(&mut self, _at: i64) {}

    /// So many bytes were read, unpacked, for the rows that follow: for metrics, once per chunk at the most. Wrappers hand it on.
    fn bytes_read(&mut self, bytes: u64);

    /// A record of the selected split that is not a row. An error when the policy is to fail, else it is counted by its reason.
    /// `message` is only called for those that are shown.
    fn reject(&mut self, reason: &str, message: impl FnOnce() -> String) -> JobResult<()> {
        self.reject_record(reason, message, ErrorRow::default)
    }

    /// The same for a record that is at hand: `row` says where it stands and what it is (`error`, `reason` and `source` are
    /// filled in). Only called where the text says `on error into x`.
    fn reject_record(&mut self, reason: &str, message: impl FnOnce() -> String, row: impl FnOnce() -> ErrorRow) -> JobResult<()>;

    /// A row of the selected split that came from a record: `row` tells of the record if the row's event time cannot be computed.
    fn emit_record(&mut self, row: T, record: impl FnOnce() -> ErrorRow) -> JobResult<()>;

    /// All rows of this split have been emitted: it takes part in the watermark no more.
    fn split_finished(&mut self, split: &str);

    /// A message of the source's own to the enumerator. It arrives before anything that this reader asks for later, and it counts once:
    /// a checkpoint that has the position behind it has what came of it, too.
    fn send_event(&mut self, event: Vec<u8>);
}
