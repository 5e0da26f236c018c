//! What the coordinator and the tasks say to each other.

use crate::checkpoint::StateEntry;
use crate::coordinator::Contents;

/// Names a task: the index of its chain, and its subtask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId {
    pub chain: usize,
    pub subtask: u32,
}

/// To a task. All messages to one task stay in order: a split that was assigned before a checkpoint is in its snapshot.
#[derive(Clone, Debug)]
pub(crate) enum TaskMessage {
    AddSplits(Vec<Vec<u8>>),
    NoMoreSplits,
    /// Known splits are unread: no watermark.
    HoldWatermark(bool),
    SourceEvent(Vec<u8>),
    /// Rows may be as far ahead as this event time.
    Align(i64),
    /// Take a checkpoint: sources now, the others when the barriers have come or their input has ended.
    Trigger {
        checkpoint: u64,
        /// The job stops with it: sources wait after the barrier.
        pause: bool,
    },
    /// The job does not stop after all: sources go on behind the barrier.
    Resume,
    /// A source acts as if it had nothing more.
    Drain,
    /// This checkpoint is complete.
    Complete(u64),
    /// The barriers of this checkpoint overtake the rows that wait: it has taken long enough.
    Overtake(u64),
    /// This checkpoint is given up: nobody waits for its barriers any more.
    Abort(u64),
}

/// From a task.
#[derive(Debug)]
pub(crate) enum TaskReport {
    /// Its state is there again, and the task begins.
    Restored,
    NeedsSplit,
    /// A message of the source's own to its enumerator.
    SourceEvent {
        /// The newest checkpoint that the task had taken: one that is newer holds what came of the message, here.
        taken: u64,
        event: Vec<u8>,
    },
    Ack(Ack),
    /// The task's part of a checkpoint cannot be made.
    Decline(Decline),
    /// The input has ended, everything is sent.
    Ended,
}

/// A task's part of a checkpoint.
#[derive(Debug)]
pub(crate) struct Ack {
    pub checkpoint: u64,
    /// The checkpoint that the task took before, given up or not; 0: none.
    pub previous: u64,
    pub finished: bool,
    pub watermark: i64,
    pub contents: Contents,
}

/// Why a task has no part of a checkpoint.
#[derive(Debug)]
pub(crate) struct Decline {
    pub checkpoint: u64,
    /// As in [`Ack`].
    pub previous: u64,
    pub reason: String,
    /// What its sinks have staged for the checkpoint: it belongs to the next one.
    pub staged: Vec<StateEntry>,
}
