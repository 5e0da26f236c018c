//! The coordinator and the tasks in miniature. Messages to one reader stay in order, as do those to the enumerator; all else
//! happens in the order that a random number has it.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::error::JobResult;
use crate::operator::ErrorRow;
use crate::source::hybrid::{HybridSource, HybridSplit, Stages};
use crate::source::{
    EnumeratorAction, ErasedEnumerator, ErasedSource, Reaction, ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput,
    SourceReader, Split, Throttle, erase_source,
};

#[derive(Clone, Debug)]
enum ToReader {
    Splits(Vec<u8>),
    NoMore,
    Event(Vec<u8>),
    Trigger(u64),
}

#[derive(Debug)]
enum ToCoordinator {
    NeedsSplit(u32),
    Event(u32, Vec<u8>),
}

/// What a reader has put out.
#[derive(Debug, Default)]
pub struct Out {
    pub rows: Vec<u64>,
    pub events: Vec<Vec<u8>>,
    /// Splits that take part in the watermark.
    pub active: Vec<String>,
}

impl SourceOutput<u64> for Out {
    fn split_added(&mut self, split: &str) {
        if !self.active.iter().any(|active| active == split) {
            self.active.push(split.to_owned());
        }
    }

    fn select_split(&mut self, split: &str) {
        self.split_added(split);
    }

    fn emit_record(&mut self, row: u64, _record: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        self.rows.push(row);
        Ok(())
    }

    fn reject_record(
        &mut self,
        _reason: &str,
        message: impl FnOnce() -> String,
        _row: impl FnOnce() -> ErrorRow,
    ) -> JobResult<()> {
        Err(crate::JobError::new(message()))
    }

    fn split_finished(&mut self, split: &str) {
        self.active.retain(|active| active != split);
    }

    fn bytes_read(&mut self, _bytes: u64) {}

    fn send_event(&mut self, event: Vec<u8>) {
        self.events.push(event);
    }
}

struct Task<R> {
    reader: R,
    out: Out,
    inbox: VecDeque<ToReader>,
    asked: bool,
    waits: bool,
    ended: bool,
}

/// A checkpoint, complete when all readers have answered.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    pub id: u64,
    pub enumerator: Vec<u8>,
    pub splits: Vec<Vec<u8>>,
    /// What was emitted before it.
    pub rows: Vec<u64>,
    answers: usize,
    ended: Vec<bool>,
}

pub struct World<L: Stages<Row = u64>> {
    enumerator: Box<dyn ErasedEnumerator>,
    tasks: Vec<Task<crate::source::hybrid::HybridReader<L>>>,
    to_coordinator: VecDeque<ToCoordinator>,
    calls: VecDeque<Box<dyn FnOnce() -> JobResult<Box<dyn Any + Send>> + Send>>,
    pending: Option<Checkpoint>,
    next_checkpoint: u64,
    pub complete: Option<Checkpoint>,
    before: Vec<u64>,
}

impl<L: Stages<Row = u64>> World<L> {
    /// Starts a source, anew or from a checkpoint.
    pub fn start(make: &dyn Fn() -> HybridSource<L>, readers: u32, from: Option<&Checkpoint>) -> JobResult<Self> {
        let erased: Box<dyn ErasedSource> = erase_source(make());
        let context = SourceContext { name: "numbers".to_owned(), parallelism: readers };
        let enumerator = erased.enumerator(&context, from.map(|from| &from.enumerator[..]))?;
        let mut world = World {
            enumerator,
            tasks: Vec::new(),
            to_coordinator: VecDeque::new(),
            calls: VecDeque::new(),
            pending: None,
            next_checkpoint: from.map_or(1, |from| from.id + 1),
            complete: from.cloned(),
            before: from.map(|from| from.rows.clone()).unwrap_or_default(),
        };
        for subtask in 0..readers {
            let context = ReaderContext {
                name: "numbers".to_owned(),
                subtask,
                parallelism: readers,
                throttle: Arc::new(Throttle::default()),
            };
            let mut reader = make().reader(&context)?;
            reader.start()?;
            // Readers do not run again if all had ended: else one may be given a split of another.
            let ended = from.is_some_and(|from| from.ended.iter().all(|&ended| ended));
            let (out, inbox) = (Out::default(), VecDeque::new());
            world.tasks.push(Task { reader, out, inbox, asked: false, waits: false, ended });
        }
        if let Some(from) = from {
            let reaction = world.enumerator.add_splits_back(&from.splits)?;
            world.react(reaction);
        }
        let reaction = world.enumerator.start()?;
        world.react(reaction);
        for subtask in 0..readers {
            let reaction = world.enumerator.reader_added(subtask)?;
            world.react(reaction);
        }
        Ok(world)
    }

    fn react(&mut self, reaction: Reaction) {
        for action in reaction.actions {
            let (subtask, message) = match action {
                EnumeratorAction::Assign(subtask, split) => (subtask, ToReader::Splits(split)),
                EnumeratorAction::NoMoreSplits(subtask) | EnumeratorAction::NoMoreSplitsForNow(subtask) => {
                    (subtask, ToReader::NoMore)
                }
                EnumeratorAction::Event(subtask, event) => (subtask, ToReader::Event(event)),
            };
            self.tasks[subtask as usize].inbox.push_back(message);
        }
        self.calls.extend(reaction.calls.into_iter().map(|call| call.work));
    }

    /// All rows that were emitted, those before the restored checkpoint included.
    pub fn rows(&self) -> Vec<u64> {
        let mut rows = self.before.clone();
        rows.extend(self.tasks.iter().flat_map(|task| task.out.rows.iter().copied()));
        rows.sort_unstable();
        rows
    }

    pub fn is_done(&self) -> bool {
        self.tasks.iter().all(|task| task.ended)
    }

    /// Begins a checkpoint, if none is under way.
    pub fn checkpoint(&mut self) {
        if self.pending.is_some() {
            return;
        }
        let (id, ended) = (self.next_checkpoint, vec![false; self.tasks.len()]);
        self.next_checkpoint += 1;
        let enumerator = self.enumerator.snapshot();
        self.pending = Some(Checkpoint { id, enumerator, ended, ..Checkpoint::default() });
        self.tasks.iter_mut().for_each(|task| task.inbox.push_back(ToReader::Trigger(id)));
    }

    /// How many rows the readers have given, and the checkpoint that is being taken.
    pub fn seen(&self) -> (usize, Option<u64>) {
        (self.tasks.iter().map(|task| task.out.rows.len()).sum(), self.pending.as_ref().map(|pending| pending.id))
    }

    /// One thing happens: a reader is polled, or somebody gets a message.
    pub fn step(&mut self, choice: u64) -> JobResult<()> {
        let readers = self.tasks.len() as u64;
        let (kind, subtask) = (choice % 8, (choice / 8 % readers) as usize);
        match kind {
            0 => {
                if let Some(work) = self.calls.pop_front() {
                    let reaction = self.enumerator.found(work())?;
                    self.react(reaction);
                }
            }
            1 | 2 => match self.to_coordinator.pop_front() {
                Some(ToCoordinator::NeedsSplit(subtask)) => {
                    let reaction = self.enumerator.request(subtask)?;
                    self.react(reaction);
                }
                Some(ToCoordinator::Event(subtask, event)) => {
                    let reaction = self.enumerator.source_event(subtask, &event)?;
                    self.react(reaction);
                }
                None => {}
            },
            3 | 4 => self.deliver(subtask)?,
            _ => self.poll(subtask)?,
        }
        Ok(())
    }

    fn deliver(&mut self, subtask: usize) -> JobResult<()> {
        let task = &mut self.tasks[subtask];
        match task.inbox.pop_front() {
            None => return Ok(()),
            Some(ToReader::Splits(split)) => {
                let split = HybridSplit::decode(&split)?;
                task.out.split_added(&split.id());
                task.reader.add_splits(vec![split])?;
                task.asked = false;
            }
            Some(ToReader::NoMore) => {
                task.reader.no_more_splits();
                task.asked = false;
            }
            Some(ToReader::Event(event)) => task.reader.source_event(&event)?,
            Some(ToReader::Trigger(id)) => {
                let Some(pending) = self.pending.as_mut().filter(|pending| pending.id == id) else { return Ok(()) };
                pending.splits.extend(task.reader.snapshot().iter().map(Split::encode));
                task.reader.snapshot_taken(id);
                pending.rows.extend(&task.out.rows);
                pending.ended[subtask] = task.ended;
                pending.answers += 1;
                if pending.answers == self.tasks.len() {
                    let mut complete = self.pending.take().unwrap_or_default();
                    complete.rows.extend(&self.before);
                    self.enumerator.checkpoint_complete(id)?;
                    self.tasks.iter_mut().try_for_each(|task| task.reader.checkpoint_complete(id))?;
                    self.complete = Some(complete);
                }
                return Ok(());
            }
        }
        task.waits = false;
        Ok(())
    }

    fn poll(&mut self, subtask: usize) -> JobResult<()> {
        let task = &mut self.tasks[subtask];
        if task.ended || task.waits {
            return Ok(());
        }
        let status = match task.reader.poll(&mut Context::from_waker(Waker::noop()), &mut task.out) {
            Poll::Ready(status) => status?,
            Poll::Pending => return Ok(()),
        };
        let number = u32::try_from(subtask).unwrap_or(u32::MAX);
        let events = std::mem::take(&mut task.out.events);
        self.to_coordinator.extend(events.into_iter().map(|event| ToCoordinator::Event(number, event)));
        match status {
            ReaderStatus::More => {}
            ReaderStatus::NeedsSplit => {
                task.waits = true;
                if !std::mem::replace(&mut task.asked, true) {
                    self.to_coordinator.push_back(ToCoordinator::NeedsSplit(number));
                }
            }
            ReaderStatus::End => {
                assert!(task.out.active.is_empty(), "splits that hold the watermark for ever: {:?}", task.out.active);
                task.ended = true;
            }
        }
        Ok(())
    }
}

/// A small generator of pseudo-random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}
