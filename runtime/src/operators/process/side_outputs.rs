//! Several side outputs of one process: an enum with a variant for each.

use crate::error::JobError;
use crate::operator::Stage;
use crate::operators::around::around_stage;

/// Rows of several side outputs, as [`Process::Side`](super::Process::Side): `#[derive(SideOutputs)]` on an enum whose variants hold a record each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no enum of side outputs",
    label = "not an enum of records",
    note = "write `#[derive(SideOutputs)]` above an enum with a variant for each side output, such as `Odd(OddRow)`"
)]
pub trait SideOutputs: Send + Sized {
    /// The record of the first, or [the others](crate::operator::Either), and behind the last [`NoSide`](super::NoSide).
    type Rows: Send;
    /// What the variants are called, in their order.
    const NAMES: &'static [&'static str];

    /// The row as one of them.
    fn into_rows(self) -> Self::Rows;
}

/// The stages of several side outputs, as one of the enum.
#[derive(Debug)]
pub struct SideStages<N> {
    next: N,
}

impl<N> SideStages<N> {
    /// Before a stage of [`SideOutputs::Rows`]: an [`EitherStage`](crate::operator::EitherStage).
    pub fn of(next: N) -> Self {
        SideStages { next }
    }
}

impl<S: SideOutputs, N: Stage<S::Rows>> Stage<S> for SideStages<N> {
    #[inline]
    fn push(&mut self, row: S) -> Result<(), JobError> {
        self.next.push(row.into_rows())
    }

    around_stage!(next);
}
