//! From text to syntax tree. Never fails: what is broken is reported, what is good survives.
//!
//! [`parse`] takes a file's text and gives its tree and, beside it, diagnostics. It cuts the file into items
//! (`grammar::split`), checks each item's characters and brackets (`check`), parses it by its strict rule and builds its
//! tree (`build`), and says what is wrong with what does not parse (`recover`). `dump` writes trees for people and tests.

pub mod ast;
mod build;
mod check;
pub mod dump;
mod duration;
mod errors;
mod expected;
mod hints;
mod moved;
mod parse;
mod recover;
mod remembered;

pub use build::literal::number;
pub use dump::dump;
pub(crate) use expected::RESERVED;
pub use parse::{Parse, parse, parse_again};
pub use remembered::Remembered;
