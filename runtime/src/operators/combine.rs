//! `distinct`, `intersect`, `except`: rows as sets, by how often each stands on either side.
//!
//! State: all columns of a row → the row as it first came, and its counts. Of the row that came first, since equal floats
//! can look different, and what is taken back must be what was given.

use std::marker::PhantomData;

use super::ttl::state_with_ttl;
use super::{Carried, OverChanges, OverRows, Ttl};
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorReport, RestoredOperator};
use crate::record::{ChangeKind, Key};
use crate::state::{KeyedState, Place, State};
use crate::time::Progress;
use crate::value::EvalError;

/// How often a row stands in the result, by how often it stands in the first and in the second input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Once, if it stands in the first.
    Distinct,
    /// Once, if it stands in both.
    Intersect,
    /// As often as in both.
    IntersectAll,
    /// Once, if it stands in the first and not in the second.
    Except,
    /// As often as it stands in the first more than in the second.
    ExceptAll,
}

impl Rule {
    #[inline]
    fn count(self, (first, second): (u64, u64)) -> u64 {
        match self {
            Rule::Distinct => u64::from(first > 0),
            Rule::Intersect => u64::from(first > 0 && second > 0),
            Rule::IntersectAll => first.min(second),
            Rule::Except => u64::from(first > 0 && second == 0),
            Rule::ExceptAll => first.saturating_sub(second),
        }
    }
}

/// How often each row stands. `I` says how rows come in, `E` how those of the result go out.
pub struct Combine<T, U, K, KeyOf, SideOf, Make, I, E> {
    rule: Rule,
    key_of: KeyOf,
    side_of: SideOf,
    make: Make,
    state: KeyedState<K, (U, (u64, u64))>,
    ttl: Ttl<K>,
    stray: u64,
    carried: PhantomData<fn(T, I, E)>,
}

/// Over streams, where rows never go: a stream.
pub type CombineRows<T, U, K, KeyOf, SideOf, Make> = Combine<T, U, K, KeyOf, SideOf, Make, OverRows, OverRows>;

/// Where rows go as well: a table. `I` is what comes in: [`OverRows`] or [`OverChanges`].
pub type CombineTable<T, U, K, KeyOf, SideOf, Make, I> = Combine<T, U, K, KeyOf, SideOf, Make, I, OverChanges>;

impl<T, U, K, KeyOf, SideOf, Make, E> Combine<T, U, K, KeyOf, SideOf, Make, OverRows, E>
where
    U: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    SideOf: Fn(&T) -> bool,
    Make: Fn(T) -> U,
{
    /// Over streams, rows by all their columns. `side_of` says whether a row is of the second side, `make` takes that away.
    pub fn new(rule: Rule, key_of: KeyOf, side_of: SideOf, make: Make) -> Self {
        Combine::of(rule, key_of, side_of, make)
    }
}

impl<T, U, K, KeyOf, SideOf, Make, E> Combine<T, U, K, KeyOf, SideOf, Make, OverChanges, E>
where
    U: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    SideOf: Fn(&T) -> bool,
    Make: Fn(T) -> U,
{
    /// The same over tables.
    pub fn over_changes(rule: Rule, key_of: KeyOf, side_of: SideOf, make: Make) -> Self {
        Combine::of(rule, key_of, side_of, make)
    }
}

impl<T, U, K, KeyOf, SideOf, Make, I, E> Combine<T, U, K, KeyOf, SideOf, Make, I, E>
where
    U: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    SideOf: Fn(&T) -> bool,
    Make: Fn(T) -> U,
{
    fn of(rule: Rule, key_of: KeyOf, side_of: SideOf, make: Make) -> Self {
        let state = KeyedState::new("counts");
        Combine { rule, key_of, side_of, make, state, ttl: Ttl::default(), stray: 0, carried: PhantomData }
    }

    /// Forgets rows so many microseconds of the clock after they last came or went.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.ttl = Ttl::after(micros);
        self
    }

    /// Counts a row. Some: whether it is to be added to the result, or taken back.
    fn take(&mut self, adds: bool, row: T) -> Result<Option<(bool, U)>, Failure> {
        let key = (self.key_of)(&row)?;
        let second = (self.side_of)(&row);
        let slot = self.state.slot(&key)?;
        self.ttl.touch(slot, &key)?;
        let (before, after, made) = match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let (made, counts) = place.value();
                let before = self.rule.count(*counts);
                let count = if second { &mut counts.1 } else { &mut counts.0 };
                match (adds, count.checked_sub(1)) {
                    (true, _) => *count += 1,
                    (false, Some(less)) => *count = less,
                    (false, None) => self.stray += 1,
                }
                let after = self.rule.count(*counts);
                let made = (before != after).then(|| made.clone());
                if *counts == (0, 0) {
                    place.remove();
                }
                (before, after, made)
            }
            Place::Vacant(place) if adds => {
                let counts = if second { (0, 1) } else { (1, 0) };
                let after = self.rule.count(counts);
                let (made, _) = place.insert(key, ((self.make)(row), counts));
                (0, after, (after > 0).then(|| made.clone()))
            }
            Place::Vacant(_) => {
                self.stray += 1;
                return Ok(None);
            }
        };
        Ok(made.map(|made| (after > before, made)))
    }
}

impl<T, U, K, KeyOf, SideOf, Make, I, E> Operator<I::Row<T>> for Combine<T, U, K, KeyOf, SideOf, Make, I, E>
where
    U: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    SideOf: Fn(&T) -> bool + Send,
    Make: Fn(T) -> U + Send,
    I: Carried,
    E: Carried,
{
    type Out = E::Row<U>;

    state_with_ttl!(E::Row<U>);

    #[inline]
    fn process(&mut self, row: I::Row<T>, out: &mut impl Collector<E::Row<U>>) -> Result<(), Failure> {
        let (adds, row) = I::open::<T>(row);
        if let Some((adds, row)) = self.take(adds, row)? {
            let kind = if adds { ChangeKind::Insert } else { ChangeKind::Delete };
            out.emit(E::wrap::<U>(kind, row))?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut impl Collector<E::Row<U>>) -> Result<(), Failure> {
        self.state.clear();
        self.ttl.clear();
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.ttl.restore(state)?;
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }

    fn report(&self, report: &mut OperatorReport) {
        report.stray += self.stray;
    }
}
