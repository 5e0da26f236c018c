//! `distinct`, `intersect`, `except`: rows as sets, by how often each stands on either side.
//!
//! State: all columns of a row → the row as it first came, and its counts. Of the row that came first, since equal floats
//! can look different, and what is taken back must be what was given.

use std::marker::PhantomData;

use super::{OverChanges, OverRows, Ttl};
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator};
use crate::record::{Change, Key};
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

/// How often each row stands.
struct Counts<T, U, K, KeyOf, SideOf, Make> {
    rule: Rule,
    key_of: KeyOf,
    side_of: SideOf,
    make: Make,
    state: KeyedState<K, (U, (u64, u64))>,
    ttl: Ttl<K>,
    stray: u64,
    row: PhantomData<fn(T)>,
}

impl<T, U, K, KeyOf, SideOf, Make> Counts<T, U, K, KeyOf, SideOf, Make>
where
    U: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    SideOf: Fn(&T) -> bool,
    Make: Fn(T) -> U,
{
    fn new(rule: Rule, key_of: KeyOf, side_of: SideOf, make: Make) -> Self {
        let state = KeyedState::new("counts");
        Counts { rule, key_of, side_of, make, state, ttl: Ttl::default(), stray: 0, row: PhantomData }
    }

    /// Counts a row. Some: whether it is to be added to the result, or taken back.
    fn take(&mut self, adds: bool, row: T) -> Result<Option<(bool, U)>, Failure> {
        let key = (self.key_of)(&row)?;
        let second = (self.side_of)(&row);
        let slot = self.state.slot(&key)?;
        self.ttl.touch(slot, &key);
        let (before, after, made) = match self.state.place(slot, &key) {
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

/// Over streams, where rows never go: a stream.
pub struct CombineRows<T, U, K, KeyOf, SideOf, Make> {
    counts: Counts<T, U, K, KeyOf, SideOf, Make>,
}

/// Where rows go as well: a table. `I` is what comes in: [`OverRows`] or [`OverChanges`].
pub struct CombineTable<T, U, K, KeyOf, SideOf, Make, I = OverRows> {
    counts: Counts<T, U, K, KeyOf, SideOf, Make>,
    input: PhantomData<I>,
}

macro_rules! constructor {
    ($name:ident $(<$input:ty>)?, $new:ident, $doc:literal $(, $field:ident)?) => {
        impl<T, U, K, KeyOf, SideOf, Make> $name<T, U, K, KeyOf, SideOf, Make $(, $input)?>
        where
            U: Clone + State + Send + Sync + 'static,
            K: Key,
            KeyOf: Fn(&T) -> Result<K, EvalError>,
            SideOf: Fn(&T) -> bool,
            Make: Fn(T) -> U,
        {
            #[doc = $doc]
            /// `side_of` says whether a row is of the second side, `make` takes that away.
            pub fn $new(rule: Rule, key_of: KeyOf, side_of: SideOf, make: Make) -> Self {
                $name { counts: Counts::new(rule, key_of, side_of, make) $(, $field: PhantomData)? }
            }

            /// Forgets rows so many microseconds of the clock after they last came or went.
            pub fn ttl(mut self, micros: i64) -> Self {
                self.counts.ttl = Ttl::after(micros);
                self
            }
        }
    };
}
constructor!(CombineRows, new, "Rows by all their columns.");
constructor!(CombineTable<OverRows>, new, "Over streams.", input);
constructor!(CombineTable<OverChanges>, over_changes, "Over tables.", input);

macro_rules! operator {
    ($name:ident $(<$input:ty>)?, |$row:ident: $row_ty:ty| $adds:expr, $inner:expr, $out:ty, |$result:ident| $emit:expr) => {
        impl<T, U, K, KeyOf, SideOf, Make> Operator<$row_ty> for $name<T, U, K, KeyOf, SideOf, Make $(, $input)?>
        where
            U: Clone + State + Send + Sync + 'static,
            K: Key,
            KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
            SideOf: Fn(&T) -> bool + Send,
            Make: Fn(T) -> U + Send,
        {
            type Out = $out;

            fn open(&mut self, context: &OperatorContext) {
                self.counts.state.open(context);
                self.counts.ttl.open(context);
            }

            #[inline]
            fn process(&mut self, $row: $row_ty, out: &mut impl Collector<$out>) -> Result<(), Failure> {
                if let Some($result) = self.counts.take($adds, $inner)? {
                    out.emit($emit)?;
                }
                Ok(())
            }

            fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<$out>) -> Result<(), Failure> {
                let Counts { state, ttl, .. } = &mut self.counts;
                ttl.advance(now, |slot, key| state.forget(slot, key));
                Ok(())
            }

            fn next_processing_time(&self) -> Option<i64> {
                self.counts.ttl.next()
            }

            fn finish(&mut self, _out: &mut impl Collector<$out>) -> Result<(), Failure> {
                self.counts.state.clear();
                self.counts.ttl.clear();
                Ok(())
            }

            fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
                self.counts.state.snapshot(&Progress::default(), snapshot);
                self.counts.ttl.snapshot(snapshot);
                Ok(())
            }

            fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
                self.counts.ttl.restore(state)?;
                self.counts.state.restore(state, &mut Progress::default(), |_, _, _| {})
            }

            fn report(&self, report: &mut OperatorReport) {
                report.stray += self.counts.stray;
            }
        }
    };
}

fn change<U>((adds, row): (bool, U)) -> Change<U> {
    if adds { Change::insert(row) } else { Change::delete(row) }
}

operator!(CombineRows, |row: T| true, row, U, |result| result.1);
operator!(CombineTable<OverRows>, |row: T| true, row, Change<U>, |result| change(result));
operator!(CombineTable<OverChanges>, |change_of: Change<T>| change_of.kind.adds(), change_of.row, Change<U>, |result| change(
    result
));
