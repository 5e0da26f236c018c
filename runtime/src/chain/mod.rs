//! Chains as the engine drives them: erased per batch at their ends, static in between.

mod builder;
mod event_time;
mod input;
mod output;
mod source;
mod two_inputs;

use std::task::{Context, Poll};

pub use builder::{ChainBuilder, SinkRegistry};
pub use input::{InputChain, Inputs, Union};
pub use output::{BroadcastOutput, HashOutput, RoundRobinOutput};
pub use source::{RejectReport, SPLITS, SourceChain, SourceConfig, SourceReport};
pub use two_inputs::TwoInputs;

pub(crate) use builder::{AlignmentMember, BuildContext, OutputEdge, Routers, SinkParts};
#[cfg(test)]
pub(crate) use event_time::AlignedReader;
pub(crate) use event_time::Timing;

use crate::error::JobResult;
use crate::exchange::Batch;
use crate::operator::{OperatorReport, RestoredState, SnapshotBuilder};
use crate::source::ReaderStatus;
use crate::time::Watermark;

/// The operators of a chain, for one subtask. See [`Stage`](crate::operator::Stage) for what the calls mean.
pub trait Chain: Send {
    /// Rows of one of the inputs.
    fn batch(&mut self, input: usize, batch: Batch) -> JobResult<()>;
    /// The combined watermark of the inputs.
    fn watermark(&mut self, watermark: Watermark) -> JobResult<()>;
    /// The clock.
    fn processing_time(&mut self, now: i64) -> JobResult<()>;
    /// When to call `processing_time`.
    fn next_processing_time(&self) -> Option<i64>;
    /// Hands partial batches over.
    fn flush(&mut self) -> JobResult<()>;
    /// Whether it can take another batch.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>>;
    /// Whether rows that go out in the background are out.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>>;
    /// Work of the operators beside the rows. Ready: something has come of it.
    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>>;
    /// The inputs have ended.
    fn finish(&mut self) -> JobResult<()>;
    /// Takes the state of all operators. May block.
    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> JobResult<()>;
    /// Gives all operators their state.
    fn restore(&mut self, state: &RestoredState) -> JobResult<()>;
    /// This checkpoint is complete.
    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()>;
    /// This checkpoint will never be.
    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()>;
    /// Adds the counters of all operators.
    fn report(&self, report: &mut ChainReport);
    /// The source at its head, if there is one.
    fn source(&mut self) -> Option<&mut dyn SourceTask> {
        None
    }
}

/// The source at the head of a chain.
pub trait SourceTask {
    /// Emits some rows. `Pending` registers the waker.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<JobResult<ReaderStatus>>;
    /// New splits to read.
    fn add_splits(&mut self, splits: &[Vec<u8>]) -> JobResult<()>;
    /// No split will follow.
    fn no_more_splits(&mut self);
    /// While known splits are unread, they may have old rows: no watermark.
    fn hold_watermark(&mut self, hold: bool) -> JobResult<()>;
    /// Rows may be as far ahead as this event time, in microseconds since the epoch.
    fn align(&mut self, limit: i64) -> JobResult<()>;
    /// This time was spent on waiting for consumers: nobody is idle for that.
    fn not_counted(&mut self, time: std::time::Duration);
    /// How far event time has come.
    fn watermark(&self) -> Watermark;
    /// A message of the source's own.
    fn source_event(&mut self, event: &[u8]) -> JobResult<()>;
    /// The source's own messages to the enumerator, of the last poll.
    fn take_events(&mut self) -> Vec<Vec<u8>>;
}

/// What a chain counted.
#[derive(Clone, Debug, Default)]
pub struct ChainReport {
    /// The source at its head.
    pub source: Option<SourceReport>,
    /// Its operators and sinks.
    pub operators: Vec<OperatorReport>,
}
