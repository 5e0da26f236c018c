//! The syntax tree: what was written, with places, before any name or type is known. Owned, without lifetimes.
//!
//! Broken parts are `Error` nodes whose diagnostics stand beside the tree; everything around them survives.

pub mod expr;
pub mod item;
pub mod join;
pub mod pipeline;

pub use expr::*;
pub use item::*;
pub use join::*;
pub use pipeline::*;

use crate::source::Span;

/// A name as written (backticks removed), and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// One file: its items in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    pub items: Vec<Item>,
}
