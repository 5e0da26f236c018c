//! The base of most readers: blocking input on fetcher threads, handed over batch by batch through a short queue.
//!
//! A [`SplitFetcher`] reads on a thread of its own, either all splits of the reader ([`FetchingReader::start`]) or one split each
//! ([`FetchingReader::start_each`]). An [`Emitter`] turns what it hands over into rows, on the task. Chunks of one split stay
//! in order. A split leaves the reader's state only when the task has emitted its last row, not when the thread has read it;
//! chunks that were fetched are never fetched again. A thread ends with its reader, or, with one each, with its split.

use std::collections::VecDeque;
use std::future::Future as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::mpsc;

use super::{ReaderStatus, SourceOutput, SourceReader, Split};
use crate::error::{JobError, JobResult};
use crate::seam::now_micros;

/// Chunks that wait between threads and task.
const QUEUE: usize = 2;

/// Reads splits, blocking, on a thread of its own.
pub trait SplitFetcher: Send + 'static {
    /// What it reads.
    type Split: Split;
    /// What it hands over.
    type Chunk: Send + 'static;

    /// Another split to read, from its position.
    fn add(&mut self, split: Self::Split) -> JobResult<()>;

    /// Something of one of the splits. Called only while there are unfinished splits. May block, but not much longer than 100 ms
    /// where nothing comes: until then a new split, a pause, or the end of the job waits.
    fn fetch(&mut self) -> JobResult<Fetched<Self::Chunk>>;

    /// Leaves a split alone for now, or goes on with it.
    fn set_paused(&mut self, split: &str, paused: bool);
}

/// What a fetch has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched<C> {
    /// The next of the split with this id.
    Chunk(Arc<str>, C),
    /// The split with this id is read to its end.
    End(Arc<str>),
    /// Nothing for now: come again after this time, or earlier if there is a new split.
    Nothing(Duration),
}

/// Turns chunks into rows, on the task.
pub trait Emitter: Send {
    /// What it emits.
    type Row;
    /// Whose rows.
    type Split: Split;
    /// What the fetcher hands over.
    type Chunk: Send + 'static;
    /// What it keeps per split while the split is read: a decoder.
    type State: Send;

    /// A split begins, or is read on.
    fn begin(&mut self, split: &Self::Split) -> JobResult<Self::State>;

    /// Emits up to `limit` rows of the chunk and moves the split's position behind the last one.
    /// Gives whether the chunk is used up.
    fn emit(
        &mut self,
        state: &mut Self::State,
        chunk: &mut Self::Chunk,
        split: &mut Self::Split,
        limit: usize,
        out: &mut impl SourceOutput<Self::Row>,
    ) -> JobResult<bool>;

    /// Rows that may be emitted now; zero with a time (microseconds from now) when the source is throttled.
    fn allowance(&mut self, _wanted: usize) -> Result<usize, Duration> {
        Ok(usize::MAX)
    }
}

/// From the reader to a fetcher thread. Done in order, and before the next fetch.
enum Command<S> {
    Add(S),
    SetPaused(Arc<str>, bool),
}

type Commands<S> = std::sync::mpsc::Sender<Command<S>>;

/// From a fetcher thread to the reader.
enum Handed<C> {
    /// With when it was fetched, in microseconds since the epoch.
    Chunk(Arc<str>, C, i64),
    End(Arc<str>),
}

type Handover<C> = mpsc::Sender<JobResult<Handed<C>>>;

/// Starts a fetcher thread.
type Spawn<S> = Box<dyn FnMut() -> JobResult<Commands<S>> + Send>;

/// The threads of a reader.
enum Threads<S> {
    One(Commands<S>),
    Each(Spawn<S>),
}

/// A split of the reader.
struct Entry<E: Emitter> {
    id: Arc<str>,
    split: E::Split,
    state: Option<E::State>,
    /// Fetched and not yet emitted.
    chunks: VecDeque<(E::Chunk, i64)>,
    /// Its last chunk is among `chunks`, or was emitted.
    ended: bool,
    paused: bool,
    /// Its own thread's, where it has one.
    commands: Option<Commands<E::Split>>,
}

/// A reader made of fetcher threads and an emitter.
pub struct FetchingReader<E: Emitter> {
    emitter: E,
    threads: Threads<E::Split>,
    splits: Vec<Entry<E>>,
    /// The split whose turn it is.
    turn: usize,
    queue: mpsc::Receiver<JobResult<Handed<E::Chunk>>>,
    no_more_splits: bool,
    sleep: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
}

impl<E: Emitter> std::fmt::Debug for FetchingReader<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let splits: Vec<_> = self.splits.iter().map(|entry| &entry.split).collect();
        f.debug_struct("FetchingReader").field("splits", &splits).finish_non_exhaustive()
    }
}

impl<E: Emitter> FetchingReader<E> {
    /// A reader with one thread for all its splits. It ends by itself when the reader is dropped.
    pub fn start<F>(name: &str, fetcher: F, emitter: E) -> JobResult<Self>
    where
        F: SplitFetcher<Split = E::Split, Chunk = E::Chunk>,
    {
        let (handover, queue) = mpsc::channel(QUEUE);
        let threads = Threads::One(spawn(name, fetcher, handover)?);
        Ok(Self::new(threads, queue, emitter))
    }

    /// A reader with a thread for each split: what blocks one of them does not block the others. A thread ends with its split.
    pub fn start_each<F>(name: &str, mut fetcher: impl FnMut() -> JobResult<F> + Send + 'static, emitter: E) -> Self
    where
        F: SplitFetcher<Split = E::Split, Chunk = E::Chunk>,
    {
        let (handover, queue) = mpsc::channel(QUEUE);
        let name = name.to_owned();
        let threads = Threads::Each(Box::new(move || spawn(&name, fetcher()?, handover.clone())));
        Self::new(threads, queue, emitter)
    }

    fn new(threads: Threads<E::Split>, queue: mpsc::Receiver<JobResult<Handed<E::Chunk>>>, emitter: E) -> Self {
        FetchingReader { emitter, threads, splits: Vec::new(), turn: 0, queue, no_more_splits: false, sleep: None }
    }

    /// Waits until the source may emit again.
    fn throttled(&mut self, context: &mut Context<'_>) -> Poll<usize> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            match self.emitter.allowance(crate::exchange::BATCH_ROWS) {
                Ok(rows) => return Poll::Ready(rows.min(crate::exchange::BATCH_ROWS)),
                Err(wait) => self.sleep = Some(Box::pin(tokio::time::sleep(wait))),
            }
        }
    }

    /// The next split, in turn, that has something to emit and may.
    fn next_ready(&self) -> Option<usize> {
        let count = self.splits.len();
        let ready = |&index: &usize| !self.splits[index].paused && !self.splits[index].chunks.is_empty();
        (0..count).map(|step| (self.turn + step) % count).find(ready)
    }

    /// Emits some rows of a split.
    fn emit(&mut self, index: usize, limit: usize, out: &mut impl SourceOutput<E::Row>) -> JobResult<()> {
        let entry = &mut self.splits[index];
        let Some((chunk, fetched)) = entry.chunks.front_mut() else { return Ok(()) };
        let state = match &mut entry.state {
            Some(state) => state,
            none => none.insert(self.emitter.begin(&entry.split)?),
        };
        out.select_split(&entry.id);
        out.fetched(*fetched);
        let used_up = self.emitter.emit(state, chunk, &mut entry.split, limit, out)?;
        self.turn = index;
        if used_up {
            entry.chunks.pop_front();
            self.turn = index + 1;
            self.leave_if_done(index, out);
        }
        Ok(())
    }

    /// Takes a split out when its last row is emitted.
    fn leave_if_done(&mut self, index: usize, out: &mut impl SourceOutput<E::Row>) {
        if self.splits[index].ended && self.splits[index].chunks.is_empty() {
            let entry = self.splits.remove(index);
            out.split_finished(&entry.id);
            self.turn = index;
        }
    }

    /// Files what a thread has handed over under its split.
    fn file(&mut self, handed: Handed<E::Chunk>, out: &mut impl SourceOutput<E::Row>) {
        let (Handed::Chunk(id, ..) | Handed::End(id)) = &handed;
        let Some(index) = self.splits.iter().position(|entry| entry.id == *id) else { return };
        match handed {
            Handed::Chunk(_, chunk, fetched) => self.splits[index].chunks.push_back((chunk, fetched)),
            Handed::End(_) => {
                self.splits[index].ended = true;
                self.leave_if_done(index, out);
            }
        }
    }
}

impl<E: Emitter> SourceReader for FetchingReader<E> {
    type Row = E::Row;
    type Split = E::Split;

    fn add_splits(&mut self, splits: Vec<E::Split>) -> JobResult<()> {
        for split in splits {
            let mut entry = Entry {
                id: split.id().into(),
                split: split.clone(),
                state: None,
                chunks: VecDeque::new(),
                ended: false,
                paused: false,
                commands: None,
            };
            let commands = match &mut self.threads {
                Threads::One(commands) => commands,
                Threads::Each(spawn) => entry.commands.insert(spawn()?),
            };
            // A thread that has failed has said why in the queue.
            let _ = commands.send(Command::Add(split));
            self.splits.push(entry);
        }
        Ok(())
    }

    fn no_more_splits(&mut self) {
        self.no_more_splits = true;
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<E::Row>) -> Poll<JobResult<ReaderStatus>> {
        loop {
            if let Some(index) = self.next_ready() {
                let limit = ready!(self.throttled(context));
                self.emit(index, limit, out)?;
                return Poll::Ready(Ok(ReaderStatus::More));
            }
            if self.splits.is_empty() {
                let status = if self.no_more_splits { ReaderStatus::End } else { ReaderStatus::NeedsSplit };
                return Poll::Ready(Ok(status));
            }
            match ready!(self.queue.poll_recv(context)) {
                Some(handed) => self.file(handed?, out),
                None => {
                    let gone = "the thread that reads the source has ended unexpectedly";
                    return Poll::Ready(Err(JobError::transient(gone)));
                }
            }
        }
    }

    fn snapshot(&self) -> Vec<E::Split> {
        self.splits.iter().map(|entry| entry.split.clone()).collect()
    }

    fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        if let Some(entry) = self.splits.iter_mut().find(|entry| &*entry.id == split) {
            entry.paused = paused;
            let commands = match (&entry.commands, &self.threads) {
                (Some(commands), _) | (None, Threads::One(commands)) => commands,
                (None, Threads::Each(_)) => return true,
            };
            let _ = commands.send(Command::SetPaused(entry.id.clone(), paused));
        }
        true
    }
}

fn spawn<F: SplitFetcher>(name: &str, fetcher: F, handover: Handover<F::Chunk>) -> JobResult<Commands<F::Split>> {
    let (commands, receiver) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name(format!("fetch {name}"))
        .spawn(move || {
            crate::panics::own_thread();
            let read = AssertUnwindSafe(|| drop(run_fetcher(fetcher, &receiver, &handover)));
            // The reader must not wait for ever.
            if let Err(panic) = catch_unwind(read) {
                let what = crate::panics::described(&*panic);
                let _ = handover
                    .blocking_send(Err(JobError::transient(format!("the thread that reads the source panicked: {what}"))));
            }
        })
        .map_err(|error| JobError::io(format!("cannot start the thread that reads {name}"), &error))?;
    Ok(commands)
}

/// The reader is gone, or the thread has failed and said so.
struct Over;

fn run_fetcher<F: SplitFetcher>(
    mut fetcher: F,
    commands: &std::sync::mpsc::Receiver<Command<F::Split>>,
    handover: &Handover<F::Chunk>,
) -> Result<(), Over> {
    let mut unfinished = 0_usize;
    loop {
        let mut wait = if unfinished == 0 { None } else { Some(Duration::ZERO) };
        let handed = loop {
            let command = match wait {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => commands.recv_timeout(wait),
            };
            match command {
                Ok(Command::Add(split)) => match fetcher.add(split) {
                    Ok(()) => unfinished += 1,
                    Err(error) => break Err(error),
                },
                Ok(Command::SetPaused(split, paused)) => fetcher.set_paused(&split, paused),
                Err(RecvTimeoutError::Disconnected) => return Err(Over),
                Err(RecvTimeoutError::Timeout) => match fetcher.fetch() {
                    Ok(Fetched::Nothing(time)) => {
                        wait = Some(time);
                        continue;
                    }
                    Ok(Fetched::Chunk(split, chunk)) => break Ok(Handed::Chunk(split, chunk, now_micros())),
                    Ok(Fetched::End(split)) => {
                        unfinished = unfinished.saturating_sub(1);
                        break Ok(Handed::End(split));
                    }
                    Err(error) => break Err(error),
                },
            }
            wait = if unfinished == 0 { None } else { Some(Duration::ZERO) };
        };
        let failed = handed.is_err();
        handover.blocking_send(handed).map_err(|_| Over)?;
        if failed {
            return Err(Over);
        }
    }
}
