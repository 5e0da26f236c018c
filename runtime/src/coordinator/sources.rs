//! The coordinator's halves of the sources of one attempt: enumerators, what they ask for, and their work on other threads.

use std::any::Any;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

use super::layout::Dealt;
use super::run::RunSettings;
use crate::chain::SPLITS;
use crate::checkpoint::{Part, StateEntry};
use crate::error::{JobError, JobResult};
use crate::panics;
use crate::progress::Board;
use crate::seam::{self, Point};
use crate::source::{Call, EnumeratorAction, ErasedEnumerator, Reaction, SourceContext};
use crate::task::{TaskId, TaskMessage};

const ENUMERATOR: &str = "#enumerator";

/// Messages of readers that were on their way to the enumerator: sent before the reader's part of the checkpoint, and heard after the
/// enumerator's.
const EVENTS: &str = "#events";

/// Where the tasks get their messages: per chain, per subtask.
pub(super) type Mailboxes = [Vec<UnboundedSender<TaskMessage>>];

type Found = JobResult<Box<dyn Any + Send>>;

/// Work on another thread is done.
pub(super) struct Done {
    pub chain: usize,
    number: u64,
    found: Found,
}

/// All sources of an attempt.
pub(super) struct Sources {
    /// Per chain; None: it does not start with a source.
    chains: Vec<Option<Enumeration>>,
    /// Work on other threads, with the chain that it is for, and the number of its enumerator.
    calls: JoinSet<(usize, u64, Found)>,
    /// How many enumerators there have been.
    opened: u64,
    /// Enumerators that could not take what they heard of a checkpoint, with the chain of each.
    failed: VecDeque<(usize, JobError)>,
}

struct Enumeration {
    name: Arc<str>,
    uid: &'static str,
    enumerator: Box<dyn ErasedEnumerator>,
    /// No other has this number.
    number: u64,
    /// What its readers were told about the watermark.
    held: bool,
    /// Readers that were told that there are no more splits.
    latched: HashSet<u32>,
    /// For metrics: splits that no reader has.
    unassigned: Arc<AtomicUsize>,
}

impl Sources {
    /// None yet, of so many chains.
    pub(super) fn new(chains: usize) -> Self {
        Sources { chains: (0..chains).map(|_| None).collect(), calls: JoinSet::new(), opened: 0, failed: VecDeque::new() }
    }

    /// Makes the enumerators of a region: anew, or from the checkpoint, with the splits that readers had.
    pub(super) fn open(
        &mut self,
        settings: &RunSettings,
        region: &[usize],
        dealt: &Dealt,
        resumed: bool,
        mailboxes: &Mailboxes,
        board: &Board,
    ) -> JobResult<()> {
        for (index, chain) in region.iter().map(|&index| (index, &settings.job.chains[index])) {
            let (Some(build), Some(uid)) = (&chain.source, chain.uids.first().copied()) else { continue };
            let name = uid.split('/').next().unwrap_or(chain.name);
            let in_source = |error: JobError| error.context(format_args!("source {name}"));
            let context = SourceContext { name: name.to_owned(), parallelism: settings.parallelism[index] };
            let own = |state: &'static str| {
                let entries = dealt.own.iter().filter(move |(chain, entry)| *chain == index && entry.state == state);
                entries.filter_map(|(_, entry)| match &entry.part {
                    Part::Item(bytes) => Some((entry.subtask, bytes.clone())),
                    Part::Group(..) | Part::Piece(..) | Part::Union(_) | Part::Copy(_) => None,
                })
            };
            let stored = own(ENUMERATOR).next().map(|(_, bytes)| bytes);
            let source = panics::guarded("making it", || build.build(&settings.params)).map_err(in_source)?;
            let enumerator = guarded(|| source.enumerator(&context, stored.as_deref())).map_err(in_source)?;
            let unassigned = board.unassigned(name);
            self.opened += 1;
            let (number, latched) = (self.opened, HashSet::new());
            let enumeration = Enumeration { name: name.into(), uid, enumerator, number, held: true, latched, unassigned };
            self.chains[index] = Some(enumeration);
            if resumed && stored.is_some() {
                let mut splits: Vec<_> = own(SPLITS).map(|(_, split)| split).collect();
                for (subtask, event) in own(EVENTS) {
                    self.hear_again(index, subtask, &event, &mut splits)?;
                }
                self.act(index, mailboxes, |enumerator| enumerator.add_splits_back(&splits))?;
            }
            self.act(index, mailboxes, |enumerator| enumerator.start())?;
            for subtask in 0..settings.parallelism[index] {
                self.act(index, mailboxes, |enumerator| enumerator.reader_added(subtask))?;
            }
        }
        Ok(())
    }

    /// The enumerators of a region are no more, nor is what they have begun.
    pub(super) fn close(&mut self, region: &[usize]) {
        for &chain in region {
            self.chains[chain] = None;
        }
        self.failed.retain(|(chain, _)| !region.contains(chain));
    }

    /// A reader asks for a split.
    pub(super) fn split_wanted(&mut self, task: TaskId, mailboxes: &Mailboxes) -> JobResult<()> {
        if self.chains[task.chain].as_ref().is_some_and(|source| source.latched.contains(&task.subtask)) {
            // It was told already; a reader that asks again must not wait for ever.
            send(mailboxes, task.chain, task.subtask, TaskMessage::NoMoreSplits);
            return Ok(());
        }
        self.act(task.chain, mailboxes, |enumerator| enumerator.request(task.subtask))
    }

    /// A reader has sent a message of the source's own.
    pub(super) fn event(&mut self, task: TaskId, event: &[u8], mailboxes: &Mailboxes) -> JobResult<()> {
        self.act(task.chain, mailboxes, |enumerator| enumerator.source_event(task.subtask, event))
    }

    /// What the checkpoint that is being taken keeps of a message that a reader sent before its part of it.
    pub(super) fn on_its_way(&self, task: TaskId, event: &[u8]) -> Option<StateEntry> {
        let source = self.chains[task.chain].as_ref()?;
        Some(StateEntry {
            uid: source.uid.to_owned(),
            state: EVENTS.to_owned(),
            schema: String::new(),
            subtask: task.subtask,
            part: Part::Item(event.to_vec()),
        })
    }

    /// The enumerator hears a message that the one before it heard only after the checkpoint. What it says to readers is not passed
    /// on, since they begin anew and are announced to it; splits that it gives them are nobody's.
    fn hear_again(&mut self, chain: usize, subtask: u32, event: &[u8], splits: &mut Vec<Vec<u8>>) -> JobResult<()> {
        let Some(source) = &mut self.chains[chain] else { return Ok(()) };
        let name = source.name.clone();
        let in_source = |error: JobError| error.context(format_args!("source {name}"));
        let reaction = guarded(|| seam::in_place(|| source.enumerator.event_before(subtask, event))).map_err(in_source)?;
        splits.extend(reaction.actions.into_iter().filter_map(|action| match action {
            EnumeratorAction::Assign(_, split) => Some(split),
            _ => None,
        }));
        for call in reaction.calls {
            self.calls.spawn(work(chain, source.number, name.clone(), call));
        }
        Ok(())
    }

    /// Waits for work on other threads. Cancel safe.
    pub(super) async fn call_done(&mut self) -> Done {
        match self.calls.join_next().await {
            Some(Ok((chain, number, found))) => Done { chain, number, found },
            // The bodies of these tasks only wait: they do not panic.
            Some(Err(_)) | None => std::future::pending().await,
        }
    }

    /// Hands the result of work on another thread to its enumerator, if that is still there.
    pub(super) fn found(&mut self, Done { chain, number, found }: Done, mailboxes: &Mailboxes) -> JobResult<()> {
        if self.chains[chain].as_ref().is_none_or(|source| source.number != number) {
            return Ok(());
        }
        self.act(chain, mailboxes, |enumerator| enumerator.found(found))
    }

    /// Tells the readers of all sources something.
    pub(super) fn tell_all(&self, mailboxes: &Mailboxes, message: &TaskMessage) {
        for (mailboxes, _) in mailboxes.iter().zip(&self.chains).filter(|(_, source)| source.is_some()) {
            for mailbox in mailboxes {
                let _ = mailbox.send(message.clone());
            }
        }
    }

    /// What a checkpoint keeps of the enumerators. The error comes with the chain of the source.
    pub(super) fn snapshot(&self) -> Result<Vec<StateEntry>, (usize, JobError)> {
        let sources = self.chains.iter().enumerate().filter_map(|(chain, source)| Some((chain, source.as_ref()?)));
        let entry = |(chain, source): (usize, &Enumeration)| {
            let bytes = guarded(|| Ok(source.enumerator.snapshot()));
            let bytes = bytes.map_err(|error| (chain, error.context(format_args!("source {}", source.name))))?;
            Ok(StateEntry {
                uid: source.uid.to_owned(),
                state: ENUMERATOR.to_owned(),
                schema: String::new(),
                subtask: 0,
                part: Part::Item(bytes),
            })
        };
        sources.map(entry).collect()
    }

    /// This checkpoint is complete.
    pub(super) fn checkpoint_complete(&mut self, checkpoint: u64) {
        self.tell_each(|enumerator| enumerator.checkpoint_complete(checkpoint));
    }

    /// This checkpoint is given up.
    pub(super) fn checkpoint_aborted(&mut self, checkpoint: u64) {
        self.tell_each(|enumerator| enumerator.checkpoint_aborted(checkpoint));
    }

    /// All hear it, also where one of them fails.
    fn tell_each(&mut self, tell: impl Fn(&mut dyn ErasedEnumerator) -> JobResult<()>) {
        let sources = self.chains.iter_mut().enumerate().filter_map(|(chain, source)| Some((chain, source.as_mut()?)));
        for (chain, source) in sources {
            if let Err(error) = guarded(|| tell(source.enumerator.as_mut())) {
                self.failed.push_back((chain, error.context(format_args!("source {}", source.name))));
            }
        }
    }

    /// Whether an enumerator has failed that nobody has asked for.
    pub(super) fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Why an enumerator could not take what it heard of a checkpoint, with the chain of its source.
    pub(super) fn failed(&mut self) -> Option<(usize, JobError)> {
        self.failed.pop_front()
    }

    /// Has an enumerator act, tells the readers what it decided, and begins the work that it wants done.
    fn act(
        &mut self,
        chain: usize,
        mailboxes: &Mailboxes,
        act: impl FnOnce(&mut dyn ErasedEnumerator) -> JobResult<Reaction>,
    ) -> JobResult<()> {
        let Some(source) = &mut self.chains[chain] else { return Ok(()) };
        let name = source.name.clone();
        let in_source = |error: JobError| error.context(format_args!("source {name}"));
        let acted = guarded(|| {
            seam::in_place(|| {
                let reaction = act(source.enumerator.as_mut())?;
                Ok((reaction, source.enumerator.holds_watermark(), source.enumerator.unassigned()))
            })
        });
        let (reaction, hold, unassigned) = acted.map_err(in_source)?;
        // A hold comes before what is decided, and its end behind that: no reader has a moment in which it seems to have nothing
        // to wait for. Consumers would leave it out, and what it reads next would be late.
        let changed = std::mem::replace(&mut source.held, hold) != hold;
        if changed && hold {
            hold_all(&mailboxes[chain], hold);
        }
        for action in reaction.actions {
            source.tell(chain, action, mailboxes).map_err(in_source)?;
        }
        for call in reaction.calls {
            self.calls.spawn(work(chain, source.number, name.clone(), call));
        }
        source.unassigned.store(unassigned, Relaxed);
        if changed && !hold {
            hold_all(&mailboxes[chain], hold);
        }
        Ok(())
    }
}

impl Enumeration {
    fn tell(&mut self, chain: usize, action: EnumeratorAction<Vec<u8>>, mailboxes: &Mailboxes) -> JobResult<()> {
        let (subtask, message) = match action {
            EnumeratorAction::Assign(subtask, _) if self.latched.contains(&subtask) => {
                return Err(JobError::new(format!(
                    "a split is given to reader {subtask}, which was told that there are no more"
                )));
            }
            EnumeratorAction::Assign(subtask, split) => (subtask, TaskMessage::AddSplits(vec![split])),
            EnumeratorAction::NoMoreSplits(subtask) => {
                self.latched.insert(subtask);
                (subtask, TaskMessage::NoMoreSplits)
            }
            EnumeratorAction::NoMoreSplitsForNow(subtask) => (subtask, TaskMessage::NoMoreSplits),
            EnumeratorAction::Event(subtask, event) => (subtask, TaskMessage::SourceEvent(event)),
        };
        if mailboxes[chain].len() <= subtask as usize {
            return Err(JobError::new(format!(
                "the enumerator speaks to reader {subtask}, and there are {}",
                mailboxes[chain].len()
            )));
        }
        send(mailboxes, chain, subtask, message);
        Ok(())
    }
}

/// Calls the code of a connector on the coordinator's own thread.
fn guarded<T>(call: impl FnOnce() -> JobResult<T>) -> JobResult<T> {
    panics::guarded("its enumerator", call)
}

fn hold_all(mailboxes: &[UnboundedSender<TaskMessage>], hold: bool) {
    for mailbox in mailboxes {
        let _ = mailbox.send(TaskMessage::HoldWatermark(hold));
    }
}

fn send(mailboxes: &Mailboxes, chain: usize, subtask: u32, message: TaskMessage) {
    if let Some(mailbox) = mailboxes[chain].get(subtask as usize) {
        // A task that is gone has failed, and that is reported.
        let _ = mailbox.send(message);
    }
}

/// Does the work of an enumerator on a thread of its own: it may hang (a folder on a network), and then it must keep neither
/// the coordinator nor the end of the process waiting.
async fn work(chain: usize, number: u64, name: Arc<str>, call: Call<Box<dyn Any + Send>>) -> (usize, u64, Found) {
    tokio::time::sleep(call.after).await;
    let found = match seam::reach(Point::Discover).await {
        Ok(()) => seam::own_thread(format!("find {name}"), call.work).await,
        Err(error) => Err(error),
    };
    (chain, number, found)
}
