//! Values of the Flow language as Rust types, and what can be done with them.

mod error;

pub use self::error::EvalError;
