//! A stream by key, and by key and time.

use std::panic::Location;

use super::link::{Head, Link};
use super::rows::{Row, closure, ty_of};
use super::stream::Stream;
use crate::graph::{Exchange, Expr, ExprKind, Origin, Ty};
use crate::record::Key;
use crate::value::{EvalError, Timestamp};

/// A stream whose rows go where the others of their key are. Operators behind it keep state by key.
#[must_use = "a stream whose rows go nowhere is a mistake: end it with a sink"]
#[derive(Debug)]
pub struct KeyedStream<T, L, K, F> {
    pub(super) stream: Stream<T, L>,
    pub(super) key: F,
    pub(super) at: Origin,
    /// What checkpoints call the key.
    pub(super) called: Option<String>,
    /// Of the next chain.
    pub(super) parallelism: Option<u32>,
    pub(super) keys: std::marker::PhantomData<fn() -> K>,
}

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    pub(super) fn new(stream: Stream<T, L>, key: F, at: Origin) -> Self {
        KeyedStream { stream, key, at, called: None, parallelism: None, keys: std::marker::PhantomData }
    }

    /// So many subtasks for the next operator and what follows it, up to the next exchange.
    #[track_caller]
    pub fn parallelism(self, subtasks: u32) -> Self {
        self.stream.parts.borrow_mut().some("the parallelism", subtasks.into(), Location::caller());
        KeyedStream { parallelism: Some(subtasks), ..self }
    }

    /// The id of the next operator: see [`Stream::id`].
    pub fn id(self, id: &str) -> Self {
        KeyedStream { stream: self.stream.id(id), ..self }
    }

    /// What checkpoints call the key, `"customer"` say. Nobody can see what a closure does: with a name, state that was kept by a key of
    /// another name is refused at a restart, also if both are of one type. Change the name when you change the key.
    pub fn key_name(self, name: &str) -> Self {
        KeyedStream { called: Some(name.to_owned()), ..self }
    }

    /// With the event time of a row, as windows and joins need it.
    pub fn timed_by<W>(self, time: W) -> TimedStream<T, L, K, F, W>
    where
        W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
    {
        TimedStream { keyed: self, time }
    }

    /// By the clock when a row comes, for [windows](TimedStream::tumbling): rows need no event time and none is late. What is in a window
    /// then depends on how fast rows come, so another run gives other rows; windows that are open when the input ends come out then.
    pub fn by_clock(self) -> TimedStream<T, L, K, F, Clock> {
        TimedStream { keyed: self, time: Clock }
    }

    /// Ends the chain: rows go to the subtask of their key.
    pub(super) fn dealt(self) -> Stream<T, Head> {
        let KeyedStream { stream, key, at, called, parallelism, .. } = self;
        let exchange = Exchange::Hash(vec![key_expr::<K>(called, at)]);
        let dealt = stream.exchange(exchange, move |cx, edge| {
            let key = key.clone();
            cx.hash::<T, K, _>(edge, move |row: &T| Ok(key(row)))
        });
        Stream { parallelism, ..dealt }
    }
}

/// What says when a row is: a closure, or the clock.
pub trait RowTime<T>: Clone + Send + Sync + 'static {
    /// Whether it is the clock, whatever the row.
    const IS_CLOCK: bool;

    /// The event time of a row.
    fn time(&self, row: &T) -> Result<Timestamp, EvalError>;
}

impl<T, W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static> RowTime<T> for W {
    const IS_CLOCK: bool = false;

    #[inline]
    fn time(&self, row: &T) -> Result<Timestamp, EvalError> {
        Ok(self(row))
    }
}

/// The clock on the wall: see [`KeyedStream::by_clock`].
#[derive(Clone, Copy, Debug)]
pub struct Clock;

impl<T> RowTime<T> for Clock {
    const IS_CLOCK: bool = true;

    fn time(&self, _row: &T) -> Result<Timestamp, EvalError> {
        Err(EvalError::new("by the clock a row has no time of its own"))
    }
}

/// A stream by key whose rows have an event time, or go by the clock.
#[must_use = "a stream whose rows go nowhere is a mistake: end it with a sink"]
#[derive(Debug)]
pub struct TimedStream<T, L, K, F, W> {
    pub(super) keyed: KeyedStream<T, L, K, F>,
    pub(super) time: W,
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// See [`KeyedStream::parallelism`].
    #[track_caller]
    pub fn parallelism(self, subtasks: u32) -> Self {
        TimedStream { keyed: self.keyed.parallelism(subtasks), ..self }
    }

    /// See [`KeyedStream::key_name`].
    pub fn key_name(self, name: &str) -> Self {
        TimedStream { keyed: self.keyed.key_name(name), ..self }
    }

    /// The id of the next operator: see [`Stream::id`].
    pub fn id(self, id: &str) -> Self {
        TimedStream { keyed: self.keyed.id(id), ..self }
    }
}

/// The key of a row, as the graph has it: by its name in checkpoints, where it has one.
pub(super) fn key_expr<K: Key>(called: Option<String>, at: Origin) -> Expr {
    match called {
        Some(name) => Expr { kind: ExprKind::Local(name), ty: ty_of::<K>(), origin: at },
        None => closure(ty_of::<K>(), &at),
    }
}

/// The event time of a row, as the graph has it.
pub(super) fn time_expr(at: &Origin) -> Expr {
    closure(Ty::Timestamp, at)
}
