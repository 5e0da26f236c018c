//! The list of stages, as types: per row nothing is looked up, the reader of the stage that runs is called directly.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::task::{Context, Poll};

use super::summary::Summary;
use super::switch::Switch;
use crate::error::{JobError, JobResult};
use crate::source::{ErasedSource, ReaderContext, ReaderStatus, Source, SourceOutput, SourceReader, Split, erase_source};

/// Stages in order.
pub trait Stages: Send + Sync + 'static {
    /// What all of them give.
    type Row: Send + 'static;
    /// What later ones may ask of earlier ones.
    type Summary: Summary<Self::Row>;
    /// The reader of any of them.
    type Reader: StageReader<Row = Self::Row> + 'static;
    /// How many there are.
    const COUNT: usize;

    /// The name of one.
    fn name(&self, stage: usize) -> &'static str;

    /// Makes the coordinator's view of one.
    fn source(&self, stage: usize, ends: &Switch<Self::Summary>) -> JobResult<Box<dyn ErasedSource>>;

    /// Makes the reader of one.
    fn reader(&self, stage: usize, ends: &Switch<Self::Summary>, context: &ReaderContext) -> JobResult<Self::Reader>;

    /// What a stage calls one of its splits.
    fn split_id(&self, stage: usize, split: &[u8]) -> JobResult<String>;
}

/// A [`SourceReader`] over encoded splits.
pub trait StageReader: Send {
    /// What it emits.
    type Row;
    /// See [`SourceReader::start`].
    fn start(&mut self) -> JobResult<()>;
    /// See [`SourceReader::add_splits`].
    fn add_splits(&mut self, splits: &[Vec<u8>]) -> JobResult<()>;
    /// See [`SourceReader::no_more_splits`].
    fn no_more_splits(&mut self);
    /// See [`SourceReader::source_event`].
    fn source_event(&mut self, event: &[u8]) -> JobResult<()>;
    /// See [`SourceReader::poll`].
    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<Self::Row>) -> Poll<JobResult<ReaderStatus>>;
    /// The name and the bytes of every split that is not read to its end.
    fn snapshot(&self) -> Vec<(String, Vec<u8>)>;
    /// See [`SourceReader::snapshot_taken`].
    fn snapshot_taken(&mut self, checkpoint: u64);
    /// See [`SourceReader::holds_watermark`].
    fn holds_watermark(&self) -> bool;
    /// See [`SourceReader::checkpoint_complete`].
    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()>;
    /// See [`SourceReader::checkpoint_aborted`].
    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()>;
    /// See [`SourceReader::set_paused`].
    fn set_paused(&mut self, split: &str, paused: bool) -> bool;
}

/// The list without a stage.
#[derive(Debug)]
pub struct NoStages<T, E>(pub(super) PhantomData<fn() -> (T, E)>);

/// The reader of no stage: there is none.
#[derive(Debug)]
pub struct NoReader<T>(Infallible, PhantomData<T>);

/// Stages, and one more.
#[derive(Debug)]
pub struct Then<L, S, M> {
    earlier: L,
    name: &'static str,
    make: M,
    source: PhantomData<fn() -> S>,
}

impl<L, S, M> Then<L, S, M> {
    pub(super) fn new(earlier: L, name: &'static str, make: M) -> Self {
        Then { earlier, name, make, source: PhantomData }
    }
}

/// A reader whose splits come as bytes.
#[derive(Debug)]
pub struct TypedReader<R>(R);

/// The reader of an earlier stage, or of the one behind them.
#[derive(Debug)]
pub enum EitherReader<A, B> {
    /// Of an earlier one.
    Earlier(A),
    /// Of the last one.
    Last(B),
}

#[cold]
fn no_such_stage(stage: usize) -> JobError {
    JobError::new(format!("the source has no stage number {stage}"))
}

impl<T: Send + 'static, E: Summary<T>> Stages for NoStages<T, E> {
    type Row = T;
    type Summary = E;
    type Reader = NoReader<T>;
    const COUNT: usize = 0;

    fn name(&self, _stage: usize) -> &'static str {
        "?"
    }

    fn source(&self, stage: usize, _ends: &Switch<E>) -> JobResult<Box<dyn ErasedSource>> {
        Err(no_such_stage(stage))
    }

    fn reader(&self, stage: usize, _ends: &Switch<E>, _context: &ReaderContext) -> JobResult<NoReader<T>> {
        Err(no_such_stage(stage))
    }

    fn split_id(&self, stage: usize, _split: &[u8]) -> JobResult<String> {
        Err(no_such_stage(stage))
    }
}

impl<L, S, M> Stages for Then<L, S, M>
where
    L: Stages,
    S: Source<Row = L::Row>,
    M: Fn(&Switch<L::Summary>) -> JobResult<S> + Send + Sync + 'static,
{
    type Row = L::Row;
    type Summary = L::Summary;
    type Reader = EitherReader<L::Reader, TypedReader<S::Reader>>;
    const COUNT: usize = L::COUNT + 1;

    fn name(&self, stage: usize) -> &'static str {
        if stage == L::COUNT { self.name } else { self.earlier.name(stage) }
    }

    fn source(&self, stage: usize, ends: &Switch<L::Summary>) -> JobResult<Box<dyn ErasedSource>> {
        if stage == L::COUNT { Ok(erase_source((self.make)(ends)?)) } else { self.earlier.source(stage, ends) }
    }

    fn reader(&self, stage: usize, ends: &Switch<L::Summary>, context: &ReaderContext) -> JobResult<Self::Reader> {
        if stage == L::COUNT {
            let reader = (self.make)(ends)?.reader(context)?;
            Ok(EitherReader::Last(TypedReader(reader)))
        } else {
            self.earlier.reader(stage, ends, context).map(EitherReader::Earlier)
        }
    }

    fn split_id(&self, stage: usize, split: &[u8]) -> JobResult<String> {
        if stage == L::COUNT { Ok(S::Split::decode(split)?.id()) } else { self.earlier.split_id(stage, split) }
    }
}

impl<T: Send> StageReader for NoReader<T> {
    type Row = T;

    fn start(&mut self) -> JobResult<()> {
        match self.0 {}
    }

    fn snapshot_taken(&mut self, _checkpoint: u64) {
        match self.0 {}
    }

    fn holds_watermark(&self) -> bool {
        match self.0 {}
    }

    fn checkpoint_complete(&mut self, _checkpoint: u64) -> JobResult<()> {
        match self.0 {}
    }

    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> JobResult<()> {
        match self.0 {}
    }

    fn set_paused(&mut self, _split: &str, _paused: bool) -> bool {
        match self.0 {}
    }

    fn add_splits(&mut self, _splits: &[Vec<u8>]) -> JobResult<()> {
        match self.0 {}
    }

    fn no_more_splits(&mut self) {
        match self.0 {}
    }

    fn source_event(&mut self, _event: &[u8]) -> JobResult<()> {
        match self.0 {}
    }

    fn poll(&mut self, _context: &mut Context<'_>, _out: &mut impl SourceOutput<T>) -> Poll<JobResult<ReaderStatus>> {
        match self.0 {}
    }

    fn snapshot(&self) -> Vec<(String, Vec<u8>)> {
        match self.0 {}
    }
}

impl<R: SourceReader> StageReader for TypedReader<R> {
    type Row = R::Row;

    fn start(&mut self) -> JobResult<()> {
        self.0.start()
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        self.0.snapshot_taken(checkpoint);
    }

    fn holds_watermark(&self) -> bool {
        self.0.holds_watermark()
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        self.0.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.0.checkpoint_aborted(checkpoint)
    }

    fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        self.0.set_paused(split, paused)
    }

    fn add_splits(&mut self, splits: &[Vec<u8>]) -> JobResult<()> {
        self.0.add_splits(splits.iter().map(|split| R::Split::decode(split)).collect::<JobResult<_>>()?)
    }

    fn no_more_splits(&mut self) {
        self.0.no_more_splits();
    }

    fn source_event(&mut self, event: &[u8]) -> JobResult<()> {
        self.0.source_event(event)
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<R::Row>) -> Poll<JobResult<ReaderStatus>> {
        self.0.poll(context, out)
    }

    fn snapshot(&self) -> Vec<(String, Vec<u8>)> {
        self.0.snapshot().iter().map(|split| (split.id(), split.encode())).collect()
    }
}

impl<A: StageReader, B: StageReader<Row = A::Row>> StageReader for EitherReader<A, B> {
    type Row = A::Row;

    fn start(&mut self) -> JobResult<()> {
        match self {
            EitherReader::Earlier(reader) => reader.start(),
            EitherReader::Last(reader) => reader.start(),
        }
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        match self {
            EitherReader::Earlier(reader) => reader.snapshot_taken(checkpoint),
            EitherReader::Last(reader) => reader.snapshot_taken(checkpoint),
        }
    }

    fn holds_watermark(&self) -> bool {
        match self {
            EitherReader::Earlier(reader) => reader.holds_watermark(),
            EitherReader::Last(reader) => reader.holds_watermark(),
        }
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        match self {
            EitherReader::Earlier(reader) => reader.checkpoint_complete(checkpoint),
            EitherReader::Last(reader) => reader.checkpoint_complete(checkpoint),
        }
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        match self {
            EitherReader::Earlier(reader) => reader.checkpoint_aborted(checkpoint),
            EitherReader::Last(reader) => reader.checkpoint_aborted(checkpoint),
        }
    }

    fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        match self {
            EitherReader::Earlier(reader) => reader.set_paused(split, paused),
            EitherReader::Last(reader) => reader.set_paused(split, paused),
        }
    }

    fn add_splits(&mut self, splits: &[Vec<u8>]) -> JobResult<()> {
        match self {
            EitherReader::Earlier(reader) => reader.add_splits(splits),
            EitherReader::Last(reader) => reader.add_splits(splits),
        }
    }

    fn no_more_splits(&mut self) {
        match self {
            EitherReader::Earlier(reader) => reader.no_more_splits(),
            EitherReader::Last(reader) => reader.no_more_splits(),
        }
    }

    fn source_event(&mut self, event: &[u8]) -> JobResult<()> {
        match self {
            EitherReader::Earlier(reader) => reader.source_event(event),
            EitherReader::Last(reader) => reader.source_event(event),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<A::Row>) -> Poll<JobResult<ReaderStatus>> {
        match self {
            EitherReader::Earlier(reader) => reader.poll(context, out),
            EitherReader::Last(reader) => reader.poll(context, out),
        }
    }

    fn snapshot(&self) -> Vec<(String, Vec<u8>)> {
        match self {
            EitherReader::Earlier(reader) => reader.snapshot(),
            EitherReader::Last(reader) => reader.snapshot(),
        }
    }
}
