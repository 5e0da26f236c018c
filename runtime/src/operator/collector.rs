//! Where an operator puts its output rows.

use crate::error::JobError;
use crate::value::{EvalError, Str};

/// Takes the output rows of an operator.
pub trait Collector<T> {
    /// Hands a row to the next stage. An error stops the job; operators pass it on with `?`.
    fn emit(&mut self, row: T) -> Result<(), JobError>;

    /// One output row has no value: an error that stops the job, or a counted row, as the policy of the job says.
    ///
    /// For operators that make many rows at once (a window that fires); those that make one return `Failure::Row`.
    fn reject(&mut self, error: EvalError) -> Result<(), JobError>;

    /// The same, where the row to blame is known: as text, which is asked for where somebody wants it.
    fn reject_row(&mut self, error: EvalError, _row: &dyn Fn() -> Str) -> Result<(), JobError> {
        self.reject(error)
    }
}
