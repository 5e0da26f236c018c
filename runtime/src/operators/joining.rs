//! What a join computes: generated code fills this in, the operators of joins drive it.

use crate::record::Key;
use crate::state::State;
use crate::time::WindowBounds;
use crate::value::{EvalError, Str, Timestamp};

/// The keys, condition and output rows of one `join`.
#[allow(unused_variables)]
pub trait Joining: Send {
    /// Rows of the left input.
    type Left: Clone + State + Send + Sync + 'static;
    /// Rows of the right input.
    type Right: Clone + State + Send + Sync + 'static;
    /// What must be equal on both sides; `()` where rows of both sides meet in one place.
    type Key: Key;
    /// The rows it makes.
    type Out;

    /// The key of a left row.
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError>;

    /// The key of a right row.
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError>;

    /// Whether rows of this key can have partners at all: no part of it is null.
    fn can_match(&self, key: &Self::Key) -> bool {
        true
    }

    /// The event time of a left row. Only for joins that look at the time.
    fn left_time(&self, row: &Self::Left) -> Result<Timestamp, EvalError> {
        Err(EvalError::new("this join has no event time"))
    }

    /// The event time of a right row. Only for joins that look at the time.
    fn right_time(&self, row: &Self::Right) -> Result<Timestamp, EvalError> {
        Err(EvalError::new("this join has no event time"))
    }

    /// What must hold of two rows besides equal keys.
    fn matches(&self, left: &Self::Left, right: &Self::Right) -> Result<bool, EvalError> {
        Ok(true)
    }

    /// The columns of the key of a left row as texts, in the order of the `key` of a `lookup`. Only for tables that are asked by key.
    fn key_texts(&self, left: &Self::Left) -> Result<Vec<Str>, EvalError> {
        Err(EvalError::new("this join asks nobody"))
    }

    /// A pair as an output row; None: this join gives no pairs. Without a window `window` is `WindowBounds::ALL`.
    fn both(&self, left: &Self::Left, right: &Self::Right, window: WindowBounds) -> Option<Self::Out> {
        None
    }

    /// A left row by itself; None: this join gives none.
    fn left_only(&self, left: &Self::Left, window: WindowBounds) -> Option<Self::Out> {
        None
    }

    /// A right row by itself; None: this join gives none.
    fn right_only(&self, right: &Self::Right, window: WindowBounds) -> Option<Self::Out> {
        None
    }
}
