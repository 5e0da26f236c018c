//! Tables: one row for each key, which changes as rows come.
//!
//! What travels are [`Change`]s: a row is added, replaced (the old row, then the new one) or taken back. Each says the whole row, so that
//! whoever reads them can take rows back that it has counted.

use std::panic::Location;

use super::calls::Calls;
use super::keyed::{Clock, KeyedStream, TimedStream, time_expr};
use super::link::Link;
use super::rows::{Row, closure, columns, origin, rows, ty_of};
use super::stream::Stream;
use super::ttl::forgetting;
use super::windows::{Spec, calls_of};
use crate::connectors::channel::{self, Receiver};
use crate::error::JobResult;
use crate::graph::{AggregateOperation, Changelog, DedupOperation, Emit, Expr, Keep, Operation, Origin, StreamType, Ty};
use crate::operators::{DedupFinal, DedupTable, FilterTable, FinalAggregate, KeepFirst, Project, TableAggregate, by_arrival};
use crate::record::{Change, Key};
use crate::sink::Sink;
use crate::time::WindowBounds;
use crate::value::{EvalError, Timestamp};

/// A table of rows of type `T`, as its changes are made. `L` is what is before: `impl Link<Change<T>>` in signatures.
#[must_use = "a table whose rows go nowhere is a mistake: end it with a sink"]
#[derive(Debug)]
pub struct Table<T, L> {
    pub(super) changes: Stream<Change<T>, L>,
}

/// In the words of the graph.
pub(super) fn table<T: Row>() -> StreamType {
    StreamType { changelog: Changelog::Table { key: None }, ..rows::<T>() }
}

/// What is kept of several rows of one key.
fn dedup(key: Ty, keep: Keep, emit: Emit, time: Option<Expr>, at: &Origin) -> Operation {
    let keys = vec![closure(key, at)];
    Operation::Dedup(DedupOperation { keys, keep, time, within: None, late_output: false, emit })
}

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// The operation as the graph has it.
    fn aggregation<C: Calls<T>, Out: Row>(&self, calls: &C, emit: Emit, at: &Origin) -> Operation {
        Operation::Aggregate(AggregateOperation {
            keys: vec![("key".to_owned(), closure(ty_of::<K>(), at))],
            window: None,
            calls: calls_of(calls, at),
            output: columns::<Out>(at),
            allowed_lateness: 0,
            every: None,
            late_output: false,
            emit,
        })
    }

    /// Of all rows of a key, from the first to the last: a table of one row for each, which changes with every row that comes. Its state
    /// grows with the keys. Without keys: `key_by(|_| ())`.
    #[track_caller]
    pub fn aggregate<C, Out, M>(self, calls: C, output: M) -> Table<Out, impl Link<Change<Out>>>
    where
        C: Calls<T>,
        Out: Row + PartialEq,
        M: Fn(&K, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "aggregate");
        let operation = self.aggregation::<C, Out>(&calls, Emit::Changes, &at);
        let (key, ttl) = (self.key.clone(), self.stream.ttl());
        let changes = self.dealt().then_as("aggregate", operation, table::<Out>(), &at, move |_| {
            let output = output.clone();
            let row = move |key: &K, _: WindowBounds, values: C::Values| output(key, values);
            Ok(forgetting!(TableAggregate::new(Spec::new(key.clone(), Clock, calls.clone(), row)), ttl))
        });
        Table { changes }
    }

    /// The same, when the input has ended: one row for each key, which is never taken back.
    #[track_caller]
    pub fn aggregate_at_end<C, Out, M>(self, calls: C, output: M) -> Stream<Out, impl Link<Out>>
    where
        C: Calls<T>,
        Out: Row,
        M: Fn(&K, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "aggregate");
        let operation = self.aggregation::<C, Out>(&calls, Emit::Final, &at);
        let key = self.key.clone();
        self.dealt().then("aggregate", operation, &at, move |_| {
            let output = output.clone();
            let row = move |key: &K, _: WindowBounds, values: C::Values| output(key, values);
            Ok(FinalAggregate::new(Spec::new(key.clone(), Clock, calls.clone(), row)))
        })
    }

    /// The first row of each key to come. Later ones are left out, so its state grows with the keys.
    #[track_caller]
    pub fn first(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "dedup");
        let operation = dedup(ty_of::<K>(), Keep::First, Emit::Append, None, &at);
        let (key, ttl) = (self.key.clone(), self.stream.ttl());
        self.dealt().then("dedup", operation, &at, move |_| {
            let key = key.clone();
            Ok(forgetting!(KeepFirst::new::<T>(move |row: &T| Ok(key(row)), by_arrival::<T>), ttl))
        })
    }

    /// The last row of each key to come: a table, in which a row takes the place of the one before it.
    #[track_caller]
    pub fn last(self) -> Table<T, impl Link<Change<T>>> {
        let at = origin(Location::caller(), "dedup");
        latest(self, by_arrival::<T>, None, &at)
    }

    /// The same, when the input has ended: one row of each key, which is never taken back.
    #[track_caller]
    pub fn last_at_end(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "dedup");
        let operation = dedup(ty_of::<K>(), Keep::Last, Emit::Final, None, &at);
        let key = self.key.clone();
        self.dealt().then("dedup", operation, &at, move |_| {
            let key = key.clone();
            Ok(DedupFinal::last(move |row: &T| Ok(key(row)), by_arrival::<T>))
        })
    }
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
{
    /// The last row of each key by time, whatever came last; of equal times the later to come.
    #[track_caller]
    pub fn last(self) -> Table<T, impl Link<Change<T>>> {
        let at = origin(Location::caller(), "dedup");
        let time = self.time;
        latest(self.keyed, move |row: &T| Ok(time(row)), Some(time_expr(&at)), &at)
    }
}

/// The last row of each key.
fn latest<T, L, K, F, W>(
    keyed: KeyedStream<T, L, K, F>,
    time: W,
    shown: Option<Expr>,
    at: &Origin,
) -> Table<T, impl Link<Change<T>> + use<T, L, K, F, W>>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Result<Timestamp, EvalError> + Clone + Send + Sync + 'static,
{
    let operation = dedup(ty_of::<K>(), Keep::Last, Emit::Changes, shown, at);
    let (key, ttl) = (keyed.key.clone(), keyed.stream.ttl());
    let changes = keyed.dealt().then_as("dedup", operation, table::<T>(), at, move |_| {
        let key = key.clone();
        Ok(forgetting!(DedupTable::last(move |row: &T| Ok(key(row)), time.clone()), ttl))
    });
    Table { changes }
}

impl<T: Row, L: Link<Change<T>>> Table<T, L> {
    /// Keeps the rows for which `condition` is true: a row that is replaced by one for which it is not is taken back.
    #[track_caller]
    pub fn filter<F>(self, condition: F) -> Table<T, impl Link<Change<T>>>
    where
        F: Fn(&T) -> bool + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "filter");
        let operation = Operation::Filter(closure(Ty::Bool, &at));
        let changes = self.changes.then_as("where", operation, table::<T>(), &at, move |_| {
            let condition = condition.clone();
            Ok(FilterTable::new(move |change: &Change<T>| Ok(condition(&change.row))))
        });
        Table { changes }
    }

    /// Makes one row of each. Of equal rows it must make equal ones, or what is taken back is not what was added.
    #[track_caller]
    pub fn map<U, F>(self, make: F) -> Table<U, impl Link<Change<U>>>
    where
        U: Row,
        F: Fn(T) -> U + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "map");
        let changes = self.changes.then_as("select", Operation::Project(columns::<U>(&at)), table::<U>(), &at, move |_| {
            let make = make.clone();
            Ok(Project::new(move |change: Change<T>| Ok(change.map(&make))))
        });
        Table { changes }
    }

    /// Its changes as the rows of a stream: [`Change::kind`] says what happens to [`Change::row`].
    #[track_caller]
    pub fn changes(self) -> Stream<Change<T>, impl Link<Change<T>>> {
        let at = origin(Location::caller(), "changes");
        self.changes.then("changes", Operation::Changes, &at, |_| Ok(Project::new(|change: Change<T>| Ok(change))))
    }

    /// The operators behind it belong to a stream of this name: see [`Stream::stream`].
    #[track_caller]
    pub fn stream(self, name: &str) -> Self {
        Table { changes: self.changes.stream(name) }
    }

    /// The id of the next operator: see [`Stream::id`].
    pub fn id(self, id: &str) -> Self {
        Table { changes: self.changes.id(id) }
    }

    /// Writes the changes by a sink of your own: see [`Stream::sink`]. One that writes to a table of its own puts rows that are added
    /// under their key, and removes those that are deleted; it can leave out [`UpdateBefore`](crate::record::ChangeKind::UpdateBefore).
    #[track_caller]
    pub fn sink<S, M>(self, kind: &'static str, make: M)
    where
        S: Sink<Change<T>>,
        M: Fn() -> JobResult<S> + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), kind);
        self.changes.into_sink(kind, Vec::new(), table::<T>(), at, |_| move |_: &mut crate::chain::ChainBuilder<'_>| make());
    }

    /// Hands the changes to the program as they are made: see [`Stream::into_channel`].
    #[track_caller]
    pub fn into_channel(self, capacity: usize) -> Receiver<Change<T>> {
        self.changes.into_receiver(capacity, table::<T>(), origin(Location::caller(), channel::NAME))
    }
}
