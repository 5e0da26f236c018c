//! `join rates as r on currency == r.currency as of placed_at`: each left row with the right row of its key that was the
//! newest at its time.
//!
//! State: key → left rows that wait, and versions of the right row, both by time. A left row waits until the watermark (of
//! both sides) has come to its time: then no older version can follow. Versions that no later row can see are forgotten. A
//! version taken back is gone from its time on. Of versions of equal times the last to come counts. Late left rows are
//! dropped and counted, or go to the late stage; late versions are counted and still take their place in history. With
//! `broadcast` see [`JoinState`].

use std::marker::PhantomData;

use super::join_state::JoinState;
use super::late::{Late, late_goes_out};
use super::left_only::LeftOnly;
use super::unbounded_join::matched;
use super::{Carried, Joining};
use crate::error::JobError;
use crate::graph::{JoinKind, Side};
use crate::operator::{
    Collector, Discard, Either, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage,
};
use crate::record::ChangeKind;
use crate::state::Place;
use crate::time::{DueQueue, Progress, Watermark, WindowBounds};

/// Joins rows of a stream with a table as it was then. `R` says how the table's rows travel.
pub struct TemporalJoin<J: Joining, R, N = Discard> {
    join: J,
    kind: JoinKind,
    state: JoinState<J::Key, (i64, J::Left), (i64, Option<J::Right>)>,
    /// When keys have rows to join or versions to forget.
    due: DueQueue<J::Key>,
    progress: Progress,
    late: Late<LeftOnly<N>>,
    carried: PhantomData<fn(R)>,
}

impl<J: Joining, R: Carried> TemporalJoin<J, R> {
    /// A join of this kind: inner, or left.
    pub fn new(kind: JoinKind, join: J) -> Self {
        let (state, due, progress) = (JoinState::new(), DueQueue::default(), Progress::default());
        TemporalJoin { join, kind, state, due, progress, late: Late::counted(), carried: PhantomData }
    }

    /// Every subtask gets all rows of the right side, and any subtask any rows of the left.
    pub fn broadcast(mut self) -> Self {
        self.state.broadcast();
        self
    }

    /// Late left rows go to this stage.
    pub fn with_late<N: Stage<J::Left>>(self, stage: N) -> TemporalJoin<J, R, N> {
        let TemporalJoin { join, kind, state, due, progress, carried, .. } = self;
        TemporalJoin { join, kind, state, due, progress, late: Late::to(LeftOnly(stage)), carried }
    }
}

impl<J: Joining, R: Carried, N: Stage<J::Left>> TemporalJoin<J, R, N> {
    fn left(&mut self, row: J::Left, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let time = self.join.left_time(&row)?.0;
        let key = self.join.left_key(&row)?;
        let slot = self.state.slot(&key)?;
        if time <= self.progress.of(slot) {
            return Ok(self.late.left(row)?);
        }
        if !self.join.can_match(&key) {
            return Ok(alone(&self.join, self.kind, &row, out)?);
        }
        self.due.push(time, slot, key.clone());
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let lefts = &mut place.value().0;
                let at = lefts.partition_point(|other| other.0 <= time);
                lefts.insert(at, (time, row));
            }
            Place::Vacant(place) => {
                place.insert(key, (vec![(time, row)], Vec::new()));
            }
        }
        Ok(())
    }

    fn right(&mut self, kind: ChangeKind, row: J::Right) -> Result<(), Failure> {
        // The row of an update that is taken back is followed by the one that replaces it.
        if kind == ChangeKind::UpdateBefore {
            return Ok(());
        }
        let time = self.join.right_time(&row)?.0;
        let key = self.join.right_key(&row)?;
        if !self.join.can_match(&key) {
            return Ok(());
        }
        let slot = self.state.slot(&key)?;
        if time <= self.progress.of(slot) && self.state.counts() {
            self.late.count();
        }
        let version = (time, kind.adds().then_some(row));
        let is_gone = version.1.is_none();
        // A version by itself is kept for rows to come; one that says that there is none is worth nothing.
        let forget = match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let versions = &mut place.value().1;
                let at = versions.partition_point(|other| other.0 < time);
                match versions.get_mut(at) {
                    Some(same) if same.0 == time => *same = version,
                    _ => versions.insert(at, version),
                }
                is_gone || versions.len() > 1
            }
            Place::Vacant(place) => {
                place.insert(key.clone(), (Vec::new(), vec![version]));
                is_gone
            }
        };
        if forget {
            self.due.push(time, slot, key);
        }
        Ok(())
    }

    /// Joins the rows whose time has come, and forgets versions that nobody will ask for.
    fn advance(&mut self, watermark: i64, out: &mut impl Collector<J::Out>) -> Result<(), JobError> {
        while let Some((_, slot, key)) = self.due.pop(watermark) {
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let (lefts, versions) = place.value();
            let end = lefts.partition_point(|row| row.0 <= watermark);
            for (time, left) in lefts.drain(..end) {
                let newest = versions.partition_point(|version| version.0 <= time).checked_sub(1);
                let version = newest.and_then(|newest| versions[newest].1.as_ref());
                match version {
                    Some(right) if matched(&self.join, &left, right, out)? => {
                        if let Some(pair) = self.join.both(&left, right, WindowBounds::ALL) {
                            out.emit(pair)?;
                        }
                    }
                    _ => alone(&self.join, self.kind, &left, out)?,
                }
            }
            // The newest one at the watermark may still be asked for; those before it not.
            let newest = versions.partition_point(|version| version.0 <= watermark);
            versions.drain(..newest.saturating_sub(1));
            if lefts.is_empty() && versions.iter().all(|version| version.1.is_none() && version.0 <= watermark) {
                place.remove();
            }
        }
        Ok(())
    }
}

/// A left row that finds nothing.
fn alone<J: Joining>(join: &J, kind: JoinKind, row: &J::Left, out: &mut impl Collector<J::Out>) -> Result<(), JobError> {
    match join.left_only(row, WindowBounds::ALL) {
        Some(row) if kind.keeps(Side::Left) => out.emit(row),
        _ => Ok(()),
    }
}

impl<J, R, N> Operator<Either<J::Left, R::Row<J::Right>>> for TemporalJoin<J, R, N>
where
    J: Joining,
    R: Carried,
    N: Stage<J::Left>,
{
    type Out = J::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: Either<J::Left, R::Row<J::Right>>, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        match row {
            Either::Left(row) => self.left(row, out),
            Either::Right(row) => {
                let kind = R::kind(&row);
                let result = self.right(kind, R::open(row).1);
                self.state.once(result)
            }
        }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<J::Out>) -> Result<Option<Watermark>, Failure> {
        if !self.progress.advance(watermark) {
            return Ok(None);
        }
        self.advance(watermark.0, out)?;
        Ok(Some(watermark))
    }

    fn finish(&mut self, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        self.advance(i64::MAX, out)?;
        self.state.finish();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, None, snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let due = &mut self.due;
        self.state.restore(state, &mut self.progress, |slot, key, (lefts, versions)| {
            lefts.sort_by_key(|row| row.0);
            for (time, _) in lefts {
                due.push(*time, slot, key.clone());
            }
            for (index, (time, version)) in versions.iter().enumerate() {
                if index > 0 || version.is_none() {
                    due.push(*time, slot, key.clone());
                }
            }
        })?;
        Ok(())
    }

    late_goes_out!(Either<J::Left, R::Row<J::Right>>);
}
