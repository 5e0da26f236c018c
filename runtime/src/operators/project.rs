//! `select`: one output row per input row.

use crate::operator::{Collector, Failure, Operator};
use crate::value::EvalError;

/// Makes one output row of each input row.
pub struct Project<F> {
    function: F,
}

impl<F> Project<F> {
    /// Makes the output rows with `function`.
    pub fn new<A, B>(function: F) -> Self
    where
        F: FnMut(A) -> Result<B, EvalError>,
    {
        Project { function }
    }
}

impl<A, B, F> Operator<A> for Project<F>
where
    F: FnMut(A) -> Result<B, EvalError> + Send,
{
    type Out = B;

    #[inline]
    fn process(&mut self, row: A, out: &mut impl Collector<B>) -> Result<(), Failure> {
        out.emit((self.function)(row)?)?;
        Ok(())
    }
}
