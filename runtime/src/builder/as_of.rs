//! Joins of a stream with versions of rows, as they were at its time.

use std::panic::Location;

use super::condition::{Always, Condition};
use super::join::{Join, all_lefts, operation, pairs, taken};
use super::keyed::{TimedStream, time_expr};
use super::link::{Branch, Link};
use super::process::two;
use super::rows::{Row, origin, rows};
use super::stream::Stream;
use crate::graph::{Emit, Exchange, JoinHow, JoinKind, JoinOperation, JoinTimes, Operation, Origin, Port};
use crate::operators::{OverRows, TemporalJoin};
use crate::record::Key;
use crate::value::Timestamp;

/// A stream, and one whose rows are versions: of each key the newest at a time is the one that counts then.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct JoinAsOf<A, B, C = Always> {
    join: Join<A, B, C>,
}

impl<T, R, K, L, LR, F, FR, W, WR, C> Join<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, C> {
    /// Each left row with the right row of its key that was the newest at its time. It waits until the watermark has come to it; versions
    /// that no later row can see are forgotten.
    pub fn as_of(self) -> JoinAsOf<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, C> {
        JoinAsOf { join: self }
    }
}

/// The operation as the graph has it.
fn shown<T: Row, R: Row, K: Key, C: Condition<T, R>>(
    kind: JoinKind,
    late_output: bool,
    broadcast: bool,
    at: &Origin,
) -> Operation {
    let times = JoinTimes { left: time_expr(at), right: time_expr(at), late_output };
    let operation = operation::<T, R, K, C>(kind, JoinHow::AsOf { times }, Emit::Append, at);
    Operation::Join(JoinOperation { broadcast, ..operation })
}

impl<T, R, K, L, LR, F, FR, W, WR, C> JoinAsOf<TimedStream<T, L, K, F, W>, TimedStream<R, LR, K, FR, WR>, C>
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
    /// One row of each left row that has a version.
    #[track_caller]
    pub fn inner<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Inner, pairs(make), at)
    }

    /// One row of each left row, whether it has a version or not.
    #[track_caller]
    pub fn left<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, Option<&R>) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Left, all_lefts(make), at)
    }

    /// As [`inner`](Self::inner); left rows that come too late are a stream of their own.
    #[track_caller]
    pub fn inner_with_late<Out, M>(self, make: M) -> (Stream<Out, impl Link<Out>>, Stream<T>)
    where
        Out: Row,
        M: Fn(&T, &R) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        let broadcast = self.join.broadcast;
        let operation = shown::<T, R, K, C>(JoinKind::Inner, true, broadcast, &at);
        let (spec, left, right) = taken(self.join, pairs(make), Exchange::Forward);
        let late = Branch::new();
        let ways = late.clone();
        let main = two(left, right, "join", operation, rows::<Out>(), at, move |cx| {
            let join = TemporalJoin::<_, OverRows>::new(JoinKind::Inner, spec.clone());
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
        let broadcast = self.join.broadcast;
        let operation = shown::<T, R, K, C>(kind, false, broadcast, &at);
        let (spec, left, right) = taken(self.join, make, Exchange::Forward);
        two(left, right, "join", operation, rows::<Out>(), at, move |_| {
            let join = TemporalJoin::<_, OverRows>::new(kind, spec.clone());
            Ok(if broadcast { join.broadcast() } else { join })
        })
    }
}
