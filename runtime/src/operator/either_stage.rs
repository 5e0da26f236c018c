//! Rows of two types that go different ways.

use super::fan_out::both_stages;
use super::{Either, Stage};
use crate::error::JobError;

/// Hands each row to one of two stages; nest for more.
#[derive(Clone, Debug)]
pub struct EitherStage<A, B> {
    first: A,
    second: B,
}

impl<A, B> EitherStage<A, B> {
    /// A stage that hands rows on the left to `first` and those on the right to `second`.
    pub fn new(first: A, second: B) -> Self {
        EitherStage { first, second }
    }
}

impl<L, R, A: Stage<L>, B: Stage<R>> Stage<Either<L, R>> for EitherStage<A, B> {
    #[inline]
    fn push(&mut self, row: Either<L, R>) -> Result<(), JobError> {
        match row {
            Either::Left(row) => self.first.push(row),
            Either::Right(row) => self.second.push(row),
        }
    }

    both_stages!();
}
