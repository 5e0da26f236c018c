//! What an aggregate computes: generated code fills this in, the operators of aggregates drive it.

use crate::record::Key;
use crate::state::State;
use crate::time::WindowBounds;
use crate::value::{EvalError, Timestamp};

/// The group keys, accumulators and output row of one `aggregate`.
///
/// A function that fails leaves the accumulator as it was, or the job stops: with `on error skip` a row is either counted
/// in all columns or in none.
#[allow(unused_variables)]
pub trait Aggregation: Send {
    /// The rows it takes.
    type In: Send;
    /// The group keys; `()` where there are none.
    type Key: Key;
    /// All accumulators of a group; the default is that of no rows.
    type Acc: Clone + Default + State + Send + Sync + 'static;
    /// The rows it makes.
    type Out;

    /// The group of a row.
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError>;

    /// The event time of a row. Only for windows over event time.
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Err(EvalError::new("this aggregate has no event time"))
    }

    /// Counts a row.
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError>;

    /// Takes a row back that has been added. Only over tables.
    fn retract(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        Err(EvalError::new("this aggregate cannot take rows back"))
    }

    /// Adds all rows of `other`, which come behind those of `acc`. Only for windows that overlap, sessions, and sliding counts.
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        Err(EvalError::new("this aggregate cannot be merged"))
    }

    /// The output row of a group. Without a window over time `window` is `WindowBounds::ALL`.
    fn output(&self, key: &Self::Key, window: WindowBounds, acc: &Self::Acc) -> Result<Self::Out, EvalError>;
}
