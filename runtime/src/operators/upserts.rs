//! A table without the old rows of its updates, for those who find them by the key.

use super::around::around_operator;
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator};
use crate::record::{Change, ChangeKind};
use crate::time::Watermark;
use crate::value::EvalError;

/// Emits what an operator emits, but not the old rows of updates: half as many rows travel.
pub struct Upserts<O> {
    operator: O,
}

impl<O> Upserts<O> {
    /// Around an operator that makes a table with a key.
    pub fn new(operator: O) -> Self {
        Upserts { operator }
    }
}

struct NewRows<'a, C>(&'a mut C);

impl<T, C: Collector<Change<T>>> Collector<Change<T>> for NewRows<'_, C> {
    #[inline]
    fn emit(&mut self, change: Change<T>) -> Result<(), JobError> {
        if change.kind == ChangeKind::UpdateBefore { Ok(()) } else { self.0.emit(change) }
    }

    fn reject(&mut self, error: EvalError) -> Result<(), JobError> {
        self.0.reject(error)
    }
}

impl<In, T, O: Operator<In, Out = Change<T>>> Operator<In> for Upserts<O> {
    type Out = Change<T>;

    around_operator!(In);

    #[inline]
    fn process(&mut self, row: In, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.operator.process(row, &mut NewRows(out))
    }

    fn on_end_of_batch(&mut self, out: &mut impl Collector<Change<T>>) -> Result<Option<Watermark>, Failure> {
        self.operator.on_end_of_batch(&mut NewRows(out))
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<Change<T>>) -> Result<Option<Watermark>, Failure> {
        self.operator.on_watermark(watermark, &mut NewRows(out))
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.operator.on_processing_time(now, &mut NewRows(out))
    }

    fn finish(&mut self, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.operator.finish(&mut NewRows(out))
    }
}
