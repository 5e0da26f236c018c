//! Joins of two streams by key, within a distance in time.

use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::keyed::{TimedStream, time_expr};
use super::link::{Branch, Link};
use super::micros;
use super::process::two;
use super::rows::{Row, closure, origin, rows, ty_of};
use super::stream::Stream;
use crate::graph::{
    Emit, JoinColumn, JoinColumnOf, JoinHow, JoinKey, JoinKind, JoinOperation, JoinTimes, Operation, Origin, Port, Side,
};
use crate::operators::{IntervalJoin, Joining};
use crate::record::Key;
use crate::time::WindowBounds;
use crate::value::{EvalError, Timestamp};

/// Two streams of one key, to be joined.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct Join<A, B> {
    pub(super) left: A,
    pub(super) right: B,
}

/// Two streams of one key whose rows go together when their times do.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct JoinWithin<A, B> {
    left: A,
    right: B,
    before: i64,
    after: i64,
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W> {
    /// With another stream, by a key of the same type.
    pub fn join<R, LR, FR, WR>(self, right: TimedStream<R, LR, K, FR, WR>) -> Join<Self, TimedStream<R, LR, K, FR, WR>> {
        Join { left: self, right }
    }
}

impl<A, B> Join<A, B> {
    /// Rows of the right go with one of the left when they are at most so much older or younger.
    pub fn within(self, before: Duration, after: Duration) -> JoinWithin<A, B> {
        JoinWithin { left: self.left, right: self.right, before: micros(before), after: micros(after) }
    }
}

impl<T, R, K, L, LR, F, FR, W, WR> JoinWithin<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>>
where
    T: Row,
    R: Row,
    K: Key,
    L: Link<T>,
    LR: Link<R>,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    FR: Fn(&R) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
    WR: Fn(&R) -> Timestamp + Clone + Send + Sync + 'static,
{
    /// One row of each pair.
    #[track_caller]
    pub fn inner<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Inner, pairs(make), at)
    }

    /// One row of each pair, and one of each left row that has no partner.
    #[track_caller]
    pub fn left<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, Option<&R>) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Left, all_lefts(make), at)
    }

    /// The left rows that have a partner, once.
    #[track_caller]
    pub fn semi(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Semi, lefts(), at)
    }

    /// The left rows that have no partner.
    #[track_caller]
    pub fn anti(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Anti, lefts(), at)
    }

    /// As [`inner`](Self::inner); left rows that come too late are a stream of their own.
    #[track_caller]
    pub fn inner_with_late<Out, M>(self, make: M) -> (Stream<Out, impl Link<Out>>, Stream<T>)
    where
        Out: Row,
        M: Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        let (kind, before, after) = (JoinKind::Inner, self.before, self.after);
        let operation = self.operation(kind, true, &at);
        let spec = Spec::new(&self.left, &self.right, pairs(make));
        let (left, right) = (self.left.keyed.dealt(), self.right.keyed.dealt());
        let late = Branch::new();
        let ways = late.clone();
        let main = two(left, right.from, "join", operation, rows::<Out>(), at, move |cx| {
            Ok(IntervalJoin::new(kind, -before, after, spec.clone()).with_late(ways.stage(cx)?))
        });
        let late = main.beside(Port::Late, late);
        (main, late)
    }

    fn joined<Out, B, A>(self, kind: JoinKind, make: (B, A), at: Origin) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        B: Fn(&T, &R) -> Option<Out> + Clone + Send + Sync + 'static,
        A: Fn(&T) -> Option<Out> + Clone + Send + Sync + 'static,
    {
        let (before, after) = (self.before, self.after);
        let operation = self.operation(kind, false, &at);
        let spec = Spec::new(&self.left, &self.right, make);
        let (left, right) = (self.left.keyed.dealt(), self.right.keyed.dealt());
        two(left, right.from, "join", operation, rows::<Out>(), at, move |_| {
            Ok(IntervalJoin::new(kind, -before, after, spec.clone()))
        })
    }

    fn operation(&self, kind: JoinKind, late_output: bool, at: &Origin) -> Operation {
        let times = JoinTimes { left: time_expr(at), right: time_expr(at), late_output };
        operation::<T, R, K>(kind, JoinHow::Within { from: -self.before, to: self.after, times }, Emit::Append, at)
    }
}

/// What is made of a pair, and of a left row alone: pairs.
pub(super) fn pairs<T, R, Out>(
    make: impl Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
) -> (impl Fn(&T, &R) -> Option<Out> + Clone + Send + Sync + 'static, impl Fn(&T) -> Option<Out> + Clone + Send + Sync + 'static)
{
    (move |left: &T, right: &R| Some(make(left, right)), |_: &T| None)
}

/// Each left row, with the right rows that it has, or with none.
pub(super) fn all_lefts<T, R, Out>(
    make: impl Fn(&T, Option<&R>) -> Out + Clone + Send + Sync + 'static,
) -> (impl Fn(&T, &R) -> Option<Out> + Clone + Send + Sync + 'static, impl Fn(&T) -> Option<Out> + Clone + Send + Sync + 'static)
{
    let alone = make.clone();
    (move |left: &T, right: &R| Some(make(left, Some(right))), move |left: &T| Some(alone(left, None)))
}

/// Left rows as they are.
pub(super) fn lefts<T: Clone, R>()
-> (impl Fn(&T, &R) -> Option<T> + Clone + Send + Sync + 'static, impl Fn(&T) -> Option<T> + Clone + Send + Sync + 'static) {
    (|_: &T, _: &R| None, |left: &T| Some(left.clone()))
}

/// The operation as the graph has it.
pub(super) fn operation<T: Row, R: Row, K: Key>(kind: JoinKind, how: JoinHow, emit: Emit, at: &Origin) -> Operation {
    let of_side = |side: Side, schema: crate::graph::Schema| {
        let fields = schema.fields.into_iter();
        fields.map(move |field| {
            let name = if side == Side::Left { field.name.clone() } else { format!("right.{}", field.name) };
            JoinColumn { name, of: JoinColumnOf::Side(side, field.name) }
        })
    };
    Operation::Join(JoinOperation {
        kind,
        how,
        keys: vec![JoinKey { left: closure(ty_of::<K>(), at), right: closure(ty_of::<K>(), at) }],
        condition: None,
        columns: of_side(Side::Left, rows::<T>().schema).chain(of_side(Side::Right, rows::<R>().schema)).collect(),
        emit,
        broadcast: false,
    })
}

/// What the operator is told: the closures.
pub(super) struct Spec<T, R, K, Out, F, W, M> {
    keys: F,
    times: W,
    make: M,
    types: PhantomData<fn(T, R) -> (K, Out)>,
}

impl<T, R, K, Out, F: Clone, FR: Clone, W: Clone, WR: Clone, M> Spec<T, R, K, Out, (F, FR), (W, WR), M> {
    pub(super) fn new<L, LR>(left: &TimedStream<T, L, K, F, W>, right: &TimedStream<R, LR, K, FR, WR>, make: M) -> Self {
        Spec {
            keys: (left.keyed.key.clone(), right.keyed.key.clone()),
            times: (left.time.clone(), right.time.clone()),
            make,
            types: PhantomData,
        }
    }
}

impl<T, R, K, Out, F: Clone, W: Clone, M: Clone> Clone for Spec<T, R, K, Out, F, W, M> {
    fn clone(&self) -> Self {
        Spec { keys: self.keys.clone(), times: self.times.clone(), make: self.make.clone(), types: PhantomData }
    }
}

impl<T, R, K, Out, F, FR, W, WR, B, A> Joining for Spec<T, R, K, Out, (F, FR), (W, WR), (B, A)>
where
    T: Row,
    R: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    FR: Fn(&R) -> K + Send,
    W: Fn(&T) -> Timestamp + Send,
    WR: Fn(&R) -> Timestamp + Send,
    B: Fn(&T, &R) -> Option<Out> + Send,
    A: Fn(&T) -> Option<Out> + Send,
{
    type Left = T;
    type Right = R;
    type Key = K;
    type Out = Out;

    #[inline]
    fn left_key(&self, row: &T) -> Result<K, EvalError> {
        Ok((self.keys.0)(row))
    }

    #[inline]
    fn right_key(&self, row: &R) -> Result<K, EvalError> {
        Ok((self.keys.1)(row))
    }

    #[inline]
    fn left_time(&self, row: &T) -> Result<Timestamp, EvalError> {
        Ok((self.times.0)(row))
    }

    #[inline]
    fn right_time(&self, row: &R) -> Result<Timestamp, EvalError> {
        Ok((self.times.1)(row))
    }

    fn both(&self, left: &T, right: &R, _window: WindowBounds) -> Option<Out> {
        (self.make.0)(left, right)
    }

    fn left_only(&self, left: &T, _window: WindowBounds) -> Option<Out> {
        (self.make.1)(left)
    }
}
