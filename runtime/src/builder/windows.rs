//! Aggregates over windows.

use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::calls::Calls;
use super::keyed::{RowTime, TimedStream, time_expr};
use super::link::{Branch, Link};
use super::micros;
use super::names::keep;
use super::parts::Parts;
use super::rows::{Row, closure, columns, origin, ty_of};
use super::stream::Stream;
use crate::error::JobResult;
use crate::graph::{AggregateCall, AggregateOperation, Emit, Operation, Port, Ty, Window, WindowTime};
use crate::operator::{Operator, Stage};
use crate::operators::{Aggregation, SessionAggregate, WindowAggregate};
use crate::record::Key;
use crate::time::{Cumulative, Sliding, Tumbling, WindowAssigner, WindowBounds};
use crate::value::{EvalError, Timestamp};

/// How rows are put into windows.
pub trait WindowKind: Clone + Send + Sync + 'static {
    /// What aggregates in such windows.
    #[doc(hidden)]
    type Operator<A: Aggregation + 'static, N: Stage<A::In> + 'static>: Operator<A::In, Out = A::Out> + 'static;

    #[doc(hidden)]
    fn operator<A: Aggregation + 'static>(
        &self,
        aggregation: A,
        time: WindowsBy,
    ) -> JobResult<Self::Operator<A, crate::operator::Discard>>
    where
        A::In: 'static;

    #[doc(hidden)]
    fn with_late<A: Aggregation + 'static, N: Stage<A::In> + 'static>(
        &self,
        aggregation: A,
        allowed: i64,
        late: N,
    ) -> JobResult<Self::Operator<A, N>>;

    #[doc(hidden)]
    fn window(&self, time: WindowTime) -> Window;
}

/// What time rows are put into windows by.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum WindowsBy {
    /// That of rows; windows take them for so many microseconds after they are over.
    Rows { allowed: i64 },
    /// The clock when a row comes.
    Clock,
}

impl WindowsBy {
    /// In the words of the graph.
    pub(super) fn shown(self, at: &crate::graph::Origin) -> WindowTime {
        match self {
            WindowsBy::Rows { .. } => WindowTime::Event(time_expr(at)),
            WindowsBy::Clock => WindowTime::Processing,
        }
    }
}

/// Windows that time is cut into.
#[derive(Clone, Copy, Debug)]
pub struct OverTime<W> {
    assigner: W,
    shape: Shape,
}

/// Sizes in microseconds, as the graph has them.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Tumbling { size: i64 },
    Sliding { size: i64, step: i64 },
    Cumulative { max: i64, step: i64 },
}

impl<W: WindowAssigner + Clone + Sync + 'static> WindowKind for OverTime<W> {
    type Operator<A: Aggregation + 'static, N: Stage<A::In> + 'static> = WindowAggregate<A, W, N>;

    fn operator<A: Aggregation + 'static>(&self, aggregation: A, time: WindowsBy) -> JobResult<WindowAggregate<A, W>>
    where
        A::In: 'static,
    {
        Ok(in_windows(self.assigner.clone(), aggregation, time))
    }

    fn with_late<A: Aggregation + 'static, N: Stage<A::In> + 'static>(
        &self,
        aggregation: A,
        allowed: i64,
        late: N,
    ) -> JobResult<WindowAggregate<A, W, N>> {
        Ok(WindowAggregate::new(self.assigner.clone(), aggregation).allow_late(allowed).with_late(late))
    }

    fn window(&self, time: WindowTime) -> Window {
        match self.shape {
            Shape::Tumbling { size } => Window::Tumbling { size, offset: 0, time },
            Shape::Sliding { size, step } => Window::Sliding { size, step, offset: 0, time },
            Shape::Cumulative { max, step } => Window::Cumulative { max, step, offset: 0, time },
        }
    }
}

/// Aggregates in windows that time is cut into.
pub(super) fn in_windows<A: Aggregation, W: WindowAssigner>(
    assigner: W,
    aggregation: A,
    time: WindowsBy,
) -> WindowAggregate<A, W> {
    let operator = WindowAggregate::new(assigner, aggregation);
    match time {
        WindowsBy::Rows { allowed } => operator.allow_late(allowed),
        WindowsBy::Clock => operator.in_processing_time(),
    }
}

/// Windows that end when a key has had no rows for a while.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    gap: i64,
}

impl WindowKind for Session {
    type Operator<A: Aggregation + 'static, N: Stage<A::In> + 'static> = SessionAggregate<A, N>;

    fn operator<A: Aggregation + 'static>(&self, aggregation: A, time: WindowsBy) -> JobResult<SessionAggregate<A>>
    where
        A::In: 'static,
    {
        let operator = SessionAggregate::new(self.gap, aggregation);
        Ok(match time {
            WindowsBy::Rows { allowed } => operator.allow_late(allowed),
            WindowsBy::Clock => operator.in_processing_time(),
        })
    }

    fn with_late<A: Aggregation + 'static, N: Stage<A::In> + 'static>(
        &self,
        aggregation: A,
        allowed: i64,
        late: N,
    ) -> JobResult<SessionAggregate<A, N>> {
        Ok(SessionAggregate::new(self.gap, aggregation).allow_late(allowed).with_late(late))
    }

    fn window(&self, time: WindowTime) -> Window {
        Window::Session { gap: self.gap, time }
    }
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: RowTime<T>,
{
    pub(super) fn windows<X>(self, kind: X) -> Windowed<T, L, K, F, W, X> {
        Windowed { timed: self, kind, allowed: 0 }
    }

    pub(super) fn parts(&self) -> std::cell::RefMut<'_, Parts> {
        self.keyed.stream.parts.borrow_mut()
    }

    /// Windows of this size, one after the other.
    #[track_caller]
    pub fn tumbling(self, size: Duration) -> Windowed<T, L, K, F, W, OverTime<Tumbling>> {
        let size = self.parts().length("the size of a window", size, Location::caller());
        self.windows(OverTime { assigner: Tumbling::new(size, 0), shape: Shape::Tumbling { size } })
    }

    /// Windows of this size, a new one every `step`, which divides the size.
    #[track_caller]
    pub fn sliding(self, size: Duration, step: Duration) -> Windowed<T, L, K, F, W, OverTime<Sliding>> {
        let (size, step) = self.parts().size_and_step(size, step, Location::caller());
        self.windows(OverTime { assigner: Sliding::new(size, step, 0), shape: Shape::Sliding { size, step } })
    }

    /// Windows that start every `max` and grow by `step`, which divides it.
    #[track_caller]
    pub fn cumulative(self, max: Duration, step: Duration) -> Windowed<T, L, K, F, W, OverTime<Cumulative>> {
        let (max, step) = self.parts().size_and_step(max, step, Location::caller());
        self.windows(OverTime { assigner: Cumulative::new(max, step, 0), shape: Shape::Cumulative { max, step } })
    }

    /// Windows of each key that end when it has had no rows for so long.
    #[track_caller]
    pub fn session(self, gap: Duration) -> Windowed<T, L, K, F, W, Session> {
        let gap = self.parts().length("the gap of a session", gap, Location::caller());
        self.windows(Session { gap })
    }
}

/// Rows of each key in windows, to be aggregated.
#[must_use = "windows have rows when they are aggregated"]
#[derive(Debug)]
pub struct Windowed<T, L, K, F, W, X> {
    pub(super) timed: TimedStream<T, L, K, F, W>,
    pub(super) kind: X,
    pub(super) allowed: i64,
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
    pub(super) fn parts(&self) -> std::cell::RefMut<'_, Parts> {
        self.timed.parts()
    }

    /// One row of each key and window. Rows that come too late are counted and left out.
    #[track_caller]
    pub fn aggregate<C, Out, M>(self, calls: C, output: M) -> Stream<Out, impl Link<Out>>
    where
        C: Calls<T>,
        Out: Row,
        M: Fn(&K, WindowBounds, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let Windowed { timed: TimedStream { keyed, time }, kind, allowed } = self;
        let at = origin(Location::caller(), "aggregate");
        let by = if W::IS_CLOCK { WindowsBy::Clock } else { WindowsBy::Rows { allowed } };
        let operation = Operation::Aggregate(operation::<T, K, Out, C>(&calls, &kind, by, false, &at));
        let key = keyed.key.clone();
        keyed.dealt().then("aggregate", operation, &at, move |_| {
            let spec = Spec::new(key.clone(), time.clone(), calls.clone(), output.clone());
            kind.operator(spec, by)
        })
    }
}

impl<T, L, K, F, W, X> Windowed<T, L, K, F, W, X>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
    X: WindowKind,
{
    /// Windows take rows for so long after they are over, and then come out once more.
    pub fn allow_late(self, lateness: Duration) -> Self {
        Windowed { allowed: micros(lateness), ..self }
    }

    /// The same; rows that come too late are a stream of their own.
    #[track_caller]
    pub fn aggregate_with_late<C, Out, M>(self, calls: C, output: M) -> (Stream<Out, impl Link<Out>>, Stream<T>)
    where
        C: Calls<T>,
        Out: Row,
        M: Fn(&K, WindowBounds, C::Values) -> Out + Clone + Send + Sync + 'static,
    {
        let Windowed { timed: TimedStream { keyed, time }, kind, allowed } = self;
        let at = origin(Location::caller(), "aggregate");
        let operation = Operation::Aggregate(operation::<T, K, Out, C>(&calls, &kind, WindowsBy::Rows { allowed }, true, &at));
        let key = keyed.key.clone();
        let late = Branch::new();
        let ways = late.clone();
        let main = keyed.dealt().then("aggregate", operation, &at, move |cx| {
            let spec = Spec::new(key.clone(), time.clone(), calls.clone(), output.clone());
            kind.with_late(spec, allowed, ways.stage(cx)?)
        });
        let late = main.beside(Port::Late, late);
        (main, late)
    }
}

/// The operation as the graph has it.
fn operation<T: Row, K: Key, Out: Row, C: Calls<T>>(
    calls: &C,
    kind: &impl WindowKind,
    by: WindowsBy,
    late_output: bool,
    at: &crate::graph::Origin,
) -> AggregateOperation {
    let allowed_lateness = match by {
        WindowsBy::Rows { allowed } => allowed,
        WindowsBy::Clock => 0,
    };
    AggregateOperation {
        keys: vec![("key".to_owned(), closure(ty_of::<K>(), at))],
        window: Some(kind.window(by.shown(at))),
        calls: calls_of(calls, at),
        output: columns::<Out>(at),
        allowed_lateness,
        every: None,
        late_output,
        emit: Emit::Append,
    }
}

/// The calls as the graph has them.
pub(super) fn calls_of<T>(calls: &impl Calls<T>, at: &crate::graph::Origin) -> Vec<AggregateCall> {
    let mut names = Vec::new();
    calls.names(&mut names);
    shown(names, at)
}

/// Calls of these names as the graph has them.
pub(super) fn shown(names: Vec<String>, at: &crate::graph::Origin) -> Vec<AggregateCall> {
    let call = |name: String| AggregateCall {
        function: keep(&name),
        args: Vec::new(),
        distinct: false,
        filter: None,
        ty: Ty::Error,
        state: String::new(),
        origin: at.clone(),
    };
    names.into_iter().map(call).collect()
}

/// What the operator is told: the closures.
pub struct Spec<T, K, Out, F, W, C, M> {
    key: F,
    time: W,
    calls: C,
    output: M,
    types: PhantomData<fn(T) -> (K, Out)>,
}

impl<T, K, Out, F, W, C, M> Spec<T, K, Out, F, W, C, M> {
    pub(super) fn new(key: F, time: W, calls: C, output: M) -> Self {
        Spec { key, time, calls, output, types: PhantomData }
    }
}

impl<T, K, Out, F, W, C, M> Aggregation for Spec<T, K, Out, F, W, C, M>
where
    T: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    W: RowTime<T>,
    C: Calls<T>,
    M: Fn(&K, WindowBounds, C::Values) -> Out + Send,
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
    fn time(&self, row: &T) -> Result<Timestamp, EvalError> {
        self.time.time(row)
    }

    #[inline]
    fn add(&self, acc: &mut C::Acc, row: &T) -> Result<(), EvalError> {
        self.calls.add(acc, row)
    }

    fn merge(&self, acc: &mut C::Acc, other: &C::Acc) -> Result<(), EvalError> {
        self.calls.merge(acc, other)
    }

    fn output(&self, key: &K, window: WindowBounds, acc: &C::Acc) -> Result<Out, EvalError> {
        Ok((self.output)(key, window, self.calls.values(acc)?))
    }
}
