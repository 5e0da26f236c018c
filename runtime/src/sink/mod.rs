//! Sinks, in two phases: writers on the tasks stage rows and hand out committables before each barrier; the committer on the
//! coordinator makes them visible once the checkpoint that holds them is complete.
//!
//! ```text
//! rows → SinkWriter ─prepare_commit→ committables ─in the checkpoint→ [Compactor] → Committer → [GlobalCommitter]
//! ```
//!
//! What the engine promises:
//!
//! - Committables reach the committer only after the checkpoint that holds them is complete, those of the end of input too.
//! - Checkpoints are committed one after the other in ascending order. A completion that was missed is made up for by the next.
//! - After a failure everything in the restored checkpoint is committed again before the first row: a commit must be idempotent.
//! - Committing never holds up the coordinator or the tasks; a commit that is tried again waits with a growing delay.
//!
//! A sink without committer writes rows as they come. Services that take batches of rows build on [`batching`].

pub mod batching;
mod commit;
mod compact;
mod inserts;
mod metrics;
mod stage;

pub use commit::{CommitCounts, CommitOutcome, CommitRequest, Committer, GlobalCommitter, RetryPolicy, SinkStart};
pub use compact::{CompactPlan, Compactor, Staged};
pub use inserts::{InsertWriter, Inserts};
pub use metrics::WriterMetrics;
pub use stage::SinkStage;

pub(crate) use commit::CommitCounters;
pub(crate) use stage::{COMMITTABLES, SUMMARY};

use std::sync::Arc;
use std::task::{Context, Poll};

use crate::error::JobResult;

/// A sink of rows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not write rows of type `{T}`",
    label = "no sink of such rows",
    note = "write `impl Sink<..> for` it: what a sink has to do stands in docs/connectors.md"
)]
pub trait Sink<T>: Send + 'static {
    /// Writes the rows of one subtask.
    type Writer: SinkWriter<T> + 'static;

    /// The writer of one subtask. Called before its first row, after the committer has started.
    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer>;

    /// Makes committables visible; None for sinks whose rows are out when they are written. Called once per attempt at the
    /// job, on the coordinator.
    fn committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(None)
    }

    /// Merges small committables before they are committed; None: they are committed as they are.
    fn compactor(&self, _context: &SinkContext) -> JobResult<Option<Arc<dyn Compactor>>> {
        Ok(None)
    }

    /// Hears of every checkpoint as a whole after its committables are committed; None: nobody wants to.
    fn global_committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn GlobalCommitter>>> {
        Ok(None)
    }
}

/// Writes rows.
///
/// Runs on the task's thread. `write`, `end_of_batch` and `wake` must not wait for the outside world; a writer that would
/// have to says so in `poll_ready` and `poll_flush`. `prepare_commit` may block.
pub trait SinkWriter<T>: Send {
    /// Takes a row.
    fn write(&mut self, row: T) -> JobResult<()>;

    /// A batch has been written. Sinks that people watch show it now.
    fn end_of_batch(&mut self) -> JobResult<()> {
        Ok(())
    }

    /// Whether it can take another batch. While it is pending, the task takes no input: that is the backpressure.
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<JobResult<()>> {
        Poll::Ready(Ok(()))
    }

    /// Before every barrier and at the end of input: whether everything written so far has left this process, for writers
    /// that send rows on in the background. Until it is ready, the checkpoint waits.
    fn poll_flush(&mut self, _context: &mut Context<'_>) -> Poll<JobResult<()>> {
        Poll::Ready(Ok(()))
    }

    /// Makes everything written since the last call durable and gives what the committer needs to make it visible. May block.
    /// The rows that follow belong to the next checkpoint.
    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// The writer's own state at this checkpoint, after `prepare_commit`: given back to `restore`, dealt out anew when the
    /// parallelism changes.
    fn snapshot(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// What `snapshot` gave, before the first row.
    fn restore(&mut self, _state: &[Vec<u8>]) -> JobResult<()> {
        Ok(())
    }

    /// When to call `wake`, in microseconds since the epoch.
    fn next_wake(&self) -> Option<i64> {
        None
    }

    /// The time of `next_wake` has come.
    fn wake(&mut self, _now: i64) -> JobResult<()> {
        Ok(())
    }

    /// What was sent so far, for sinks that know better than by counting rows.
    fn metrics(&self) -> Option<WriterMetrics> {
        None
    }
}

/// Where a sink runs.
#[derive(Clone, Debug)]
pub struct SinkContext {
    /// The name in the text: `delays`.
    pub name: String,
    /// The uid of the sink.
    pub uid: String,
    /// The number of the writer, from 0.
    pub subtask: u32,
    /// How many writers there are.
    pub parallelism: u32,
    /// The id of the run: stays the same when a run is resumed.
    pub run: String,
    /// The checkpoint that rows written first belong to, at the earliest.
    pub first_checkpoint: u64,
    /// How many completed checkpoints are kept: a run may be resumed from any of them.
    pub retained: u32,
    /// The directory of the job's checkpoints; None: it has none, and nobody can go on with what a dead process has begun.
    pub checkpoints: Option<String>,
    /// `--replace`: what exists is replaced, whatever the sink's options say.
    pub replace: bool,
}
