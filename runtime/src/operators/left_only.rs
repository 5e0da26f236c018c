//! Where late left rows of a join go: to a stage of their own (`late into x`), as they came in.
//!
//! Right rows, which look different, have none, and are counted.

use super::around::around_stage;
use super::late::Late;
use crate::error::JobError;
use crate::operator::{Either, Stage};

/// A stage for left rows, as one that hears what the join hears.
#[derive(Debug, Default)]
pub struct LeftOnly<N>(pub N);

impl<N> Late<LeftOnly<N>> {
    /// Takes a left row.
    pub fn left<L>(&mut self, row: L) -> Result<(), JobError>
    where
        N: Stage<L>,
    {
        self.push(Either::<L, ()>::Left(row))
    }
}

impl<L, R, N: Stage<L>> Stage<Either<L, R>> for LeftOnly<N> {
    fn push(&mut self, row: Either<L, R>) -> Result<(), JobError> {
        match row {
            Either::Left(row) => self.0.push(row),
            Either::Right(_) => Ok(()),
        }
    }

    around_stage!(0);
}
