//! A stream, and what needs no key.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use super::keyed::KeyedStream;
use super::link::{Branch, Head, Link, Then};
use super::parts::{Draft, EdgeNumber, Parts, Placed, Producer};
use super::rows::{Row, closure, columns, origin, rows, ty_of};
use crate::chain::ChainBuilder;
use crate::error::JobResult;
use crate::graph::{Exchange, Hints, Operation, Origin, Port, Ty};
use crate::operator::{Operator, Stage};
use crate::operators::{Explode, Filter, Project};
use crate::record::Key;
use crate::value::EvalError;

/// Rows of type `T` on their way. `L` is what is before: `impl Link<T>` in signatures.
///
/// A stream is used once; [`shared`](Self::shared) makes one that can be used several times.
#[must_use = "a stream whose rows go nowhere is a mistake: end it with a sink"]
pub struct Stream<T, L = Branch<T>> {
    pub(super) parts: Rc<RefCell<Parts>>,
    pub(super) name: String,
    pub(super) from: Producer,
    /// The first operator of the chain; None: that is the next one.
    pub(super) head: Option<crate::graph::VertexId>,
    /// Of the chain.
    pub(super) parallelism: Option<u32>,
    /// Of the next operator.
    pub(super) id: Option<String>,
    /// Of the next operator, in microseconds.
    pub(super) ttl: Option<i64>,
    pub(super) link: L,
    pub(super) rows: PhantomData<fn() -> T>,
}

impl<T, L> std::fmt::Debug for Stream<T, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<T> Clone for Stream<T, Branch<T>> {
    fn clone(&self) -> Self {
        let Producer { vertex, port, exchange, .. } = &self.from;
        Stream {
            parts: self.parts.clone(),
            name: self.name.clone(),
            from: Producer { vertex: *vertex, port: *port, exchange: exchange.clone(), edge: None },
            head: self.head,
            parallelism: self.parallelism,
            id: self.id.clone(),
            ttl: self.ttl,
            link: self.link.clone(),
            rows: PhantomData,
        }
    }
}

impl<T, L> Stream<T, L> {
    /// The operators behind it belong to a stream of this name, as behind `stream name = ..`: their ids begin with it. There is one stream
    /// of a name, so that operators find their state again when others come or go elsewhere.
    #[track_caller]
    pub fn stream(self, name: &str) -> Self {
        self.parts.borrow_mut().name_stream(name, &origin(Location::caller(), name));
        Stream { name: name.to_owned(), ..self }
    }

    /// The id of the next operator: its state in checkpoints. Without it the id is made of the name of the stream, what the operator is,
    /// and how many such it has: `revenue/aggregate/0`.
    pub fn id(self, id: &str) -> Self {
        Stream { id: Some(id.to_owned()), ..self }
    }

    /// What leaves its last operator by another output.
    pub(super) fn beside<U>(&self, port: Port, branch: Branch<U>) -> Stream<U> {
        Stream {
            parts: self.parts.clone(),
            name: self.name.clone(),
            from: Producer::new(self.from.vertex, port),
            head: self.head,
            parallelism: self.parallelism,
            id: None,
            ttl: None,
            link: branch,
            rows: PhantomData,
        }
    }
}

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// Adds an operator to the graph, behind this stream alone.
    pub(super) fn place(
        &mut self,
        kind: &'static str,
        operation: Operation,
        output: crate::graph::StreamType,
        at: &Origin,
    ) -> Placed {
        let mut parts = self.parts.borrow_mut();
        let ttl = parts.forgets(self.ttl.take(), &operation, at);
        let hints = Hints { parallelism: self.parallelism, ttl, ..Hints::default() };
        let id = self.id.take();
        let placed = parts.add(Draft { stream: &self.name, id, kind, operation, output, hints, origin: at.clone() });
        parts.connect(&self.from, placed.vertex, 0);
        placed
    }

    /// The next operator, in the same chain.
    pub(super) fn then<O, M>(
        self,
        kind: &'static str,
        operation: Operation,
        at: &Origin,
        make: M,
    ) -> Stream<O::Out, Then<L, T, O, M>>
    where
        O: Operator<T> + 'static,
        O::Out: Row,
        M: Fn(&mut ChainBuilder<'_>) -> JobResult<O> + Send + Sync + 'static,
    {
        self.then_as(kind, operation, rows::<O::Out>(), at, make)
    }

    /// The same, where the graph has other words for what comes out than its type: a table is its rows.
    pub(super) fn then_as<O, M>(
        mut self,
        kind: &'static str,
        operation: Operation,
        output: crate::graph::StreamType,
        at: &Origin,
        make: M,
    ) -> Stream<O::Out, Then<L, T, O, M>>
    where
        O: Operator<T> + 'static,
        M: Fn(&mut ChainBuilder<'_>) -> JobResult<O> + Send + Sync + 'static,
    {
        let Placed { vertex, uid, name } = self.place(kind, operation, output, at);
        self.behind(vertex, |before| Then { before, uid, name, make, rows: PhantomData })
    }

    /// The stream behind an operator that stands behind this one.
    pub(super) fn behind<U, N>(self, vertex: crate::graph::VertexId, link: impl FnOnce(L) -> N) -> Stream<U, N> {
        Stream {
            parts: self.parts,
            name: self.name,
            from: Producer::new(vertex, Port::Main),
            head: self.head.or(Some(vertex)),
            parallelism: self.parallelism,
            id: None,
            ttl: None,
            link: link(self.link),
            rows: PhantomData,
        }
    }

    /// A chain between two exchanges has an operator in the graph, though none in it does anything.
    fn settle(&mut self) {
        if self.head.is_none() {
            let at = Origin::default();
            // They are those of the operator behind it.
            let (id, ttl) = (self.id.take(), self.ttl.take());
            let vertex = self.place("select", Operation::Project(columns::<T>(&at)), rows::<T>(), &at).vertex;
            self.from = Producer::new(vertex, Port::Main);
            self.head = Some(vertex);
            (self.id, self.ttl) = (id, ttl);
        }
    }

    /// Ends the chain.
    pub(super) fn end<N, F>(self, tail: F)
    where
        N: Stage<T> + 'static,
        F: Fn(&mut ChainBuilder<'_>) -> JobResult<N> + Send + Sync + 'static,
    {
        let head = self.head.unwrap_or(self.from.vertex);
        self.link.end(&mut self.parts.borrow_mut(), head, tail);
    }

    /// Ends the chain with an exchange, and begins the next one.
    pub(super) fn exchange<N, F>(mut self, exchange: Exchange, make: F) -> Stream<T, Head>
    where
        N: Stage<T> + 'static,
        F: Fn(&mut ChainBuilder<'_>, usize) -> JobResult<N> + Send + Sync + 'static,
    {
        self.settle();
        let edge = EdgeNumber::default();
        let number = edge.clone();
        let (parts, name, id, ttl) = (self.parts.clone(), self.name.clone(), self.id.take(), self.ttl.take());
        let from = Producer { vertex: self.from.vertex, port: self.from.port, exchange, edge: Some(edge) };
        self.end(move |cx| {
            let edge = number.get()?;
            cx.in_flight::<T>(edge);
            make(cx, edge)
        });
        Stream { parts, name, from, head: None, parallelism: None, id, ttl, link: Head, rows: PhantomData }
    }

    /// Keeps the rows for which `condition` is true.
    #[track_caller]
    pub fn filter<F>(self, condition: F) -> Stream<T, impl Link<T>>
    where
        F: Fn(&T) -> bool + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "filter");
        self.then("where", Operation::Filter(closure(Ty::Bool, &at)), &at, move |_| {
            let condition = condition.clone();
            Ok(Filter::new(move |row: &T| Ok(condition(row))))
        })
    }

    /// Makes one row of each.
    #[track_caller]
    pub fn map<U, F>(self, make: F) -> Stream<U, impl Link<U>>
    where
        U: Row,
        F: Fn(T) -> U + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "map");
        self.then("select", Operation::Project(columns::<U>(&at)), &at, move |_| {
            let make = make.clone();
            Ok(Project::new(move |row: T| Ok(make(row))))
        })
    }

    /// Makes one row of each, or an error: then [`on_error`](super::Pipeline::on_error) says what happens.
    #[track_caller]
    pub fn try_map<U, F>(self, make: F) -> Stream<U, impl Link<U>>
    where
        U: Row,
        F: Fn(T) -> Result<U, EvalError> + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "try_map");
        self.then("select", Operation::Project(columns::<U>(&at)), &at, move |_| Ok(Project::new(make.clone())))
    }

    /// Makes any number of rows of each: an `Option`, a `Vec`, an iterator.
    #[track_caller]
    pub fn flat_map<U, I, F>(self, make: F) -> Stream<U, impl Link<U>>
    where
        U: Row,
        I: IntoIterator<Item = U> + 'static,
        F: Fn(T) -> I + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "flat_map");
        let list = closure(Ty::List(Box::new(ty_of::<U>())), &at);
        self.then("explode", Operation::Explode { list, name: "value".to_owned() }, &at, move |_| {
            let make = make.clone();
            Ok(Explode::new(move |row: T| Ok(make(row))))
        })
    }

    /// The same stream, to be used several times: it can be cloned. Behind it each row costs one virtual call per use, and a clone for
    /// each but one.
    pub fn shared(mut self) -> Stream<T> {
        self.settle();
        let branch = Branch::new();
        let shared = Stream {
            parts: self.parts.clone(),
            name: self.name.clone(),
            from: Producer::new(self.from.vertex, self.from.port),
            head: self.head,
            parallelism: self.parallelism,
            id: self.id.take(),
            ttl: self.ttl.take(),
            link: branch.clone(),
            rows: PhantomData,
        };
        self.end(move |cx| branch.stage(cx));
        shared
    }

    /// Deals rows out anew, one after the other: behind a filter that leaves some subtasks with less, or before another parallelism.
    pub fn rebalance(self) -> Stream<T, Head> {
        self.exchange(Exchange::Rebalance, |cx, edge| cx.rebalance::<T>(edge))
    }

    /// Rows of one key go where the others of the key are, one after the other.
    #[track_caller]
    pub fn key_by<K, F>(self, key: F) -> KeyedStream<T, L, K, F>
    where
        K: Key,
        F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    {
        KeyedStream::new(self, key, origin(Location::caller(), "key_by"))
    }

    /// Ends the chain before an operator that has several inputs.
    pub(super) fn forward(self) -> Producer {
        self.exchange(Exchange::Forward, |cx, edge| cx.forward::<T>(edge)).from
    }
}

impl<T: Row> Stream<T, Head> {
    /// So many subtasks for this and what follows, up to the next exchange.
    #[track_caller]
    pub fn parallelism(self, subtasks: u32) -> Self {
        self.parts.borrow_mut().some("the parallelism", subtasks.into(), Location::caller());
        Stream { parallelism: Some(subtasks), ..self }
    }
}
