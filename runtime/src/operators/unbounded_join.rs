//! `join` without a bound in time, over streams and tables.
//!
//! State: key → the rows of both sides, each with the number of its partners. A row with the same content may stand several
//! times. Null keys meet nobody: their rows pass by the state. After every row the output is the join of all rows that
//! stand: where a row that is kept without a partner gets its first one, the row beside nulls is taken back, and it comes
//! again when the last partner is gone.
//!
//! Changes come out as inserts and deletes, never as halves of updates: the two rows of an update may have different
//! partners, and an update of which one half has none would be none.

use std::marker::PhantomData;

use super::join_state::JoinState;
use super::{Carried, Joining, Ttl};
use crate::error::JobError;
use crate::graph::{JoinKind, Side};
use crate::operator::{
    Collector, Either, Failure, Operator, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator,
};
use crate::record::ChangeKind;
use crate::state::{Place, State, StateError, StateReader, encode_to_vec, hash_bytes};
use crate::time::{Progress, WindowBounds};

/// Joins all rows of both sides. `L` and `R` say how their rows travel, `E` how the output does: as rows only where nothing
/// that came out is ever taken back.
pub struct UnboundedJoin<J: Joining, L, R, E> {
    join: J,
    kind: JoinKind,
    state: JoinState<J::Key, Standing<J::Left>, Standing<J::Right>>,
    scratch: Vec<u8>,
    ttl: Ttl<J::Key>,
    stray: u64,
    carried: PhantomData<fn(L, R, E)>,
}

/// A row that stands.
#[derive(Clone, Debug)]
struct Standing<T> {
    row: T,
    /// How many rows of the other side it has matched.
    partners: u64,
    /// The hash of the encoded row, to find it again. It counts only on sides whose rows are taken back, and is in no checkpoint.
    print: u64,
}

impl<T: State> State for Standing<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.row.encode(out);
        self.partners.encode(out);
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let encoded = input.rest();
        let row = T::decode(input)?;
        let print = hash_bytes(&encoded[..encoded.len() - input.rest().len()]);
        Ok(Standing { row, partners: State::decode(input)?, print })
    }
    fn schema() -> String {
        format!("standing{{row:{},partners:uint64}}", T::schema())
    }
}

impl<J, L, R, E> UnboundedJoin<J, L, R, E>
where
    J: Joining,
    L: Carried,
    R: Carried,
    E: Carried,
{
    /// A join of this kind.
    pub fn new(kind: JoinKind, join: J) -> Self {
        UnboundedJoin {
            join,
            kind,
            state: JoinState::new(),
            scratch: Vec::new(),
            ttl: Ttl::default(),
            stray: 0,
            carried: PhantomData,
        }
    }

    /// Every subtask gets all rows of the right side, and any subtask any rows of the left, which are never taken back.
    pub fn broadcast(mut self) -> Self {
        self.state.broadcast();
        self
    }

    /// Forgets the rows of a key so many microseconds of the clock after the last of them came; with `broadcast` the left rows
    /// after the last left one.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.ttl = Ttl::after(micros);
        self
    }

    fn left(&mut self, adds: bool, row: J::Left, out: &mut impl Collector<E::Row<J::Out>>) -> Result<(), Failure> {
        let UnboundedJoin { join, kind, state, scratch, ttl, stray, .. } = self;
        let key = join.left_key(&row)?;
        if !join.can_match(&key) {
            return Ok(give_if::<E, _>(kind.keeps(Side::Left), sign(adds), || left_alone(join, &row), out)?);
        }
        let slot = state.slot(&key)?;
        ttl.touch(slot, &key)?;
        let mut place = state.place(slot, &key)?;
        let mut none = (Vec::new(), Vec::new());
        let (lefts, rights) = match &mut place {
            Place::Occupied(place) => place.value(),
            Place::Vacant(_) => &mut none,
        };
        let print = if L::APPEND { 0 } else { print(&row, scratch) };
        if !adds {
            let Some(index) = find(lefts, print, scratch) else {
                *stray += 1;
                return Ok(());
            };
            let gone = lefts.swap_remove(index);
            let was_shown = if gone.partners == 0 { kind.keeps(Side::Left) } else { *kind == JoinKind::Semi };
            give_if::<E, _>(was_shown, ChangeKind::Delete, || left_alone(join, &row), out)?;
            for right in rights.iter_mut() {
                if !matched(join, &row, &right.row, out)? {
                    continue;
                }
                right.partners = right.partners.saturating_sub(1);
                give::<E, _>(ChangeKind::Delete, join.both(&row, &right.row, WindowBounds::ALL), out)?;
                if right.partners == 0 && kind.keeps(Side::Right) {
                    give::<E, _>(ChangeKind::Insert, right_alone(join, &right.row), out)?;
                }
            }
            if lefts.is_empty()
                && rights.is_empty()
                && let Place::Occupied(place) = place
            {
                place.remove();
            }
            return Ok(());
        }
        let mut partners = 0;
        for right in rights.iter_mut() {
            if !matched(join, &row, &right.row, out)? {
                continue;
            }
            partners += 1;
            if right.partners == 0 && kind.keeps(Side::Right) {
                give::<E, _>(ChangeKind::Delete, right_alone(join, &right.row), out)?;
            }
            right.partners += 1;
            give::<E, _>(ChangeKind::Insert, join.both(&row, &right.row, WindowBounds::ALL), out)?;
        }
        let is_shown = if partners == 0 { kind.keeps(Side::Left) } else { *kind == JoinKind::Semi };
        give_if::<E, _>(is_shown, ChangeKind::Insert, || left_alone(join, &row), out)?;
        // What has found a partner that stays, and is itself never taken back, is settled.
        let settled = !kind.pairs() && partners > 0 && L::APPEND && R::APPEND;
        if !settled {
            let standing = Standing { row, partners, print };
            match place {
                Place::Occupied(mut place) => place.value().0.push(standing),
                Place::Vacant(place) => {
                    place.insert(key, (vec![standing], Vec::new()));
                }
            }
        }
        Ok(())
    }

    fn right(&mut self, adds: bool, row: J::Right, out: &mut impl Collector<E::Row<J::Out>>) -> Result<(), Failure> {
        let UnboundedJoin { join, kind, state, scratch, ttl, stray, .. } = self;
        let key = join.right_key(&row)?;
        if !join.can_match(&key) {
            return Ok(give_if::<E, _>(kind.keeps(Side::Right), sign(adds), || right_alone(join, &row), out)?);
        }
        let slot = state.slot(&key)?;
        if !state.is_broadcast() {
            ttl.touch(slot, &key)?;
        }
        let mut place = state.place(slot, &key)?;
        let mut none = (Vec::new(), Vec::new());
        let (lefts, rights) = match &mut place {
            Place::Occupied(place) => place.value(),
            Place::Vacant(_) => &mut none,
        };
        let print = if R::APPEND { 0 } else { print(&row, scratch) };
        if !adds {
            let Some(index) = find(rights, print, scratch) else {
                *stray += 1;
                return Ok(());
            };
            let gone = rights.swap_remove(index);
            if gone.partners == 0 && kind.keeps(Side::Right) {
                give::<E, _>(ChangeKind::Delete, right_alone(join, &row), out)?;
            }
            for left in lefts.iter_mut() {
                if !matched(join, &left.row, &row, out)? {
                    continue;
                }
                left.partners = left.partners.saturating_sub(1);
                give::<E, _>(ChangeKind::Delete, join.both(&left.row, &row, WindowBounds::ALL), out)?;
                if left.partners == 0 {
                    if kind.keeps(Side::Left) {
                        give::<E, _>(ChangeKind::Insert, left_alone(join, &left.row), out)?;
                    } else if *kind == JoinKind::Semi {
                        give::<E, _>(ChangeKind::Delete, left_alone(join, &left.row), out)?;
                    }
                }
            }
            if lefts.is_empty()
                && rights.is_empty()
                && let Place::Occupied(place) = place
            {
                place.remove();
            }
            return Ok(());
        }
        let mut partners = 0;
        let mut index = 0;
        while let Some(left) = lefts.get_mut(index) {
            index += 1;
            if !matched(join, &left.row, &row, out)? {
                continue;
            }
            partners += 1;
            if left.partners == 0 {
                if kind.keeps(Side::Left) {
                    give::<E, _>(ChangeKind::Delete, left_alone(join, &left.row), out)?;
                } else if *kind == JoinKind::Semi {
                    give::<E, _>(ChangeKind::Insert, left_alone(join, &left.row), out)?;
                }
            }
            left.partners += 1;
            give::<E, _>(ChangeKind::Insert, join.both(&left.row, &row, WindowBounds::ALL), out)?;
            if !kind.pairs() && L::APPEND && R::APPEND {
                index -= 1;
                lefts.swap_remove(index);
            }
        }
        if partners == 0 && kind.keeps(Side::Right) {
            give::<E, _>(ChangeKind::Insert, right_alone(join, &row), out)?;
        }
        let standing = Standing { row, partners, print };
        match place {
            Place::Occupied(mut place) => place.value().1.push(standing),
            Place::Vacant(place) => {
                place.insert(key, (Vec::new(), vec![standing]));
            }
        }
        Ok(())
    }
}

fn left_alone<J: Joining>(join: &J, row: &J::Left) -> Option<J::Out> {
    join.left_only(row, WindowBounds::ALL)
}

fn right_alone<J: Joining>(join: &J, row: &J::Right) -> Option<J::Out> {
    join.right_only(row, WindowBounds::ALL)
}

/// Hands a row on, if the join gives rows of this sort.
#[inline]
fn give<E: Carried, T>(kind: ChangeKind, row: Option<T>, out: &mut impl Collector<E::Row<T>>) -> Result<(), JobError> {
    match row {
        Some(row) => out.emit(E::wrap(kind, row)),
        None => Ok(()),
    }
}

/// The same, made only if it is asked for.
#[inline]
fn give_if<E: Carried, T>(
    asked: bool,
    kind: ChangeKind,
    row: impl FnOnce() -> Option<T>,
    out: &mut impl Collector<E::Row<T>>,
) -> Result<(), JobError> {
    if asked { give::<E, T>(kind, row(), out) } else { Ok(()) }
}

/// A row that goes through as it came.
fn sign(adds: bool) -> ChangeKind {
    if adds { ChangeKind::Insert } else { ChangeKind::Delete }
}

/// Whether two rows of one key are partners. A pair whose condition has no value is none, and reported.
#[inline]
pub(super) fn matched<J: Joining, T>(
    join: &J,
    left: &J::Left,
    right: &J::Right,
    out: &mut impl Collector<T>,
) -> Result<bool, JobError> {
    match join.matches(left, right) {
        Ok(matches) => Ok(matches),
        Err(error) => {
            out.reject(error)?;
            Ok(false)
        }
    }
}

/// Leaves the row in `scratch`, encoded, and gives its hash.
fn print<T: State>(row: &T, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    row.encode(scratch);
    hash_bytes(scratch)
}

/// The row that is this when it is encoded, with its hash.
fn find<T: State>(rows: &[Standing<T>], print: u64, encoded: &[u8]) -> Option<usize> {
    rows.iter().position(|standing| standing.print == print && encode_to_vec(&standing.row) == encoded)
}

impl<J, L, R, E> Operator<Either<L::Row<J::Left>, R::Row<J::Right>>> for UnboundedJoin<J, L, R, E>
where
    J: Joining,
    L: Carried,
    R: Carried,
    E: Carried,
{
    type Out = E::Row<J::Out>;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
        if !self.state.is_broadcast() {
            self.ttl.open(context);
        }
    }

    #[inline]
    fn process(
        &mut self,
        row: Either<L::Row<J::Left>, R::Row<J::Right>>,
        out: &mut impl Collector<E::Row<J::Out>>,
    ) -> Result<(), Failure> {
        match row {
            Either::Left(row) => {
                let (adds, row) = L::open(row);
                self.left(adds, row, out)
            }
            Either::Right(row) => {
                let (adds, row) = R::open(row);
                let result = self.right(adds, row, out);
                self.state.once(result)
            }
        }
    }

    fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<E::Row<J::Out>>) -> Result<(), Failure> {
        let state = &mut self.state;
        Ok(self.ttl.advance_with(now, |slot, key| {
            state.forget(slot, key)?;
            Ok::<_, JobError>(true)
        })?)
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.ttl.next()
    }

    fn finish(&mut self, _out: &mut impl Collector<E::Row<J::Out>>) -> Result<(), Failure> {
        self.state.finish();
        self.ttl.clear();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), self.ttl.touched(), snapshot)?;
        if self.state.is_broadcast() { Ok(()) } else { self.ttl.snapshot(snapshot) }
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let found = self.state.restore(state, &mut Progress::default(), |_, _, _| {})?;
        if !self.state.is_broadcast() {
            return self.ttl.restore(state);
        }
        found.touched.iter().try_for_each(|(slot, key, touched)| self.ttl.resume(*slot, key, *touched))
    }

    fn report(&self, report: &mut OperatorReport) {
        // With `broadcast` they are all of the joined side.
        if self.state.counts() {
            report.stray += self.stray;
        }
    }
}
