//! The first rows of each key in an order.

use std::cmp::Reverse;
use std::marker::PhantomData;
use std::panic::Location;

use super::by_key::{ByKey, KeyedTable};
use super::keyed::{KeyedStream, RowTime};
use super::link::{Branch, Link};
use super::rows::{Row, closure, origin, rows, ty_of};
use super::stream::Stream;
use super::tables::{Table, table};
use super::ttl::forgetting;
use super::windows::{WindowKind, Windowed, WindowsBy};
use crate::graph::{Emit, Operation, Origin, Port, SortKey, TopOperation, Window, WindowTime};
use crate::operators::{Aggregation, FinalAggregate, Flatten, Limit, TopRows, TopTable, by_arrival};
use crate::record::{Change, Key};
use crate::value::Timestamp;

/// The first rows of each key. Of rows of equal order the one that came earlier is first.
#[must_use = "it has rows when it is told which"]
#[derive(Debug)]
pub struct Top<A, S, O> {
    rows: A,
    limit: Limit,
    order: O,
    of: PhantomData<fn() -> S>,
}

impl<A, S, O> Top<A, S, O> {
    fn new(rows: A, count: usize, order: O) -> Self {
        Top { rows, limit: Limit::new(count), order, of: PhantomData }
    }

    /// Also the rows whose order is that of the last: then they are more.
    pub fn with_ties(self) -> Self {
        Top { limit: Limit { ties: true, ..self.limit }, ..self }
    }

    /// Of rows of equal order the one that came later is first.
    pub fn latest_first(self) -> Self {
        Top { limit: Limit { latest_first: true, ..self.limit }, ..self }
    }
}

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// The first `count` rows of each key, the least first; the greatest with [`Reverse`]: `top(3, |bid| Reverse(bid.price))`. Orders of
    /// several columns are tuples. Without keys: `key_by(|_| ())`.
    #[track_caller]
    pub fn top<S, O>(self, count: usize, order: O) -> Top<Self, S, O>
    where
        S: Key,
        O: Fn(&T) -> S + Clone + Send + Sync + 'static,
    {
        self.stream.parts.borrow_mut().some("the number of rows of `top`", count as u64, Location::caller());
        Top::new(self, count, order)
    }
}

impl<T, L, K, F> KeyedTable<T, L, K, F>
where
    T: Row,
    L: Link<Change<T>>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// The first `count` rows of those that stand: see [`KeyedStream::top`].
    #[track_caller]
    pub fn top<S, O>(self, count: usize, order: O) -> Top<Self, S, O>
    where
        S: Key,
        O: Fn(&T) -> S + Clone + Send + Sync + 'static,
    {
        self.changes.parts.borrow_mut().some("the number of rows of `top`", count as u64, Location::caller());
        Top::new(self, count, order)
    }
}

impl<T, L, K, F, W, X> Windowed<T, L, K, F, W, X>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: RowTime<T>,
    X: WindowKind,
{
    /// The first `count` rows of each key and window, which come when it is over: see [`KeyedStream::top`]. Rows keep the times that they
    /// have; behind windows that time is cut into they are in time for other windows, behind sessions they may be late.
    #[track_caller]
    pub fn top<S, O>(self, count: usize, order: O) -> Top<Self, S, O>
    where
        S: Key,
        O: Fn(&T) -> S + Clone + Send + Sync + 'static,
    {
        self.parts().some("the number of rows of `top`", count as u64, Location::caller());
        Top::new(self, count, order)
    }
}

/// The operation as the graph has it.
fn operation<K: Key, S: Key>(
    limit: Limit,
    ranked: bool,
    window: Option<Window>,
    late_output: bool,
    emit: Emit,
    at: &Origin,
) -> Operation {
    Operation::Top(TopOperation {
        count: limit.count as u64,
        order: orders::<S>(at),
        latest_first: limit.latest_first,
        keys: vec![closure(ty_of::<K>(), at)],
        window,
        ties: limit.ties,
        rank: ranked.then(|| "rank".to_owned()),
        late_output,
        emit,
    })
}

/// The order; whether it is from the greatest down is known of one column alone.
fn orders<S: Key>(at: &Origin) -> Vec<SortKey> {
    let descending = std::any::type_name::<S>().starts_with(std::any::type_name::<Reverse<()>>().trim_end_matches("<()>"));
    vec![SortKey { value: closure(ty_of::<S>(), at), descending }]
}

impl<A, S, O> Top<A, S, O>
where
    A: ByKey,
    A::Row: PartialEq,
    S: Key,
    O: Fn(&A::Row) -> S + Clone + Send + Sync + 'static,
{
    /// A table of these rows: one goes when a better one comes.
    #[track_caller]
    pub fn rows(self) -> Table<A::Row, impl Link<Change<A::Row>>> {
        let at = origin(Location::caller(), "top");
        self.into_table(false, |row: &A::Row, _| row.clone(), &at)
    }

    /// The same, with a row made of each and its rank, from 1: those that move to another rank change. Of equal rows it must make equal
    /// ones.
    #[track_caller]
    pub fn ranked<Out, M>(self, make: M) -> Table<Out, impl Link<Change<Out>>>
    where
        Out: Row + PartialEq,
        M: Fn(&A::Row, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "top");
        self.into_table(true, make, &at)
    }

    fn into_table<Out, M>(self, ranked: bool, make: M, at: &Origin) -> Table<Out, impl Link<Change<Out>> + use<A, S, O, Out, M>>
    where
        Out: Row + PartialEq,
        M: Fn(&A::Row, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let Top { rows, limit, order, .. } = self;
        let operation = operation::<A::Key, S>(limit, ranked, None, false, Emit::Changes, at);
        let (key, ttl) = (rows.key_of(), rows.forgets_after());
        let changes = rows.by_key().then_as("top", operation, table::<Out>(), at, move |_| {
            let (key, order) = (key.clone(), order.clone());
            let (key, order) = (move |row: &A::Row| Ok(key(row)), move |row: &A::Row| Ok(order(row)));
            let top = TopTable::<_, _, _, _, _, _, _, A::Carried>::over(limit, key, order, make.clone());
            let top = if ranked { top.ranked() } else { top };
            Ok(forgetting!(top, ttl))
        });
        Table { changes }
    }
}

impl<T, L, K, F, S, O> Top<KeyedStream<T, L, K, F>, S, O>
where
    T: Row + PartialEq,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    S: Key,
    O: Fn(&T) -> S + Clone + Send + Sync + 'static,
{
    /// The rows as they stand when the input has ended: they are never taken back.
    #[track_caller]
    pub fn rows_at_end(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "top");
        self.at_end(false, |row: &T, _| row.clone(), &at)
    }

    /// The same, with a row made of each and its rank, from 1.
    #[track_caller]
    pub fn ranked_at_end<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "top");
        self.at_end(true, make, &at)
    }

    fn at_end<Out, M>(self, ranked: bool, make: M, at: &Origin) -> Stream<Out, impl Link<Out> + use<T, L, K, F, S, O, Out, M>>
    where
        Out: Row,
        M: Fn(&T, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let Top { rows: keyed, limit, order, .. } = self;
        let operation = operation::<K, S>(limit, ranked, None, false, Emit::Final, at);
        let key = keyed.key.clone();
        keyed.dealt().then("top", operation, at, move |_| {
            let (key, order) = (key.clone(), order.clone());
            let (key, order) = (move |row: &T| Ok(key(row)), move |row: &T| Ok(order(row)));
            Ok(Flatten::new(FinalAggregate::new(TopRows::new(limit, key, order, make.clone(), by_arrival::<T>))))
        })
    }
}

impl<T, L, K, F, W, X, S, O> Top<Windowed<T, L, K, F, W, X>, S, O>
where
    T: Row + PartialEq,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: RowTime<T>,
    X: WindowKind,
    S: Key,
    O: Fn(&T) -> S + Clone + Send + Sync + 'static,
{
    /// These rows of each key and window.
    #[track_caller]
    pub fn rows(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "top");
        self.of_windows(false, |row: &T, _| row.clone(), &at)
    }

    /// The same, with a row made of each and its rank, from 1.
    #[track_caller]
    pub fn ranked<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "top");
        self.of_windows(true, make, &at)
    }

    /// As [`rows`](Self::rows); rows that come too late are a stream of their own.
    #[track_caller]
    pub fn rows_with_late(self) -> (Stream<T, impl Link<T>>, Stream<T>)
    where
        W: Fn(&T) -> Timestamp,
    {
        let at = origin(Location::caller(), "top");
        self.with_late(false, |row: &T, _| row.clone(), &at)
    }

    /// As [`ranked`](Self::ranked); rows that come too late are a stream of their own.
    #[track_caller]
    pub fn ranked_with_late<Out, M>(self, make: M) -> (Stream<Out, impl Link<Out>>, Stream<T>)
    where
        W: Fn(&T) -> Timestamp,
        Out: Row,
        M: Fn(&T, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "top");
        self.with_late(true, make, &at)
    }

    fn with_late<Out, M>(
        self,
        ranked: bool,
        make: M,
        at: &Origin,
    ) -> (Stream<Out, impl Link<Out> + use<T, L, K, F, W, X, S, O, Out, M>>, Stream<T>)
    where
        Out: Row,
        M: Fn(&T, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let (operation, hold_back) = self.shown(ranked, true, at);
        let Top { rows: Windowed { timed, kind, .. }, limit, order, .. } = self;
        let (key, time) = (timed.keyed.key.clone(), timed.time);
        let late = Branch::new();
        let ways = late.clone();
        let main = timed.keyed.dealt().then_as("top", operation, rows::<Out>(), at, move |cx| {
            let rows = top_rows(limit, &key, &order, &time, &make);
            Ok(Flatten::new(kind.with_late(rows, 0, ways.stage(cx)?)?).hold_back(hold_back))
        });
        let late = main.beside(Port::Late, late);
        (main, late)
    }

    fn of_windows<Out, M>(
        self,
        ranked: bool,
        make: M,
        at: &Origin,
    ) -> Stream<Out, impl Link<Out> + use<T, L, K, F, W, X, S, O, Out, M>>
    where
        Out: Row,
        M: Fn(&T, i64) -> Out + Clone + Send + Sync + 'static,
    {
        let (operation, hold_back) = self.shown(ranked, false, at);
        let Top { rows: Windowed { timed, kind, .. }, limit, order, .. } = self;
        let by = if W::IS_CLOCK { WindowsBy::Clock } else { WindowsBy::Rows { allowed: 0 } };
        let (key, time) = (timed.keyed.key.clone(), timed.time);
        timed.keyed.dealt().then_as("top", operation, rows::<Out>(), at, move |_| {
            let rows = top_rows(limit, &key, &order, &time, &make);
            Ok(Flatten::new(kind.operator(rows, by)?).hold_back(hold_back))
        })
    }

    /// The operation as the graph has it, and by how much its watermarks are held back: rows come out behind the one that ended their window.
    fn shown(&self, ranked: bool, late_output: bool, at: &Origin) -> (Operation, i64) {
        let Windowed { timed, kind, allowed } = &self.rows;
        if *allowed > 0 {
            let text = "`.allow_late(..)` before `top`: its windows come once, and rows that come later are left out";
            timed.keyed.stream.parts.borrow_mut().mistake(at, text);
        }
        let by = if W::IS_CLOCK { WindowsBy::Clock } else { WindowsBy::Rows { allowed: 0 } };
        let window = kind.window(by.shown(at));
        let hold_back = match &window {
            Window::Tumbling { size, time: WindowTime::Event(_), .. }
            | Window::Sliding { size, time: WindowTime::Event(_), .. } => *size,
            Window::Cumulative { max, time: WindowTime::Event(_), .. } => *max,
            _ => 0,
        };
        (operation::<K, S>(self.limit, ranked, Some(window), late_output, Emit::Append, at), hold_back)
    }
}

/// The rows of one window.
fn top_rows<T, U, K, S, F, O, W, M>(
    limit: Limit,
    key: &F,
    order: &O,
    time: &W,
    make: &M,
) -> impl Aggregation<In = T, Out = Vec<U>> + use<T, U, K, S, F, O, W, M>
where
    T: Row + PartialEq,
    U: Row,
    K: Key,
    S: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    O: Fn(&T) -> S + Clone + Send + Sync + 'static,
    W: RowTime<T>,
    M: Fn(&T, i64) -> U + Clone + Send + Sync + 'static,
{
    let (key, order, time) = (key.clone(), order.clone(), time.clone());
    let (key, order) = (move |row: &T| Ok(key(row)), move |row: &T| Ok(order(row)));
    TopRows::new(limit, key, order, make.clone(), move |row: &T| time.time(row))
}
