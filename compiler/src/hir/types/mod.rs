//! Types of expressions: inferred upwards, with literals that adapt to what stands beside them.

pub mod aggregates;
pub mod binary;
pub mod calls;
pub mod casts;
pub mod choices;
pub mod common;
pub mod constant;
pub mod decimals;
mod gaps;
pub mod literals;
mod matching;
pub mod paths;
pub mod stages;
mod typer;
pub mod written;

pub use typer::Typer;
