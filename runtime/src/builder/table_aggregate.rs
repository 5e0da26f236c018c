//! Aggregates over tables: rows that are taken back are taken out of them.

use std::marker::PhantomData;
use std::panic::Location;

use super::by_key::{ByKey, KeyedTable};
use super::link::Link;
use super::rows::{Row, closure, columns, origin, ty_of};
use super::stream::Stream;
use super::table_calls::TableCalls;
use super::tables::{Table, table};
use super::ttl::forgetting;
use super::windows::shown;
use crate::graph::{AggregateOperation, Emit, Operation, Origin};
use crate::operators::{Aggregation, FinalAggregate, OverChanges, TableAggregate};
use crate::record::{Change, Key};
use crate::time::WindowBounds;
use crate::value::EvalError;

impl<T, L, K, F> KeyedTable<T, L, K, F>
where
    T: Row,
    L: Link<Change<T>>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// Of all rows of a key that stand: a table of one row for each key, which changes as they do.
    #[track_caller]
    pub fn aggregate<C, Out, M>(self, calls: C, output: M) -> Table<Out, impl Link<Change<Out>>>
    where
        C: TableCalls<T>,
        Out: Row + PartialEq,
        M: Fn(&K, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "aggregate");
        let operation = operation::<T, K, Out, C>(&calls, Emit::Changes, &at);
        let (key, ttl) = (self.key_of(), self.forgets_after());
        let changes = self.by_key().then_as("aggregate", operation, table::<Out>(), &at, move |_| {
            let spec = Spec { key: key.clone(), calls: calls.clone(), output: output.clone(), types: PhantomData };
            let aggregate: TableAggregate<_, OverChanges> = TableAggregate::over_changes(spec);
            Ok(forgetting!(aggregate, ttl))
        });
        Table { changes }
    }

    /// The same, when the input has ended: one row for each key, which is never taken back.
    #[track_caller]
    pub fn aggregate_at_end<C, Out, M>(self, calls: C, output: M) -> Stream<Out, impl Link<Out>>
    where
        C: TableCalls<T>,
        Out: Row,
        M: Fn(&K, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "aggregate");
        let operation = operation::<T, K, Out, C>(&calls, Emit::Final, &at);
        let key = self.key_of();
        self.by_key().then("aggregate", operation, &at, move |_| {
            let spec = Spec { key: key.clone(), calls: calls.clone(), output: output.clone(), types: PhantomData };
            Ok(FinalAggregate::<_, OverChanges>::over_changes(spec))
        })
    }
}

/// The operation as the graph has it.
fn operation<T: Row, K: Key, Out: Row, C: TableCalls<T>>(calls: &C, emit: Emit, at: &Origin) -> Operation {
    let mut names = Vec::new();
    calls.names(&mut names);
    Operation::Aggregate(AggregateOperation {
        keys: vec![("key".to_owned(), closure(ty_of::<K>(), at))],
        window: None,
        calls: shown(names, at),
        output: columns::<Out>(at),
        allowed_lateness: 0,
        every: None,
        late_output: false,
        emit,
    })
}

/// What the operator is told: the closures.
struct Spec<T, K, Out, F, C, M> {
    key: F,
    calls: C,
    output: M,
    types: PhantomData<fn(T) -> (K, Out)>,
}

impl<T, K, Out, F, C, M> Aggregation for Spec<T, K, Out, F, C, M>
where
    T: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    C: TableCalls<T>,
    M: Fn(&K, C::Values) -> Out + Send,
{
    type In = T;
    type Key = K;
    type Acc = C::Acc;
    type Out = Out;

    #[inline]
    fn key(&self, row: &T) -> Result<K, EvalError> {
        Ok((self.key)(row))
    }

    #[inline]
    fn add(&self, acc: &mut C::Acc, row: &T) -> Result<(), EvalError> {
        self.calls.take(acc, true, row)
    }

    #[inline]
    fn retract(&self, acc: &mut C::Acc, row: &T) -> Result<(), EvalError> {
        self.calls.take(acc, false, row)
    }

    fn output(&self, key: &K, _window: WindowBounds, acc: &C::Acc) -> Result<Out, EvalError> {
        Ok((self.output)(key, self.calls.values(acc)?))
    }
}
