//! Windows of a number of rows of a key, in the order in which they come.

use std::panic::Location;

use super::calls::Calls;
use super::keyed::{Clock, KeyedStream};
use super::link::Link;
use super::rows::{Row, closure, columns, origin, ty_of};
use super::stream::Stream;
use super::windows::{Spec, calls_of};
use crate::graph::{AggregateOperation, Emit, Operation, Origin, Window};
use crate::operators::{CountWindow, SlidingCountWindow};
use crate::record::Key;
use crate::time::WindowBounds;

/// So many rows of each key, to be aggregated: see [`KeyedStream::every_rows`].
#[must_use = "windows have rows when they are aggregated"]
#[derive(Debug)]
pub struct Counted<T, L, K, F> {
    keyed: KeyedStream<T, L, K, F>,
    size: u64,
}

/// The last rows of each key, to be aggregated every so many: see [`KeyedStream::last_rows_every`].
#[must_use = "windows have rows when they are aggregated"]
#[derive(Debug)]
pub struct SlidingCounted<T, L, K, F> {
    counted: Counted<T, L, K, F>,
    step: u64,
}

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// Windows of so many rows of a key, one after the other. When the input ends the rest is one more, of fewer rows.
    #[track_caller]
    pub fn every_rows(self, size: u64) -> Counted<T, L, K, F> {
        self.stream.parts.borrow_mut().some("the number of rows of a window", size, Location::caller());
        Counted { keyed: self, size }
    }

    /// The last `size` rows of a key, whenever so many (`step`) have come: the first windows have fewer rows.
    #[track_caller]
    pub fn last_rows_every(self, size: u64, step: u64) -> SlidingCounted<T, L, K, F> {
        let at = Location::caller();
        self.stream.parts.borrow_mut().some("the number of rows between windows", step, at);
        self.stream.parts.borrow_mut().some("the number of rows of a window", size, at);
        SlidingCounted { counted: Counted { keyed: self, size }, step }
    }
}

impl<T, L, K, F> Counted<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// One row of each window.
    #[track_caller]
    pub fn aggregate<C, Out, M>(self, calls: C, output: M) -> Stream<Out, impl Link<Out>>
    where
        C: Calls<T>,
        Out: Row,
        M: Fn(&K, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "aggregate");
        let operation = operation::<T, K, Out, C>(&calls, Window::Count { size: self.size }, &at);
        let (key, size) = (self.keyed.key.clone(), self.size);
        self.keyed.dealt().then("aggregate", operation, &at, move |_| {
            let output = output.clone();
            let row = move |key: &K, _: WindowBounds, values: C::Values| output(key, values);
            Ok(CountWindow::new(size, Spec::new(key.clone(), Clock, calls.clone(), row)))
        })
    }
}

impl<T, L, K, F> SlidingCounted<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// One row of each window.
    #[track_caller]
    pub fn aggregate<C, Out, M>(self, calls: C, output: M) -> Stream<Out, impl Link<Out>>
    where
        C: Calls<T>,
        Out: Row,
        M: Fn(&K, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "aggregate");
        let SlidingCounted { counted: Counted { keyed, size }, step } = self;
        let operation = operation::<T, K, Out, C>(&calls, Window::SlidingCount { size, step }, &at);
        let key = keyed.key.clone();
        keyed.dealt().then("aggregate", operation, &at, move |_| {
            let output = output.clone();
            let row = move |key: &K, _: WindowBounds, values: C::Values| output(key, values);
            Ok(SlidingCountWindow::new(size, step, Spec::new(key.clone(), Clock, calls.clone(), row)))
        })
    }
}

/// The operation as the graph has it.
fn operation<T: Row, K: Key, Out: Row, C: Calls<T>>(calls: &C, window: Window, at: &Origin) -> Operation {
    Operation::Aggregate(AggregateOperation {
        keys: vec![("key".to_owned(), closure(ty_of::<K>(), at))],
        window: Some(window),
        calls: calls_of(calls, at),
        output: columns::<Out>(at),
        allowed_lateness: 0,
        every: None,
        late_output: false,
        emit: Emit::Append,
    })
}
