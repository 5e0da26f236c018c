//! One attempt at a job: all its tasks, from start or resume to the end, a stop, or the first failure.

mod checkpoints;
mod give_up;
mod requests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::alignment::Alignment;
use super::checkpointing::{Identity, Pending, Purpose};
use super::commit::{Carried, CommitQueue};
use super::control::{CheckpointInfo, CheckpointReply, CheckpointRequest, Control, StopMode, stop_requested};
use super::failures::Failures;
use super::in_flight::InFlight;
use super::increments::Increments;
use super::layout::{deal, deal_groups, wire};
use super::run::RunSettings;
use super::sources::Sources;
use super::storage::{Checkpoint, CheckpointStore};
use crate::chain::{BuildContext, ChainBuilder, Routers, SinkRegistry, Timing};
use crate::checkpoint::SubtaskEntry;
use crate::error::{JobError, JobResult};
use crate::exchange::{BATCH_ROWS, Gate, Outbox, OutboxHandle};
use crate::operator::RestoredState;
use crate::panics::message;
use crate::progress::Board;
use crate::seam::{self, Instant, Point, until};
use crate::source::Throttle;
use crate::task::{Task, TaskFailure, TaskId, TaskMessage, TaskReport};
use checkpoints::{Writing, written};

/// How an attempt ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptEnd {
    Finished,
    /// Stopped on request, after a last checkpoint.
    Stopped,
    /// Ended abruptly on request.
    Killed,
}

/// What an attempt starts from.
pub(super) struct Start {
    pub store: Option<Arc<CheckpointStore>>,
    /// The one to restore.
    pub checkpoint: Option<Checkpoint>,
    /// The number of the next one.
    pub first_checkpoint: u64,
    /// The id of the run.
    pub run: String,
    /// The folder of a checkpoint that the job has taken over, which goes when there are newer ones.
    pub claimed: Option<PathBuf>,
}

type Tasks = JoinSet<(TaskId, Result<(), TaskFailure>)>;

/// The coordinator of one attempt.
pub(super) struct Attempt<'a> {
    settings: &'a RunSettings,
    store: Option<Arc<CheckpointStore>>,
    identity: Identity,
    board: Arc<Board>,
    mailboxes: Vec<Vec<mpsc::UnboundedSender<TaskMessage>>>,
    reports: mpsc::UnboundedReceiver<(TaskId, TaskReport)>,
    tasks: Tasks,
    /// Which task is which, for those that panic.
    running: HashMap<tokio::task::Id, TaskId>,
    task_count: usize,
    cancel: watch::Sender<bool>,
    sources: Sources,
    alignment: Alignment,
    ended: HashSet<TaskId>,
    next_checkpoint: u64,
    next_trigger: Option<Instant>,
    pending: Option<Pending>,
    writing: Option<Writing>,
    /// What was written of checkpoints that were given up is being removed.
    stale: JoinSet<()>,
    failures: Failures,
    /// When the next checkpoint may begin.
    earliest: Option<Instant>,
    /// What sinks have staged for checkpoints that were given up.
    carried: Carried,
    increments: Increments,
    /// The checkpoint that each task has handed its part over for last.
    parts: HashMap<TaskId, u64>,
    /// A checkpoint was begun and is not complete.
    begun: bool,
    queue: CommitQueue,
    /// Checkpoints that are stored and whose output is being committed, with who waits for that.
    answers: Vec<(CheckpointInfo, CheckpointReply)>,
    /// Requests whose checkpoint was given up, and that belong to the one that is taken in its place.
    again: Vec<CheckpointRequest>,
    /// See [`Start`].
    claimed: Option<PathBuf>,
    /// The checkpoint that ends the attempt, once it is complete.
    last: Option<Purpose>,
}

impl<'a> Attempt<'a> {
    /// Builds all tasks, makes the sinks ready, finds splits, and starts.
    pub(super) async fn start(settings: &'a RunSettings, start: Start, board: Arc<Board>) -> JobResult<Self> {
        seam::reach(Point::Start).await?;
        let Start { store, checkpoint, first_checkpoint, run, claimed } = start;
        let run = run.as_str();
        let job = &settings.job;
        let resumed = checkpoint.as_ref().map(|checkpoint| checkpoint.manifest.checkpoint);
        let mut in_flight = InFlight::default();
        let mut old_parallelism = vec![0; job.chains.len()];
        let mut dealt = match checkpoint {
            Some(checkpoint) => {
                let Checkpoint { manifest, entries, groups } = checkpoint;
                let mut dealt = deal(&job.chains, &settings.parallelism, settings.max_parallelism, &manifest.chains, entries)?;
                deal_groups(&mut dealt, &job.chains, &settings.parallelism, settings.max_parallelism, groups)?;
                for (old, chain) in old_parallelism.iter_mut().zip(&job.chains) {
                    *old = manifest.subtasks_of(chain.name);
                }
                in_flight = InFlight::take(&mut dealt.own, &manifest, job.fingerprint, &job.chains, &settings.parallelism)?;
                dealt
            }
            None => deal(&job.chains, &settings.parallelism, settings.max_parallelism, &[], Vec::new())?,
        };
        let (report_sender, reports) = mpsc::unbounded_channel();
        let (cancel, cancelled) = watch::channel(false);
        let mut sinks = SinkRegistry::default();
        let context = BuildContext {
            params: &settings.params,
            max_parallelism: settings.max_parallelism,
            on_error: job.on_error,
            #[cfg(feature = "disk")]
            disk: disk(job.state, &settings.params)?,
            batch_rows: if job.buffer_timeout_micros == 0 { 1 } else { BATCH_ROWS },
            run,
            first_checkpoint,
            retained: u32::try_from(settings.retain).unwrap_or(u32::MAX),
            replace: settings.replace,
        };
        let buffer_timeout =
            u64::try_from(job.buffer_timeout_micros).ok().filter(|&micros| micros > 0).map(Duration::from_micros);
        let increments = Increments::new(changes_are_known(job.state));
        let mut aligned = Vec::new();
        let (mut codecs, mut routers) = (BTreeMap::new(), Routers::default());
        let mut mailboxes = Vec::new();
        let mut ready = Vec::new();
        board.begin_attempt();
        for (index, wirings) in wire(&job.chains, &settings.parallelism)?.into_iter().enumerate() {
            let spec = &job.chains[index];
            let mut own_mailboxes = Vec::new();
            let throttle = Arc::new(Throttle::default());
            let (old, parallelism) = (old_parallelism[index], settings.parallelism[index]);
            let mut on_their_way = in_flight.deal(index, spec, old, parallelism, &codecs, &routers)?;
            for (subtask, wiring) in wirings.into_iter().enumerate() {
                let outbox = OutboxHandle::new(wiring.senders.len());
                let mut builder = ChainBuilder {
                    context: &context,
                    chain: index,
                    subtask: u32::try_from(subtask).unwrap_or(u32::MAX),
                    parallelism,
                    outputs: &wiring.outputs,
                    outbox: outbox.clone(),
                    sinks: &mut sinks,
                    throttle: throttle.clone(),
                    timing: Timing::default(),
                    aligned: &mut aligned,
                    codecs: &mut codecs,
                    routers: &mut routers,
                };
                let chain = (spec.build)(&mut builder)?;
                let id = TaskId { chain: index, subtask: builder.subtask };
                let (mailbox, messages) = mpsc::unbounded_channel();
                own_mailboxes.push(mailbox);
                let SubtaskEntry { finished, watermark } = dealt.subtasks[index][subtask];
                let gate = match spec.inputs.is_empty() {
                    true => None,
                    false => {
                        let gate = Gate::new(wiring.receivers).in_mode(settings.checkpoints.mode);
                        let mut gate = gate.with_codecs(|input| codecs.get(&spec.inputs[input].edge).copied());
                        gate.restore_in_flight(std::mem::take(&mut on_their_way[subtask]));
                        Some(gate)
                    }
                };
                ready.push(Task {
                    id,
                    uid: spec.uids.first().copied().unwrap_or(spec.name).into(),
                    chain,
                    gate,
                    sender: Outbox::new(outbox.clone(), wiring.senders),
                    outbox,
                    messages,
                    reports: report_sender.clone(),
                    cancel: cancelled.clone(),
                    buffer_timeout,
                    status: board.status_of(id),
                    anew: increments.anew(),
                    restored: std::mem::replace(&mut dealt.states[index][subtask], RestoredState::new()),
                    watermark,
                    finished,
                });
            }
            mailboxes.push(own_mailboxes);
        }
        // Before sinks take back what newer checkpoints have committed: these count no more.
        if let Some(store) = &store {
            store.give_up_newer().await?;
        }
        let mut queue = CommitQueue::new(sinks.into_sinks(), &board);
        queue.start(resumed, dealt.own.iter().map(|(_, entry)| entry)).await?;
        seam::reach(Point::Restored).await?;
        let sources = Sources::open(settings, &dealt, resumed.is_some(), &mailboxes, &board)?;
        let task_count = ready.len();
        let mut tasks = JoinSet::new();
        let mut running = HashMap::new();
        for task in ready {
            let id = task.id;
            let spawned = tasks.spawn(async move { (id, task.run().await) });
            running.insert(spawned.id(), id);
        }
        Ok(Attempt {
            settings,
            identity: Identity {
                job: job.name.to_owned(),
                fingerprint: job.fingerprint,
                run: run.to_owned(),
                max_parallelism: settings.max_parallelism,
            },
            store,
            board,
            mailboxes,
            reports,
            tasks,
            running,
            task_count,
            cancel,
            sources,
            alignment: Alignment::new(aligned),
            ended: HashSet::new(),
            next_checkpoint: first_checkpoint,
            next_trigger: settings.checkpoint_interval.map(|interval| Instant::now() + interval),
            pending: None,
            writing: None,
            stale: JoinSet::new(),
            failures: Failures::new(settings.checkpoints.tolerate),
            earliest: None,
            carried: Carried::default(),
            increments,
            parts: HashMap::new(),
            begun: false,
            queue,
            answers: Vec::new(),
            again: Vec::new(),
            claimed,
            last: None,
        })
    }

    /// Runs to the end, a stop, or the first failure. All tasks have ended when it returns.
    pub(super) async fn run(mut self, control: &mut Control) -> JobResult<AttemptEnd> {
        let result = self.drive(control).await;
        if result.is_err() && self.begun {
            self.board.checkpoint_failed();
        }
        let _ = self.cancel.send(true);
        self.mailboxes.clear();
        while self.tasks.join_next().await.is_some() {}
        // A checkpoint that is on its way to the store completes or fails before the next attempt looks for the newest: were it
        // to complete later, it would name staged output that the next attempt has cleared away.
        if let Some(job) = self.writing.take().and_then(|writing| writing.job) {
            let _ = job.await;
        }
        while self.stale.join_next().await.is_some() {}
        self.queue.settle().await;
        result
    }

    async fn drive(&mut self, control: &mut Control) -> JobResult<AttemptEnd> {
        let (mut stopping, mut drained) = (StopMode::None, false);
        let Control { stop, stopper, requests, wanted, .. } = control;
        loop {
            self.answer();
            if let Some(purpose) = self.last
                && self.queue.is_done()
            {
                if purpose == Purpose::Stop {
                    return Ok(AttemptEnd::Stopped);
                }
                if !self.queue.has_results() {
                    seam::reach(Point::Finish).await?;
                    self.queue.finish().await?;
                    return Ok(AttemptEnd::Finished);
                }
                // Merged at the end: another checkpoint holds the results, and commits them.
                self.last = None;
            }
            if stopping == StopMode::Drain && !drained {
                drained = self.drain();
            }
            // A request that was made before a stop belongs to the checkpoint of the stop.
            wanted.append(&mut self.again);
            while let Ok(request) = requests.try_recv() {
                wanted.push(request);
            }
            self.trigger_if_due(stopping, wanted);
            let wake = self.wake_at();
            tokio::select! {
                biased;
                Some((task, report)) = self.reports.recv() => self.report(task, report)?,
                Some(joined) = self.tasks.join_next() => self.task_ended(joined)?,
                () = self.alignment.due() => self.alignment.announce(&self.mailboxes),
                done = self.sources.call_done() => self.sources.found(done, &self.mailboxes)?,
                written = written(&mut self.writing) => {
                    if self.written(written, stopper)? {
                        stopping = StopMode::None;
                    }
                }
                error = lost(self.store.as_deref()) => return Err(error),
                committed = self.queue.step_done() => {
                    committed?;
                    self.queue.go_on();
                }
                mode = stop_requested(stop, stopping) => {
                    stopping = mode;
                    if mode == StopMode::Kill {
                        return Ok(AttemptEnd::Killed);
                    }
                }
                Some(request) = requests.recv() => wanted.push(request),
                () = until(wake) => {}
            }
            self.overtake_if_due();
            self.expire()?;
        }
    }

    /// Tells those who asked for a checkpoint, once its output is committed.
    fn answer(&mut self) {
        for (info, reply) in std::mem::take(&mut self.answers) {
            if self.queue.is_committed(info.id) {
                // Whoever asked may have gone.
                let _ = reply.send(Ok(info));
            } else {
                self.answers.push((info, reply));
            }
        }
    }

    /// Ends all sources, as if they had nothing more. False: they wait behind a last barrier already. If its checkpoint is given up,
    /// they are to be ended then.
    fn drain(&self) -> bool {
        let stopped = self.pending.as_ref().is_some_and(|pending| pending.purpose == Purpose::Stop)
            || self.writing.as_ref().is_some_and(|writing| writing.purpose == Purpose::Stop);
        if stopped || self.last.is_some() {
            return false;
        }
        self.sources.tell_all(&self.mailboxes, &TaskMessage::Drain);
        true
    }

    /// When there is something to do without being told: never a time that is past and at which nothing can be done.
    fn wake_at(&self) -> Option<Instant> {
        if self.pending.is_some() || self.writing.is_some() || self.last.is_some() {
            let overtake = self.pending.as_ref().and_then(|pending| pending.overtake_at);
            return self.deadline().into_iter().chain(overtake).min();
        }
        let waits = if self.failures.any() { self.earliest.filter(|&at| at > Instant::now()) } else { None };
        match (self.next_trigger, waits) {
            (Some(next), Some(waits)) => Some(next.max(waits)),
            (next, waits) => next.or(waits),
        }
    }

    fn report(&mut self, task: TaskId, report: TaskReport) -> JobResult<()> {
        match report {
            TaskReport::NeedsSplit => self.sources.split_wanted(task, &self.mailboxes),
            TaskReport::SourceEvent { taken, event } => {
                // On its way while the checkpoint is being taken: behind what the enumerator said, before what the reader says.
                if let Some(pending) = self.pending.as_mut().filter(|pending| pending.id > taken) {
                    pending.enumerators.extend(self.sources.on_its_way(task, &event));
                }
                self.sources.event(task, &event, &self.mailboxes)
            }
            TaskReport::Ended => {
                self.ended.insert(task);
                Ok(())
            }
            TaskReport::Ack(ack) => {
                self.part_of(task, ack.checkpoint, ack.previous)?;
                let Some(pending) = self.pending.as_mut().filter(|pending| pending.id == ack.checkpoint) else {
                    // It was given up. The part of the next one comes behind this one, so nothing of it can be complete.
                    self.increments.keep(ack.contents.pieces);
                    self.carried.keep(ack.contents.entries);
                    return Ok(());
                };
                if pending.acknowledge(task, ack)? {
                    self.write_checkpoint()?;
                }
                Ok(())
            }
            TaskReport::Decline(decline) => self.declined(task, decline),
        }
    }

    fn task_ended(&mut self, joined: Result<(TaskId, Result<(), TaskFailure>), tokio::task::JoinError>) -> JobResult<()> {
        match joined {
            // A task that lost its partner was cancelled by the failure of that one, which is about to be reported.
            Ok((_, Ok(()) | Err(TaskFailure::Cancelled))) => Ok(()),
            Ok((_, Err(TaskFailure::Failed(error)))) => Err(error),
            Err(error) => {
                let task = self.running.get(&error.id()).map_or_else(|| "a task".to_owned(), |&task| self.name_of(task));
                Err(JobError::transient(format!("{task} panicked: {}", message(error))))
            }
        }
    }

    /// `counts (subtask 1)`
    fn name_of(&self, task: TaskId) -> String {
        format!("{} (subtask {})", self.settings.job.chains[task.chain].name, task.subtask)
    }
}

/// The disk of an attempt: empty, and gone with its last operator.
#[cfg(feature = "disk")]
fn disk(state: crate::job::StateConfig, params: &crate::params::ParamValues) -> JobResult<Option<Arc<crate::state::Disk>>> {
    match state {
        crate::job::StateConfig::Memory => Ok(None),
        crate::job::StateConfig::Disk { path, memory } => {
            let path = path(params)?;
            Ok(Some(Arc::new(crate::state::Disk::open(path.as_ref(), memory)?)))
        }
    }
}

/// Whether the tables of keyed state know what has changed since a checkpoint. In memory they do not: every row would have to pay for
/// what a copy at memory speed costs once in a while.
fn changes_are_known(state: crate::job::StateConfig) -> bool {
    !matches!(state, crate::job::StateConfig::Memory)
}

/// Waits until another process has taken the checkpoint directory.
async fn lost(store: Option<&CheckpointStore>) -> JobError {
    match store {
        Some(store) => store.lost().await,
        None => std::future::pending().await,
    }
}
