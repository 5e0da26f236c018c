//! The inputs of a chain whose first operator has two.

use std::marker::PhantomData;

use super::Inputs;
use super::input::rows;
use crate::error::{JobError, JobResult};
use crate::exchange::Batch;
use crate::graph::Side;
use crate::operator::{Either, Stage};

/// Each input belongs to one side, whose rows are of a type of their own.
#[derive(Debug)]
pub struct TwoInputs<L, R> {
    /// By the number of the input.
    sides: Vec<Side>,
    rows: PhantomData<fn(L, R)>,
}

impl<L, R> TwoInputs<L, R> {
    pub(crate) fn new(sides: &[Side]) -> Self {
        TwoInputs { sides: sides.to_vec(), rows: PhantomData }
    }
}

impl<L: 'static, R: 'static> Inputs<Either<L, R>> for TwoInputs<L, R> {
    fn push(&self, input: usize, batch: Batch, stage: &mut impl Stage<Either<L, R>>) -> JobResult<()> {
        match self.sides.get(input) {
            Some(Side::Left) => rows::<L>(batch)?.into_iter().try_for_each(|row| stage.push(Either::Left(row))),
            Some(Side::Right) => rows::<R>(batch)?.into_iter().try_for_each(|row| stage.push(Either::Right(row))),
            None => Err(JobError::new(format!("a batch came in on input {input}, which the chain does not have"))),
        }
    }
}
