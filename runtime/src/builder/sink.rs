//! Where streams end.

use std::panic::Location;

use super::link::Link;
use super::parts::Placed;
use super::rows::{Row, origin, rows};
use super::source::{capacity_option, shown_options};
use super::stream::Stream;
use crate::chain::ChainBuilder;
use crate::connectors::channel::{self, ChannelSink, Receiver};
use crate::connectors::file::{self, FileSink};
use crate::error::JobResult;
use crate::formats::{Format, JsonFormat};
use crate::graph::{ConnectorOption, Operation, Origin, SinkOperation, StreamType};
use crate::options::Options;
use crate::record::Record;
use crate::sink::Sink;

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// Writes the rows by any sink: one of the library's, or of [your own](crate::connectors::own). `kind` is part of its id,
    /// `sink/revenue/table`. `make` is called for each subtask, whenever the job starts.
    #[track_caller]
    pub fn sink<S, M>(self, kind: &'static str, make: M)
    where
        S: Sink<T>,
        M: Fn() -> JobResult<S> + Send + Sync + 'static,
    {
        self.into_sink(kind, Vec::new(), rows::<T>(), origin(Location::caller(), kind), |_| {
            move |_: &mut ChainBuilder<'_>| make()
        });
    }

    /// Hands the rows to the program as they are made. At most `capacity` of them wait: then the job waits.
    #[track_caller]
    pub fn into_channel(self, capacity: usize) -> Receiver<T> {
        self.into_receiver(capacity, rows::<T>(), origin(Location::caller(), channel::NAME))
    }

    pub(super) fn into_receiver(self, capacity: usize, rows: StreamType, at: Origin) -> Receiver<T> {
        let parts = self.parts.clone();
        let options = vec![capacity_option(capacity, &at)];
        let uid = self.into_sink(channel::NAME, options, rows, at, |uid| {
            move |cx: &mut ChainBuilder<'_>| ChannelSink::<T>::connect(cx.params(), uid)
        });
        let mut parts = parts.borrow_mut();
        parts.has_channels = true;
        parts.channels.sink(uid, capacity)
    }

    /// Writes the rows into files in a folder or bucket, in the format `F`. Each row is there once, whatever fails, in a job with
    /// checkpoints.
    #[track_caller]
    pub fn into_files<F: Format>(self, folder: &str)
    where
        T: Record,
    {
        self.into_files_with::<F>(Options::new().with("path", folder));
    }

    /// The same with all options of the connector [`file`](crate::connectors::file): when a file is full, folders by column, a compression.
    /// `Options::new().with("path", "revenue").with("existing", "replace")`.
    #[track_caller]
    pub fn into_files_with<F: Format>(self, options: Options)
    where
        T: Record,
    {
        let caller = Location::caller();
        let at = origin(caller, "file");
        let known = file::SPEC.sink.map_or(&[][..], |sink| sink.options);
        self.parts.borrow_mut().known_options("file", known, &options, caller);
        let shown = shown_options(&options, &at);
        self.into_sink("file", shown, rows::<T>(), at, |_| {
            move |_: &mut ChainBuilder<'_>| FileSink::<T, F>::from_options(&options)
        });
    }

    /// The same as JSON, an object on each line.
    #[track_caller]
    pub fn into_json_files(self, folder: &str)
    where
        T: Record,
    {
        self.into_files::<JsonFormat>(folder);
    }

    /// `rows`: what comes, in the words of the graph.
    pub(super) fn into_sink<S, M>(
        mut self,
        kind: &'static str,
        options: Vec<ConnectorOption>,
        rows: StreamType,
        at: Origin,
        make: impl FnOnce(&'static str) -> M,
    ) -> &'static str
    where
        S: Sink<T>,
        M: Fn(&mut ChainBuilder<'_>) -> JobResult<S> + Send + Sync + 'static,
    {
        let operation = Operation::Sink(SinkOperation {
            connector: kind.to_owned(),
            key: Vec::new(),
            options,
            format: None,
            format_options: Vec::new(),
        });
        let Placed { vertex, uid, name } = self.place(kind, operation, rows, &at);
        self.head.get_or_insert(vertex);
        let make = make(uid);
        self.end(move |cx| {
            let sink = make(cx)?;
            cx.sink::<T, S>(uid, name, sink)
        });
        uid
    }
}
