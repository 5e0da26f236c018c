//! Several side outputs of one operator: a stream for each variant of an enum that derives [`SideOutputs`].

use std::marker::PhantomData;
use std::panic::Location;

use super::keyed::{KeyedStream, TimedStream};
use super::link::{Branch, Link};
use super::process::{NoTime, Spec, operation};
use super::rows::{Row, origin, rows};
use super::stateless;
use super::stream::Stream;
use super::ttl::forgetting;
use crate::chain::ChainBuilder;
use crate::error::JobResult;
use crate::graph::{Operation, Origin, Port, SideOutput, StreamType};
use crate::operator::{Discard, Either, EitherStage, Stage};
use crate::operators::{KeyedProcess, NoSide, Process, RowByRow, SideOutputs, SideStages, StatelessProcess};
use crate::record::Key;
use crate::value::Timestamp;

/// The streams of side outputs: `(Stream<A>, (Stream<B>, ()))` of `Either<A, Either<B, NoSide>>`.
#[doc(hidden)]
pub trait SideStreams: Send + Sized + 'static {
    type Streams;
    type Branches: Clone + Send + Sync + 'static;
    type Stage: Stage<Self> + 'static;

    fn types() -> Vec<StreamType>;
    fn branches() -> Self::Branches;
    fn stage(branches: &Self::Branches, cx: &mut ChainBuilder<'_>) -> JobResult<Self::Stage>;
    /// Those from this number on.
    fn streams<T, L>(branches: Self::Branches, main: &Stream<T, L>, number: usize) -> Self::Streams;
}

impl SideStreams for NoSide {
    type Streams = ();
    type Branches = ();
    type Stage = Discard;

    fn types() -> Vec<StreamType> {
        Vec::new()
    }

    fn branches() {}

    fn stage(_branches: &(), _cx: &mut ChainBuilder<'_>) -> JobResult<Discard> {
        Ok(Discard)
    }

    fn streams<T, L>(_branches: (), _main: &Stream<T, L>, _number: usize) {}
}

impl<A: Row, B: SideStreams> SideStreams for Either<A, B> {
    type Streams = (Stream<A>, B::Streams);
    type Branches = (Branch<A>, B::Branches);
    type Stage = EitherStage<super::fork::Fork<A>, B::Stage>;

    fn types() -> Vec<StreamType> {
        std::iter::once(rows::<A>()).chain(B::types()).collect()
    }

    fn branches() -> Self::Branches {
        (Branch::new(), B::branches())
    }

    fn stage((first, others): &Self::Branches, cx: &mut ChainBuilder<'_>) -> JobResult<Self::Stage> {
        Ok(EitherStage::new(first.stage(cx)?, B::stage(others, cx)?))
    }

    fn streams<T, L>((first, others): Self::Branches, main: &Stream<T, L>, number: usize) -> Self::Streams {
        (main.beside(Port::Side(number), first), B::streams(others, main, number + 1))
    }
}

/// Pairs of pairs as one tuple.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "more side outputs than `process_with_sides` gives streams for: it gives up to eight")]
pub trait Flat {
    type Tuple;
    fn flat(self) -> Self::Tuple;
}

macro_rules! flat {
    (@nested $last:ident) => { ($last, ()) };
    (@nested $first:ident $($others:ident)+) => { ($first, flat!(@nested $($others)+)) };
    ($($name:ident)+) => {
        #[allow(non_snake_case)]
        impl<$($name),+> Flat for flat!(@nested $($name)+) {
            type Tuple = ($($name,)+);

            fn flat(self) -> Self::Tuple {
                let flat!(@nested $($name)+) = self;
                ($($name,)+)
            }
        }
    };
}

flat!(A);
flat!(A B);
flat!(A B C);
flat!(A B C D);
flat!(A B C D E);
flat!(A B C D E F);
flat!(A B C D E F G);
flat!(A B C D E F G H);

/// A stream for each side output of a process, as a tuple.
type SidesOf<P> = <<<<P as Process>::Side as SideOutputs>::Rows as SideStreams>::Streams as Flat>::Tuple;

impl<T, L, K, F> KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    /// An operator of your own with several side outputs, and a stream of each, in the order of the variants of its `Side`: an enum that
    /// derives [`SideOutputs`]. See [`process`](Self::process).
    #[track_caller]
    pub fn process_with_sides<P, M>(self, make: M) -> (Stream<P::Output, impl Link<P::Output>>, SidesOf<P>)
    where
        P: Process<Input = T>,
        P::Output: Row,
        P::Side: SideOutputs<Rows: SideStreams<Streams: Flat>>,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        processed(self, None::<NoTime<T>>, make, at)
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
    /// An operator of your own with several side outputs, and a stream of each, in the order of the variants of its `Side`: an enum that
    /// derives [`SideOutputs`].
    #[track_caller]
    pub fn process_with_sides<P, M>(self, make: M) -> (Stream<P::Output, impl Link<P::Output>>, SidesOf<P>)
    where
        P: Process<Input = T>,
        P::Output: Row,
        P::Side: SideOutputs<Rows: SideStreams<Streams: Flat>>,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let time = self.time;
        processed(self.keyed, Some(move |row: &T| Some(time(row))), make, at)
    }
}

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// An operator of your own that keeps nothing ([`process`](Self::process)), with a stream for each of its side outputs, as a tuple in
    /// the order of the variants of its `Side`.
    #[track_caller]
    pub fn process_with_sides<P, M>(self, make: M) -> (Stream<P::Output, impl Link<P::Output>>, SidesOf<P>)
    where
        P: RowByRow + Process<Input = T>,
        P::Output: Row,
        P::Side: SideOutputs<Rows: SideStreams<Streams: Flat>>,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let operation = stateless::shown::<T, P>(outputs::<P>(), &at);
        let branches = RowsOf::<P>::branches();
        let ways = branches.clone();
        let main = self.then("process", operation, &at, move |cx| {
            let sides = SideStages::of(RowsOf::<P>::stage(&ways, cx)?);
            Ok(StatelessProcess::new(make(), stateless::spec::<T, P>()).with_side(sides))
        });
        let sides = RowsOf::<P>::streams(branches, &main, 0).flat();
        (main, sides)
    }
}

type RowsOf<P> = <<P as Process>::Side as SideOutputs>::Rows;

/// The side outputs as the graph has them.
fn outputs<P: Process<Side: SideOutputs<Rows: SideStreams>>>() -> Vec<SideOutput> {
    let names = <P::Side as SideOutputs>::NAMES.iter().map(|name| Some((*name).to_owned()));
    names.zip(RowsOf::<P>::types()).map(|(variant, rows)| SideOutput { variant, rows }).collect()
}

fn processed<T, L, K, F, W, P, M>(
    keyed: KeyedStream<T, L, K, F>,
    time: Option<W>,
    make: M,
    at: Origin,
) -> (Stream<P::Output, impl Link<P::Output>>, SidesOf<P>)
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: Fn(&T) -> Option<Timestamp> + Clone + Send + Sync + 'static,
    P: Process<Input = T>,
    P::Output: Row,
    P::Side: SideOutputs<Rows: SideStreams<Streams: Flat>>,
    M: Fn() -> P + Send + Sync + 'static,
{
    let operation = Operation::Process(operation::<T, K, P>(time.is_some(), None, outputs::<P>(), &at));
    let (key, ttl) = (keyed.key.clone(), keyed.stream.ttl());
    let branches = RowsOf::<P>::branches();
    let ways = branches.clone();
    let main = keyed.dealt().then("process", operation, &at, move |cx| {
        let spec = Spec { key: key.clone(), time: time.clone(), input: |row: T| row, types: PhantomData };
        let sides = SideStages::of(RowsOf::<P>::stage(&ways, cx)?);
        Ok(forgetting!(KeyedProcess::new(make(), spec).with_side(sides), ttl))
    });
    let sides = RowsOf::<P>::streams(branches, &main, 0).flat();
    (main, sides)
}
