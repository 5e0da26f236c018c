//! `where` over a table: an update of which only one row passes is an insert or a delete.
//!
//! The old row of an update waits for the new one, at most until the batch ends; then it is a delete. So nothing waits at a
//! checkpoint, and there is no state.

use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator};
use crate::record::{Change, ChangeKind};
use crate::time::Watermark;
use crate::value::EvalError;

/// Keeps the rows of a table for which the condition is true.
pub struct FilterTable<T, F> {
    condition: F,
    /// The old row of an update, which passed.
    waiting: Option<T>,
}

impl<T, F> FilterTable<T, F>
where
    F: FnMut(&Change<T>) -> Result<bool, EvalError>,
{
    /// Keeps the rows for which `condition` is true.
    pub fn new(condition: F) -> Self {
        FilterTable { condition, waiting: None }
    }

    #[inline]
    fn let_go(&mut self, out: &mut impl Collector<Change<T>>) -> Result<(), JobError> {
        self.waiting.take().map_or(Ok(()), |row| out.emit(Change::delete(row)))
    }
}

impl<T, F> Operator<Change<T>> for FilterTable<T, F>
where
    T: Send,
    F: FnMut(&Change<T>) -> Result<bool, EvalError> + Send,
{
    type Out = Change<T>;

    #[inline]
    fn process(&mut self, change: Change<T>, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        if change.kind != ChangeKind::UpdateAfter {
            self.let_go(out)?;
        }
        let passes = (self.condition)(&change)?;
        match change.kind {
            ChangeKind::UpdateBefore if passes => self.waiting = Some(change.row),
            ChangeKind::UpdateAfter if passes => match self.waiting.take() {
                Some(row) => {
                    out.emit(Change { kind: ChangeKind::UpdateBefore, row })?;
                    out.emit(change)?;
                }
                None => out.emit(Change::insert(change.row))?,
            },
            _ if passes => out.emit(change)?,
            _ => self.let_go(out)?,
        }
        Ok(())
    }

    fn on_end_of_batch(&mut self, out: &mut impl Collector<Change<T>>) -> Result<Option<Watermark>, Failure> {
        self.let_go(out)?;
        Ok(None)
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<Change<T>>) -> Result<Option<Watermark>, Failure> {
        self.let_go(out)?;
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, _now: i64, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        Ok(self.let_go(out)?)
    }

    fn finish(&mut self, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        Ok(self.let_go(out)?)
    }
}
