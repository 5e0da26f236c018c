//! `join .. within -5m..10m`: rows whose times lie no further apart.
//!
//! State: key → the rows of both sides with their times, in the order of time. A pair comes out when its second row comes. A
//! row is forgotten when the watermark says that no partner can follow; one that is kept without a partner comes out then,
//! beside nulls. Rows that are late (not after the watermark) are dropped and counted, or go to the late stage (left ones).
//!
//! The watermark is held back by the width of the interval, so that the times of both rows of a pair are after it.

use super::Joining;
use super::join_state::JoinState;
use super::late::{Late, late_goes_out};
use super::left_only::LeftOnly;
use super::unbounded_join::matched;
use crate::error::JobError;
use crate::graph::{JoinKind, Side};
use crate::operator::{
    Collector, Discard, Either, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage,
};
use crate::state::Place;
use crate::time::{DueQueue, Progress, Watermark, WindowBounds};

/// Joins rows of two streams by key and distance in time.
pub struct IntervalJoin<J: Joining, N = Discard> {
    join: J,
    kind: JoinKind,
    /// Right time - left time is at least this, ..
    from: i64,
    /// .. and at most this. Microseconds.
    to: i64,
    /// By time.
    state: JoinState<J::Key, Timed<J::Left>, Timed<J::Right>>,
    /// When rows of a key are to be forgotten.
    due: DueQueue<J::Key>,
    progress: Progress,
    late: Late<LeftOnly<N>>,
}

/// (time, whether it has had a partner, the row)
type Timed<T> = (i64, bool, T);

impl<J: Joining> IntervalJoin<J> {
    /// A join of this kind of rows whose right time less their left time lies between these, both included. Microseconds.
    pub fn new(kind: JoinKind, from: i64, to: i64, join: J) -> Self {
        let (state, due, progress) = (JoinState::new(), DueQueue::default(), Progress::default());
        IntervalJoin { join, kind, from, to, state, due, progress, late: Late::counted() }
    }

    /// Every subtask gets all rows of the right side, and any subtask any rows of the left.
    pub fn broadcast(mut self) -> Self {
        self.state.broadcast();
        self
    }

    /// Late left rows go to this stage.
    pub fn with_late<N: Stage<J::Left>>(self, stage: N) -> IntervalJoin<J, N> {
        let IntervalJoin { join, kind, from, to, state, due, progress, .. } = self;
        IntervalJoin { join, kind, from, to, state, due, progress, late: Late::to(LeftOnly(stage)) }
    }
}

/// The rows with a time from `from` to `to`.
fn between<T>(rows: &mut [Timed<T>], from: i64, to: i64) -> &mut [Timed<T>] {
    let start = rows.partition_point(|row| row.0 < from);
    let end = rows.partition_point(|row| row.0 <= to);
    rows.get_mut(start..end.max(start)).unwrap_or_default()
}

fn insert<T>(rows: &mut Vec<Timed<T>>, row: Timed<T>) {
    let at = rows.partition_point(|other| other.0 <= row.0);
    rows.insert(at, row);
}

impl<J: Joining, N: Stage<J::Left>> IntervalJoin<J, N> {
    /// The watermark at which a left row has met all its partners.
    fn left_due(&self, time: i64) -> i64 {
        time.saturating_add(self.to).max(time)
    }

    /// The same for a right row.
    fn right_due(&self, time: i64) -> i64 {
        time.saturating_sub(self.from).max(time)
    }

    fn left(&mut self, row: J::Left, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let time = self.join.left_time(&row)?.0;
        let key = self.join.left_key(&row)?;
        let slot = self.state.slot(&key)?;
        if time <= self.progress.of(slot) {
            return Ok(self.late.left(row)?);
        }
        let due = self.left_due(time);
        let mut place = self.state.place(slot, &key)?;
        let mut met = false;
        if let Place::Occupied(place) = &mut place
            && self.join.can_match(&key)
        {
            let (from, to) = (time.saturating_add(self.from), time.saturating_add(self.to));
            for right in between(&mut place.value().1, from, to) {
                if matched(&self.join, &row, &right.2, out)? {
                    met = true;
                    right.1 = true;
                    if let Some(pair) = self.join.both(&row, &right.2, WindowBounds::ALL) {
                        out.emit(pair)?;
                    }
                }
            }
        }
        if met && self.kind == JoinKind::Semi {
            if let Some(row) = self.join.left_only(&row, WindowBounds::ALL) {
                out.emit(row)?;
            }
            return Ok(());
        }
        self.due.push(due, slot, key.clone());
        match place {
            Place::Occupied(mut place) => insert(&mut place.value().0, (time, met, row)),
            Place::Vacant(place) => {
                place.insert(key, (vec![(time, met, row)], Vec::new()));
            }
        }
        Ok(())
    }

    fn right(&mut self, row: J::Right, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let time = self.join.right_time(&row)?.0;
        let key = self.join.right_key(&row)?;
        let slot = self.state.slot(&key)?;
        if time <= self.progress.of(slot) {
            if self.state.counts() {
                self.late.count();
            }
            return Ok(());
        }
        let due = self.right_due(time);
        let mut place = self.state.place(slot, &key)?;
        let mut met = false;
        if let Place::Occupied(place) = &mut place
            && self.join.can_match(&key)
        {
            let (from, to) = (time.saturating_sub(self.to), time.saturating_sub(self.from));
            for left in between(&mut place.value().0, from, to) {
                // One that a semi join has given out is settled.
                if left.1 && self.kind == JoinKind::Semi || !matched(&self.join, &left.2, &row, out)? {
                    continue;
                }
                (met, left.1) = (true, true);
                let given = match self.kind {
                    JoinKind::Semi => self.join.left_only(&left.2, WindowBounds::ALL),
                    _ => self.join.both(&left.2, &row, WindowBounds::ALL),
                };
                if let Some(given) = given {
                    out.emit(given)?;
                }
            }
        }
        self.due.push(due, slot, key.clone());
        match place {
            Place::Occupied(mut place) => insert(&mut place.value().1, (time, met, row)),
            Place::Vacant(place) => {
                place.insert(key, (Vec::new(), vec![(time, met, row)]));
            }
        }
        Ok(())
    }

    /// Forgets rows that no partner can follow; those without one come out where they are kept.
    fn forget(&mut self, watermark: i64, out: &mut impl Collector<J::Out>) -> Result<(), JobError> {
        while let Some((_, slot, key)) = self.due.pop(watermark) {
            let (to, from) = (self.to, self.from);
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let (lefts, rights) = place.value();
            let left_end = lefts.partition_point(|row| row.0.saturating_add(to).max(row.0) <= watermark);
            let right_end = rights.partition_point(|row| row.0.saturating_sub(from).max(row.0) <= watermark);
            for (_, met, row) in lefts.drain(..left_end) {
                if !met
                    && self.kind.keeps(Side::Left)
                    && let Some(row) = self.join.left_only(&row, WindowBounds::ALL)
                {
                    out.emit(row)?;
                }
            }
            for (_, met, row) in rights.drain(..right_end) {
                if !met
                    && self.kind.keeps(Side::Right)
                    && let Some(row) = self.join.right_only(&row, WindowBounds::ALL)
                {
                    out.emit(row)?;
                }
            }
            if lefts.is_empty() && rights.is_empty() {
                place.remove();
            }
        }
        Ok(())
    }
}

impl<J: Joining, N: Stage<J::Left>> Operator<Either<J::Left, J::Right>> for IntervalJoin<J, N> {
    type Out = J::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: Either<J::Left, J::Right>, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        match row {
            Either::Left(row) => self.left(row, out),
            Either::Right(row) => {
                let result = self.right(row, out);
                self.state.once(result)
            }
        }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<J::Out>) -> Result<Option<Watermark>, Failure> {
        if !self.progress.advance(watermark) {
            return Ok(None);
        }
        self.forget(watermark.0, out)?;
        if watermark == Watermark::MAX {
            return Ok(Some(watermark));
        }
        let width = self.to.max(self.from.saturating_neg()).max(0);
        Ok(Some(Watermark(watermark.0.saturating_sub(width))))
    }

    fn finish(&mut self, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        self.forget(i64::MAX, out)?;
        self.state.finish();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, None, snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (due, to, from) = (&mut self.due, self.to, self.from);
        self.state.restore(state, &mut self.progress, |slot, key, (lefts, rights)| {
            lefts.sort_by_key(|row| row.0);
            for row in lefts {
                due.push(row.0.saturating_add(to).max(row.0), slot, key.clone());
            }
            for row in rights {
                due.push(row.0.saturating_sub(from).max(row.0), slot, key.clone());
            }
        })?;
        Ok(())
    }

    late_goes_out!(Either<J::Left, J::Right>);
}
