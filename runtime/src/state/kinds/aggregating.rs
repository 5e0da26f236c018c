//! Values that an accumulator takes, with a result of another type.

use super::stored_as;
use crate::aggregates::Accumulator;
use crate::value::EvalError;

/// An accumulator: `AggregatingState<Avg<i64>>`, or one of your own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregatingState<A>(A);

impl<A: Accumulator> AggregatingState<A> {
    /// Adds a value. An error (a sum that overflows) leaves everything as it was.
    pub fn add(&mut self, value: A::Input) -> Result<(), EvalError> {
        self.0.add(value)
    }

    /// The result of all values; None where they make none.
    pub fn get(&self) -> Result<Option<A::Output>, EvalError> {
        self.0.finish()
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.0 = A::default();
    }

    fn drop_expired(&mut self, now: i64) {
        self.0.expire(now);
    }
}

stored_as!([A: Accumulator] AggregatingState<A>, A);
