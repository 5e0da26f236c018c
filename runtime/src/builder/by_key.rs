//! Rows by key, whether they are those of a stream or of a table.

use std::panic::Location;
use std::time::Duration;

use super::keyed::{KeyedStream, key_expr};
use super::link::{Head, Link};
use super::rows::{Row, origin};
use super::stream::Stream;
use super::tables::Table;
use crate::graph::{Exchange, Origin};
use crate::operators::{Carried, OverChanges, OverRows};
use crate::record::{Change, Key};

/// Rows by key: a [`KeyedStream`] or a [`KeyedTable`].
#[diagnostic::on_unimplemented(
    message = "this has no key to be joined by",
    note = "put `.key_by(..)` behind it; with `.timed_by(..)` it is joined with another that has a time, by `.within(..)` or `.as_of()`"
)]
pub trait ByKey: Sized {
    /// What a row is.
    type Row: Row;
    /// What rows are told apart by.
    type Key: Key;
    #[doc(hidden)]
    type Travels: Row;
    #[doc(hidden)]
    type Carried: Carried<Row<Self::Row> = Self::Travels>;
    #[doc(hidden)]
    type KeyOf: Fn(&Self::Row) -> Self::Key + Clone + Send + Sync + 'static;

    #[doc(hidden)]
    fn key_of(&self) -> Self::KeyOf;

    /// The time after which the next operator forgets a key.
    #[doc(hidden)]
    fn forgets_after(&self) -> Option<i64>;

    /// Ends the chain: rows go to the subtask of their key.
    #[doc(hidden)]
    fn by_key(self) -> Stream<Self::Travels, Head>;

    /// Ends the chain: rows stay where they are.
    #[doc(hidden)]
    fn stays(self) -> Stream<Self::Travels, Head>;

    /// Ends the chain: every subtask gets all rows.
    #[doc(hidden)]
    fn everywhere(self) -> Stream<Self::Travels, Head>;
}

impl<T, L, K, F> ByKey for KeyedStream<T, L, K, F>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    type Row = T;
    type Key = K;
    type Travels = T;
    type Carried = OverRows;
    type KeyOf = F;

    fn key_of(&self) -> F {
        self.key.clone()
    }

    fn forgets_after(&self) -> Option<i64> {
        self.stream.ttl()
    }

    fn by_key(self) -> Stream<T, Head> {
        self.dealt()
    }

    fn stays(self) -> Stream<T, Head> {
        KeyedStream::stays(self, Exchange::Forward)
    }

    fn everywhere(self) -> Stream<T, Head> {
        KeyedStream::everywhere(self)
    }
}

/// A table whose rows go where the others of a key are: another one than that by which it was made, mostly. See [`Table::key_by`].
#[must_use = "a table whose rows go nowhere is a mistake: end it with a sink"]
#[derive(Debug)]
pub struct KeyedTable<T, L, K, F> {
    pub(super) changes: Stream<Change<T>, L>,
    key: F,
    at: Origin,
    /// What checkpoints call the key.
    called: Option<String>,
    /// Of the next chain.
    parallelism: Option<u32>,
    keys: std::marker::PhantomData<fn() -> K>,
}

impl<T: Row, L: Link<Change<T>>> Table<T, L> {
    /// Rows of one key go where the others of the key are, for a [`join`](KeyedTable::join) or a [`top`](KeyedTable::top).
    #[track_caller]
    pub fn key_by<K, F>(self, key: F) -> KeyedTable<T, L, K, F>
    where
        K: Key,
        F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "key_by");
        KeyedTable { changes: self.changes, key, at, called: None, parallelism: None, keys: std::marker::PhantomData }
    }
}

impl<T, L, K, F> KeyedTable<T, L, K, F> {
    /// So many subtasks for the next operator and what follows it, up to the next exchange.
    #[track_caller]
    pub fn parallelism(self, subtasks: u32) -> Self {
        self.changes.parts.borrow_mut().some("the parallelism", subtasks.into(), Location::caller());
        KeyedTable { parallelism: Some(subtasks), ..self }
    }

    /// What checkpoints call the key: see [`KeyedStream::key_name`].
    pub fn key_name(self, name: &str) -> Self {
        KeyedTable { called: Some(name.to_owned()), ..self }
    }

    /// The id of the next operator: see [`Stream::id`].
    pub fn id(self, id: &str) -> Self {
        KeyedTable { changes: self.changes.id(id), ..self }
    }

    /// When the next operator forgets a key: see [`KeyedStream::ttl`].
    #[track_caller]
    pub fn ttl(self, time: Duration) -> Self {
        KeyedTable { changes: self.changes.forget_after(time, Location::caller()), ..self }
    }
}

impl<T, L, K, F> ByKey for KeyedTable<T, L, K, F>
where
    T: Row,
    L: Link<Change<T>>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
{
    type Row = T;
    type Key = K;
    type Travels = Change<T>;
    type Carried = OverChanges;
    type KeyOf = F;

    fn key_of(&self) -> F {
        self.key.clone()
    }

    fn forgets_after(&self) -> Option<i64> {
        self.changes.ttl()
    }

    fn by_key(self) -> Stream<Change<T>, Head> {
        let KeyedTable { changes, key, at, called, parallelism, .. } = self;
        let exchange = Exchange::Hash(vec![key_expr::<K>(called, at)]);
        let dealt = changes.exchange(exchange, move |cx, edge| {
            let key = key.clone();
            cx.hash::<Change<T>, K, _>(edge, move |change: &Change<T>| Ok(key(&change.row)))
        });
        Stream { parallelism, ..dealt }
    }

    fn stays(self) -> Stream<Change<T>, Head> {
        self.changes.stays(Exchange::Forward, self.parallelism)
    }

    fn everywhere(self) -> Stream<Change<T>, Head> {
        self.changes.everywhere()
    }
}
