//! What an operator does with rows that come too late: they go to a stage of their own (`late into x`), or are counted.

use crate::error::JobError;
use crate::operator::{OperatorReport, Stage};

/// In `impl Operator` for a type with a `late`: its stage, and what it counted. `$input` comes in.
macro_rules! late_goes_out {
    ($input:ty) => {
        fn late(&self) -> Option<&dyn crate::operator::Stage<$input>> {
            self.late.stage()
        }

        fn late_mut(&mut self) -> Option<&mut dyn crate::operator::Stage<$input>> {
            self.late.stage_mut()
        }

        fn report(&self, report: &mut crate::operator::OperatorReport) {
            self.late.report(report);
        }
    };
}
pub(super) use late_goes_out;

/// A stage for late rows, or a counter.
#[derive(Debug)]
pub struct Late<N> {
    stage: N,
    routed: bool,
    rows: u64,
}

impl<N: Default> Late<N> {
    /// They are counted.
    pub fn counted() -> Self {
        Late { stage: N::default(), routed: false, rows: 0 }
    }
}

impl<N> Late<N> {
    /// They go to this stage.
    pub fn to(stage: N) -> Self {
        Late { stage, routed: true, rows: 0 }
    }

    /// Whether they go to a stage.
    pub fn is_routed(&self) -> bool {
        self.routed
    }

    /// Counts a row, wherever the others go.
    #[cold]
    pub fn count(&mut self) {
        self.rows += 1;
    }

    /// Takes a row.
    #[cold]
    pub fn push<T>(&mut self, row: T) -> Result<(), JobError>
    where
        N: Stage<T>,
    {
        if self.routed {
            return self.stage.push(row);
        }
        self.count();
        Ok(())
    }

    /// The stage, which hears what the operator hears.
    pub fn stage<T>(&self) -> Option<&dyn Stage<T>>
    where
        N: Stage<T>,
    {
        self.routed.then_some(&self.stage as &dyn Stage<T>)
    }

    /// The same, to be driven.
    pub fn stage_mut<T>(&mut self) -> Option<&mut dyn Stage<T>>
    where
        N: Stage<T>,
    {
        self.routed.then_some(&mut self.stage as &mut dyn Stage<T>)
    }

    /// Adds what was counted.
    pub fn report(&self, report: &mut OperatorReport) {
        report.late += self.rows;
    }
}
