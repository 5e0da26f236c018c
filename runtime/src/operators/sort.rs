//! `sort by time, ..`: rows in the order of event time, each when the watermark has reached it.
//!
//! State: time → the rows of that time. All rows come to one subtask, so the key groups of times are all there.
//! A row that comes behind the watermark is late: it has no place any more. It is counted, or goes to a stream of its own.

use std::marker::PhantomData;

use super::late::{Late, late_goes_out};
use crate::error::JobError;
use crate::operator::{Collector, Discard, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage};
use crate::record::Key;
use crate::state::{KeyedState, Place, State};
use crate::time::{DueQueue, Progress, Watermark};
use crate::value::{EvalError, Timestamp};

/// The time of rows that all come when the input has ended, and may stand in any order.
pub fn at_the_end<T>(_row: &T) -> Result<Timestamp, EvalError> {
    Ok(Timestamp(i64::MAX))
}

/// Emits rows in order of time, then of a further key, then of arrival.
pub struct Sort<T, S, TimeOf, OrderOf, L = Discard> {
    time_of: TimeOf,
    order_of: OrderOf,
    state: KeyedState<i64, Vec<(S, T)>>,
    times: DueQueue<i64>,
    progress: Progress,
    late: Late<L>,
    row: PhantomData<fn(T)>,
}

impl<T, S, TimeOf, OrderOf> Sort<T, S, TimeOf, OrderOf>
where
    T: Clone + State + Send + Sync + 'static,
    S: Key,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError>,
    OrderOf: Fn(&T) -> Result<S, EvalError>,
{
    /// By this time, and rows of equal times by this order.
    pub fn new(time_of: TimeOf, order_of: OrderOf) -> Self {
        let state = KeyedState::new("rows");
        let (times, progress) = (DueQueue::default(), Progress::default());
        Sort { time_of, order_of, state, times, progress, late: Late::counted(), row: PhantomData }
    }

    /// Rows that come too late go to `late` instead of a counter.
    pub fn with_late<L: Stage<T>>(self, late: L) -> Sort<T, S, TimeOf, OrderOf, L> {
        let Sort { time_of, order_of, state, times, progress, late: _, row } = self;
        Sort { time_of, order_of, state, times, progress, late: Late::to(late), row }
    }
}

impl<T, S, TimeOf, OrderOf, L> Sort<T, S, TimeOf, OrderOf, L>
where
    T: Clone + State + Send + Sync + 'static,
    S: Key,
{
    fn release(&mut self, watermark: i64, out: &mut impl Collector<T>) -> Result<(), JobError> {
        while let Some((_, slot, time)) = self.times.pop(watermark) {
            let Place::Occupied(place) = self.state.place(slot, &time)? else { continue };
            let (_, mut rows) = place.remove();
            // Rows of equal order stay as they came.
            rows.sort_by(|(a, _), (b, _)| a.cmp(b));
            rows.into_iter().try_for_each(|(_, row)| out.emit(row))?;
        }
        Ok(())
    }
}

impl<T, S, TimeOf, OrderOf, L> Operator<T> for Sort<T, S, TimeOf, OrderOf, L>
where
    T: Clone + State + Send + Sync + 'static,
    S: Key,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
    OrderOf: Fn(&T) -> Result<S, EvalError> + Send,
    L: Stage<T>,
{
    type Out = T;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: T, _out: &mut impl Collector<T>) -> Result<(), Failure> {
        let time = (self.time_of)(&row)?.0;
        if time <= self.progress.watermark() {
            return Ok(self.late.push(row)?);
        }
        let order = (self.order_of)(&row)?;
        let slot = self.state.slot(&time)?;
        match self.state.place(slot, &time)? {
            Place::Occupied(mut place) => place.value().push((order, row)),
            Place::Vacant(place) => {
                place.insert(time, vec![(order, row)]);
                self.times.push(time, slot, time);
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        self.progress.advance(watermark);
        self.release(watermark.0, out)?;
        Ok(Some(watermark))
    }

    fn finish(&mut self, out: &mut impl Collector<T>) -> Result<(), Failure> {
        self.release(i64::MAX, out)?;
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let times = &mut self.times;
        self.state.restore(state, &mut self.progress, |slot, time, _| times.push(*time, slot, *time))
    }

    late_goes_out!(T);
}
