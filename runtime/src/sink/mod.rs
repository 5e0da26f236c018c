//! Sinks, in two phases: writers on the tasks stage rows and hand out committables before each barrier; the committer on the
//! coordinator makes them visible once the checkpoint is complete.

mod stage;

pub use stage::{COMMITTABLES, SinkStage};

use crate::error::JobResult;

/// A sink of rows.
pub trait Sink<T>: Send + 'static {
    /// Writes the rows of one subtask.
    type Writer: SinkWriter<T> + 'static;

    /// The writer of one subtask. Called before its first row, after the committer has started.
    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer>;

    /// Makes committables visible; None for sinks whose rows are out when they are written.
    fn committer(&self, _context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        Ok(None)
    }
}

/// Writes rows.
pub trait SinkWriter<T>: Send {
    /// Takes a row.
    fn write(&mut self, row: T) -> JobResult<()>;

    /// A batch has been written. Sinks that people watch show it now.
    fn end_of_batch(&mut self) -> JobResult<()> {
        Ok(())
    }

    /// Makes everything written since the last call durable and gives what the committer needs to make it visible. May block.
    /// The rows that follow belong to the next checkpoint.
    fn prepare_commit(&mut self, _checkpoint: u64) -> JobResult<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }
}

/// Makes staged rows visible. Runs on the coordinator; may block.
pub trait Committer: Send {
    /// Before the first task of an attempt starts. Checks that the target can be written and makes it ready: on a fresh start
    /// by the sink's policy for what exists; on a resumed one by committing what the checkpoint holds.
    fn start(&mut self, start: &SinkStart) -> JobResult<()>;

    /// Makes these visible, in order. May be called again with the same ones, also by another process: it must not do it twice.
    fn commit(&mut self, checkpoint: u64, committables: &[Vec<u8>]) -> JobResult<()>;

    /// The job has ended and everything is committed: what only a resume would need can go.
    fn finish(&mut self) -> JobResult<()> {
        Ok(())
    }
}

/// How an attempt starts, as committers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkStart {
    /// From the beginning.
    Fresh,
    /// From this checkpoint, with what it holds for this sink: committed already or not.
    Resumed {
        /// The number of the checkpoint.
        checkpoint: u64,
        /// The committables in it, by the checkpoint they were made for.
        pending: Vec<(u64, Vec<u8>)>,
    },
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
    /// `--replace`: what exists is replaced, whatever the sink's options say.
    pub replace: bool,
}
