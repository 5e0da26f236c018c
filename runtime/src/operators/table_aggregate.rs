//! `aggregate by ..` without a window: a table with one row per group.
//!
//! State: key → (number of rows, accumulator). A group whose last row is taken back is gone (but for the one group of an
//! aggregate without keys). A group whose row cannot be computed (a sum that overflows) has no row in the table for as long
//! as that holds.

use std::marker::PhantomData;

use super::window_aggregate::emit;
use super::{Aggregation, Carried, OverChanges, OverRows, Ttl};
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator};
use crate::record::{Change, ChangeKind};
use crate::state::{KeyedState, Place};
use crate::time::{Progress, Watermark, WindowBounds};
use crate::value::EvalError;

/// Aggregates all rows of a key and emits every change of the result. `I` is what comes in.
pub struct TableAggregate<A: Aggregation, I = OverRows> {
    groups: Groups<A>,
    input: PhantomData<I>,
}

impl<A: Aggregation> TableAggregate<A> {
    /// Over a stream.
    pub fn new(aggregation: A) -> Self {
        TableAggregate { groups: Groups::new(aggregation), input: PhantomData }
    }
}

impl<A: Aggregation> TableAggregate<A, OverChanges> {
    /// Over a table.
    pub fn over_changes(aggregation: A) -> Self {
        TableAggregate { groups: Groups::new(aggregation), input: PhantomData }
    }
}

impl<A: Aggregation, I> TableAggregate<A, I> {
    /// Forgets groups so many microseconds of the clock after their last row.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.groups.ttl = Ttl::after(micros);
        self
    }
}

/// Aggregates all rows of a key and emits the result at the end of the input. `I` is what comes in.
pub struct FinalAggregate<A: Aggregation, I = OverRows> {
    groups: Groups<A>,
    input: PhantomData<I>,
}

impl<A: Aggregation> FinalAggregate<A> {
    /// Over a stream.
    pub fn new(aggregation: A) -> Self {
        FinalAggregate { groups: Groups::new(aggregation), input: PhantomData }
    }
}

impl<A: Aggregation> FinalAggregate<A, OverChanges> {
    /// Over a table.
    pub fn over_changes(aggregation: A) -> Self {
        FinalAggregate { groups: Groups::new(aggregation), input: PhantomData }
    }
}

/// The groups, and how rows change them.
struct Groups<A: Aggregation> {
    aggregation: A,
    state: KeyedState<A::Key, (u64, A::Acc)>,
    ttl: Ttl<A::Key>,
    /// Changes that were to take back a row of a group without rows.
    stray: u64,
}

/// Adds or takes back a row. False: it is to be taken back, but the group has no rows.
fn apply<A: Aggregation>(aggregation: &A, (rows, acc): &mut (u64, A::Acc), adds: bool, row: &A::In) -> Result<bool, EvalError> {
    if adds {
        aggregation.add(acc, row)?;
        *rows += 1;
    } else if *rows == 0 {
        return Ok(false);
    } else {
        aggregation.retract(acc, row)?;
        *rows -= 1;
    }
    Ok(true)
}

impl<A: Aggregation> Groups<A> {
    /// Without keys there is one group, and it never goes: a count of no rows is 0.
    const IS_ONE_GROUP: bool = size_of::<A::Key>() == 0;

    fn new(aggregation: A) -> Self {
        Groups { aggregation, state: KeyedState::new("groups"), ttl: Ttl::default(), stray: 0 }
    }

    /// Takes a row without telling anybody.
    #[inline]
    fn update(&mut self, adds: bool, row: &A::In) -> Result<(), Failure> {
        let key = self.aggregation.key(row)?;
        let slot = self.state.slot(&key)?;
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let group = place.value();
                self.stray += u64::from(!apply(&self.aggregation, group, adds, row)?);
                if group.0 == 0 && !Self::IS_ONE_GROUP {
                    place.remove();
                }
            }
            Place::Vacant(place) => {
                let mut group = (0, A::Acc::default());
                if apply(&self.aggregation, &mut group, adds, row)? {
                    place.insert(key, group);
                } else {
                    self.stray += 1;
                }
            }
        }
        Ok(())
    }

    /// Takes a row and emits what that changes.
    fn update_and_emit(&mut self, adds: bool, row: &A::In, out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure>
    where
        A::Out: PartialEq,
    {
        let key = self.aggregation.key(row)?;
        let slot = self.state.slot(&key)?;
        self.ttl.touch(slot, &key)?;
        let output = |group: &(u64, A::Acc)| self.aggregation.output(&key, WindowBounds::ALL, &group.1);
        let (before, after) = match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let group = place.value();
                let before = output(group).ok();
                self.stray += u64::from(!apply(&self.aggregation, group, adds, row)?);
                if group.0 == 0 && !Self::IS_ONE_GROUP {
                    place.remove();
                    (before, None)
                } else {
                    (before, Some(output(group)))
                }
            }
            Place::Vacant(place) => {
                let mut group = (0, A::Acc::default());
                if !apply(&self.aggregation, &mut group, adds, row)? {
                    self.stray += 1;
                    return Ok(());
                }
                let after = output(&group);
                place.insert(key.clone(), group);
                (None, Some(after))
            }
        };
        let (after, error) = match after {
            None => (None, None),
            Some(Ok(after)) => (Some(after), None),
            Some(Err(error)) => (None, Some(error)),
        };
        match (before, after) {
            (Some(before), Some(after)) if before != after => {
                out.emit(Change { kind: ChangeKind::UpdateBefore, row: before })?;
                out.emit(Change { kind: ChangeKind::UpdateAfter, row: after })?;
            }
            (Some(before), None) => out.emit(Change::delete(before))?,
            (None, Some(after)) => out.emit(Change::insert(after))?,
            _ => {}
        }
        error.map_or(Ok(()), |error| Err(error.into()))
    }

    fn finish(&mut self, mut each: impl FnMut(&A, &A::Key, &A::Acc) -> Result<(), JobError>) -> Result<(), JobError> {
        for table in 0..self.state.tables().tables() {
            let aggregation = &self.aggregation;
            self.state.tables_mut().drain(table, |key, (_, acc)| each(aggregation, &key, &acc))?;
        }
        Ok(())
    }
}

impl<A: Aggregation, I: Carried> Operator<I::Row<A::In>> for TableAggregate<A, I>
where
    A::Out: PartialEq,
{
    type Out = Change<A::Out>;

    fn open(&mut self, context: &OperatorContext) {
        self.groups.state.open(context);
        self.groups.ttl.open(context);
    }

    #[inline]
    fn process(&mut self, row: I::Row<A::In>, out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure> {
        let (adds, row) = I::open::<A::In>(row);
        self.groups.update_and_emit(adds, &row, out)
    }

    fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure> {
        self.groups.ttl.advance(now, &mut self.groups.state)?;
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.groups.ttl.next()
    }

    fn finish(&mut self, _out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure> {
        self.groups.ttl.clear();
        Ok(self.groups.finish(|_, _, _| Ok(()))?)
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.groups.state.snapshot(&Progress::default(), snapshot)?;
        self.groups.ttl.snapshot(snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.groups.ttl.restore(state)?;
        self.groups.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }

    fn report(&self, report: &mut OperatorReport) {
        report.stray += self.groups.stray;
    }
}

impl<A: Aggregation, I: Carried> Operator<I::Row<A::In>> for FinalAggregate<A, I> {
    type Out = A::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.groups.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: I::Row<A::In>, _out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let (adds, row) = I::open::<A::In>(row);
        self.groups.update(adds, &row)
    }

    // Before the last watermark goes on: to what is behind, the rows are in time.
    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<A::Out>) -> Result<Option<Watermark>, Failure> {
        if watermark == Watermark::MAX {
            self.groups.finish(|aggregation, key, acc| emit(aggregation, key, WindowBounds::ALL, acc, out))?;
        }
        // Rows come at the end and may be of any time: none is late.
        Ok((watermark == Watermark::MAX).then_some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.groups.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.groups.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }

    fn report(&self, report: &mut OperatorReport) {
        report.stray += self.groups.stray;
    }
}
