//! A source of numbered rows whose splits are found one after the other and read in bursts.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use millstream::codegen::{JobError, JobResult, Record, State, Timestamp};
use millstream::source::{
    EnumeratorContext, ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, SplitEnumerator,
    StaticEnumerator,
};
use tokio::time::Sleep;

use crate::world::SimWorld;

/// Rows come this often in event time, in microseconds.
pub(crate) const STEP: i64 = 1_000_000;

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Record, State)]
pub(crate) struct Row {
    pub split: i64,
    pub number: i64,
    pub at: Timestamp,
}

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub splits: i64,
    pub rows: i64,
}

impl Size {
    /// Of a source that ends before another.
    pub(crate) fn few(self) -> Self {
        Size { splits: 1 + self.splits / 3, rows: 1 + self.rows / 5 }
    }
}

/// A split: its number, and the next row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    split: i64,
    next: i64,
}

impl Split for Part {
    fn id(&self) -> String {
        self.split.to_string()
    }

    fn encode(&self) -> Vec<u8> {
        [self.split.to_le_bytes(), self.next.to_le_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let [split, next] = numbers_of(bytes)?;
        Ok(Part { split, next })
    }
}

fn numbers_of(bytes: &[u8]) -> JobResult<[i64; 2]> {
    let number = |range: std::ops::Range<usize>| {
        let bytes = bytes.get(range).and_then(|bytes| bytes.try_into().ok());
        bytes.map(i64::from_le_bytes).ok_or_else(|| JobError::new("not two numbers"))
    };
    Ok([number(0..8)?, number(8..16)?])
}

pub(crate) struct Numbers {
    pub world: Arc<SimWorld>,
    pub size: Size,
}

impl Source for Numbers {
    type Row = Row;
    type Split = Part;
    type Enumerator = Finder;
    type Reader = NumbersReader;

    fn enumerator(&self, _context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Finder> {
        let (numbers, splits) = match restored.and_then(|bytes| bytes.split_at_checked(16)) {
            Some((numbers, splits)) => (numbers_of(numbers)?, StaticEnumerator::restore(splits)?),
            None => ([0, 0], StaticEnumerator::new([])),
        };
        let [found, read] = numbers;
        Ok(Finder { world: self.world.clone(), size: self.size, found, read, splits, waiting: Vec::new() })
    }

    fn reader(&self, _context: &ReaderContext) -> JobResult<NumbersReader> {
        let world = self.world.clone();
        Ok(NumbersReader { world, rows: self.size.rows, parts: Vec::new(), no_more: false, sleep: None })
    }

    fn bounded(&self) -> bool {
        true
    }
}

/// Finds the splits, some at a time. The source ends when readers have told it that all are read: that no such message is lost or
/// counts twice.
pub(crate) struct Finder {
    world: Arc<SimWorld>,
    size: Size,
    found: i64,
    /// A bit for each split that was read to its end.
    read: i64,
    splits: StaticEnumerator<Part>,
    waiting: Vec<u32>,
}

impl Finder {
    fn look(&self, context: &mut EnumeratorContext<Part, i64>) {
        if self.found < self.size.splits {
            let (world, left) = (self.world.clone(), self.size.splits - self.found);
            let after = world.moment(50_000);
            context.call(after, move || Ok(1 + i64::try_from(world.below(2)).unwrap_or(0).min(left - 1)));
        }
    }

    /// Hears of the end of a checkpoint.
    fn hear(&self) -> JobResult<()> {
        if self.world.enumerator_fails() { Err(JobError::transient("an enumerator fails")) } else { Ok(()) }
    }

    fn deal(&mut self, context: &mut EnumeratorContext<Part, i64>) {
        while let Some(&subtask) = self.waiting.first() {
            match self.splits.take() {
                Some(part) => context.assign(subtask, part),
                None if self.found < self.size.splits || i64::from(self.read.count_ones()) < self.size.splits => return,
                None => context.no_more_splits(subtask),
            }
            self.waiting.remove(0);
        }
    }
}

impl SplitEnumerator<Part> for Finder {
    type Found = i64;

    fn start(&mut self, context: &mut EnumeratorContext<Part, i64>) -> JobResult<()> {
        self.look(context);
        Ok(())
    }

    fn found(&mut self, found: JobResult<i64>, context: &mut EnumeratorContext<Part, i64>) -> JobResult<()> {
        let found = found?;
        self.splits.add((self.found..self.found + found).map(|split| Part { split, next: 0 }));
        self.found += found;
        self.look(context);
        self.deal(context);
        Ok(())
    }

    // Readers may be given a split before they ask for one.
    fn reader_added(&mut self, subtask: u32, context: &mut EnumeratorContext<Part, i64>) -> JobResult<()> {
        if self.world.below(2) == 0
            && let Some(part) = self.splits.take()
        {
            context.assign(subtask, part);
        }
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<Part, i64>) -> JobResult<()> {
        self.waiting.push(subtask);
        self.deal(context);
        Ok(())
    }

    fn source_event(&mut self, _subtask: u32, event: &[u8], context: &mut EnumeratorContext<Part, i64>) -> JobResult<()> {
        let split = Part::decode(event)?.split;
        if self.read & (1 << split) != 0 {
            return Err(JobError::new(format!("WRONG: split {split} is read to its end twice")));
        }
        self.read |= 1 << split;
        self.deal(context);
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<Part>, context: &mut EnumeratorContext<Part, i64>) -> JobResult<()> {
        self.splits.add_back(splits);
        self.deal(context);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn checkpoint_complete(&mut self, _checkpoint: u64) -> JobResult<()> {
        self.hear()
    }

    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> JobResult<()> {
        self.hear()
    }

    // Rows of a split that nobody has found may be older than all others.
    fn holds_watermark(&self) -> bool {
        self.found < self.size.splits || !self.splits.is_empty()
    }

    fn snapshot(&self) -> Vec<u8> {
        [&self.found.to_le_bytes()[..], &self.read.to_le_bytes(), &self.splits.snapshot()].concat()
    }
}

pub(crate) struct NumbersReader {
    world: Arc<SimWorld>,
    rows: i64,
    parts: Vec<Part>,
    no_more: bool,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl SourceReader for NumbersReader {
    type Row = Row;
    type Split = Part;

    fn add_splits(&mut self, splits: Vec<Part>) -> JobResult<()> {
        self.parts.extend(splits);
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more = true;
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<Row>) -> Poll<JobResult<ReaderStatus>> {
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(context));
            self.sleep = None;
        }
        if self.world.reader_fails() {
            return Poll::Ready(Err(JobError::transient("a reader fails")));
        }
        let index = usize::try_from(self.world.below(self.parts.len() as u64)).unwrap_or(0);
        let Some(part) = self.parts.get_mut(index) else {
            return Poll::Ready(Ok(if self.no_more { ReaderStatus::End } else { ReaderStatus::NeedsSplit }));
        };
        let id = part.id();
        out.select_split(&id);
        for _ in 0..=self.world.below(5) {
            if part.next < self.rows {
                let at = Timestamp(part.next * STEP);
                out.emit(Row { split: part.split, number: part.next, at })?;
                part.next += 1;
            }
        }
        if part.next >= self.rows {
            out.split_finished(&id);
            out.send_event(part.encode());
            self.parts.remove(index);
        }
        if self.world.below(3) > 0 {
            self.sleep = Some(Box::pin(tokio::time::sleep(self.world.moment(20_000) + Duration::from_micros(1))));
        }
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<Part> {
        self.parts.clone()
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        self.world.snapshot_taken(checkpoint);
    }
}
