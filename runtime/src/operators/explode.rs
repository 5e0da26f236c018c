//! `explode`: any number of output rows per input row.

use crate::operator::{Collector, Failure, Operator};
use crate::value::EvalError;

/// Makes any number of output rows of each input row.
pub struct Explode<F> {
    function: F,
}

impl<F> Explode<F> {
    /// Makes the output rows with `function`, which gives an iterator:
    /// `|row: Line| Ok(split(&row.text).into_iter().map(move |word| Word { line: row.line, word }))`.
    pub fn new<A, I>(function: F) -> Self
    where
        F: FnMut(A) -> Result<I, EvalError>,
        I: IntoIterator,
    {
        Explode { function }
    }
}

impl<A, I, F> Operator<A> for Explode<F>
where
    F: FnMut(A) -> Result<I, EvalError> + Send,
    I: IntoIterator,
{
    type Out = I::Item;

    #[inline]
    fn process(&mut self, row: A, out: &mut impl Collector<I::Item>) -> Result<(), Failure> {
        for row in (self.function)(row)? {
            out.emit(row)?;
        }
        Ok(())
    }
}
