//! Fetcher threads: blocking input away from the task, handed over chunk by chunk through a short queue.
//!
//! A [`SplitFetcher`] reads one split after the other on its own thread; an [`Emitter`] turns the chunks into rows on the
//! task. A split leaves the reader's state only when the task has emitted its last row, not when the thread has read it.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use tokio::sync::mpsc;

use super::{ReaderStatus, SourceOutput, SourceReader, Split};
use crate::error::{JobError, JobResult};

/// Chunks that wait between thread and task.
const QUEUE: usize = 2;

/// Reads splits, blocking, on a thread of its own.
pub trait SplitFetcher: Send + 'static {
    /// What it reads.
    type Split: Split;
    /// What it hands over.
    type Chunk: Send + 'static;

    /// The next split to read, from its position.
    fn open(&mut self, split: Self::Split) -> JobResult<()>;

    /// The next chunk of the split; None: it is read to its end.
    fn fetch(&mut self) -> JobResult<Option<Self::Chunk>>;
}

/// Turns chunks into rows, on the task.
pub trait Emitter: Send {
    /// What it emits.
    type Row;
    /// Whose rows.
    type Split: Split;
    /// What the fetcher hands over.
    type Chunk: Send + 'static;

    /// A split begins, or is read on.
    fn begin(&mut self, split: &Self::Split) -> JobResult<()>;

    /// Emits up to `limit` rows of the chunk and moves the split's position behind the last one.
    /// Gives whether the chunk is used up.
    fn emit(
        &mut self,
        chunk: &mut Self::Chunk,
        split: &mut Self::Split,
        limit: usize,
        out: &mut impl SourceOutput<Self::Row>,
    ) -> JobResult<bool>;

    /// Rows that may be emitted now; zero with a time (microseconds from now) when the source is throttled.
    fn allowance(&mut self, _wanted: usize) -> Result<usize, std::time::Duration> {
        Ok(usize::MAX)
    }
}

enum Fetched<C> {
    Chunk(C),
    End,
}

/// A reader made of a fetcher thread and an emitter.
pub struct FetchingReader<E: Emitter> {
    emitter: E,
    /// Splits that the thread has or will get; the first is the one being read.
    splits: VecDeque<E::Split>,
    begun: bool,
    commands: std::sync::mpsc::Sender<E::Split>,
    chunks: mpsc::Receiver<JobResult<Fetched<E::Chunk>>>,
    chunk: Option<E::Chunk>,
    no_more_splits: bool,
    sleep: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
}

impl<E: Emitter> std::fmt::Debug for FetchingReader<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FetchingReader").field("splits", &self.splits).finish_non_exhaustive()
    }
}

impl<E: Emitter> FetchingReader<E>
where
    E::Split: Send,
{
    /// Starts the thread. It ends by itself when the reader is dropped.
    pub fn start<F>(name: &str, fetcher: F, emitter: E) -> JobResult<Self>
    where
        F: SplitFetcher<Split = E::Split, Chunk = E::Chunk>,
    {
        let (commands, command_receiver) = std::sync::mpsc::channel();
        let (chunk_sender, chunks) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name(format!("fetch {name}"))
            .spawn(move || run_fetcher(fetcher, &command_receiver, &chunk_sender))
            .map_err(|error| JobError::io(format!("cannot start the thread that reads {name}"), &error))?;
        Ok(FetchingReader {
            emitter,
            splits: VecDeque::new(),
            begun: false,
            commands,
            chunks,
            chunk: None,
            no_more_splits: false,
            sleep: None,
        })
    }

    /// Waits until the source may emit again.
    fn throttled(&mut self, context: &mut Context<'_>) -> Poll<usize> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                std::task::ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            match self.emitter.allowance(crate::exchange::BATCH_ROWS) {
                Ok(rows) => return Poll::Ready(rows.min(crate::exchange::BATCH_ROWS)),
                Err(wait) => self.sleep = Some(Box::pin(tokio::time::sleep(wait))),
            }
        }
    }
}

use std::future::Future as _;

fn run_fetcher<F: SplitFetcher>(
    mut fetcher: F,
    commands: &std::sync::mpsc::Receiver<F::Split>,
    chunks: &mpsc::Sender<JobResult<Fetched<F::Chunk>>>,
) {
    while let Ok(split) = commands.recv() {
        if let Err(error) = fetcher.open(split) {
            let _ = chunks.blocking_send(Err(error));
            return;
        }
        loop {
            let fetched = fetcher.fetch();
            let last = !matches!(fetched, Ok(Some(_)));
            let failed = fetched.is_err();
            let message = fetched.map(|chunk| chunk.map_or(Fetched::End, Fetched::Chunk));
            if chunks.blocking_send(message).is_err() || failed {
                return;
            }
            if last {
                break;
            }
        }
    }
}

impl<E: Emitter> SourceReader for FetchingReader<E> {
    type Row = E::Row;
    type Split = E::Split;

    fn add_splits(&mut self, splits: Vec<E::Split>) -> JobResult<()> {
        for split in splits {
            // A thread that has failed has said why in `chunks`.
            let _ = self.commands.send(split.clone());
            self.splits.push_back(split);
        }
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more_splits = true;
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<E::Row>) -> Poll<JobResult<ReaderStatus>> {
        let Some(split) = self.splits.front() else {
            let status = if self.no_more_splits { ReaderStatus::End } else { ReaderStatus::NeedsSplit };
            return Poll::Ready(Ok(status));
        };
        if !self.begun {
            self.emitter.begin(split)?;
            self.begun = true;
            for split in &self.splits {
                out.split_added(&split.id());
            }
        }
        if self.chunk.is_none() {
            match std::task::ready!(self.chunks.poll_recv(context)) {
                Some(Ok(Fetched::Chunk(chunk))) => self.chunk = Some(chunk),
                Some(Ok(Fetched::End)) => {
                    if let Some(split) = self.splits.pop_front() {
                        out.split_finished(&split.id());
                    }
                    self.begun = false;
                    return Poll::Ready(Ok(ReaderStatus::More));
                }
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => return Poll::Ready(Err(JobError::transient("the thread that reads the source has ended unexpectedly"))),
            }
        }
        let limit = std::task::ready!(self.throttled(context));
        if let (Some(chunk), Some(split)) = (&mut self.chunk, self.splits.front_mut()) {
            out.select_split(&split.id());
            if self.emitter.emit(chunk, split, limit, out)? {
                self.chunk = None;
            }
        }
        Poll::Ready(Ok(ReaderStatus::More))
    }

    fn snapshot(&self) -> Vec<E::Split> {
        self.splits.iter().cloned().collect()
    }
}
