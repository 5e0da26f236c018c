//! An operator whose output rows are lists: their elements are the rows.

use super::around::around_operator;
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator};
use crate::time::Watermark;
use crate::value::EvalError;

/// Emits the elements of what an operator emits.
///
/// Rows that a window gives out keep their own times, which are older than the watermark that closed it: with
/// [`hold_back`](Flatten::hold_back) the watermark goes on later by the window's size, and none of them is late.
pub struct Flatten<O> {
    operator: O,
    hold_back: i64,
}

impl<O> Flatten<O> {
    /// Around an operator.
    pub fn new(operator: O) -> Self {
        Flatten { operator, hold_back: 0 }
    }

    /// Sends watermarks on so many microseconds behind.
    pub fn hold_back(mut self, micros: i64) -> Self {
        self.hold_back = micros.max(0);
        self
    }

    fn onward(&self, watermark: Watermark) -> Watermark {
        if watermark == Watermark::MAX { watermark } else { Watermark(watermark.0.saturating_sub(self.hold_back)) }
    }
}

struct Elements<'a, C>(&'a mut C);

impl<T, C: Collector<T>> Collector<Vec<T>> for Elements<'_, C> {
    #[inline]
    fn emit(&mut self, rows: Vec<T>) -> Result<(), JobError> {
        rows.into_iter().try_for_each(|row| self.0.emit(row))
    }

    fn reject(&mut self, error: EvalError) -> Result<(), JobError> {
        self.0.reject(error)
    }
}

impl<In, T, O: Operator<In, Out = Vec<T>>> Operator<In> for Flatten<O> {
    type Out = T;

    around_operator!(In);

    #[inline]
    fn process(&mut self, row: In, out: &mut impl Collector<T>) -> Result<(), Failure> {
        self.operator.process(row, &mut Elements(out))
    }

    fn on_end_of_batch(&mut self, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        let watermark = self.operator.on_end_of_batch(&mut Elements(out))?;
        Ok(watermark.map(|watermark| self.onward(watermark)))
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        let watermark = self.operator.on_watermark(watermark, &mut Elements(out))?;
        Ok(watermark.map(|watermark| self.onward(watermark)))
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<T>) -> Result<(), Failure> {
        self.operator.on_processing_time(now, &mut Elements(out))
    }

    fn finish(&mut self, out: &mut impl Collector<T>) -> Result<(), Failure> {
        self.operator.finish(&mut Elements(out))
    }
}
