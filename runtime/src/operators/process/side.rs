//! The stage of a side output, driven together with the operator's next stage.

use std::marker::PhantomData;

use crate::error::JobError;
use crate::operator::Stage;
use crate::operators::around::around_stage;

/// A stage that takes rows of type `S`, as one that hears everything of a stage of any rows.
#[derive(Debug)]
pub(super) struct SideStage<N, S> {
    stage: N,
    pub connected: bool,
    rows: PhantomData<fn(S)>,
}

impl<N, S> SideStage<N, S> {
    pub fn new(stage: N, connected: bool) -> Self {
        SideStage { stage, connected, rows: PhantomData }
    }
}

impl<N: Stage<S>, S> SideStage<N, S> {
    pub fn take(&mut self, row: S) -> Result<(), JobError> {
        self.stage.push(row)
    }
}

impl<T, S, N: Stage<S>> Stage<T> for SideStage<N, S> {
    fn push(&mut self, _row: T) -> Result<(), JobError> {
        Err(JobError::new("a row came to the side output of a process from somewhere else: a bug of the generated code"))
    }

    around_stage!(stage);
}
