//! What generated code may name: `use millstream::codegen::*`.
//!
//! Hidden from the documentation: its users are the code generator and the derive macros.

pub use crate::format_text;
pub use crate::record::{Change, ChangeKind, Key, key_hash};
pub use crate::state::{State, StateError, StateReader};
pub use crate::value::compare::Compare;
pub use crate::value::text::{Print, like, text};
pub use crate::value::{
    AsKey, Bytes, Date, Decimal, Duration, EvalError, FloatKey, Json, Map, ParseError, Regex, Str, Time, Timestamp, Uuid, arith,
    cast, compare, dynamic_pattern, list_get, logic, pattern, required,
};
pub use crate::{aggregates, functions};
