//! Rows with those of an external table: one that is read as a whole, or one that is asked key by key.

use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::condition::Always;
use super::join::{all_lefts, lefts, operation, pairs};
use super::link::Link;
use super::micros;
use super::names::keep;
use super::rows::{Row, closure, origin, rows};
use super::source::shown_options;
use super::{Pipeline, Stream};
use crate::connectors::file;
use crate::error::JobResult;
use crate::formats::Format;
use crate::graph::{ConnectorOption, Emit, Expr, JoinHow, JoinKind, Lookup, Operation, Origin, Ty};
use crate::lookup::{self, FileLookup, KeyedTable, WholeTable};
use crate::operator::Operator;
use crate::operators::{Joining, LookupByKey, LookupInMemory};
use crate::options::Options;
use crate::record::{Key, Record};
use crate::time::WindowBounds;
use crate::value::text::Print;
use crate::value::{EvalError, Str};

/// So many answers are kept, where the program does not say how many.
const CACHE_LIMIT: u64 = 100_000;

/// What the graph says of a table beside its rows.
#[derive(Clone, Debug)]
struct About {
    name: &'static str,
    connector: String,
    options: Vec<ConnectorOption>,
    /// Microseconds.
    cache: Option<i64>,
    cache_limit: u64,
    ordered: bool,
}

impl About {
    fn new(name: &str, connector: &str, options: Vec<ConnectorOption>) -> Self {
        About { name: keep(name), connector: connector.to_owned(), options, cache: None, cache_limit: CACHE_LIMIT, ordered: true }
    }

    /// In the words of the graph. `texts`: what it is asked by.
    fn shown<T: Row>(&self, texts: Vec<Expr>) -> Lookup {
        Lookup {
            name: self.name.to_owned(),
            connector: self.connector.clone(),
            options: self.options.clone(),
            format: None,
            format_options: Vec::new(),
            schema: rows::<T>().schema,
            key: Vec::new(),
            texts,
            cache: self.cache,
            cache_limit: self.cache_limit,
            ordered: self.ordered,
        }
    }
}

/// `FileLookup` of a type.
fn short_name<T>() -> &'static str {
    let ty = std::any::type_name::<T>();
    ty.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(ty)
}

impl Pipeline {
    /// A table in files that fit into memory, in the format `F`; [`key_by`](WholeLookup::key_by) says how its rows are found:
    /// `pipeline.lookup_files::<Rate, CsvFormat>("rates", "rates.csv").key_by(|rate| rate.currency.clone())`.
    #[track_caller]
    pub fn lookup_files<T: Record + Row, F: Format>(
        &self,
        name: &str,
        path: &str,
    ) -> WholeLookup<impl Fn() -> JobResult<FileLookup<T, F>> + Clone + Send + Sync + 'static + use<T, F>> {
        self.lookup_files_with(name, Options::new().with("path", path))
    }

    /// The same with all options of `lookup .. from file`, and those of the format.
    #[track_caller]
    pub fn lookup_files_with<T: Record + Row, F: Format>(
        &self,
        name: &str,
        options: Options,
    ) -> WholeLookup<impl Fn() -> JobResult<FileLookup<T, F>> + Clone + Send + Sync + 'static + use<T, F>> {
        let caller = Location::caller();
        let known = file::SPEC.lookup.map_or(&[][..], |lookup| lookup.options);
        self.check(|parts, _| parts.known_options("file", known, &options, caller));
        let shown = shown_options(&options, &origin(caller, name));
        WholeLookup { make: move || FileLookup::from_options(&options), about: About::new(name, "file", shown) }
    }

    /// Any table that is read as a whole. `make` is called for each subtask, whenever the job starts.
    pub fn lookup<S, M>(&self, name: &str, make: M) -> WholeLookup<M>
    where
        S: WholeTable,
        M: Fn() -> JobResult<S> + Clone + Send + Sync + 'static,
    {
        WholeLookup { make, about: About::new(name, short_name::<S>(), Vec::new()) }
    }

    /// Any table that is asked key by key, many keys at the same time: such as `HttpLookup` of `millstream::http`.
    /// `make` is called for each subtask, whenever the job starts. What it is asked by are the parts of the key as texts.
    pub fn lookup_by_key<S, M>(&self, name: &str, make: M) -> KeyedLookup<M>
    where
        S: KeyedTable,
        M: Fn() -> JobResult<S> + Clone + Send + Sync + 'static,
    {
        KeyedLookup { make, about: About::new(name, short_name::<S>(), Vec::new()) }
    }
}

/// An external table that is read as a whole and kept in memory.
#[must_use = "a table that nobody looks into is not read"]
#[derive(Clone, Debug)]
pub struct WholeLookup<M> {
    make: M,
    about: About,
}

impl<M> WholeLookup<M> {
    /// It is read again when it is so old; without this it is read once.
    pub fn cache(self, time: Duration) -> Self {
        WholeLookup { about: About { cache: Some(micros(time)), ..self.about }, ..self }
    }

    /// By what rows are found.
    pub fn key_by<S, K, F>(self, key: F) -> WholeLookupBy<M, K, F>
    where
        S: WholeTable,
        M: Fn() -> JobResult<S> + Clone + Send + Sync + 'static,
        K: Key,
        F: Fn(&S::Row) -> K + Clone + Send + Sync + 'static,
    {
        WholeLookupBy { lookup: self, key, of: PhantomData }
    }
}

/// The same, with the key of its rows.
#[must_use = "a table that nobody looks into is not read"]
#[derive(Debug)]
pub struct WholeLookupBy<M, K, F> {
    lookup: WholeLookup<M>,
    key: F,
    of: PhantomData<fn() -> K>,
}

impl<M: Clone, K, F: Clone> Clone for WholeLookupBy<M, K, F> {
    fn clone(&self) -> Self {
        WholeLookupBy { lookup: self.lookup.clone(), key: self.key.clone(), of: PhantomData }
    }
}

/// An external table that is asked key by key.
#[must_use = "a table that nobody looks into is not asked"]
#[derive(Clone, Debug)]
pub struct KeyedLookup<M> {
    make: M,
    about: About,
}

impl<M> KeyedLookup<M> {
    /// An answer counts for so long; without this it is asked for every row.
    pub fn cache(self, time: Duration) -> Self {
        KeyedLookup { about: About { cache: Some(micros(time)), ..self.about }, ..self }
    }

    /// So many answers are kept, per subtask; 100 000 without this.
    pub fn cache_limit(self, keys: u64) -> Self {
        KeyedLookup { about: About { cache_limit: keys, ..self.about }, ..self }
    }

    /// Rows come out when their answer is there, and not in the order in which they came.
    pub fn unordered(self) -> Self {
        KeyedLookup { about: About { ordered: false, ..self.about }, ..self }
    }
}

/// An external table, for [`Stream::lookup`].
#[diagnostic::on_unimplemented(
    message = "rows of this table cannot be found by a key of type `{K}`",
    note = "a table that is read as a whole needs `.key_by(..)` with a key of the same type; one that is asked by key, a key of texts, \
            numbers, times, or a tuple of such"
)]
pub trait ExternalTable<K: Key>: Clone + Send + Sync + 'static {
    /// Its rows.
    type Row: Row;
    #[doc(hidden)]
    type Operator<J: Joining<Right = Self::Row, Key = K> + 'static>: Operator<J::Left, Out = J::Out> + 'static;

    /// In the words of the graph, for keys of this expression.
    #[doc(hidden)]
    fn shown(&self, key: Expr) -> Lookup;

    /// The key of a row of a table that is read as a whole.
    #[doc(hidden)]
    fn key(&self, row: &Self::Row) -> Result<K, EvalError>;

    /// What a table is asked by.
    #[doc(hidden)]
    fn texts(&self, key: &K) -> Vec<Str>;

    #[doc(hidden)]
    fn operator<J>(&self, kind: JoinKind, joining: J) -> JobResult<Self::Operator<J>>
    where
        J: Joining<Right = Self::Row, Key = K> + 'static;
}

impl<M, S, K, F> ExternalTable<K> for WholeLookupBy<M, K, F>
where
    S: WholeTable<Row: Row>,
    M: Fn() -> JobResult<S> + Clone + Send + Sync + 'static,
    K: Key,
    F: Fn(&S::Row) -> K + Clone + Send + Sync + 'static,
{
    type Row = S::Row;
    type Operator<J: Joining<Right = S::Row, Key = K> + 'static> = LookupInMemory<J, S>;

    fn shown(&self, _key: Expr) -> Lookup {
        self.lookup.about.shown::<S::Row>(Vec::new())
    }

    fn key(&self, row: &S::Row) -> Result<K, EvalError> {
        Ok((self.key)(row))
    }

    fn texts(&self, _key: &K) -> Vec<Str> {
        Vec::new()
    }

    fn operator<J>(&self, kind: JoinKind, joining: J) -> JobResult<LookupInMemory<J, S>>
    where
        J: Joining<Right = S::Row, Key = K> + 'static,
    {
        let About { name, cache, .. } = self.lookup.about;
        let table = lookup::open(name, (self.lookup.make)())?;
        Ok(LookupInMemory::new(kind, name, joining, table, cache))
    }
}

impl<M, S, K> ExternalTable<K> for KeyedLookup<M>
where
    S: KeyedTable<Row: Row>,
    M: Fn() -> JobResult<S> + Clone + Send + Sync + 'static,
    K: KeyTexts,
{
    type Row = S::Row;
    type Operator<J: Joining<Right = S::Row, Key = K> + 'static> = LookupByKey<J, S>;

    fn shown(&self, key: Expr) -> Lookup {
        self.about.shown::<S::Row>(vec![key])
    }

    fn key(&self, _row: &S::Row) -> Result<K, EvalError> {
        Err(EvalError::new("a table that is asked by key does not say the key of a row"))
    }

    fn texts(&self, key: &K) -> Vec<Str> {
        key.texts()
    }

    fn operator<J>(&self, kind: JoinKind, joining: J) -> JobResult<LookupByKey<J, S>>
    where
        J: Joining<Right = S::Row, Key = K> + 'static,
    {
        let About { name, cache, cache_limit, ordered, .. } = self.about;
        let table = lookup::open(name, (self.make)())?;
        Ok(LookupByKey::new(kind, name, joining, table, ordered, cache.map(|cache| (cache, cache_limit))))
    }
}

/// A key whose parts are texts for a table that is asked by them: a text, a number, a time, or a tuple of up to four such.
pub trait KeyTexts: Key {
    /// Its parts, as the language prints them.
    fn texts(&self) -> Vec<Str>;
}

fn printed(value: &impl Print) -> Str {
    let mut out = Str::default();
    value.print(&mut out);
    out
}

impl<T: Key + Print> KeyTexts for T {
    fn texts(&self) -> Vec<Str> {
        vec![printed(self)]
    }
}

macro_rules! tuples {
    ($(($($part:ident)*))*) => {$(
        #[allow(non_snake_case)] // the parts are named as their types
        impl<$($part: Key + Print),*> KeyTexts for ($($part,)*) {
            fn texts(&self) -> Vec<Str> {
                let ($($part,)*) = self;
                vec![$(printed($part)),*]
            }
        }
    )*};
}
tuples! { (A) (A B) (A B C) (A B C D) }

/// A stream whose rows are looked up in an external table.
#[must_use = "a join has rows when it is told which"]
#[derive(Debug)]
pub struct LookedUp<T, L, K, F, E> {
    stream: Stream<T, L>,
    key: F,
    table: E,
    of: PhantomData<fn() -> K>,
}

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// Each row with those of an external table that have its key, as the table is when the row comes. There is no state: after a restart
    /// rows meet the table as it is then.
    pub fn lookup<E, K, F>(self, table: E, key: F) -> LookedUp<T, L, K, F, E>
    where
        E: ExternalTable<K>,
        K: Key,
        F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    {
        LookedUp { stream: self, key, table, of: PhantomData }
    }
}

impl<T, L, K, F, E> LookedUp<T, L, K, F, E>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    E: ExternalTable<K>,
{
    /// One row of each pair.
    #[track_caller]
    pub fn inner<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, &E::Row) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Inner, pairs(make), &at)
    }

    /// One row of each pair, and one of each row that is not found.
    #[track_caller]
    pub fn left<Out, M>(self, make: M) -> Stream<Out, impl Link<Out>>
    where
        Out: Row,
        M: Fn(&T, Option<&E::Row>) -> Out + Clone + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Left, all_lefts(make), &at)
    }

    /// The rows that are found, once.
    #[track_caller]
    pub fn semi(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Semi, lefts(), &at)
    }

    /// The rows that are not found.
    #[track_caller]
    pub fn anti(self) -> Stream<T, impl Link<T>> {
        let at = origin(Location::caller(), "join");
        self.joined(JoinKind::Anti, lefts(), &at)
    }

    fn joined<Out, B, A>(
        self,
        kind: JoinKind,
        (both, alone): (B, A),
        at: &Origin,
    ) -> Stream<Out, impl Link<Out> + use<T, L, K, F, E, Out, B, A>>
    where
        Out: Row,
        B: Fn(&T, &E::Row) -> Option<Out> + Clone + Send + Sync + 'static,
        A: Fn(&T) -> Option<Out> + Clone + Send + Sync + 'static,
    {
        let LookedUp { stream, key, table, .. } = self;
        let how = JoinHow::Lookup(Box::new(table.shown(closure(Ty::String, at))));
        let operation = Operation::Join(operation::<T, E::Row, K, Always>(kind, how, Emit::Append, at));
        stream.then("join", operation, at, move |_| {
            let spec = Spec {
                key: key.clone(),
                table: table.clone(),
                both: both.clone(),
                alone: alone.clone(),
                types: PhantomData::<fn(T) -> (K, Out)>,
            };
            table.operator(kind, spec)
        })
    }
}

/// What the operator is told: the closures, and the table for its keys.
struct Spec<T, K, Out, F, E, B, A> {
    key: F,
    table: E,
    both: B,
    alone: A,
    types: PhantomData<fn(T) -> (K, Out)>,
}

impl<T, K, Out, F, E, B, A> Joining for Spec<T, K, Out, F, E, B, A>
where
    T: Row,
    K: Key,
    F: Fn(&T) -> K + Send,
    E: ExternalTable<K>,
    B: Fn(&T, &E::Row) -> Option<Out> + Send,
    A: Fn(&T) -> Option<Out> + Send,
{
    type Left = T;
    type Right = E::Row;
    type Key = K;
    type Out = Out;

    #[inline]
    fn left_key(&self, row: &T) -> Result<K, EvalError> {
        Ok((self.key)(row))
    }

    fn right_key(&self, row: &E::Row) -> Result<K, EvalError> {
        self.table.key(row)
    }

    fn key_texts(&self, row: &T) -> Result<Vec<Str>, EvalError> {
        Ok(self.table.texts(&(self.key)(row)))
    }

    fn both(&self, left: &T, right: &E::Row, _window: WindowBounds) -> Option<Out> {
        (self.both)(left, right)
    }

    fn left_only(&self, left: &T, _window: WindowBounds) -> Option<Out> {
        (self.alone)(left)
    }
}
