//! The coordinator's view of a source, without the types of its rows and splits.

use super::{EnumeratorAction, EnumeratorContext, Source, SourceContext, Split, SplitEnumerator};
use crate::error::JobResult;

/// Makes the coordinator's half of a source.
pub trait ErasedSource: Send {
    /// The enumerator: anew, or from what a checkpoint kept.
    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Box<dyn ErasedEnumerator>>;

    /// Whether it comes to an end.
    fn bounded(&self) -> bool;
}

/// A [`SplitEnumerator`] over encoded splits.
pub trait ErasedEnumerator: Send {
    /// See [`SplitEnumerator::discover`].
    fn discover(&mut self) -> JobResult<()>;
    /// See [`SplitEnumerator::request`].
    fn request(&mut self, subtask: u32) -> JobResult<Vec<EnumeratorAction<Vec<u8>>>>;
    /// See [`SplitEnumerator::source_event`].
    fn source_event(&mut self, subtask: u32, event: &[u8]) -> JobResult<Vec<EnumeratorAction<Vec<u8>>>>;
    /// See [`SplitEnumerator::add_splits_back`].
    fn add_splits_back(&mut self, splits: &[Vec<u8>]) -> JobResult<()>;
    /// See [`SplitEnumerator::unassigned`].
    fn unassigned(&self) -> usize;
    /// See [`SplitEnumerator::snapshot`].
    fn snapshot(&self) -> Vec<u8>;
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

impl<S: Source> TypedEnumerator<S> {
    fn acting(
        &mut self,
        act: impl FnOnce(&mut S::Enumerator, &mut EnumeratorContext<S::Split>) -> JobResult<()>,
    ) -> JobResult<Vec<EnumeratorAction<Vec<u8>>>> {
        let mut context = EnumeratorContext::new();
        act(&mut self.enumerator, &mut context)?;
        let encode = |action| match action {
            EnumeratorAction::Assign(subtask, split) => EnumeratorAction::Assign(subtask, S::Split::encode(&split)),
            EnumeratorAction::NoMoreSplits(subtask) => EnumeratorAction::NoMoreSplits(subtask),
            EnumeratorAction::Event(subtask, event) => EnumeratorAction::Event(subtask, event),
        };
        Ok(context.into_actions().into_iter().map(encode).collect())
    }
}

impl<S: Source> ErasedEnumerator for TypedEnumerator<S> {
    fn discover(&mut self) -> JobResult<()> {
        self.enumerator.discover()
    }

    fn request(&mut self, subtask: u32) -> JobResult<Vec<EnumeratorAction<Vec<u8>>>> {
        self.acting(|enumerator, context| enumerator.request(subtask, context))
    }

    fn source_event(&mut self, subtask: u32, event: &[u8]) -> JobResult<Vec<EnumeratorAction<Vec<u8>>>> {
        self.acting(|enumerator, context| enumerator.source_event(subtask, event, context))
    }

    fn add_splits_back(&mut self, splits: &[Vec<u8>]) -> JobResult<()> {
        let splits = splits.iter().map(|bytes| S::Split::decode(bytes)).collect::<JobResult<Vec<_>>>()?;
        self.enumerator.add_splits_back(splits);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.enumerator.unassigned()
    }

    fn snapshot(&self) -> Vec<u8> {
        self.enumerator.snapshot()
    }
}
