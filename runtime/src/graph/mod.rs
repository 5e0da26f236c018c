//! Types, expressions, the logical `JobGraph` and the `ExecutionGraph` that it expands to.
//!
//! Pure data: no IO and no threads. The compiler builds these and prints code from them.

mod accumulator_names;
mod chain_names;
pub mod chaining;
pub mod errors;
pub mod execution;
pub mod expr;
pub mod job;
pub mod join;
mod kept_by;
mod key_origin;
pub mod layout;
pub mod operation;
pub mod restart;
pub mod rust;
pub mod signature;
pub mod text;
pub mod ty;

pub use chaining::ChainBreak;
pub use execution::{Chain, ChainId, ExchangeEdge, ExecutionGraph};
pub use expr::{BinaryOp, CastMode, Expr, ExprKind, Literal, Origin, StageFact, UnaryOp, WindowBound};
pub use job::*;
pub use join::*;
pub use kept_by::{KeptBy, KeptOtherwise, KeyText};
pub use layout::LayoutError;
pub use operation::*;
pub use restart::*;
pub use rust::*;
pub use signature::{Parameter, Pattern, Signature};
pub use ty::{EnumType, Field, Schema, TimeUnit, Ty};
