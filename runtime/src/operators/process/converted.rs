//! The stage of a side output behind what turns the user's rows into those of the job.

use std::marker::PhantomData;

use crate::error::JobError;
use crate::operator::Stage;
use crate::operators::around::around_stage;
use crate::value::Convert;

/// A stage that takes rows of type `T`, as one of what becomes them.
#[derive(Debug)]
pub struct Converted<N, T> {
    next: N,
    rows: PhantomData<fn() -> T>,
}

impl<N: Stage<T>, T> Converted<N, T> {
    /// Before this stage.
    pub fn new(next: N) -> Self {
        Converted { next, rows: PhantomData }
    }
}

impl<S: Convert<T>, T, N: Stage<T>> Stage<S> for Converted<N, T> {
    fn push(&mut self, row: S) -> Result<(), JobError> {
        self.next.push(row.convert())
    }

    around_stage!(next);
}
