//! Sources, split by split: an enumerator on the coordinator finds and assigns splits, readers on the tasks read them.

mod between;
mod enumerator;
mod erased;
pub mod fetch;
pub mod hybrid;
mod reader;
mod split;
mod static_enumerator;
mod throttle;

pub use between::{Between, BetweenReader};
pub use enumerator::{Call, EnumeratorAction, EnumeratorContext, SplitEnumerator};
pub use erased::{ErasedEnumerator, ErasedSource, Reaction, TypedSource, erase_source};
pub use reader::{ReaderStatus, SourceOutput, SourceReader};
pub use split::Split;
pub use static_enumerator::StaticEnumerator;
pub use throttle::Throttle;

use crate::error::JobResult;

/// A source of rows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives no rows",
    label = "no source",
    note = "write `impl Source for` it: what a source has to do stands in docs/connectors.md"
)]
pub trait Source: Send + 'static {
    /// What it gives.
    type Row: Send + 'static;
    /// The parts that it is read in.
    type Split: Split;
    /// Finds and assigns splits.
    type Enumerator: SplitEnumerator<Self::Split> + 'static;
    /// Reads splits.
    type Reader: SourceReader<Row = Self::Row, Split = Self::Split> + 'static;

    /// The coordinator's half: anew, or from what a checkpoint kept.
    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Self::Enumerator>;

    /// The half of one subtask.
    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader>;

    /// Whether it comes to an end.
    fn bounded(&self) -> bool;
}

/// Where the coordinator's half of a source runs.
#[derive(Clone, Debug)]
pub struct SourceContext {
    /// The name in the text: `flights`.
    pub name: String,
    /// How many readers there are.
    pub parallelism: u32,
}

/// Where a reader runs.
#[derive(Clone, Debug)]
pub struct ReaderContext {
    /// The name of the source in the text: `flights`.
    pub name: String,
    /// The number of the reader, from 0.
    pub subtask: u32,
    /// How many readers there are.
    pub parallelism: u32,
    /// The rows per second of all readers together.
    pub throttle: std::sync::Arc<Throttle>,
}
