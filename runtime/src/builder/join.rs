//! Joins of two streams by key, within a distance in time.

use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::condition::{Always, Condition};
use super::keyed::{KeyedStream, TimedStream, time_expr};
use super::link::{Branch, Head, Link};
use super::micros;
use super::parts::Producer;
use super::process::two;
use super::rows::{Row, closure, origin, rows, ty_of};
use super::stream::Stream;
use crate::graph::{
    Emit, Exchange, JoinColumn, JoinColumnOf, JoinHow, JoinKey, JoinKind, JoinOperation, JoinTimes, Operation, Origin, Port,
    Side, Ty,
};
use crate::operators::{IntervalJoin, Joining};
use crate::record::Key;
use crate::time::WindowBounds;
use crate::value::{EvalError, Timestamp};

/// Two streams of one key, to be joined.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct Join<A, B, C = Always> {
    pub(super) left: A,
    pub(super) right: B,
    pub(super) condition: C,
    /// Whether the right side goes to every subtask.
    pub(super) broadcast: bool,
}

impl<A, B> Join<A, B> {
    pub(super) fn of(left: A, right: B) -> Self {
        Join { left, right, condition: Always, broadcast: false }
    }
}

/// Two streams of one key whose rows go together when their times do.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct JoinWithin<A, B, C = Always> {
    join: Join<A, B, C>,
    before: i64,
    after: i64,
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W> {
    /// With another stream, by a key of the same type.
    pub fn join<R, LR, FR, WR>(self, right: TimedStream<R, LR, K, FR, WR>) -> Join<Self, TimedStream<R, LR, K, FR, WR>> {
        Join::of(self, right)
    }
}

impl<A, B, C> Join<A, B, C> {
    /// Rows of the right go with one of the left when they are at most so much older or younger.
    pub fn within(self, before: Duration, after: Duration) -> JoinWithin<A, B, C> {
        JoinWithin { join: self, before: micros(before), after: micros(after) }
    }
}

impl<T, R, K, L, LR, F, FR, W, WR, C> JoinWithin<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, C>
where
    C: Condition<T, R>,
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
        let broadcast = self.join.broadcast;
        let (spec, left, right) = taken(self.join, pairs(make), Exchange::Forward);
        let late = Branch::new();
        let ways = late.clone();
        let main = two(left, right, "join", operation, rows::<Out>(), at, move |cx| {
            let join = IntervalJoin::new(kind, -before, after, spec.clone());
            let join = if broadcast { join.broadcast() } else { join };
            Ok(join.with_late(ways.stage(cx)?))
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
        let broadcast = self.join.broadcast;
        let (spec, left, right) = taken(self.join, make, Exchange::Forward);
        two(left, right, "join", operation, rows::<Out>(), at, move |_| {
            let join = IntervalJoin::new(kind, -before, after, spec.clone());
            Ok(if broadcast { join.broadcast() } else { join })
        })
    }

    fn operation(&self, kind: JoinKind, late_output: bool, at: &Origin) -> Operation {
        let times = JoinTimes { left: time_expr(at), right: time_expr(at), late_output };
        let how = JoinHow::Within { from: -self.before, to: self.after, times };
        Operation::Join(JoinOperation { broadcast: self.join.broadcast, ..operation::<T, R, K, C>(kind, how, Emit::Append, at) })
    }
}

/// What the operator is told, and the two sides on their way to it. `stays` is how left rows go on where the right side goes everywhere.
pub(super) fn taken<T, R, K, L, LR, F, FR, W, WR, C, M>(
    join: Join<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, C>,
    make: M,
    stays: Exchange,
) -> (Spec<T, R, K, (F, FR), (W, WR), C, M>, Stream<T, Head>, Producer)
where
    T: Row,
    R: Row,
    K: Key,
    L: Link<T>,
    LR: Link<R>,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    FR: Fn(&R) -> K + Clone + Send + Sync + 'static,
{
    let Join { left, right, condition, broadcast } = join;
    let keys = (left.keyed.key.clone(), right.keyed.key.clone());
    let spec = Spec { keys, times: (left.time, right.time), condition, make, types: PhantomData };
    let (left, right) = match broadcast {
        false => (left.keyed.dealt(), right.keyed.dealt()),
        true => (left.keyed.stays(stays), right.keyed.everywhere()),
    };
    (spec, left, right.from)
}

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
{
    /// Ends the chain: rows stay where they are, or are dealt out in turn.
    pub(super) fn stays(self, exchange: Exchange) -> Stream<T, Head> {
        let KeyedStream { stream, parallelism, .. } = self;
        stream.stays(exchange, parallelism)
    }

    /// Ends the chain: every subtask gets all rows.
    pub(super) fn everywhere(self) -> Stream<T, Head> {
        self.stream.everywhere()
    }
}

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// Ends the chain: rows stay where they are, unless what is next has a number of subtasks of its own.
    pub(super) fn stays(self, exchange: Exchange, parallelism: Option<u32>) -> Stream<T, Head> {
        let before = self.parallelism;
        let stream = match exchange {
            Exchange::Forward if parallelism.is_none() => self.exchange(exchange, |cx, edge| cx.forward::<T>(edge)),
            _ => self.exchange(Exchange::Rebalance, |cx, edge| cx.rebalance::<T>(edge)),
        };
        Stream { parallelism: parallelism.or(before), ..stream }
    }

    /// Ends the chain: every subtask gets all rows.
    pub(super) fn everywhere(self) -> Stream<T, Head> {
        self.exchange(Exchange::Broadcast, |cx, edge| cx.broadcast::<T>(edge))
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
pub(super) fn operation<T: Row, R: Row, K: Key, C: Condition<T, R>>(
    kind: JoinKind,
    how: JoinHow,
    emit: Emit,
    at: &Origin,
) -> JoinOperation {
    let of_side = |side: Side, schema: crate::graph::Schema| {
        let fields = schema.fields.into_iter();
        fields.map(move |field| {
            let name = if side == Side::Left { field.name.clone() } else { format!("right.{}", field.name) };
            JoinColumn { name, of: JoinColumnOf::Side(side, field.name) }
        })
    };
    JoinOperation {
        kind,
        how,
        keys: vec![JoinKey { left: closure(ty_of::<K>(), at), right: closure(ty_of::<K>(), at) }],
        condition: C::IS_SAID.then(|| closure(Ty::Bool, at)),
        columns: of_side(Side::Left, rows::<T>().schema).chain(of_side(Side::Right, rows::<R>().schema)).collect(),
        emit,
        broadcast: false,
    }
}

/// What the operator is told: the closures.
pub(super) struct Spec<T, R, K, F, W, C, M> {
    pub keys: F,
    pub times: W,
    pub condition: C,
    pub make: M,
    pub types: PhantomData<fn(T, R) -> K>,
}

impl<T, R, K, F: Clone, W: Clone, C: Clone, M: Clone> Clone for Spec<T, R, K, F, W, C, M> {
    fn clone(&self) -> Self {
        let (keys, times, condition) = (self.keys.clone(), self.times.clone(), self.condition.clone());
        Spec { keys, times, condition, make: self.make.clone(), types: PhantomData }
    }
}

/// What a join makes: of a pair, and of a row of either side alone.
pub(super) trait Made<T, R>: Send {
    type Out;

    fn both(&self, left: &T, right: &R, window: WindowBounds) -> Option<Self::Out>;
    fn left(&self, left: &T, window: WindowBounds) -> Option<Self::Out>;
    fn right(&self, right: &R, window: WindowBounds) -> Option<Self::Out>;
}

impl<T, R, Out, B, A> Made<T, R> for (B, A)
where
    B: Fn(&T, &R) -> Option<Out> + Send,
    A: Fn(&T) -> Option<Out> + Send,
{
    type Out = Out;

    #[inline]
    fn both(&self, left: &T, right: &R, _window: WindowBounds) -> Option<Out> {
        (self.0)(left, right)
    }

    #[inline]
    fn left(&self, left: &T, _window: WindowBounds) -> Option<Out> {
        (self.1)(left)
    }

    fn right(&self, _right: &R, _window: WindowBounds) -> Option<Out> {
        None
    }
}

impl<T, R, K, F, FR, W, WR, C, M> Joining for Spec<T, R, K, (F, FR), (W, WR), C, M>
where
    T: Row,
    R: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    FR: Fn(&R) -> K + Send,
    W: Fn(&T) -> Timestamp + Send,
    WR: Fn(&R) -> Timestamp + Send,
    C: Condition<T, R>,
    M: Made<T, R>,
{
    type Left = T;
    type Right = R;
    type Key = K;
    type Out = M::Out;

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

    #[inline]
    fn matches(&self, left: &T, right: &R) -> Result<bool, EvalError> {
        Ok(self.condition.holds(left, right))
    }

    fn both(&self, left: &T, right: &R, window: WindowBounds) -> Option<M::Out> {
        self.make.both(left, right, window)
    }

    fn left_only(&self, left: &T, window: WindowBounds) -> Option<M::Out> {
        self.make.left(left, window)
    }

    fn right_only(&self, right: &R, window: WindowBounds) -> Option<M::Out> {
        self.make.right(right, window)
    }
}
