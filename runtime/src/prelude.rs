//! What Rust files of a pipeline name: `use millstream::prelude::*;`.

pub use crate::record::Record;
pub use crate::state::State;
pub use crate::value::{Bytes, Date, Decimal, Duration, EvalError, Json, Map, Str, Time, Timestamp, Uuid};
pub use millstream_macros::{Record, State, function};
