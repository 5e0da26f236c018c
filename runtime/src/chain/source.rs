//! A chain that starts with a source: reads, keeps event time per split, and feeds the first stage.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::event_time::{Change, EventTime, Timing};
use super::{Chain, ChainReport, SourceTask};
use crate::error::{JobError, JobResult};
use crate::exchange::{Batch, Element, OutboxHandle};
use crate::graph::ErrorPolicy;
use crate::operator::{ErrorRow, ErrorStage, RestoredState, SnapshotBuilder, Stage, any, both};
use crate::seam::now_micros;
use crate::source::{ReaderStatus, SourceOutput, SourceReader, Split};
use crate::time::Watermark;
use crate::value::{EvalError, Timestamp};

/// The state in a snapshot that holds the splits of a reader.
pub const SPLITS: &str = "#splits";

/// How many reasons for rejects are told apart, and what the others are counted under.
const MOST_REASONS: usize = 20;
const OTHER_REASONS: &str = "other reasons";

/// What the text says of a source besides its connector.
#[derive(Clone, Copy, Debug)]
pub struct SourceConfig<W> {
    /// The event time that a row allows the watermark; None: no event time.
    pub watermark: Option<W>,
    /// What happens to records that are not rows.
    pub on_error: ErrorPolicy,
}

/// What a source counted.
#[derive(Clone, Debug)]
pub struct SourceReport {
    /// The uid of the source.
    pub uid: Arc<str>,
    /// The name in the text.
    pub name: Arc<str>,
    /// Rows emitted.
    pub rows: u64,
    /// Bytes read.
    pub bytes: u64,
    /// The time that the last row gave to the watermark, in microseconds since the epoch; None: no event time.
    pub last_time: Option<i64>,
    /// When the last row was fetched from outside, in microseconds since the epoch; None: the connector does not say.
    pub fetched: Option<i64>,
    /// How far the watermark is behind (less than 0) or beyond the greatest that alignment allows, in microseconds; None: it is not aligned.
    pub alignment_drift: Option<i64>,
    /// Since when there is nothing to read, in microseconds since the epoch; None: there is.
    pub idle_since: Option<i64>,
    /// Records left out, by reason.
    pub rejects: Vec<RejectReport>,
}

/// Records that were left out for one reason.
#[derive(Clone, Debug)]
pub struct RejectReport {
    /// The reason.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// The first, in words.
    pub first: String,
    /// Whether they went to the stream of `on error into`.
    pub routed: bool,
}

/// A source and the stages behind it.
pub struct SourceChain<R, W, N> {
    reader: R,
    feed: Feed<W, N>,
    /// From the start, and from a poll that finds nothing, to the next row.
    idle_since: Option<i64>,
    outbox: OutboxHandle,
    /// Until a split may fall silent.
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<R, W, N> std::fmt::Debug for SourceChain<R, W, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceChain").field("name", &self.feed.name).finish_non_exhaustive()
    }
}

/// What a source needs besides its reader.
pub(super) struct SourceParts {
    pub timing: Timing,
    pub outbox: OutboxHandle,
    pub errors: Option<ErrorStage>,
}

/// What the reader writes into.
struct Feed<W, N> {
    uid: Arc<str>,
    name: Arc<str>,
    config: SourceConfig<W>,
    next: N,
    /// Takes the records that are no rows, where the text wants them.
    errors: Option<ErrorStage>,
    rows: u64,
    bytes: u64,
    last_time: Option<i64>,
    fetched: Option<i64>,
    rejects: Vec<RejectReport>,
    /// Messages of the reader to the enumerator.
    events: Vec<Vec<u8>>,
    time: EventTime,
}

impl<R, W, N> SourceChain<R, W, N> {
    pub(super) fn new(uid: &str, name: &str, reader: R, config: SourceConfig<W>, parts: SourceParts, next: N) -> Self {
        let SourceParts { timing, outbox, errors } = parts;
        let feed = Feed {
            uid: uid.into(),
            name: name.into(),
            config,
            next,
            errors,
            rows: 0,
            bytes: 0,
            last_time: None,
            fetched: None,
            rejects: Vec::new(),
            events: Vec::new(),
            time: EventTime::new(timing),
        };
        SourceChain { reader, feed, idle_since: Some(now_micros()), outbox, sleep: None }
    }
}

impl<R, W, N> SourceChain<R, W, N>
where
    R: SourceReader,
    N: Stage<R::Row>,
{
    /// After rows, messages and time: says what has changed about event time. Gives whether anything has.
    fn update_time(&mut self) -> JobResult<bool> {
        let held = self.reader.holds_watermark();
        let time = &mut self.feed.time;
        let change = time.update(self.feed.rows, held);
        time.pause_and_resume(&mut self.reader);
        if change == Some(Change::Active) {
            self.outbox.put_all(|| Element::Active);
        }
        let watermark = self.feed.config.watermark.is_some().then(|| time.new_watermark(held)).flatten();
        if let Some(watermark) = watermark {
            self.feed.each(|stage| stage.watermark(watermark), |stage| stage.watermark(watermark))?;
        }
        if change == Some(Change::Idle) {
            self.feed.each(|stage| stage.flush(), |stage| stage.flush())?;
            self.outbox.put_all(|| Element::Idle);
        }
        Ok(change.is_some() || watermark.is_some())
    }

    /// Wakes the task up when a split may have fallen silent.
    fn sleep(&mut self, context: &mut Context<'_>) {
        self.sleep = self.feed.time.next_look().map(|wait| Box::pin(tokio::time::sleep(wait)));
        if let Some(sleep) = &mut self.sleep
            && sleep.as_mut().poll(context).is_ready()
        {
            context.waker().wake_by_ref();
        }
    }
}

impl<W, N> Feed<W, N> {
    /// Tells the stage of errors, if there is one, and the next stage.
    fn each(
        &mut self,
        error_stage: impl FnOnce(&mut dyn Stage<ErrorRow>) -> JobResult<()>,
        next: impl FnOnce(&mut N) -> JobResult<()>,
    ) -> JobResult<()> {
        if let Some(errors) = &mut self.errors {
            error_stage(&mut **errors)?;
        }
        next(&mut self.next)
    }
}

impl<T, W, N> SourceOutput<T> for Feed<W, N>
where
    W: Fn(&T) -> Result<Option<Timestamp>, EvalError>,
    N: Stage<T>,
{
    fn split_added(&mut self, split: &str) {
        self.time.add(split);
    }

    fn select_split(&mut self, split: &str) {
        self.time.select(split, self.rows);
    }

    #[inline]
    fn emit_record(&mut self, row: T, record: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        if let Some(watermark) = &self.config.watermark {
            match watermark(&row) {
                Ok(Some(time)) => {
                    self.last_time = Some(time.0);
                    self.time.observe(time.0);
                }
                Ok(None) => {}
                Err(error) => {
                    let found = || ErrorRow { field: error.expression().map(Into::into), ..record() };
                    return self.reject_record("the watermark cannot be computed", || error.to_string(), found);
                }
            }
        }
        self.rows += 1;
        self.next.push(row)
    }

    fn fetched(&mut self, at: i64) {
        self.fetched = Some(at);
    }

    fn bytes_read(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    #[cold]
    fn reject_record(&mut self, reason: &str, message: impl FnOnce() -> String, row: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        if self.config.on_error == ErrorPolicy::Fail {
            return Err(JobError::new(format!("source {}: {}", self.name, message())));
        }
        let routed = self.config.on_error == ErrorPolicy::Into && self.errors.is_some();
        // Reasons that name something of the record would be as many as there are records.
        let place = |reason: &str| self.rejects.iter().position(|reject| reject.reason == reason);
        let (counted, known) = match place(reason) {
            None if self.rejects.len() >= MOST_REASONS => (OTHER_REASONS, place(OTHER_REASONS)),
            known => (reason, known),
        };
        let mut row = routed.then(row);
        let wanted = known.is_none() || row.as_ref().is_some_and(|row| row.error.is_empty());
        let message = if wanted { message() } else { String::new() };
        if let Some(row) = &mut row
            && row.error.is_empty()
        {
            row.error = message.as_str().into();
        }
        match known {
            Some(index) => self.rejects[index].count += 1,
            None => self.rejects.push(RejectReport { reason: counted.to_owned(), count: 1, first: message, routed }),
        }
        let (Some(errors), Some(mut row)) = (&mut self.errors, row) else { return Ok(()) };
        row.source = (&*self.name).into();
        row.reason = reason.into();
        if row.origin.is_none() {
            row.origin = self.time.selected().map(Into::into);
        }
        errors.push(row)
    }

    fn split_finished(&mut self, split: &str) {
        self.time.finish_split(split, self.rows);
    }

    fn send_event(&mut self, event: Vec<u8>) {
        self.events.push(event);
    }
}

impl<R, W, N> SourceTask for SourceChain<R, W, N>
where
    R: SourceReader,
    W: Fn(&R::Row) -> Result<Option<Timestamp>, EvalError> + Send,
    N: Stage<R::Row>,
{
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<JobResult<ReaderStatus>> {
        let rows = self.feed.rows;
        let polled = match self.feed.time.is_paused() {
            true => Poll::Pending,
            false => self.reader.poll(context, &mut self.feed),
        };
        let status = match polled {
            Poll::Ready(status) => status?,
            Poll::Pending => {
                let changed = self.update_time()?;
                // What there is to say, to the enumerator and behind, is said before it waits.
                if !changed && self.feed.events.is_empty() {
                    self.idle_since.get_or_insert_with(now_micros);
                    self.sleep(context);
                    return Poll::Pending;
                }
                ReaderStatus::More
            }
        };
        if self.feed.rows > rows {
            self.idle_since = None;
        } else if status != ReaderStatus::More {
            self.idle_since.get_or_insert_with(now_micros);
        }
        self.feed.each(|stage| stage.end_of_batch(), |stage| stage.end_of_batch())?;
        match status {
            ReaderStatus::End => self.feed.time.end(),
            ReaderStatus::More | ReaderStatus::NeedsSplit => {
                self.update_time()?;
            }
        }
        Poll::Ready(Ok(status))
    }

    fn add_splits(&mut self, splits: &[Vec<u8>]) -> JobResult<()> {
        let splits = splits.iter().map(|bytes| R::Split::decode(bytes)).collect::<JobResult<Vec<_>>>()?;
        for split in &splits {
            self.feed.time.add(&split.id());
        }
        self.reader.add_splits(splits)?;
        self.update_time().map(|_| ())
    }

    fn no_more_splits(&mut self) {
        self.reader.no_more_splits();
    }

    fn hold_watermark(&mut self, hold: bool) -> JobResult<()> {
        self.feed.time.hold = hold;
        self.update_time().map(|_| ())
    }

    fn watermark(&self) -> Watermark {
        self.feed.time.last
    }

    fn align(&mut self, limit: i64) -> JobResult<()> {
        self.feed.time.set_limit(limit);
        self.update_time().map(|_| ())
    }

    fn not_counted(&mut self, time: Duration) {
        self.feed.time.not_counted(time);
    }

    fn source_event(&mut self, event: &[u8]) -> JobResult<()> {
        self.reader.source_event(event)
    }

    fn take_events(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.feed.events)
    }
}

impl<R, W, N> Chain for SourceChain<R, W, N>
where
    R: SourceReader,
    W: Fn(&R::Row) -> Result<Option<Timestamp>, EvalError> + Send,
    N: Stage<R::Row>,
{
    fn batch(&mut self, _input: usize, _batch: Batch) -> JobResult<()> {
        Err(JobError::new("a source takes no rows"))
    }

    fn watermark(&mut self, watermark: Watermark) -> JobResult<()> {
        self.feed.time.last = self.feed.time.last.max(watermark);
        self.feed.each(|stage| stage.watermark(watermark), |stage| stage.watermark(watermark))
    }

    fn processing_time(&mut self, now: i64) -> JobResult<()> {
        self.feed.each(|stage| stage.processing_time(now), |stage| stage.processing_time(now))
    }

    fn next_processing_time(&self) -> Option<i64> {
        let errors = self.feed.errors.as_ref().and_then(|errors| errors.next_processing_time());
        let next = self.feed.next.next_processing_time();
        errors.into_iter().chain(next).min()
    }

    fn flush(&mut self) -> JobResult<()> {
        self.feed.each(|stage| stage.flush(), |stage| stage.flush())
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        let errors = self.feed.errors.as_mut().map_or(Poll::Ready(Ok(())), |errors| errors.poll_ready(context));
        both(errors, self.feed.next.poll_ready(context))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        let errors = self.feed.errors.as_mut().map_or(Poll::Ready(Ok(())), |errors| errors.poll_flush(context));
        both(errors, self.feed.next.poll_flush(context))
    }

    fn poll_background(&mut self, context: &mut Context<'_>) -> Poll<JobResult<()>> {
        let errors = self.feed.errors.as_mut().map_or(Poll::Pending, |errors| errors.poll_background(context));
        any(errors, self.feed.next.poll_background(context))
    }

    fn finish(&mut self) -> JobResult<()> {
        self.feed.time.end();
        self.feed.each(|stage| stage.finish(), |stage| stage.finish())
    }

    fn snapshot(&mut self, snapshot: &mut SnapshotBuilder) -> JobResult<()> {
        let splits: Vec<_> = self.reader.snapshot().iter().map(Split::encode).collect();
        self.reader.snapshot_taken(snapshot.checkpoint());
        if !splits.is_empty() {
            snapshot.operator(&self.feed.uid).list(SPLITS, String::new(), splits);
        }
        if let Some(errors) = &mut self.feed.errors {
            errors.snapshot(snapshot)?;
        }
        self.feed.next.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredState) -> JobResult<()> {
        self.reader.start()?;
        self.feed.each(|stage| stage.restore(state), |stage| stage.restore(state))
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        self.reader.checkpoint_complete(checkpoint)?;
        self.feed.each(|stage| stage.checkpoint_complete(checkpoint), |stage| stage.checkpoint_complete(checkpoint))
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.reader.checkpoint_aborted(checkpoint)?;
        self.feed.each(|stage| stage.checkpoint_aborted(checkpoint), |stage| stage.checkpoint_aborted(checkpoint))
    }

    fn report(&self, report: &mut ChainReport) {
        report.source = Some(SourceReport {
            uid: self.feed.uid.clone(),
            name: self.feed.name.clone(),
            rows: self.feed.rows,
            bytes: self.feed.bytes,
            last_time: self.feed.last_time,
            fetched: self.feed.fetched,
            alignment_drift: self.feed.time.drift(),
            idle_since: self.idle_since,
            rejects: self.feed.rejects.clone(),
        });
        if let Some(errors) = &self.feed.errors {
            errors.report(&mut report.operators);
        }
        self.feed.next.report(&mut report.operators);
    }

    fn source(&mut self) -> Option<&mut dyn SourceTask> {
        Some(self)
    }
}
