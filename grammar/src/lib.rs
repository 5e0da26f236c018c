//! The grammar of the Flow language, and nothing else.
//!
//! In comes text; out come pieces of it: [`tokens`] scans it without ever failing, [`split`] cuts it into items without
//! ever failing (tier 1), and [`FlowParser`] parses one item by its strict rule in `flow.pest` (tier 2).
//! [`nouns`] has the user's words for rules. What pieces mean is the compiler's business.

mod attributes;
mod brackets;
pub mod nouns;
mod parser;
pub mod split;
pub mod tokens;

pub use parser::{Failure, FlowParser, Rule, detailed_error};
pub use pest::Parser;
pub use pest::iterators::{Pair, Pairs};
