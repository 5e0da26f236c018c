//! The source of the connector `generator`.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::nexmark::{Nexmark, NexmarkConfig};
use super::sequence::Sequence;
use super::split::{NumberEnumerator, NumberSplit};
use crate::error::{JobError, JobResult};
use crate::exchange::BATCH_ROWS;
use crate::options::Options;
use crate::record::Record;
use crate::source::{
    ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, StaticEnumerator, Throttle,
};

/// Makes rows of type `T` up.
#[derive(Clone, Debug)]
pub struct GeneratorSource<T> {
    maker: Maker,
    rows: Option<u64>,
    rate: Option<u64>,
    row: PhantomData<fn() -> T>,
}

#[derive(Clone, Debug)]
enum Maker {
    Sequence(Sequence),
    Nexmark(Box<Nexmark>),
}

impl<T: Record> GeneratorSource<T> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let slots = T::slots();
        let maker = match options.word("kind", &["sequence", "nexmark"])? {
            "nexmark" => Maker::Nexmark(Box::new(Nexmark::new(NexmarkConfig::from_options(options)?, &slots)?)),
            _ => Maker::Sequence(Sequence::new::<T>(options)?),
        };
        Ok(GeneratorSource { maker, rows: options.unsigned("rows")?, rate: options.unsigned("rate")?, row: PhantomData })
    }
}

impl<T: Record> Source for GeneratorSource<T> {
    type Row = T;
    type Split = NumberSplit;
    type Enumerator = NumberEnumerator;
    type Reader = GeneratorReader<T>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<NumberEnumerator> {
        let parts = context.parallelism.max(1);
        let splits = match restored {
            Some(bytes) => StaticEnumerator::restore(bytes)?,
            None => StaticEnumerator::new(NumberSplit::deal(parts, self.rows.unwrap_or(u64::MAX))),
        };
        Ok(NumberEnumerator { splits, parts })
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<GeneratorReader<T>> {
        Ok(GeneratorReader {
            maker: self.maker.clone(),
            splits: Vec::new(),
            turn: 0,
            no_more_splits: false,
            rate: self.rate,
            throttle: context.throttle.clone(),
            sleep: None,
            row: PhantomData,
        })
    }

    fn bounded(&self) -> bool {
        self.rows.is_some()
    }
}

/// Makes the rows of one subtask.
pub struct GeneratorReader<T> {
    maker: Maker,
    splits: Vec<Part>,
    /// The split whose turn it is.
    turn: usize,
    no_more_splits: bool,
    rate: Option<u64>,
    throttle: Arc<Throttle>,
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
    row: PhantomData<fn() -> T>,
}

/// A split that is read.
#[derive(Debug)]
struct Part {
    id: String,
    split: NumberSplit,
    /// It is too far ahead of others.
    paused: bool,
}

impl<T> std::fmt::Debug for GeneratorReader<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeneratorReader").field("splits", &self.splits).finish_non_exhaustive()
    }
}

impl<T: Record> GeneratorReader<T> {
    fn allowance(&mut self, context: &mut Context<'_>) -> Poll<usize> {
        let Some(rate) = self.rate else { return Poll::Ready(BATCH_ROWS) };
        loop {
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            match self.throttle.take(rate, BATCH_ROWS) {
                Ok(rows) => return Poll::Ready(rows),
                Err(wait) => self.sleep = Some(Box::pin(tokio::time::sleep(wait))),
            }
        }
    }

    fn make(maker: &Maker, split: &mut NumberSplit, limit: usize, out: &mut impl SourceOutput<T>) -> JobResult<()> {
        for _ in 0..limit {
            if split.is_done() {
                return Ok(());
            }
            let number = split.next;
            let row = match maker {
                Maker::Sequence(sequence) => T::decode_row(&sequence.row(number), 0),
                Maker::Nexmark(nexmark) => T::decode_row(&nexmark.event(number), 0),
            };
            split.next = number.saturating_add(split.step);
            match row {
                Ok(row) => out.emit(row)?,
                Err(error) => return Err(JobError::new(format!("row {number}: {error}"))),
            }
        }
        Ok(())
    }
}

use std::future::Future as _;

impl<T: Record> SourceReader for GeneratorReader<T> {
    type Row = T;
    type Split = NumberSplit;

    fn add_splits(&mut self, splits: Vec<NumberSplit>) -> JobResult<()> {
        self.splits.extend(splits.into_iter().map(|split| Part { id: split.id(), split, paused: false }));
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more_splits = true;
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<T>) -> Poll<JobResult<ReaderStatus>> {
        if self.splits.is_empty() {
            let status = if self.no_more_splits { ReaderStatus::End } else { ReaderStatus::NeedsSplit };
            return Poll::Ready(Ok(status));
        }
        let count = self.splits.len();
        let may = |&turn: &usize| !self.splits[turn].paused;
        let Some(turn) = (0..count).map(|step| (self.turn + step) % count).find(may) else { return Poll::Pending };
        let limit = ready!(self.allowance(context));
        self.turn = turn;
        let part = &mut self.splits[turn];
        out.select_split(&part.id);
        Self::make(&self.maker, &mut part.split, limit, out)?;
        if part.split.is_done() {
            out.split_finished(&part.id);
            self.splits.remove(turn);
        } else {
            self.turn += 1;
        }
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<NumberSplit> {
        self.splits.iter().map(|part| part.split.clone()).collect()
    }

    fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        if let Some(part) = self.splits.iter_mut().find(|part| part.id == split) {
            part.paused = paused;
        }
        true
    }
}
