//! Joins of two streams by key, of the rows that lie in one window.

use std::panic::Location;
use std::time::Duration;

use super::condition::{Always, Condition};
use super::join::{Join, Made, operation, taken};
use super::keyed::{TimedStream, time_expr};
use super::link::{Branch, Link};
use super::micros;
use super::process::two;
use super::rows::{Row, origin, rows};
use super::stream::Stream;
use crate::graph::{
    Emit, Exchange, JoinHow, JoinKind, JoinOperation, JoinTimes, Operation, Origin, Port, Side, Window, WindowTime,
};
use crate::operators::WindowJoin;
use crate::record::Key;
use crate::time::{Sliding, Tumbling, WindowAssigner, WindowBounds};
use crate::value::Timestamp;

/// Two streams of one key whose rows go together where they lie in one window. Its rows come when the window is over.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct JoinOver<A, B, X, C = Always> {
    join: Join<A, B, C>,
    assigner: X,
    /// In microseconds.
    size: i64,
    step: Option<i64>,
    allowed: i64,
}

impl<T, R, K, L, LR, F, FR, W, WR, C> Join<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, C> {
    /// Rows of both sides in windows of this size, one after the other.
    #[track_caller]
    pub fn tumbling(self, size: Duration) -> JoinOver<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, Tumbling, C> {
        let size = self.left.keyed.stream.parts.borrow_mut().length("the size of a window", size, Location::caller());
        JoinOver { join: self, assigner: Tumbling::new(size, 0), size, step: None, allowed: 0 }
    }

    /// Rows of both sides in windows of this size, a new one every `step`, which divides the size: two rows meet in each window that both
    /// lie in.
    #[track_caller]
    pub fn sliding(
        self,
        size: Duration,
        step: Duration,
    ) -> JoinOver<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, Sliding, C> {
        let (size, step) = self.left.keyed.stream.parts.borrow_mut().size_and_step(size, step, Location::caller());
        JoinOver { join: self, assigner: Sliding::new(size, step, 0), size, step: Some(step), allowed: 0 }
    }
}

impl<T, R, K, L, LR, F, FR, W, WR, C, X> JoinOver<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, X, C>
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
    X: WindowAssigner + Clone + Sync + 'static,
{
    /// Windows take rows for so long after they are over; such a row meets those of its window at once.
    pub fn allow_late(self, lateness: Duration) -> Self {
        JoinOver { allowed: micros(lateness), ..self }
    }

    /// One row of each pair, and its window.
    #[track_caller]
    pub fn inner<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, &R, WindowBounds) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(
            JoinKind::Inner,
            InWindow(move |left: Option<&T>, right: Option<&R>, window| Some(make(left?, right?, window))),
            at,
        )
    }

    /// One row of each pair, and one of each left row that has no partner in its window.
    #[track_caller]
    pub fn left<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, Option<&R>, WindowBounds) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(
            JoinKind::Left,
            InWindow(move |left: Option<&T>, right: Option<&R>, window| Some(make(left?, right, window))),
            at,
        )
    }

    /// One row of each pair, and one of each right row that has no partner in its window.
    #[track_caller]
    pub fn right<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(Option<&T>, &R, WindowBounds) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(
            JoinKind::Right,
            InWindow(move |left: Option<&T>, right: Option<&R>, window| Some(make(left, right?, window))),
            at,
        )
    }

    /// One row of each pair, and one of each row of either side that has no partner in its window: one of the two is there.
    #[track_caller]
    pub fn full<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(Option<&T>, Option<&R>, WindowBounds) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(
            JoinKind::Full,
            InWindow(move |left: Option<&T>, right: Option<&R>, window| Some(make(left, right, window))),
            at,
        )
    }

    /// The left rows that have a partner, once for each window.
    #[track_caller]
    pub fn semi(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Semi, InWindow(|left: Option<&T>, _: Option<&R>, _| left.cloned()), at)
    }

    /// The left rows that have no partner, once for each window.
    #[track_caller]
    pub fn anti(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Anti, InWindow(|left: Option<&T>, _: Option<&R>, _| left.cloned()), at)
    }

    /// As [`inner`](Self::inner); left rows that come too late are a stream of their own.
    #[track_caller]
    pub fn inner_with_late<Out, M>(self, make: M) -> (Stream<Out, impl Link<Out>>, Stream<T>)
    where
        Out: Row,
        M: Fn(&T, &R, WindowBounds) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        let kind = JoinKind::Inner;
        let operation = self.operation(kind, true, &at);
        let JoinOver { join, assigner, allowed, .. } = self;
        let broadcast = join.broadcast;
        let make = InWindow(move |left: Option<&T>, right: Option<&R>, window| Some(make(left?, right?, window)));
        let (spec, left, right) = taken(join, make, Exchange::Rebalance);
        let late = Branch::new();
        let ways = late.clone();
        let main = two(left, right, "join", operation, rows::<Out>(), at, move |cx| {
            let join = WindowJoin::new(kind, assigner.clone(), spec.clone()).allow_late(allowed);
            let join = if broadcast { join.broadcast() } else { join };
            Ok(join.with_late(ways.stage(cx)?))
        });
        let late = main.beside(Port::Late, late);
        (main, late)
    }

    fn joined<Out, M>(self, kind: JoinKind, make: InWindow<M>, at: Origin) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(Option<&T>, Option<&R>, WindowBounds) -> Option<Out> + Clone + Send + Sync + 'static,
    {
        let operation = self.operation(kind, false, &at);
        let JoinOver { join, assigner, allowed, .. } = self;
        let broadcast = join.broadcast;
        if broadcast && kind.keeps(Side::Right) {
            let text =
                format!("no subtask of a `broadcast` knows which right rows have no partner: a `{}` has none", kind.words());
            join.left.keyed.stream.parts.borrow_mut().mistake(&at, &text);
        }
        let (spec, left, right) = taken(join, make, Exchange::Rebalance);
        two(left, right, "join", operation, rows::<Out>(), at, move |_| {
            let join = WindowJoin::new(kind, assigner.clone(), spec.clone()).allow_late(allowed);
            Ok(if broadcast { join.broadcast() } else { join })
        })
    }

    fn operation(&self, kind: JoinKind, late_output: bool, at: &Origin) -> Operation {
        let times = JoinTimes { left: time_expr(at), right: time_expr(at), late_output };
        let (size, time) = (self.size, WindowTime::Event(time_expr(at)));
        let window = match self.step {
            None => Window::Tumbling { size, offset: 0, time },
            Some(step) => Window::Sliding { size, step, offset: 0, time },
        };
        let how = JoinHow::Over { window, times, allowed_lateness: self.allowed };
        let operation = operation::<T, R, K, C>(kind, how, Emit::Append, at);
        Operation::Join(JoinOperation { broadcast: self.join.broadcast, ..operation })
    }
}

/// What is made of the rows that there are, in a window.
#[derive(Clone)]
struct InWindow<M>(M);

impl<T, R, Out, M> Made<T, R> for InWindow<M>
where
    M: Fn(Option<&T>, Option<&R>, WindowBounds) -> Option<Out> + Send,
{
    type Out = Out;

    #[inline]
    fn both(&self, left: &T, right: &R, window: WindowBounds) -> Option<Out> {
        (self.0)(Some(left), Some(right), window)
    }

    fn left(&self, left: &T, window: WindowBounds) -> Option<Out> {
        (self.0)(Some(left), None, window)
    }

    fn right(&self, right: &R, window: WindowBounds) -> Option<Out> {
        (self.0)(None, Some(right), window)
    }
}
