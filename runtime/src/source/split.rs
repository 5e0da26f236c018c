//! Splits: the parts of a source that are read by themselves.

use crate::error::JobResult;

/// A part of a source and how far it has been read. Self-contained: it can be read on by any subtask.
pub trait Split: Clone + Send + std::fmt::Debug + 'static {
    /// Names the split in its source, without its position.
    fn id(&self) -> String;

    /// For checkpoints and the way from the coordinator to a task.
    fn encode(&self) -> Vec<u8>;

    /// What `encode` gave.
    fn decode(bytes: &[u8]) -> JobResult<Self>;
}
