//! The coordinator's view of a source, without the types of its rows and splits.

use std::any::Any;

use super::{Call, EnumeratorAction, EnumeratorContext, Source, SourceContext, Split, SplitEnumerator};
use crate::error::{JobError, JobResult};

/// Makes the coordinator's half of a source.
pub trait ErasedSource: Send {
    /// The enumerator: anew, or from what a checkpoint kept.
    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Box<dyn ErasedEnumerator>>;

    /// Whether it comes to an end.
    fn bounded(&self) -> bool;
}

/// What an enumerator asks for, without its types.
#[derive(Debug, Default)]
pub struct Reaction {
    /// What the readers are told, in this order.
    pub actions: Vec<EnumeratorAction<Vec<u8>>>,
    /// Work to be done away from the coordinator; its results go to [`ErasedEnumerator::found`].
    pub calls: Vec<Call<Box<dyn Any + Send>>>,
}

/// A [`SplitEnumerator`] over encoded splits.
pub trait ErasedEnumerator: Send {
    /// See [`SplitEnumerator::start`].
    fn start(&mut self) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::found`].
    fn found(&mut self, found: JobResult<Box<dyn Any + Send>>) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::reader_added`].
    fn reader_added(&mut self, subtask: u32) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::request`].
    fn request(&mut self, subtask: u32) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::source_event`].
    fn source_event(&mut self, subtask: u32, event: &[u8]) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::event_before`].
    fn event_before(&mut self, subtask: u32, event: &[u8]) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::add_splits_back`].
    fn add_splits_back(&mut self, splits: &[Vec<u8>]) -> JobResult<Reaction>;
    /// See [`SplitEnumerator::unassigned`].
    fn unassigned(&self) -> usize;
    /// See [`SplitEnumerator::holds_watermark`].
    fn holds_watermark(&self) -> bool;
    /// See [`SplitEnumerator::snapshot`].
    fn snapshot(&self) -> Vec<u8>;
    /// See [`SplitEnumerator::checkpoint_complete`].
    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()>;
    /// See [`SplitEnumerator::checkpoint_aborted`].
    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()>;
}

/// A source behind [`ErasedSource`].
#[derive(Debug)]
pub struct TypedSource<S>(S);

/// Hides the types of a source.
pub fn erase_source<S: Source>(source: S) -> Box<dyn ErasedSource> {
    Box::new(TypedSource(source))
}

impl<S: Source> ErasedSource for TypedSource<S> {
    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Box<dyn ErasedEnumerator>> {
        Ok(Box::new(TypedEnumerator::<S> { enumerator: self.0.enumerator(context, restored)? }))
    }

    fn bounded(&self) -> bool {
        self.0.bounded()
    }
}

struct TypedEnumerator<S: Source> {
    enumerator: S::Enumerator,
}

type Found<S> = <<S as Source>::Enumerator as SplitEnumerator<<S as Source>::Split>>::Found;

impl<S: Source> TypedEnumerator<S> {
    fn acting(
        &mut self,
        act: impl FnOnce(&mut S::Enumerator, &mut EnumeratorContext<S::Split, Found<S>>) -> JobResult<()>,
    ) -> JobResult<Reaction> {
        let mut context = EnumeratorContext::new();
        act(&mut self.enumerator, &mut context)?;
        let encode = |action| match action {
            EnumeratorAction::Assign(subtask, split) => EnumeratorAction::Assign(subtask, S::Split::encode(&split)),
            EnumeratorAction::NoMoreSplits(subtask) => EnumeratorAction::NoMoreSplits(subtask),
            EnumeratorAction::NoMoreSplitsForNow(subtask) => EnumeratorAction::NoMoreSplitsForNow(subtask),
            EnumeratorAction::Event(subtask, event) => EnumeratorAction::Event(subtask, event),
        };
        let (actions, calls) = context.into_parts();
        Ok(Reaction { actions: actions.into_iter().map(encode).collect(), calls: calls.into_iter().map(erase_call).collect() })
    }
}

fn erase_call<F: Send + 'static>(call: Call<F>) -> Call<Box<dyn Any + Send>> {
    let Call { after, work } = call;
    Call { after, work: Box::new(move || work().map(|found| Box::new(found) as Box<dyn Any + Send>)) }
}

impl<S: Source> ErasedEnumerator for TypedEnumerator<S> {
    fn start(&mut self) -> JobResult<Reaction> {
        self.acting(S::Enumerator::start)
    }

    fn found(&mut self, found: JobResult<Box<dyn Any + Send>>) -> JobResult<Reaction> {
        let found = found.and_then(|found| {
            let found = found.downcast::<Found<S>>();
            found.map(|found| *found).map_err(|_| JobError::new("the result of a call of another enumerator"))
        });
        self.acting(|enumerator, context| enumerator.found(found, context))
    }

    fn reader_added(&mut self, subtask: u32) -> JobResult<Reaction> {
        self.acting(|enumerator, context| enumerator.reader_added(subtask, context))
    }

    fn request(&mut self, subtask: u32) -> JobResult<Reaction> {
        self.acting(|enumerator, context| enumerator.request(subtask, context))
    }

    fn source_event(&mut self, subtask: u32, event: &[u8]) -> JobResult<Reaction> {
        self.acting(|enumerator, context| enumerator.source_event(subtask, event, context))
    }

    fn event_before(&mut self, subtask: u32, event: &[u8]) -> JobResult<Reaction> {
        self.acting(|enumerator, context| enumerator.event_before(subtask, event, context))
    }

    fn add_splits_back(&mut self, splits: &[Vec<u8>]) -> JobResult<Reaction> {
        let splits = splits.iter().map(|bytes| S::Split::decode(bytes)).collect::<JobResult<Vec<_>>>()?;
        self.acting(|enumerator, context| enumerator.add_splits_back(splits, context))
    }

    fn unassigned(&self) -> usize {
        self.enumerator.unassigned()
    }

    fn holds_watermark(&self) -> bool {
        self.enumerator.holds_watermark()
    }

    fn snapshot(&self) -> Vec<u8> {
        self.enumerator.snapshot()
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        self.enumerator.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.enumerator.checkpoint_aborted(checkpoint)
    }
}
