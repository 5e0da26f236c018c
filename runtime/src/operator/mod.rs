//! What chains are made of: operators, the stages they run in, and what checkpoints take from them.
//!
//! Generated code builds a chain from its end: each [`Operator`] is put before the next [`Stage`] by [`Chained`], so that a
//! chain is one nested struct and a row runs through it without allocation or dynamic calls. The engine drives the first
//! stage: rows, watermarks, the clock, snapshots, the end of input.

mod chained;
mod collector;
mod context;
mod either;
mod either_stage;
mod errors;
mod failure;
mod fan_out;
#[allow(clippy::module_inception)] // the trait that gives the module its name
mod operator;
mod report;
mod restore;
mod snapshot;
mod stage;

pub use chained::Chained;
pub use collector::Collector;
pub use context::OperatorContext;
pub use either::Either;
pub use either_stage::EitherStage;
pub use errors::{Describe, ErrorOutput, ErrorRow, ErrorStage, ErrorsInto, ErrorsOf, NoErrors};
pub use failure::Failure;
pub use fan_out::FanOut;
pub(crate) use fan_out::{any, both};
pub use operator::{Backlog, Operator};
pub use report::OperatorReport;
pub(crate) use restore::Drops;
pub use restore::{RestoredOperator, RestoredState};
pub use snapshot::{
    EncodePart, Form, KeyGroupPart, OperatorSnapshot, SharedItems, SnapshotBuilder, Spread, StateParts, StateSnapshot,
};
pub use stage::{Discard, Stage};
