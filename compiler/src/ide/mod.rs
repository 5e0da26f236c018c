//! What an editor asks about a `.flow` file: diagnostics with fixes, hover, completion, definitions, outline, formatting.
//!
//! In comes a path and a [`Loader`](crate::session::Loader), which may have texts that nobody has saved; out goes plain data in places of
//! the text. It is the same front end as `check`'s, with what lowering knows of places ([`Facts`](crate::hir::Facts)) beside it, so what
//! Rust files define is known as what is built in. Invariants: nothing here reads a file by itself or knows of a protocol, and every text
//! has an answer, also one that is half typed.

mod analysis;
mod columns;
mod complete;
mod definition;
mod describe;
mod edit;
mod hover;
mod mentions;
mod place;
mod rust_docs;
mod symbols;
mod values;
mod words;

pub use analysis::Analysis;
pub use complete::{Completion, CompletionKind, Completions, complete};
pub use describe::{option_detail, option_type};
pub use edit::{Edit, format};
pub use hover::Hover;
pub use symbols::{Symbol, SymbolKind, symbols};
