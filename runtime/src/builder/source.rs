//! Where streams begin.

use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::link::{Link, Start};
use super::parts::{Draft, Placed, Producer};
use super::rows::{Row, closure, origin, rows};
use super::{Pipeline, Stream, micros};
use crate::connectors::OptionSpec;
use crate::connectors::channel::{self, ChannelSource, Sender};
use crate::connectors::file::{self, FileSource};
use crate::connectors::generator::{self, GeneratorSource};
use crate::error::JobResult;
use crate::formats::{Format, JsonFormat};
use crate::graph::{
    ConnectorOption, ErrorPolicy, Expr, ExprKind, Hints, Literal, Operation, OptionValue, Origin, Port, SourceOperation, Ty,
    WatermarkOperation,
};
use crate::options::{OptionValue as GivenOption, Options};
use crate::params::ParamValues;
use crate::record::Record;
use crate::source::Source;
use crate::value::{EvalError, Timestamp};

/// No event time.
type NoTime<T> = fn(&T) -> Result<Option<Timestamp>, EvalError>;

impl Pipeline {
    /// Rows of any source: one of the library's, or of [your own](crate::connectors::own). `make` is called for the coordinator and for each
    /// subtask, whenever the job starts.
    #[track_caller]
    pub fn source<S, M>(&self, name: &str, make: M) -> Stream<S::Row, impl SourceLink<S::Row>>
    where
        S: Source,
        S::Row: Row,
        M: Fn() -> JobResult<S> + Clone + Send + Sync + 'static,
    {
        let ty = std::any::type_name::<S>();
        let ty = ty.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(ty);
        self.begin(name, ty, Vec::new(), origin(Location::caller(), name), move |_: &str| {
            let make = make.clone();
            move |_: &ParamValues| make()
        })
    }

    /// Rows that the program sends. At most `capacity` of them wait: a sender waits while there are so many.
    #[track_caller]
    pub fn channel<T: Row>(&self, name: &str, capacity: usize) -> (Sender<T>, Stream<T, impl SourceLink<T>>) {
        let at = origin(Location::caller(), name);
        let options = vec![capacity_option(capacity, &at)];
        let stream = self.begin(name, channel::NAME, options, at, |uid: &'static str| {
            move |params: &ParamValues| ChannelSource::<T>::connect(params, uid)
        });
        let mut parts = self.parts.borrow_mut();
        parts.has_channels = true;
        let sender = parts.channels.source(stream.link.uid(), capacity);
        drop(parts);
        (sender, stream)
    }

    /// Rows of files whose path matches the pattern, in the format `F`: `pipeline.files::<Order, CsvFormat>("orders", "orders/*.csv")`.
    #[track_caller]
    pub fn files<T: Record + Row, F: Format>(&self, name: &str, path: &str) -> Stream<T, impl SourceLink<T>> {
        self.files_with::<T, F>(name, Options::new().with("path", path))
    }

    /// The same with all options of the connector [`file`](crate::connectors::file): new files that are looked for again and again, a
    /// rate, a compression. `Options::new().with("path", "orders/*.csv").with("watch", every)`.
    #[track_caller]
    pub fn files_with<T: Record + Row, F: Format>(&self, name: &str, options: Options) -> Stream<T, impl SourceLink<T>> {
        let known = file::SPEC.source.map_or(&[][..], |source| source.options);
        self.library(name, "file", known, options, Location::caller(), FileSource::<T, F>::from_options)
    }

    /// The same of files of JSON, an object on each line.
    #[track_caller]
    pub fn json_files<T: Record + Row>(&self, name: &str, path: &str) -> Stream<T, impl SourceLink<T>> {
        self.files::<T, JsonFormat>(name, path)
    }

    /// Rows that are made up: the columns of the connector `generator`, with its options.
    #[track_caller]
    pub fn generator<T: Record + Row>(&self, name: &str, options: Options) -> Stream<T, impl SourceLink<T>> {
        let known = generator::SPEC.source.map_or(&[][..], |source| source.options);
        self.library(name, "generator", known, options, Location::caller(), GeneratorSource::<T>::from_options)
    }

    /// A connector of the library.
    fn library<S>(
        &self,
        name: &str,
        connector: &str,
        known: &[OptionSpec],
        options: Options,
        caller: &Location<'_>,
        make: fn(&Options) -> JobResult<S>,
    ) -> Stream<S::Row, Start<S, impl Fn(&ParamValues) -> JobResult<S> + Clone + Send + Sync + 'static, NoTime<S::Row>>>
    where
        S: Source,
        S::Row: Row,
    {
        let at = origin(caller, name);
        self.parts.borrow_mut().known_options(connector, known, &options, caller);
        let shown = shown_options(&options, &at);
        self.begin(name, connector, shown, at, move |_: &str| {
            let options = options.clone();
            move |_: &ParamValues| make(&options)
        })
    }

    fn begin<S, M>(
        &self,
        name: &str,
        connector: &str,
        options: Vec<ConnectorOption>,
        at: Origin,
        make: impl FnOnce(&'static str) -> M,
    ) -> Stream<S::Row, Start<S, M, NoTime<S::Row>>>
    where
        S: Source,
        S::Row: Row,
        M: Fn(&ParamValues) -> JobResult<S> + Clone + Send + Sync + 'static,
    {
        let operation = Operation::Source(SourceOperation::new(connector, options));
        let mut parts = self.parts.borrow_mut();
        parts.name_stream(name, &at);
        let draft = Draft {
            stream: name,
            id: None,
            kind: "source",
            operation,
            output: rows::<S::Row>(),
            hints: Hints::default(),
            origin: at,
        };
        let Placed { vertex, uid, name: shown } = parts.add(draft);
        let link = Start {
            uid,
            name: shown,
            make: make(uid),
            watermark: None,
            idle_after: None,
            on_error: ErrorPolicy::Fail,
            source: PhantomData,
        };
        Stream {
            parts: self.parts.clone(),
            name: name.to_owned(),
            from: Producer::new(vertex, Port::Main),
            head: Some(vertex),
            parallelism: None,
            id: None,
            ttl: None,
            link,
            rows: PhantomData,
        }
    }
}

/// The beginning of a stream, of which more can be said: see the methods of its [`Stream`].
pub trait SourceLink<T>: Link<T> {
    /// With this event time.
    #[doc(hidden)]
    fn with_watermark<W>(self, watermark: W) -> impl SourceLink<T>
    where
        W: Fn(&T) -> Result<Option<Timestamp>, EvalError> + Clone + Send + Sync + 'static;

    #[doc(hidden)]
    fn set(&mut self, idle_after: Option<i64>, on_error: Option<ErrorPolicy>);

    #[doc(hidden)]
    fn uid(&self) -> &'static str;
}

impl<S, M, W> SourceLink<S::Row> for Start<S, M, W>
where
    S: Source,
    M: Fn(&ParamValues) -> JobResult<S> + Clone + Send + Sync + 'static,
    W: Fn(&S::Row) -> Result<Option<Timestamp>, EvalError> + Clone + Send + Sync + 'static,
{
    fn with_watermark<V>(self, watermark: V) -> impl SourceLink<S::Row>
    where
        V: Fn(&S::Row) -> Result<Option<Timestamp>, EvalError> + Clone + Send + Sync + 'static,
    {
        let Start { uid, name, make, idle_after, on_error, source, .. } = self;
        Start { uid, name, make, watermark: Some(watermark), idle_after, on_error, source }
    }

    fn set(&mut self, idle_after: Option<i64>, on_error: Option<ErrorPolicy>) {
        self.idle_after = idle_after.or(self.idle_after);
        self.on_error = on_error.unwrap_or(self.on_error);
    }

    fn uid(&self) -> &'static str {
        self.uid
    }
}

impl<T: Row, L: SourceLink<T>> Stream<T, L> {
    fn source(&self, set: impl FnOnce(&mut SourceOperation)) {
        let mut parts = self.parts.borrow_mut();
        if let Operation::Source(source) = &mut parts.graph.vertex_mut(self.from.vertex).operation {
            set(source);
        }
    }

    /// The event time of a row, and by how much rows may be out of its order. Windows and timers need it.
    #[track_caller]
    pub fn watermark<F>(self, time: F, delay: Duration) -> Stream<T, impl SourceLink<T>>
    where
        F: Fn(&T) -> Timestamp + Clone + Send + Sync + 'static,
    {
        let delay = micros(delay);
        let watermark = closure(Ty::Timestamp, &origin(Location::caller(), "watermark"));
        self.source(|source| source.watermark = Some(WatermarkOperation { column: "time".to_owned(), watermark }));
        let Stream { parts, name, from, head, parallelism, id, ttl, link, rows } = self;
        let link = link.with_watermark(move |row: &T| Ok(Some(Timestamp(time(row).0.saturating_sub(delay)))));
        Stream { parts, name, from, head, parallelism, id, ttl, link, rows }
    }

    /// A split without rows for so long holds nothing back.
    #[track_caller]
    pub fn idle_after(mut self, silence: Duration) -> Self {
        let silence = self.parts.borrow_mut().length("the silence after which a split is idle", silence, Location::caller());
        self.source(|source| source.idle_after = Some(silence));
        self.link.set(Some(silence), None);
        self
    }

    /// Records that are no rows are left out and counted, instead of stopping the job.
    pub fn skip_errors(mut self) -> Self {
        self.source(|source| source.on_error = ErrorPolicy::Skip);
        self.link.set(None, Some(ErrorPolicy::Skip));
        self
    }

    /// So many readers, and so many subtasks of what follows, up to the next exchange.
    #[track_caller]
    pub fn readers(self, subtasks: u32) -> Self {
        self.parts.borrow_mut().some("the number of readers", subtasks.into(), Location::caller());
        self.parts.borrow_mut().graph.vertex_mut(self.from.vertex).hints.parallelism = Some(subtasks);
        Stream { parallelism: Some(subtasks), ..self }
    }
}

/// An option as the text of a pipeline would have it.
fn option(name: &str, literal: Literal, ty: Ty, at: &Origin) -> ConnectorOption {
    let value = Expr { kind: ExprKind::Literal(literal), ty, origin: at.clone() };
    ConnectorOption { name: name.to_owned(), value: OptionValue::Value(value), origin: at.clone() }
}

pub(super) fn capacity_option(capacity: usize, at: &Origin) -> ConnectorOption {
    option("capacity", Literal::Int(capacity as i128), Ty::Int64, at)
}

/// Options as the text of a pipeline would have them, but for blocks and lists.
pub(super) fn shown_options(options: &Options, at: &Origin) -> Vec<ConnectorOption> {
    let shown = options.names().filter_map(|name| {
        let (literal, ty) = match options.get(name)? {
            GivenOption::Text(text) => (Literal::String(text.clone()), Ty::String),
            GivenOption::Int(value) => (Literal::Int((*value).into()), Ty::Int64),
            GivenOption::Float(value) => (Literal::Float(*value), Ty::Float64),
            GivenOption::Bool(value) => (Literal::Bool(*value), Ty::Bool),
            GivenOption::Columns(_) | GivenOption::Block(..) => return None,
        };
        Some(option(name, literal, ty, at))
    });
    shown.collect()
}
