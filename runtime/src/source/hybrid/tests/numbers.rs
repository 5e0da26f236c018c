//! A source of numbers in ranges, and what is known of them: the greatest.

use std::cell::RefCell;
use std::task::{Context, Poll};

use crate::bytes::{Reader, put_str, put_u64};
use crate::error::JobResult;
use crate::source::hybrid::{Summary, raise, raise_to};
use crate::source::{
    EnumeratorContext, ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, SplitEnumerator,
    StaticEnumerator,
};
use crate::state::{State, StateError, StateReader};

/// The numbers from `next` to before `end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub next: u64,
    pub end: u64,
}

impl Split for Part {
    fn id(&self) -> String {
        self.name.clone()
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_str(&mut out, &self.name);
        put_u64(&mut out, self.next);
        put_u64(&mut out, self.end);
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        Ok(Part { name: input.str()?.to_owned(), next: input.u64()?, end: input.u64()? })
    }
}

/// So many numbers from `start` on, in splits that have the same names in every source.
#[derive(Clone, Debug)]
pub struct Numbers {
    pub start: u64,
    pub count: u64,
    pub splits: u64,
    pub bounded: bool,
}

impl Numbers {
    pub fn new(start: u64, count: u64, splits: u64) -> Self {
        Numbers { start, count, splits, bounded: true }
    }

    pub fn parts(&self) -> Vec<Part> {
        let bound = |split: u64| self.start + self.count * split / self.splits;
        (0..self.splits).map(|split| Part { name: format!("p{split}"), next: bound(split), end: bound(split + 1) }).collect()
    }
}

/// Finds its splits away from the coordinator, as sources of files do.
#[derive(Debug)]
pub struct Finder {
    source: Numbers,
    found: bool,
    splits: StaticEnumerator<Part>,
    waiting: Vec<u32>,
}

impl SplitEnumerator<Part> for Finder {
    type Found = Vec<Part>;

    fn start(&mut self, context: &mut EnumeratorContext<Part, Vec<Part>>) -> JobResult<()> {
        if !self.found {
            let source = self.source.clone();
            context.call(std::time::Duration::ZERO, move || Ok(source.parts()));
        }
        Ok(())
    }

    fn found(&mut self, found: JobResult<Vec<Part>>, context: &mut EnumeratorContext<Part, Vec<Part>>) -> JobResult<()> {
        self.found = true;
        self.splits = StaticEnumerator::new(found?);
        for subtask in std::mem::take(&mut self.waiting) {
            self.request(subtask, context)?;
        }
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<Part, Vec<Part>>) -> JobResult<()> {
        if !self.found {
            self.waiting.push(subtask);
            return Ok(());
        }
        match self.splits.take() {
            Some(split) => context.assign(subtask, split),
            None => context.no_more_splits(subtask),
        }
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<Part>, _context: &mut EnumeratorContext<Part, Vec<Part>>) -> JobResult<()> {
        self.splits.add_back(splits);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn holds_watermark(&self) -> bool {
        !self.found || !self.splits.is_empty()
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut out = vec![u8::from(self.found)];
        out.extend(self.splits.snapshot());
        out
    }
}

impl Source for Numbers {
    type Row = u64;
    type Split = Part;
    type Enumerator = Finder;
    type Reader = Counter;

    fn enumerator(&self, _context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Finder> {
        let (found, splits) = match restored {
            Some(bytes) => (bytes[0] == 1, StaticEnumerator::restore(&bytes[1..])?),
            None => (false, StaticEnumerator::new([])),
        };
        Ok(Finder { source: self.clone(), found, splits, waiting: Vec::new() })
    }

    fn reader(&self, _context: &ReaderContext) -> JobResult<Counter> {
        Ok(Counter { splits: Vec::new(), no_more: false, first: None, taken: Vec::new() })
    }

    fn bounded(&self) -> bool {
        self.bounded
    }
}

thread_local! {
    /// Readers, by their first number, and the checkpoint that was complete after they had heard that it has what they gave.
    pub static TOLD: RefCell<Vec<(Option<u64>, u64)>> = const { RefCell::new(Vec::new()) };
}

/// Emits a number per poll.
#[derive(Debug)]
pub struct Counter {
    splits: Vec<Part>,
    no_more: bool,
    /// The first number it was to read.
    first: Option<u64>,
    /// Checkpoints that have what it gave.
    taken: Vec<u64>,
}

impl SourceReader for Counter {
    type Row = u64;
    type Split = Part;

    fn add_splits(&mut self, splits: Vec<Part>) -> JobResult<()> {
        self.first = self.first.or(splits.first().map(|split| split.next));
        self.splits.extend(splits);
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more = true;
    }

    fn poll(&mut self, _context: &mut Context<'_>, out: &mut impl SourceOutput<u64>) -> Poll<JobResult<ReaderStatus>> {
        let Some(split) = self.splits.first_mut() else {
            return Poll::Ready(Ok(if self.no_more { ReaderStatus::End } else { ReaderStatus::NeedsSplit }));
        };
        out.select_split(&split.name);
        if split.next < split.end {
            out.emit(split.next)?;
            split.next += 1;
        } else {
            out.split_finished(&split.name);
            self.splits.remove(0);
        }
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<Part> {
        self.splits.clone()
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        self.taken.push(checkpoint);
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        if let Some(at) = self.taken.iter().position(|taken| *taken == checkpoint) {
            self.taken.drain(..=at);
            TOLD.with_borrow_mut(|told| told.push((self.first, checkpoint)));
        }
        Ok(())
    }
}

/// The greatest number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Greatest(pub Option<u64>);

impl State for Greatest {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Greatest(State::decode(input)?))
    }

    fn schema() -> String {
        Option::<u64>::schema()
    }
}

impl Summary<u64> for Greatest {
    fn observe(&mut self, row: &u64) -> JobResult<()> {
        raise(&mut self.0, row);
        Ok(())
    }

    fn merge(&mut self, other: &Self) {
        raise_to(&mut self.0, other.0.as_ref());
    }
}
