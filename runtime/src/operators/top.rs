//! `top n by .. per ..` without a window: a table of the first n rows of each key.
//!
//! State: key → its rows in order ([`Ranking`]); of a stream only those that show. With ranks, every change says which row
//! left a rank and which came to it, so that nothing is shown twice on the way.

use std::marker::PhantomData;

use super::ranking::{Limit, Moved, Ranking};
use super::ttl::state_with_ttl;
use super::{Carried, OverChanges, OverRows, Ttl};
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorReport, RestoredOperator};
use crate::record::{Change, ChangeKind, Key};
use crate::state::{KeyedState, Place, State};
use crate::time::Progress;
use crate::value::EvalError;

/// The first rows of each key, every change of them. `I` is what comes in: [`OverRows`] or [`OverChanges`].
pub struct TopTable<T, U, K, S, KeyOf, OrderOf, Make, I = OverRows> {
    limit: Limit,
    /// Whether output rows show their rank.
    ranked: bool,
    key_of: KeyOf,
    order_of: OrderOf,
    make: Make,
    state: KeyedState<K, Ranking<S, T>>,
    ttl: Ttl<K>,
    stray: u64,
    types: PhantomData<fn() -> (U, I)>,
}

impl<T, U, K, S, KeyOf, OrderOf, Make> TopTable<T, U, K, S, KeyOf, OrderOf, Make>
where
    T: Clone + PartialEq + State + Send + Sync + 'static,
    K: Key,
    S: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    OrderOf: Fn(&T) -> Result<S, EvalError>,
    Make: Fn(&T, i64) -> U,
{
    /// Over a stream. `make` gives the output row of a row and its rank.
    pub fn new(limit: Limit, key_of: KeyOf, order_of: OrderOf, make: Make) -> Self {
        TopTable::over(limit, key_of, order_of, make)
    }

    /// Over a table.
    #[allow(clippy::type_complexity)] // the parameters are those of the struct
    pub fn over_changes(
        limit: Limit,
        key_of: KeyOf,
        order_of: OrderOf,
        make: Make,
    ) -> TopTable<T, U, K, S, KeyOf, OrderOf, Make, OverChanges> {
        TopTable::over(limit, key_of, order_of, make)
    }
}

impl<T, U, K, S, KeyOf, OrderOf, Make, I> TopTable<T, U, K, S, KeyOf, OrderOf, Make, I>
where
    T: Clone + PartialEq + State + Send + Sync + 'static,
    K: Key,
    S: Key,
    I: Carried,
{
    /// Over either, as `I` says.
    pub fn over(limit: Limit, key_of: KeyOf, order_of: OrderOf, make: Make) -> Self {
        let limit = Limit { keeps_rest: !I::APPEND, ..limit };
        let state = KeyedState::new("rankings");
        TopTable { limit, ranked: false, key_of, order_of, make, state, ttl: Ttl::default(), stray: 0, types: PhantomData }
    }
}

impl<T, U, K, S, KeyOf, OrderOf, Make, I> TopTable<T, U, K, S, KeyOf, OrderOf, Make, I>
where
    T: Clone + PartialEq + State + Send + Sync + 'static,
    K: Key,
    S: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    OrderOf: Fn(&T) -> Result<S, EvalError>,
    Make: Fn(&T, i64) -> U,
    U: PartialEq,
{
    /// Output rows show their rank, so a row that moves is one that changes.
    pub fn ranked(mut self) -> Self {
        self.ranked = true;
        self
    }

    /// Forgets the rows of a key so many microseconds of the clock after the last change of those that show.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.ttl = Ttl::after(micros);
        self
    }

    #[inline]
    fn take(&mut self, adds: bool, row: T, out: &mut impl Collector<Change<U>>) -> Result<(), Failure> {
        let key = (self.key_of)(&row)?;
        let order = (self.order_of)(&row)?;
        let slot = self.state.slot(&key)?;
        let (limit, make) = (self.limit, &self.make);
        let mut place = match self.state.place(slot, &key)? {
            Place::Occupied(place) => place,
            Place::Vacant(place) if adds => {
                self.ttl.touch(slot, &key)?;
                let ranking = place.insert(key, Ranking::default());
                ranking.add(order, row, limit);
                let made = ranking.row(0).map(|row| make(row, 1));
                return Ok(made.map_or(Ok(()), |made| out.emit(Change::insert(made)))?);
            }
            Place::Vacant(_) => {
                self.stray += 1;
                return Ok(());
            }
        };
        let ranking = place.value();
        if adds && !ranking.takes(&order, limit) {
            return Ok(());
        }
        self.ttl.touch(slot, &key)?;
        // A row may change the ranks of all from its place on.
        let from = ranking.before(&order);
        let before = if self.ranked { made(ranking, from, limit, make) } else { Vec::new() };
        let moved = if adds { ranking.add(order, row, limit) } else { ranking.remove(&order, &row, limit) };
        match moved {
            Moved::Nothing => {}
            Moved::Stray => self.stray += 1,
            _ if self.ranked => tell_difference(before, made(ranking, from, limit, make), out)?,
            moved => tell_rows(ranking, moved, limit, make, out)?,
        }
        if ranking.is_empty() {
            place.remove();
        }
        Ok(())
    }
}

/// The output rows from this place on.
fn made<S: Key, T: Clone + PartialEq + State, U>(
    ranking: &Ranking<S, T>,
    from: usize,
    limit: Limit,
    make: &impl Fn(&T, i64) -> U,
) -> Vec<U> {
    let rows = ranking.rows().enumerate().skip(from);
    rows.map(|(at, row)| make(row, ranking.rank(at, limit.ties))).collect()
}

/// Rows without ranks: one goes, another comes. The only row of a key that is replaced is an update.
fn tell_rows<S: Key, T: Clone + PartialEq + State, U>(
    ranking: &Ranking<S, T>,
    moved: Moved<T>,
    limit: Limit,
    make: &impl Fn(&T, i64) -> U,
    out: &mut impl Collector<Change<U>>,
) -> Result<(), JobError> {
    let (went, came): (Vec<T>, std::ops::Range<usize>) = match moved {
        Moved::In { at, out } => (out, at..at + 1),
        Moved::Out { row, came } => (vec![row], ranking.len() - came..ranking.len()),
        Moved::Nothing | Moved::Stray => return Ok(()),
    };
    let update = limit.count == 1 && went.len() == 1 && came.len() == 1;
    let (before, after) = match update {
        true => (ChangeKind::UpdateBefore, ChangeKind::UpdateAfter),
        false => (ChangeKind::Delete, ChangeKind::Insert),
    };
    for row in went {
        out.emit(Change { kind: before, row: make(&row, 1) })?;
    }
    for row in came.filter_map(|at| ranking.row(at)) {
        out.emit(Change { kind: after, row: make(row, 1) })?;
    }
    Ok(())
}

/// Place by place: what stood there is replaced, comes or goes.
fn tell_difference<U: PartialEq>(before: Vec<U>, after: Vec<U>, out: &mut impl Collector<Change<U>>) -> Result<(), JobError> {
    let mut after = after.into_iter();
    for before in before {
        match after.next() {
            Some(after) if after == before => {}
            Some(after) => {
                out.emit(Change { kind: ChangeKind::UpdateBefore, row: before })?;
                out.emit(Change { kind: ChangeKind::UpdateAfter, row: after })?;
            }
            None => out.emit(Change::delete(before))?,
        }
    }
    after.try_for_each(|after| out.emit(Change::insert(after)))
}

impl<T, U, K, S, KeyOf, OrderOf, Make, I> Operator<I::Row<T>> for TopTable<T, U, K, S, KeyOf, OrderOf, Make, I>
where
    T: Clone + PartialEq + State + Send + Sync + 'static,
    U: PartialEq,
    K: Key,
    S: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    OrderOf: Fn(&T) -> Result<S, EvalError> + Send,
    Make: Fn(&T, i64) -> U + Send,
    I: Carried,
{
    type Out = Change<U>;

    state_with_ttl!(Change<U>);

    #[inline]
    fn process(&mut self, row: I::Row<T>, out: &mut impl Collector<Change<U>>) -> Result<(), Failure> {
        let (adds, row) = I::open::<T>(row);
        self.take(adds, row, out)
    }

    fn finish(&mut self, _out: &mut impl Collector<Change<U>>) -> Result<(), Failure> {
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
