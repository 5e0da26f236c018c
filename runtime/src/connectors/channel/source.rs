//! The source of the connector `channel`: one split, the channel, which the first reader gets.
//!
//! In a job with checkpoints the rows since the last complete one are kept, and the split holds the number of the next row: an
//! attempt that follows in the same run takes them again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::channels::Channels;
use super::queue::Queue;
use crate::bytes::{Reader, put_u64};
use crate::error::{JobError, JobResult};
use crate::params::ParamValues;
use crate::source::{ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader, Split, StaticEnumerator};

/// Rows that a reader takes at once.
const BATCH: usize = 256;

/// Reads what the program sends.
#[derive(Debug)]
pub struct ChannelSource<T> {
    queue: Arc<Queue<T>>,
    /// Whether the job takes checkpoints.
    keep: bool,
}

impl<T: Clone + Send + 'static> ChannelSource<T> {
    /// The channel of this source, which the program holds the other end of.
    pub fn connect(params: &ParamValues, uid: &str) -> JobResult<Self> {
        Ok(ChannelSource { queue: Channels::of_source(params, uid)?, keep: params.takes_checkpoints() })
    }
}

impl<T: Clone + Send + 'static> Source for ChannelSource<T> {
    type Row = T;
    type Split = ChannelSplit;
    type Enumerator = StaticEnumerator<ChannelSplit>;
    type Reader = ChannelReader<T>;

    fn enumerator(&self, _context: &SourceContext, restored: Option<&[u8]>) -> JobResult<Self::Enumerator> {
        match restored {
            Some(bytes) => StaticEnumerator::restore(bytes),
            None => Ok(StaticEnumerator::new([ChannelSplit { run: 0, next: 0 }])),
        }
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        Ok(ChannelReader {
            name: context.name.clone(),
            queue: self.queue.clone(),
            keep: self.keep,
            state: Reading::Unasked,
            batch: Vec::new(),
            next: 0,
            snapshots: VecDeque::new(),
        })
    }

    fn bounded(&self) -> bool {
        false
    }
}

/// The channel, and the number of the row that comes next in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSplit {
    /// Which run of the program has counted; 0: none.
    run: u64,
    next: u64,
}

impl Split for ChannelSplit {
    fn id(&self) -> String {
        super::NAME.to_owned()
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u64(&mut out, self.run);
        put_u64(&mut out, self.next);
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        Ok(ChannelSplit { run: input.u64()?, next: input.u64()? })
    }
}

/// Which part of its life a reader is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Without the channel.
    Unasked,
    Channel,
    /// Another reader has the channel, or it has ended.
    Done,
}

/// Reads the channel, if it is the one that gets it.
#[derive(Debug)]
pub struct ChannelReader<T> {
    name: String,
    queue: Arc<Queue<T>>,
    keep: bool,
    state: Reading,
    batch: Vec<T>,
    /// The number of the next row.
    next: u64,
    /// Checkpoints that are not complete, with the number of the next row in each.
    snapshots: VecDeque<(u64, u64)>,
}

impl<T> ChannelReader<T> {
    /// Tells this run from all others: what another has counted means nothing here.
    fn run(&self) -> u64 {
        self.queue.run()
    }
}

impl<T: Clone + Send> SourceReader for ChannelReader<T> {
    type Row = T;
    type Split = ChannelSplit;

    fn add_splits(&mut self, splits: Vec<ChannelSplit>) -> JobResult<()> {
        for split in splits {
            self.state = Reading::Channel;
            if split.run != self.run() {
                // Of an attempt before the first checkpoint, or of another program: whatever is kept is new to the job.
                self.queue.go_back_to_first();
            } else if !self.queue.go_back(split.next) {
                return Err(JobError::new(format!(
                    "source {}: the checkpoint goes on with row {} of the channel, which is not kept any more",
                    self.name, split.next
                )));
            }
            self.next = self.queue.next();
        }
        Ok(())
    }

    fn no_more_splits(&mut self) {
        if self.state == Reading::Unasked {
            self.state = Reading::Done;
        }
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<T>) -> Poll<JobResult<ReaderStatus>> {
        match self.state {
            Reading::Unasked => return Poll::Ready(Ok(ReaderStatus::NeedsSplit)),
            Reading::Done => return Poll::Ready(Ok(ReaderStatus::End)),
            Reading::Channel => {}
        }
        let taken = match self.keep {
            true => self.queue.poll_take_and_keep(BATCH, &mut self.batch, context),
            false => self.queue.poll_take(BATCH, &mut self.batch, Some(context)),
        };
        if taken.is_pending() {
            return Poll::Pending;
        }
        if self.batch.is_empty() {
            self.state = Reading::Done;
            out.split_finished(super::NAME);
            return Poll::Ready(Ok(ReaderStatus::End));
        }
        out.select_split(super::NAME);
        for row in self.batch.drain(..) {
            self.next += 1;
            out.emit(row)?;
        }
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<ChannelSplit> {
        match self.state {
            Reading::Channel => vec![ChannelSplit { run: self.run(), next: self.next }],
            _ => Vec::new(),
        }
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        if self.state == Reading::Channel {
            self.snapshots.push_back((checkpoint, self.next));
        }
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        while let Some((_, next)) = self.snapshots.pop_front_if(|(of, _)| *of <= checkpoint) {
            self.queue.forget(next);
        }
        Ok(())
    }
}
