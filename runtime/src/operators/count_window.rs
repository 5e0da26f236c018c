//! `aggregate .. over count(size)` and `count(size, step)`.
//!
//! Windows of rows, per key, in the order in which they come. At the end of the input the rows since the last window make
//! one more, incomplete.

use std::collections::VecDeque;

use super::Aggregation;
use super::window_aggregate::emit;
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::state::{KeyedState, Place};
use crate::time::{Progress, Watermark, WindowBounds};

/// Aggregates every `size` rows of a key.
pub struct CountWindow<A: Aggregation> {
    aggregation: A,
    size: u64,
    state: KeyedState<A::Key, (u64, A::Acc)>,
}

impl<A: Aggregation> CountWindow<A> {
    /// Windows of this many rows. A size of zero counts as one.
    pub fn new(size: u64, aggregation: A) -> Self {
        CountWindow { aggregation, size: size.max(1), state: KeyedState::new("counts") }
    }
}

impl<A: Aggregation> Operator<A::In> for CountWindow<A> {
    type Out = A::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: A::In, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let key = self.aggregation.key(&row)?;
        let slot = self.state.slot(&key)?;
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let (rows, acc) = place.value();
                self.aggregation.add(acc, &row)?;
                *rows += 1;
                if *rows < self.size {
                    return Ok(());
                }
                let (key, (_, acc)) = place.remove();
                emit(&self.aggregation, &key, WindowBounds::ALL, &acc, out)?;
            }
            Place::Vacant(place) => {
                let mut acc = A::Acc::default();
                self.aggregation.add(&mut acc, &row)?;
                if self.size == 1 {
                    emit(&self.aggregation, &key, WindowBounds::ALL, &acc, out)?;
                } else {
                    place.insert(key, (1, acc));
                }
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<A::Out>) -> Result<Option<Watermark>, Failure> {
        let tables = if watermark == Watermark::MAX { self.state.tables().tables() } else { 0 };
        for table in 0..tables {
            let aggregation = &self.aggregation;
            self.state.tables_mut().drain(table, |key, (_, acc)| emit(aggregation, &key, WindowBounds::ALL, &acc, out))?;
        }
        Ok(Some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}

/// Aggregates the last `size` rows of a key, every `step` rows: the first windows of a key have fewer rows.
///
/// Rows are added to panes of gcd(size, step) rows; a window merges the last ones.
pub struct SlidingCountWindow<A: Aggregation> {
    aggregation: A,
    size: u64,
    step: u64,
    pane: u64,
    /// Rows so far, and the last panes.
    state: KeyedState<A::Key, (u64, VecDeque<A::Acc>)>,
}

impl<A: Aggregation> SlidingCountWindow<A> {
    /// Windows of the last `size` rows, every `step` rows. Zero counts as one.
    pub fn new(size: u64, step: u64, aggregation: A) -> Self {
        let (size, step) = (size.max(1), step.max(1));
        SlidingCountWindow { aggregation, size, step, pane: gcd(size, step), state: KeyedState::new("counts") }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn emit_merged<'a, A: Aggregation>(
    aggregation: &A,
    key: &A::Key,
    mut panes: impl Iterator<Item = &'a A::Acc>,
    out: &mut impl Collector<A::Out>,
) -> Result<(), JobError> {
    let Some(mut acc) = panes.next().cloned() else { return Ok(()) };
    for pane in panes {
        if let Err(error) = aggregation.merge(&mut acc, pane) {
            return out.reject(error);
        }
    }
    emit(aggregation, key, WindowBounds::ALL, &acc, out)
}

impl<A: Aggregation> Operator<A::In> for SlidingCountWindow<A> {
    type Out = A::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    fn process(&mut self, row: A::In, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let key = self.aggregation.key(&row)?;
        let slot = self.state.slot(&key)?;
        let (rows, panes) = match self.state.place(slot, &key)? {
            Place::Occupied(place) => place.into_value(),
            Place::Vacant(place) => place.insert(key.clone(), (0, VecDeque::new())),
        };
        if rows.is_multiple_of(self.pane) {
            let mut acc = A::Acc::default();
            self.aggregation.add(&mut acc, &row)?;
            panes.push_back(acc);
            if panes.len() as u64 > self.size / self.pane {
                panes.pop_front();
            }
        } else if let Some(acc) = panes.back_mut() {
            self.aggregation.add(acc, &row)?;
        }
        *rows += 1;
        if rows.is_multiple_of(self.step) {
            emit_merged(&self.aggregation, &key, panes.iter(), out)?;
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<A::Out>) -> Result<Option<Watermark>, Failure> {
        let tables = if watermark == Watermark::MAX { self.state.tables().tables() } else { 0 };
        for table in 0..tables {
            let Self { aggregation, size, step, pane, state } = self;
            state.tables_mut().drain(table, |key, (rows, panes)| {
                if rows.is_multiple_of(*step) {
                    return Ok(());
                }
                // The window that would have come next, cut short.
                let first_row = rows.next_multiple_of(*step).saturating_sub(*size);
                let first_kept = rows.div_ceil(*pane) - panes.len() as u64;
                let skip = (first_row / *pane).saturating_sub(first_kept);
                emit_merged(aggregation, &key, panes.iter().skip(skip as usize), out)
            })?;
        }
        Ok(Some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}
