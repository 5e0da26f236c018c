//! Operators with state and timers: [`Process`], by `#[operator]`.

use std::marker::PhantomData;
use std::panic::Location;

use super::keyed::{KeyedStream, TimedStream, time_expr};
use super::link::{Branch, Link, Then, Two};
use super::names::keep;
use super::parts::{Draft, Placed, Producer};
use super::rows::{Row, closure, origin, rows, ty_of};
use super::stream::Stream;
use super::ttl::forgetting;
use crate::error::JobResult;
use crate::graph::{
    Exchange, Hints, KeyedInput, Operation, Origin, Port, ProcessOperation, SecondInput, SideOutput, StreamType, Ty,
};
use crate::operator::{Either, Operator};
use crate::operators::{KeyedProcess, Process, Processing, WithBroadcast};
use crate::record::Key;
use crate::value::{EvalError, Timestamp};

/// A process where no row has an event time.
pub(super) type NoTime<T> = fn(&T) -> Option<Timestamp>;

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// An operator of your own, with state by key. `make` is called for each subtask. Its rows have no event time
    /// ([`Context::row_time`](crate::operators::Context::row_time)) unless the stream is [`timed_by`](Self::timed_by) one.
    #[track_caller]
    pub fn process<P, M>(self, make: M) -> Stream<P::Output, impl Link<P::Output>>
    where
        P: Process<Input = T>,
        P::Output: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        processed(self, None::<NoTime<T>>, make, at)
    }

    /// The same, with the rows of its side output.
    #[track_caller]
    pub fn process_with_side<P, M>(self, make: M) -> (Stream<P::Output, impl Link<P::Output>>, Stream<P::Side>)
    where
        P: Process<Input = T>,
        P::Output: Row,
        P::Side: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        processed_with_side(self, None::<NoTime<T>>, make, at)
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
    /// An operator of your own, with state and timers by key. `make` is called for each subtask.
    #[track_caller]
    pub fn process<P, M>(self, make: M) -> Stream<P::Output, impl Link<P::Output>>
    where
        P: Process<Input = T>,
        P::Output: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let time = self.time;
        processed(self.keyed, Some(move |row: &T| Some(time(row))), make, at)
    }

    /// The same, with the rows of its side output.
    #[track_caller]
    pub fn process_with_side<P, M>(self, make: M) -> (Stream<P::Output, impl Link<P::Output>>, Stream<P::Side>)
    where
        P: Process<Input = T>,
        P::Output: Row,
        P::Side: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let time = self.time;
        processed_with_side(self.keyed, Some(move |row: &T| Some(time(row))), make, at)
    }

    /// An operator that takes a second stream by the same key. Its `Input` is an enum; `first` and `second` make it of the rows of either:
    /// its variants, mostly.
    #[track_caller]
    pub fn process_with<R, LR, FR, WR, P, A, B, M>(
        self,
        other: TimedStream<R, LR, K, FR, WR>,
        first: A,
        second: B,
        make: M,
    ) -> Stream<P::Output, impl Link<P::Output>>
    where
        R: Row,
        LR: Link<R>,
        FR: Fn(&R) -> K + Clone + Send + Sync + 'static,
        WR: Fn(&R) -> Timestamp + Clone + Send + Sync + 'static,
        P: Process,
        P::Output: Row,
        A: Fn(T) -> P::Input + Clone + Send + Sync + 'static,
        B: Fn(R) -> P::Input + Clone + Send + Sync + 'static,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let second_input = SecondInput {
            input: Ty::Record(rows::<R>().schema),
            of: None,
            keyed: Some(KeyedInput {
                keys: vec![closure(ty_of::<K>(), &at)],
                time: Some(time_expr(&at)),
                path: Vec::new(),
                variants: [String::new(), String::new()],
            }),
        };
        let operation = Operation::Process(operation::<T, K, P>(true, Some(second_input), Vec::new(), &at));
        let ways = (self.keyed.key.clone(), other.keyed.key.clone(), self.time, other.time);
        let ttl = self.keyed.stream.ttl();
        let (left, right) = (self.keyed.dealt(), other.keyed.dealt());
        two(left, right.from, "process", operation, rows::<P::Output>(), at, move |_| {
            let (left_key, right_key, left_time, right_time) = ways.clone();
            let (first, second) = (first.clone(), second.clone());
            let key = move |row: &Either<T, R>| match row {
                Either::Left(row) => left_key(row),
                Either::Right(row) => right_key(row),
            };
            let time = move |row: &Either<T, R>| match row {
                Either::Left(row) => Some(left_time(row)),
                Either::Right(row) => Some(right_time(row)),
            };
            let input = move |row: Either<T, R>| match row {
                Either::Left(row) => first(row),
                Either::Right(row) => second(row),
            };
            let spec = Spec { key, time: Some(time), input, types: PhantomData };
            Ok(forgetting!(KeyedProcess::new(make(), spec), ttl))
        })
    }

    /// An operator of which every subtask gets all rows of a second stream: `Process::Broadcast`.
    #[track_caller]
    pub fn process_with_broadcast<LR, P, M>(
        self,
        other: Stream<P::Broadcast, LR>,
        make: M,
    ) -> Stream<P::Output, impl Link<P::Output>>
    where
        LR: Link<P::Broadcast>,
        P: Process<Input = T>,
        P::Output: Row,
        P::Broadcast: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let second_input = SecondInput { input: Ty::Record(rows::<P::Broadcast>().schema), of: None, keyed: None };
        let operation = Operation::Process(operation::<T, K, P>(true, Some(second_input), Vec::new(), &at));
        let (key, time) = (self.keyed.key.clone(), self.time);
        let ttl = self.keyed.stream.ttl();
        let right = other.exchange(Exchange::Broadcast, |cx, edge| cx.broadcast::<P::Broadcast>(edge));
        two(self.keyed.dealt(), right.from, "process", operation, rows::<P::Output>(), at, move |_| {
            let time = time.clone();
            let spec =
                Spec { key: key.clone(), time: Some(move |row: &T| Some(time(row))), input: |row: T| row, types: PhantomData };
            let process: KeyedProcess<Spec<T, K, P, _, _, _>> = forgetting!(KeyedProcess::new(make(), spec), ttl);
            let operator: WithBroadcast<_, _, P::Broadcast, _> = process.with_broadcast(|row: P::Broadcast| Ok(row));
            Ok(operator)
        })
    }
}

fn processed<T, L, K, F, W, P, M>(
    keyed: KeyedStream<T, L, K, F>,
    time: Option<W>,
    make: M,
    at: Origin,
) -> Stream<P::Output, impl Link<P::Output>>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Option<Timestamp> + Clone + Send + Sync + 'static,
    P: Process<Input = T>,
    P::Output: Row,
    M: Fn() -> P + Send + Sync + 'static,
{
    let operation = Operation::Process(operation::<T, K, P>(time.is_some(), None, Vec::new(), &at));
    let (key, ttl) = (keyed.key.clone(), keyed.stream.ttl());
    keyed.dealt().then("process", operation, &at, move |_| {
        let spec = Spec { key: key.clone(), time: time.clone(), input: |row: T| row, types: PhantomData };
        Ok(forgetting!(KeyedProcess::new(make(), spec), ttl))
    })
}

fn processed_with_side<T, L, K, F, W, P, M>(
    keyed: KeyedStream<T, L, K, F>,
    time: Option<W>,
    make: M,
    at: Origin,
) -> (Stream<P::Output, impl Link<P::Output>>, Stream<P::Side>)
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Option<Timestamp> + Clone + Send + Sync + 'static,
    P: Process<Input = T>,
    P::Output: Row,
    P::Side: Row,
    M: Fn() -> P + Send + Sync + 'static,
{
    let sides = vec![SideOutput { variant: None, rows: rows::<P::Side>() }];
    let operation = Operation::Process(operation::<T, K, P>(time.is_some(), None, sides, &at));
    let (key, ttl) = (keyed.key.clone(), keyed.stream.ttl());
    let side = Branch::new();
    let ways = side.clone();
    let main = keyed.dealt().then("process", operation, &at, move |cx| {
        let spec = Spec { key: key.clone(), time: time.clone(), input: |row: T| row, types: PhantomData };
        Ok(forgetting!(KeyedProcess::new(make(), spec).with_side(ways.stage(cx)?), ttl))
    });
    let side = main.beside(Port::Side(0), side);
    (main, side)
}

/// An operator over two streams, which begins a chain.
pub(super) fn two<T, R, L, O, M>(
    left: Stream<T, L>,
    right: Producer,
    kind: &'static str,
    operation: Operation,
    output: StreamType,
    at: Origin,
    make: M,
) -> Stream<O::Out, Then<Two, Either<T, R>, O, M>>
where
    O: Operator<Either<T, R>> + 'static,
    M: Fn(&mut crate::chain::ChainBuilder<'_>) -> JobResult<O> + Send + Sync + 'static,
{
    let Stream { parts, name: stream, from, parallelism, id, ttl, .. } = left;
    let Placed { vertex, uid, name } = {
        let mut parts = parts.borrow_mut();
        let ttl = parts.forgets(ttl, &operation, &at);
        let hints = Hints { parallelism, ttl, ..Hints::default() };
        let draft = Draft { stream: &stream, id, kind, operation, output, hints, origin: at };
        let placed = parts.add(draft);
        parts.connect(&from, placed.vertex, 0);
        parts.connect(&right, placed.vertex, 1);
        placed
    };
    Stream {
        parts,
        name: stream,
        from: Producer::new(vertex, Port::Main),
        head: Some(vertex),
        parallelism,
        id: None,
        ttl: None,
        link: Then { before: Two, uid, name, make, rows: PhantomData },
        rows: PhantomData,
    }
}

pub(super) fn operation<T: Row, K: Key, P: Process>(
    timed: bool,
    second: Option<SecondInput>,
    sides: Vec<SideOutput>,
    at: &Origin,
) -> ProcessOperation
where
    P::Output: Row,
{
    let ty = std::any::type_name::<P>();
    ProcessOperation {
        module: 0,
        path: vec![keep(ty.rsplit("::").next().unwrap_or(ty)).to_owned()],
        keys: vec![closure(ty_of::<K>(), at)],
        stateless: false,
        options: Vec::new(),
        defaults: true,
        unit: true,
        input: Ty::Record(rows::<T>().schema),
        of: None,
        second,
        output: Ty::Record(rows::<P::Output>().schema),
        sides,
        time: timed.then(|| time_expr(at)),
        timers: Vec::new(),
    }
}

/// What the operator is told: the closures.
pub(super) struct Spec<I, K, P, F, W, N> {
    pub key: F,
    pub time: Option<W>,
    pub input: N,
    pub types: PhantomData<fn(I) -> (K, P)>,
}

impl<I, K, P, F, W, N> Processing for Spec<I, K, P, F, W, N>
where
    K: Key,
    P: Process,
    F: Fn(&I) -> K + Send,
    W: Fn(&I) -> Option<Timestamp> + Send,
    N: Fn(I) -> P::Input + Send,
{
    type Process = P;
    type In = I;
    type Out = P::Output;
    type Key = K;

    #[inline]
    fn key(&self, row: &I) -> Result<K, EvalError> {
        Ok((self.key)(row))
    }

    #[inline]
    fn time(&self, row: &I) -> Result<Option<Timestamp>, EvalError> {
        Ok(self.time.as_ref().and_then(|time| time(row)))
    }

    #[inline]
    fn input(&self, row: I) -> Result<P::Input, EvalError> {
        Ok((self.input)(row))
    }

    #[inline]
    fn output(&self, row: P::Output) -> Result<P::Output, EvalError> {
        Ok(row)
    }
}
