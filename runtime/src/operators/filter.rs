//! `where`: keeps some rows.

use crate::operator::{Collector, Failure, Operator};
use crate::value::EvalError;

/// Keeps the rows for which the condition is true.
pub struct Filter<F> {
    condition: F,
}

impl<F> Filter<F> {
    /// Keeps the rows for which `condition` is true.
    pub fn new<T>(condition: F) -> Self
    where
        F: FnMut(&T) -> Result<bool, EvalError>,
    {
        Filter { condition }
    }
}

impl<T, F> Operator<T> for Filter<F>
where
    F: FnMut(&T) -> Result<bool, EvalError> + Send,
{
    type Out = T;

    #[inline]
    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        if (self.condition)(&row)? {
            out.emit(row)?;
        }
        Ok(())
    }
}
