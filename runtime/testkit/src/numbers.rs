//! What feeds a tested sink: a source of numbers that stops where the test wants it to.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;

use millstream::source::{
    EnumeratorContext, ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, SplitEnumerator,
};
use millstream::{JobError, JobResult};

/// Splits, whatever the parallelism.
pub(crate) const SPLITS: u64 = 4;

/// Rows emitted at once.
const BATCH: u64 = 50;

/// How often a reader that waits for the test looks.
const LOOK: Duration = Duration::from_millis(1);

/// How far the source goes. Shared with the test.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    limit: AtomicU64,
    ended: AtomicBool,
    /// Microseconds between two batches.
    pace: AtomicU64,
    emitted: AtomicU64,
}

impl Gate {
    /// Numbers below `limit`, then it waits.
    pub(crate) fn up_to(&self, limit: u64) {
        self.limit.store(limit, SeqCst);
    }

    /// At the limit it ends instead of waiting.
    pub(crate) fn then_end(&self) {
        self.ended.store(true, SeqCst);
    }

    pub(crate) fn pace(&self, pause: Duration) {
        self.pace.store(u64::try_from(pause.as_micros()).unwrap_or(u64::MAX), SeqCst);
    }

    /// Rows emitted, those that came again included.
    pub(crate) fn emitted(&self) -> u64 {
        self.emitted.load(SeqCst)
    }
}

/// Rows made of the numbers from 0.
pub(crate) struct Numbers<T> {
    pub gate: Arc<Gate>,
    pub row: Arc<dyn Fn(u64) -> T + Send + Sync>,
}

/// Every fourth number, from `next`.
#[derive(Clone, Debug)]
pub(crate) struct Every {
    first: u64,
    next: u64,
}

impl Split for Every {
    fn id(&self) -> String {
        self.first.to_string()
    }

    fn encode(&self) -> Vec<u8> {
        [self.first.to_le_bytes(), self.next.to_le_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let number = |at: usize| bytes.get(at..at + 8).and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
        match (number(0), number(8)) {
            (Some(first), Some(next)) => Ok(Every { first, next }),
            _ => Err(JobError::new("a split of numbers is 16 bytes")),
        }
    }
}

impl<T: Send + 'static> Source for Numbers<T> {
    type Row = T;
    type Split = Every;
    type Enumerator = Deal;
    type Reader = NumberReader<T>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Deal> {
        let splits = match restored {
            None => (0..SPLITS).map(|first| Every { first, next: first }).collect(),
            Some(bytes) => bytes.chunks(16).map(Every::decode).collect::<JobResult<_>>()?,
        };
        Ok(Deal { splits, readers: u64::from(context.parallelism) })
    }

    fn reader(&self, _context: &ReaderContext) -> JobResult<NumberReader<T>> {
        Ok(NumberReader {
            gate: self.gate.clone(),
            row: self.row.clone(),
            splits: Vec::new(),
            turn: 0,
            no_more: false,
            sleep: None,
        })
    }

    fn bounded(&self) -> bool {
        true
    }
}

/// Gives each reader its share at once.
pub(crate) struct Deal {
    splits: Vec<Every>,
    readers: u64,
}

impl SplitEnumerator<Every> for Deal {
    type Found = ();

    fn start(&mut self, _context: &mut EnumeratorContext<Every>) -> JobResult<()> {
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<Every>) -> JobResult<()> {
        for split in self.splits.extract_if(.., |split| split.first % self.readers == u64::from(subtask)) {
            context.assign(subtask, split);
        }
        context.no_more_splits(subtask);
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<Every>, _context: &mut EnumeratorContext<Every>) -> JobResult<()> {
        self.splits.extend(splits);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn snapshot(&self) -> Vec<u8> {
        self.splits.iter().flat_map(Split::encode).collect()
    }
}

pub(crate) struct NumberReader<T> {
    gate: Arc<Gate>,
    row: Arc<dyn Fn(u64) -> T + Send + Sync>,
    splits: Vec<Every>,
    turn: usize,
    no_more: bool,
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<T: Send> SourceReader for NumberReader<T> {
    type Row = T;
    type Split = Every;

    fn add_splits(&mut self, splits: Vec<Every>) -> JobResult<()> {
        self.splits.extend(splits);
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more = true;
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<T>) -> Poll<JobResult<ReaderStatus>> {
        if self.splits.is_empty() {
            return Poll::Ready(Ok(if self.no_more { ReaderStatus::End } else { ReaderStatus::NeedsSplit }));
        }
        loop {
            if let Some(sleep) = &mut self.sleep {
                std::task::ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            let (ended, limit) = (self.gate.ended.load(SeqCst), self.gate.limit.load(SeqCst));
            let Some(turn) = (0..self.splits.len())
                .map(|offset| (self.turn + offset) % self.splits.len())
                .find(|&index| self.splits[index].next < limit)
            else {
                if ended {
                    for split in self.splits.drain(..) {
                        out.split_finished(&split.id());
                    }
                    return Poll::Ready(Ok(ReaderStatus::More));
                }
                self.sleep = Some(Box::pin(tokio::time::sleep(LOOK)));
                continue;
            };
            self.turn = turn + 1;
            let split = &mut self.splits[turn];
            out.select_split(&split.id());
            let mut rows = 0;
            while rows < BATCH && split.next < limit {
                let number = split.next;
                split.next += SPLITS;
                rows += 1;
                out.emit((self.row)(number))?;
            }
            self.gate.emitted.fetch_add(rows, SeqCst);
            let pace = self.gate.pace.load(SeqCst);
            if pace > 0 {
                self.sleep = Some(Box::pin(tokio::time::sleep(Duration::from_micros(pace))));
            }
            return Poll::Ready(Ok(ReaderStatus::More));
        }
    }

    fn snapshot(&self) -> Vec<Every> {
        self.splits.clone()
    }
}
