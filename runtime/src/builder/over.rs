//! Each row with what the rows of its key up to it make, in the order of event time.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::calls::Calls;
use super::keyed::{TimedStream, time_expr};
use super::link::Link;
use super::rows::{Row, closure, origin, rows, ty_of};
use super::stream::Stream;
use super::ttl::forgetting;
use super::windows::calls_of;
use crate::aggregates::{Accumulator, Lag, Lead};
use crate::graph::{AnalyticCall, Changelog, Field, Frame, Operation, Origin, OverOperation, Schema, StreamType, Ty};
use crate::operators::{Analysis, Over};
use crate::record::Key;
use crate::state::State;
use crate::value::{EvalError, Timestamp};

/// Rows of each key in the order of their time, each with others before it, to be aggregated.
#[must_use = "frames have rows when they are aggregated"]
#[derive(Debug)]
pub struct Framed<T, L, K, F, W> {
    timed: TimedStream<T, L, K, F, W>,
    frame: Frame,
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
{
    /// Each row with the last `count` rows of its key, itself included.
    #[track_caller]
    pub fn over_rows(self, count: u64) -> Framed<T, L, K, F, W> {
        self.keyed.stream.parts.borrow_mut().some("the number of rows of a frame", count, Location::caller());
        Framed { timed: self, frame: Frame::Rows(count) }
    }

    /// Each row with those of its key that are at most so much older, and those of the same time.
    #[track_caller]
    pub fn over_last(self, length: Duration) -> Framed<T, L, K, F, W> {
        let length = self.keyed.stream.parts.borrow_mut().length("the length of a frame", length, Location::caller());
        Framed { timed: self, frame: Frame::Time(length) }
    }

    /// Each row with all rows of its key before it, and those of the same time.
    pub fn over_all(self) -> Framed<T, L, K, F, W> {
        Framed { timed: self, frame: Frame::All }
    }

    /// Each row with all rows of its key before it, one by one: for numbers of rows ([`count`](super::count)) and [`lag`].
    pub fn one_by_one(self) -> Framed<T, L, K, F, W> {
        Framed { timed: self, frame: Frame::Running }
    }

    /// Each row with a value of the next row of its key, for which it waits; the last row has none. What is behind it has no event time:
    /// rows come out later than in their order.
    #[track_caller]
    pub fn lead<V, G>(self, value: G) -> Stream<(T, Option<V>), impl Link<(T, Option<V>)>>
    where
        V: Row,
        G: Fn(&T) -> V + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "over");
        Framed { timed: self, frame: Frame::Ahead(1) }.analysed(Next { value, of: PhantomData::<fn() -> V> }, at)
    }

    /// Each row with a value of the row so many rows behind it, for which it waits: see [`lead`](Self::lead).
    #[track_caller]
    pub fn lead_by<V, G>(self, rows: u64, value: G) -> Stream<(T, Option<V>), impl Link<(T, Option<V>)>>
    where
        V: Row,
        G: Fn(&T) -> V + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "over");
        self.keyed.stream.parts.borrow_mut().some("how many rows `lead_by` looks ahead", rows, Location::caller());
        Framed { timed: self, frame: Frame::Ahead(rows) }.analysed(Ahead { rows, value, of: PhantomData::<fn() -> V> }, at)
    }
}

impl<T, L, K, F, W> Framed<T, L, K, F, W>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
{
    /// Each row with the results, when the watermark has come to it; mostly a `map` is next. Rows that are older than the watermark are
    /// counted and left out.
    #[track_caller]
    pub fn aggregate<C>(self, calls: C) -> Stream<(T, C::Values), impl Link<(T, C::Values)>>
    where
        C: Calls<T>,
        C::Values: Row,
    {
        let at = origin(Location::caller(), "over");
        let mut names = Vec::new();
        calls.names(&mut names);
        if self.frame != Frame::Running && names.iter().any(|name| name == "lag") {
            let text = "`lag` looks at rows one by one: put `.one_by_one()` before it";
            self.timed.keyed.stream.parts.borrow_mut().mistake(&at, text);
        }
        let mut distances = Vec::new();
        calls.distances(&mut distances);
        if names.iter().zip(distances).any(|(name, rows)| name == "lag" && rows == 0) {
            let text = "how many rows `lag_by` looks back is 0: it must be 1 or more";
            self.timed.keyed.stream.parts.borrow_mut().mistake(&at, text);
        }
        self.analysed(calls, at)
    }

    fn analysed<C>(self, calls: C, at: Origin) -> Stream<(T, C::Values), impl Link<(T, C::Values)> + use<T, L, K, F, W, C>>
    where
        C: Calls<T>,
        C::Values: Row,
    {
        let Framed { timed: TimedStream { keyed, time }, frame } = self;
        let calls_shown = analytic(&calls, &at);
        let output = output::<T>(&calls_shown);
        let keys = vec![closure(ty_of::<K>(), &at)];
        let operation = Operation::Over(OverOperation { keys, time: time_expr(&at), frame, calls: calls_shown });
        let ttl = keyed.stream.ttl().filter(|_| operation.keeps_keys());
        let key = keyed.key.clone();
        keyed.dealt().then_as("over", operation, output, &at, move |_| {
            let analysis = Spec { key: key.clone(), time: time.clone(), calls: calls.clone(), rows: PhantomData };
            Ok(forgetting!(Over::new(frame, analysis), ttl))
        })
    }
}

/// The calls as the graph has them, by the names of their columns.
fn analytic<T, C>(calls: &C, at: &Origin) -> Vec<(String, AnalyticCall)>
where
    C: Calls<T>,
    C::Values: State,
{
    let shown = calls_of(calls, at);
    let types = match ty_of::<C::Values>() {
        Ty::Record(schema) if schema.fields.len() == shown.len() => schema.fields.into_iter().map(|field| field.ty).collect(),
        one => vec![one],
    };
    let mut named: Vec<(String, AnalyticCall)> = Vec::new();
    let mut distances = Vec::new();
    calls.distances(&mut distances);
    for ((mut call, ty), back) in shown.into_iter().zip(types).zip(distances) {
        call.ty = ty;
        let alike = named.iter().filter(|(_, other)| other.call.function == call.function).count();
        let name = format!("{} over {}", call.function, alike + 1);
        named.push((name, AnalyticCall { call, back }));
    }
    named
}

/// The columns of a row, then those of the calls.
fn output<T: Row>(calls: &[(String, AnalyticCall)]) -> StreamType {
    let mut fields = rows::<T>().schema.fields;
    fields.extend(calls.iter().map(|(name, call)| Field::new(name.clone(), call.call.ty.clone())));
    StreamType { schema: Schema::anonymous(fields), changelog: Changelog::Append, time: None }
}

/// What the operator is told: the closures.
struct Spec<T, K, F, W, C> {
    key: F,
    time: W,
    calls: C,
    rows: PhantomData<fn(T) -> K>,
}

impl<T, K, F, W, C> Analysis for Spec<T, K, F, W, C>
where
    T: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    W: Fn(&T) -> Timestamp + Send,
    C: Calls<T>,
{
    type In = T;
    type Key = K;
    type Acc = C::Acc;
    type Out = (T, C::Values);

    #[inline]
    fn key(&self, row: &T) -> Result<K, EvalError> {
        Ok((self.key)(row))
    }

    #[inline]
    fn time(&self, row: &T) -> Result<Timestamp, EvalError> {
        Ok((self.time)(row))
    }

    #[inline]
    fn add(&self, acc: &mut C::Acc, row: &T) -> Result<(), EvalError> {
        self.calls.add(acc, row)
    }

    fn merge(&self, acc: &mut C::Acc, other: &C::Acc) -> Result<(), EvalError> {
        self.calls.merge(acc, other)
    }

    fn output(&self, row: T, acc: &C::Acc) -> Result<(T, C::Values), EvalError> {
        Ok((row, self.calls.values(acc)?))
    }
}

/// The value of the row before this one; the first row has none. For [`one_by_one`](TimedStream::one_by_one).
pub fn lag<T, V: Clone + State, F: Fn(&T) -> V>(value: F) -> Previous<V, F> {
    Previous { value, of: PhantomData }
}

/// A value of the row before: see [`lag`].
#[derive(Debug)]
pub struct Previous<V, F> {
    value: F,
    of: PhantomData<fn() -> V>,
}

/// A value of the row behind.
struct Next<V, F> {
    value: F,
    of: PhantomData<fn() -> V>,
}

macro_rules! calls_of_a_neighbour {
    ($($call:ident $accumulator:ident $name:literal)*) => {$(
        impl<V, F: Clone> Clone for $call<V, F> {
            fn clone(&self) -> Self {
                $call { value: self.value.clone(), of: PhantomData }
            }
        }

        impl<T, V, F> Calls<T> for $call<V, F>
        where
            V: Row,
            F: Fn(&T) -> V + Clone + Send + Sync + 'static,
        {
            type Acc = $accumulator<V, 1>;
            type Values = Option<V>;

            #[inline]
            fn add(&self, acc: &mut Self::Acc, row: &T) -> Result<(), EvalError> {
                acc.add(Some((self.value)(row)))
            }

            fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
                acc.merge(other)
            }

            fn values(&self, acc: &Self::Acc) -> Result<Option<V>, EvalError> {
                acc.finish()
            }

            fn names(&self, names: &mut Vec<String>) {
                names.push($name.to_owned());
            }

            fn distances(&self, distances: &mut Vec<u64>) {
                distances.push(1);
            }
        }
    )*};
}
calls_of_a_neighbour! {
    Previous Lag "lag"
    Next Lead "lead"
}

/// The value of the row so many rows before this one; the first rows have none. See [`lag`].
pub fn lag_by<T, V: Clone + State, F: Fn(&T) -> V>(rows: u64, value: F) -> Behind<V, F> {
    Behind { rows, value, of: PhantomData }
}

/// A value of an earlier row: see [`lag_by`].
#[derive(Debug)]
pub struct Behind<V, F> {
    rows: u64,
    value: F,
    of: PhantomData<fn() -> V>,
}

/// A value of a later row.
struct Ahead<V, F> {
    rows: u64,
    value: F,
    of: PhantomData<fn() -> V>,
}

/// Both keep values of rows in their order: this says which of them, and which is the result.
macro_rules! calls_of_a_row {
    ($($call:ident $name:literal $acc:ty, |$self:ident, $kept:ident, $value:ident| $add:expr, |$seen:ident| $result:expr;)*) => {$(
        impl<V, F: Clone> Clone for $call<V, F> {
            fn clone(&self) -> Self {
                $call { rows: self.rows, value: self.value.clone(), of: PhantomData }
            }
        }

        impl<T, V, F> Calls<T> for $call<V, F>
        where
            V: Row,
            F: Fn(&T) -> V + Clone + Send + Sync + 'static,
        {
            type Acc = $acc;
            type Values = Option<V>;

            #[inline]
            fn add(&self, $kept: &mut Self::Acc, row: &T) -> Result<(), EvalError> {
                let ($self, $value) = (self, (self.value)(row));
                $add;
                Ok(())
            }

            fn merge(&self, _acc: &mut Self::Acc, _other: &Self::Acc) -> Result<(), EvalError> {
                Err(EvalError::new(concat!("`", $name, "` of a frame cannot be merged: a bug of the builder")))
            }

            fn values(&self, $seen: &Self::Acc) -> Result<Option<V>, EvalError> {
                let $self = self;
                Ok($result)
            }

            fn names(&self, names: &mut Vec<String>) {
                names.push($name.to_owned());
            }

            fn distances(&self, distances: &mut Vec<u64>) {
                distances.push(self.rows);
            }
        }
    )*};
}
calls_of_a_row! {
    Behind "lag" VecDeque<V>, |call, kept, value| {
        kept.push_back(value);
        if kept.len() as u64 > call.rows.saturating_add(1) {
            kept.pop_front();
        }
    }, |seen| seen.front().filter(|_| seen.len() as u64 > call.rows).cloned();
    Ahead "lead" (u64, Option<V>), |call, kept, value| {
        kept.0 += 1;
        if kept.0 == call.rows {
            kept.1 = Some(value);
        }
    }, |seen| seen.1.clone().filter(|_| call.rows > 0);
}
