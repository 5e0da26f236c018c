//! `watermark`: event time anew, in the middle of a pipeline.
//!
//! Watermarks of the input are replaced by those that the rows allow, except the last one, which says that the input has
//! ended. They go out at the end of each batch.

use crate::operator::{Collector, Failure, Operator};
use crate::time::{Watermark, WatermarkTracker};
use crate::value::{EvalError, Timestamp};

/// Makes watermarks from rows.
pub struct AssignWatermark<F> {
    time_of: F,
    tracker: WatermarkTracker,
    sent: Watermark,
}

impl<F> AssignWatermark<F> {
    /// `time_of` gives the time that a row allows, if it has one.
    pub fn new<T>(time_of: F) -> Self
    where
        F: FnMut(&T) -> Result<Option<Timestamp>, EvalError>,
    {
        AssignWatermark { time_of, tracker: WatermarkTracker::default(), sent: Watermark::MIN }
    }
}

impl<T, F> Operator<T> for AssignWatermark<F>
where
    F: FnMut(&T) -> Result<Option<Timestamp>, EvalError> + Send,
{
    type Out = T;

    #[inline]
    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        let time = (self.time_of)(&row)?;
        out.emit(row)?;
        if let Some(time) = time {
            self.tracker.observe(time.0);
        }
        Ok(())
    }

    fn on_end_of_batch(&mut self, _out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        let watermark = self.tracker.watermark();
        if watermark <= self.sent {
            return Ok(None);
        }
        self.sent = watermark;
        Ok(Some(watermark))
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        Ok((watermark == Watermark::MAX).then_some(watermark))
    }
}
