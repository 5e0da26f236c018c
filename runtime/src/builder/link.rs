//! What stands before a place in a chain, as a type.
//!
//! A chain is built from its end to its head, while a program writes it from its head to its end. So each step of a stream keeps what is
//! before it, and the end of the chain hands over a function that makes what is behind: on its way to the head it grows into the function
//! that builds the whole chain. All of it is known to the compiler of the program, which inlines it.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use super::fork::Fork;
use super::parts::{Beginning, Parts};
use crate::chain::{ChainBuilder, SourceConfig};
use crate::error::JobResult;
use crate::graph::{ErrorPolicy, Side, VertexId};
use crate::job::{BuildChain, BuildSource};
use crate::operator::{Either, Operator, Stage};
use crate::params::ParamValues;
use crate::source::{Source, erase_source};
use crate::value::{EvalError, Timestamp};

/// What rows of type `T` come from. Functions over streams name it: `fn large(orders: Stream<Order, impl Link<Order>>)`.
pub trait Link<T>: Send + Sync + Sized + 'static {
    /// Ends the chain, whose first operator is `head`, with what `tail` makes.
    #[doc(hidden)]
    fn end<N, F>(self, parts: &mut Parts, head: VertexId, tail: F)
    where
        N: Stage<T> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static;
}

/// The beginning of a chain that other chains feed.
#[derive(Clone, Copy, Debug)]
pub struct Head;

impl<T: Send + 'static> Link<T> for Head {
    fn end<N, F>(self, parts: &mut Parts, head: VertexId, tail: F)
    where
        N: Stage<T> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static,
    {
        let build = BuildChain::new(move |cx| {
            let next = tail(cx)?;
            cx.input::<T, _>(next)
        });
        parts.begin(head, Beginning { build, source: None });
    }
}

/// The beginning of a chain that two streams of different rows feed.
#[derive(Clone, Copy, Debug)]
pub struct Two;

impl<L: Send + 'static, R: Send + 'static> Link<Either<L, R>> for Two {
    fn end<N, F>(self, parts: &mut Parts, head: VertexId, tail: F)
    where
        N: Stage<Either<L, R>> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static,
    {
        let build = BuildChain::new(move |cx| {
            let next = tail(cx)?;
            cx.two_inputs::<L, R, _>(&[Side::Left, Side::Right], next)
        });
        parts.begin(head, Beginning { build, source: None });
    }
}

/// A source.
pub struct Start<S, M, W> {
    pub(super) uid: &'static str,
    pub(super) name: &'static str,
    pub(super) make: M,
    pub(super) watermark: Option<W>,
    pub(super) idle_after: Option<i64>,
    pub(super) on_error: ErrorPolicy,
    pub(super) source: PhantomData<fn() -> S>,
}

impl<S, M, W> Link<S::Row> for Start<S, M, W>
where
    S: Source,
    M: Fn(&ParamValues) -> JobResult<S> + Clone + Send + Sync + 'static,
    W: Fn(&S::Row) -> Result<Option<Timestamp>, EvalError> + Clone + Send + Sync + 'static,
{
    fn end<N, F>(self, parts: &mut Parts, head: VertexId, tail: F)
    where
        N: Stage<S::Row> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static,
    {
        let Start { uid, name, make, watermark, idle_after, on_error, .. } = self;
        let coordinator = make.clone();
        let build = BuildChain::new(move |cx| {
            let next = tail(cx)?;
            if let Some(micros) = idle_after {
                cx.idle_after(micros);
            }
            let config = SourceConfig { watermark: watermark.clone(), on_error };
            let source = make(cx.params())?;
            cx.source(uid, name, source, config, next)
        });
        let source = BuildSource::new(move |params| Ok(erase_source(coordinator(params)?)));
        parts.begin(head, Beginning { build, source: Some(source) });
    }
}

/// An operator behind what takes rows of type `T` to it.
pub struct Then<L, T, O, M> {
    pub(super) before: L,
    pub(super) uid: &'static str,
    pub(super) name: &'static str,
    pub(super) make: M,
    pub(super) rows: PhantomData<fn(T) -> O>,
}

impl<L, T, O, M> Link<O::Out> for Then<L, T, O, M>
where
    L: Link<T>,
    T: 'static,
    O: Operator<T> + 'static,
    M: Fn(&mut ChainBuilder<'_>) -> JobResult<O> + Send + Sync + 'static,
{
    fn end<N, F>(self, parts: &mut Parts, head: VertexId, tail: F)
    where
        N: Stage<O::Out> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static,
    {
        let Then { before, uid, name, make, .. } = self;
        before.end(parts, head, move |cx| {
            let next = tail(cx)?;
            let operator = make(cx)?;
            cx.operator::<T, _, _>(uid, name, operator, next)
        });
    }
}

type MakeStage<T> = Box<dyn Fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Stage<T>>> + Send + Sync>;

/// One of several ways from a place in a chain: behind it each row costs one virtual call.
pub struct Branch<T>(Arc<Mutex<Vec<MakeStage<T>>>>);

impl<T> Clone for Branch<T> {
    fn clone(&self) -> Self {
        Branch(self.0.clone())
    }
}

impl<T: Clone + 'static> Branch<T> {
    pub(super) fn new() -> Self {
        Branch(Arc::default())
    }

    /// The stages of all ways.
    pub(super) fn stage(&self, cx: &mut ChainBuilder<'_>) -> JobResult<Fork<T>> {
        let ways = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Fork(ways.iter().map(|make| make(cx)).collect::<JobResult<_>>()?))
    }
}

impl<T: 'static> Link<T> for Branch<T> {
    fn end<N, F>(self, _parts: &mut Parts, _head: VertexId, tail: F)
    where
        N: Stage<T> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static,
    {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(move |cx| Ok(Box::new(tail(cx)?))));
    }
}
