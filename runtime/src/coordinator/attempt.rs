//! One attempt at a job: all its tasks, from start or resume to the end, a stop, or the first failure that takes the whole job with it.

mod build;
mod checkpoints;
mod compacting;
mod give_up;
mod region;
mod requests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::alignment::Alignment;
use super::checkpointing::{Identity, Pending, Purpose};
use super::commit::{Carried, CommitQueue};
use super::control::{CheckpointInfo, CheckpointReply, CheckpointRequest, Control, JobState, StopMode, stop_requested};
use super::failures::Failures;
use super::increments::Increments;
use super::regions::{name_of, regions_of};
use super::run::RunSettings;
use super::savepoint::Elsewhere;
use super::sources::Sources;
use super::storage::{Checkpoint, CheckpointStore};
use crate::error::{JobError, JobResult};
use crate::panics::message;
use crate::progress::Board;
use crate::restart::RestartStrategy;
use crate::seam::{self, Instant, Point, until};
use crate::task::{TaskFailure, TaskId, TaskMessage, TaskReport};
use build::{Restored, Shared};
use checkpoints::{Writing, written};
use compacting::{Compacting, compacted, take_over};
use region::{Failure, Phase, Region, Step, step_done};

/// How an attempt ended well.
#[derive(Debug)]
pub(super) enum AttemptEnd {
    Finished,
    /// Stopped on request, after a last checkpoint.
    Stopped,
    /// Ended abruptly on request.
    Killed,
    /// Not well: a part of the job has failed more often than it may.
    GaveUp(JobError),
}

/// What an attempt starts from.
pub(super) struct Start {
    pub store: Option<Arc<CheckpointStore>>,
    /// The one to restore.
    pub checkpoint: Option<Checkpoint>,
    /// That one is there, where the job was told to look, and not where it keeps its own.
    pub elsewhere: Option<Elsewhere>,
    /// The number of the next one.
    pub first_checkpoint: u64,
    /// The id of the run.
    pub run: String,
    /// The folder of a checkpoint that the job has taken over, which goes when there are newer ones.
    pub claimed: Option<PathBuf>,
    /// The checkpoints that are there are to go, once all sinks have agreed to begin anew.
    pub fresh: bool,
}

type Tasks = JoinSet<(TaskId, Result<(), TaskFailure>)>;

/// The coordinator of one attempt.
pub(super) struct Attempt<'a> {
    settings: &'a RunSettings,
    store: Option<Arc<CheckpointStore>>,
    identity: Identity,
    board: Arc<Board>,
    /// Per chain, per subtask; empty while its region is away.
    mailboxes: Vec<Vec<mpsc::UnboundedSender<TaskMessage>>>,
    reports: mpsc::UnboundedReceiver<(TaskId, u32, TaskReport)>,
    shared: Shared<'a>,
    regions: Vec<Region>,
    /// By chain.
    region_of: Vec<usize>,
    /// What is done for regions that are away.
    steps: JoinSet<(usize, Step)>,
    /// What was restored at the beginning: its number, and whether it lies where the job was told to look.
    origin: Option<(u64, bool)>,
    /// The newest checkpoint that this attempt has stored.
    completed: Option<u64>,
    /// Why there is no next attempt.
    gave_up: Option<JobError>,
    tasks: Tasks,
    /// Which task is which, for those that panic.
    running: HashMap<tokio::task::Id, TaskId>,
    task_count: usize,
    sources: Sources,
    alignment: Alignment,
    ended: HashSet<TaskId>,
    next_checkpoint: u64,
    next_trigger: Option<Instant>,
    /// The checkpoints that wait for tasks, and those that wait to be written, from the oldest on. Each task takes them in their order.
    pending: VecDeque<Pending>,
    writing: Option<Writing>,
    /// What was written of checkpoints that were given up is being removed.
    stale: JoinSet<()>,
    failures: Failures,
    /// When the last checkpoint may be tried again, behind one that was given up.
    retry_at: Option<Instant>,
    /// What sinks have staged for checkpoints that were given up.
    carried: Carried,
    increments: Increments,
    compacting: Option<Compacting>,
    /// The checkpoint that each task has handed its part over for last.
    parts: HashMap<TaskId, u64>,
    /// A checkpoint was begun and is not complete.
    begun: bool,
    /// Checkpoints that are stored and whose output is being committed, with who waits for that.
    answers: Vec<(CheckpointInfo, CheckpointReply)>,
    /// Requests whose checkpoint was given up, and that belong to the one that is taken in its place.
    again: Vec<CheckpointRequest>,
    /// See [`Start`].
    claimed: Option<PathBuf>,
    /// The checkpoint that ends the attempt, once it is complete.
    last: Option<Purpose>,
    /// All sources were told to end.
    drained: bool,
}

impl<'a> Attempt<'a> {
    /// Builds all tasks, makes the sinks ready, finds splits, and starts.
    pub(super) async fn start(settings: &'a RunSettings, start: Start, board: Arc<Board>) -> JobResult<Self> {
        seam::reach(Point::Start).await?;
        let Start { store, checkpoint, elsewhere, mut first_checkpoint, run, claimed, fresh } = start;
        let named = elsewhere.is_some();
        let job = &settings.job;
        let drained = checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.manifest.drained);
        let inherited = checkpoint.as_ref().and_then(|checkpoint| checkpoint.manifest.claimed.clone());
        let mut increments = Increments::new(job.state);
        if let Some(checkpoint) = &checkpoint {
            increments = increments.behind(checkpoint.manifest.files.iter().map(|file| file.size).sum());
        }
        // A checkpoint names no file in another directory.
        if let Some(checkpoint) = checkpoint.as_ref().filter(|_| !named) {
            increments = increments.upon(checkpoint.manifest.checkpoint, &checkpoint.to_build_upon);
        }
        let elsewhere = checkpoint.as_ref().zip(elsewhere).filter(|_| store.is_some());
        let plan = elsewhere.and_then(|(checkpoint, from)| Some((increments.takes_over(checkpoint, &from.folder)?, from.store)));
        let into = first_checkpoint;
        // The copy is in the folder of a checkpoint that there never is.
        first_checkpoint += u64::from(plan.is_some());
        let mut restored = Restored::new(settings, checkpoint)?;
        let (report_sender, reports) = mpsc::unbounded_channel();
        let shared = Shared {
            settings,
            board: board.clone(),
            reports: report_sender,
            run: run.clone(),
            asked: increments.asked(),
            #[cfg(feature = "disk")]
            disk: build::disk(job.state, &settings.params)?,
        };
        board.begin_attempt();
        let (mut regions, mut region_of) = (Vec::new(), vec![0; job.chains.len()]);
        let mut mailboxes = vec![Vec::new(); job.chains.len()];
        let (mut alignment, mut ready) = (Alignment::default(), Vec::new());
        for (index, chains) in regions_of(&job.chains).into_iter().enumerate() {
            let attempt = board.begin_region(chains[0]);
            let cancel = watch::channel(false).0;
            let built = shared.build(&chains, attempt, &cancel.subscribe(), first_checkpoint, &mut restored)?;
            for (chain, own) in built.mailboxes {
                (region_of[chain], mailboxes[chain]) = (index, own);
            }
            alignment.join(built.aligned);
            ready.push(built.tasks);
            let queue = CommitQueue::new(built.sinks.into_sinks(), &board);
            regions.push(Region::new(name_of(&job.chains, &chains), chains, attempt, cancel, queue));
        }
        for queue in regions.iter_mut().filter_map(Region::queue_mut) {
            queue.agree(restored.checkpoint).await?;
        }
        if let Some(store) = &store {
            if fresh {
                // In this order: output that is to be replaced must not go while there is a checkpoint that says that it is there.
                store.clear().await?;
            }
            // Before sinks take back what newer checkpoints have committed: these count no more.
            store.give_up_newer().await?;
        }
        for queue in regions.iter_mut().filter_map(Region::queue_mut) {
            let entries = restored.dealt.own.iter().map(|(_, entry)| entry);
            queue.start(restored.checkpoint, entries, store.as_deref()).await?;
        }
        seam::reach(Point::Restored).await?;
        let mut attempt = Attempt {
            settings,
            identity: Identity {
                job: job.name.to_owned(),
                fingerprint: job.fingerprint,
                run,
                max_parallelism: settings.max_parallelism,
                claimed: claimed.as_ref().map(|folder| folder.display().to_string()).or(inherited),
                drained,
                kept_by: job.kept_by.clone(),
            },
            store,
            board,
            mailboxes,
            reports,
            shared,
            regions,
            region_of,
            steps: JoinSet::new(),
            origin: restored.checkpoint.map(|checkpoint| (checkpoint, named)),
            completed: None,
            gave_up: None,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            task_count: ready.iter().map(Vec::len).sum(),
            sources: Sources::new(job.chains.len()),
            alignment,
            ended: HashSet::new(),
            next_checkpoint: first_checkpoint,
            next_trigger: settings.checkpoint_interval.map(|interval| Instant::now() + interval),
            pending: VecDeque::new(),
            writing: None,
            stale: JoinSet::new(),
            failures: Failures::new(settings.checkpoints.tolerate),
            retry_at: None,
            carried: Carried::default(),
            increments,
            compacting: None,
            parts: HashMap::new(),
            begun: false,
            answers: Vec::new(),
            again: Vec::new(),
            claimed,
            last: None,
            drained: false,
        };
        for index in 0..attempt.regions.len() {
            attempt.open(index, &restored)?;
        }
        for (index, tasks) in ready.into_iter().enumerate() {
            attempt.spawn(index, tasks);
        }
        // Last: what fails before would leave it behind.
        attempt.compacting = attempt.store.as_ref().zip(plan).map(|(store, (plan, from))| take_over(store, from, plan, into));
        Ok(attempt)
    }

    /// Runs to the end, a stop, or a failure that takes the job with it. All tasks have ended when it returns.
    pub(super) async fn run(mut self, control: &mut Control, strategy: &mut RestartStrategy) -> JobResult<AttemptEnd> {
        let result = self.drive(control, strategy).await;
        self.board.checkpoints_in_progress(0);
        if result.is_err() && self.begun {
            self.board.checkpoint_failed();
        }
        for region in &self.regions {
            let _ = region.cancel.send(true);
        }
        self.mailboxes.clear();
        if result.is_err() && self.gave_up.is_none() {
            control.wanted.extend(self.unserved());
        }
        while self.tasks.join_next().await.is_some() {}
        // A checkpoint that is on its way to the store completes or fails before the next attempt looks for the newest: were it
        // to complete later, it would name staged output that the next attempt has cleared away.
        if let Some(job) = self.writing.take().and_then(|writing| writing.job) {
            let _ = job.await;
        }
        while self.stale.join_next().await.is_some() {}
        if let Some(compacting) = self.compacting.take() {
            compacting.stop().await;
        }
        self.settle().await;
        match self.gave_up {
            Some(error) => Ok(AttemptEnd::GaveUp(error)),
            None => result,
        }
    }

    async fn drive(&mut self, control: &mut Control, strategy: &mut RestartStrategy) -> JobResult<AttemptEnd> {
        let mut stopping = StopMode::None;
        loop {
            self.answer();
            if let Some(purpose) = self.last
                && !self.sources.has_failed()
                && self.queues().all(CommitQueue::is_done)
            {
                if purpose == Purpose::Stop {
                    return Ok(AttemptEnd::Stopped);
                }
                if !self.queues().any(CommitQueue::has_results) {
                    seam::reach(Point::Finish).await?;
                    for queue in self.regions.iter_mut().filter_map(Region::queue_mut) {
                        queue.finish().await?;
                    }
                    return Ok(AttemptEnd::Finished);
                }
                // Merged at the end: another checkpoint holds the results, and commits them.
                self.last = None;
            }
            if stopping == StopMode::Drain && !self.drained {
                self.drained = self.drain();
            }
            // A request that was made before a stop belongs to the checkpoint of the stop.
            control.wanted.append(&mut self.again);
            while let Ok(request) = control.requests.try_recv() {
                control.wanted.push(request);
            }
            self.bring_back(stopping != StopMode::None);
            self.write_if_complete()?;
            let triggered = self.trigger_if_due(stopping, &mut control.wanted);
            let (wake, whole) = (self.wake_at(stopping), self.is_whole());
            let Control { stop, stopper, requests, wanted, .. } = control;
            let happened: Result<(), Failure> = tokio::select! {
                biased;
                () = std::future::ready(()), if triggered.is_err() => triggered,
                () = std::future::ready(()), if self.sources.has_failed() => self.sources.failed().map_or(Ok(()), |(chain, error)| {
                    Err(Failure::of(self.region_of[chain])(error))
                }),
                Some((task, attempt, report)) = self.reports.recv() => self.report(task, attempt, report),
                Some(joined) = self.tasks.join_next() => self.task_ended(joined),
                Some(stepped) = self.steps.join_next() => self.stepped(stepped),
                () = self.alignment.due() => {
                    self.alignment.announce(&self.mailboxes);
                    Ok(())
                }
                done = self.sources.call_done() => {
                    let region = self.region_of[done.chain];
                    self.sources.found(done, &self.mailboxes).map_err(Failure::of(region))
                }
                written = written(&mut self.writing) => match self.written(written, stopper) {
                    Ok(goes_on) => {
                        if goes_on {
                            stopping = StopMode::None;
                        }
                        Ok(())
                    }
                    Err(error) => Err(error.into()),
                },
                done = compacted(&mut self.compacting) => {
                    self.compacted(done);
                    Ok(())
                }
                // Regions that are away wait for it.
                Some(_) = self.stale.join_next() => Ok(()),
                error = lost(self.store.as_deref()) => return Err(error),
                committed = step_done(&mut self.regions) => committed.map(|region| {
                    self.regions[region].queue_mut().into_iter().for_each(CommitQueue::go_on);
                }),
                mode = stop_requested(stop, stopping) => {
                    stopping = mode;
                    if mode == StopMode::Kill {
                        return Ok(AttemptEnd::Killed);
                    }
                    Ok(())
                }
                Some(request) = requests.recv() => {
                    wanted.push(request);
                    Ok(())
                }
                () = until(wake) => Ok(()),
            };
            if let Err(failure) = happened {
                self.failed(failure, strategy, control)?;
            }
            if whole != self.is_whole() {
                control.enter(if whole { JobState::Restarting } else { JobState::Running });
            }
            self.overtake_if_due();
            self.expire()?;
        }
    }

    /// What the sinks of the regions that run have to commit.
    fn queues(&self) -> impl Iterator<Item = &CommitQueue> {
        self.regions.iter().filter_map(Region::queue)
    }

    /// Tells those who asked for a checkpoint, once its output is committed.
    fn answer(&mut self) {
        for (info, reply) in std::mem::take(&mut self.answers) {
            // A region that is away commits when it comes back.
            if self.is_whole() && self.queues().all(|queue| queue.is_committed(info.id)) {
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
        let stopped = self.pending.iter().any(|pending| pending.purpose == Purpose::Stop)
            || self.writing.as_ref().is_some_and(|writing| writing.purpose == Purpose::Stop);
        if stopped || self.last.is_some() {
            return false;
        }
        self.sources.tell_all(&self.mailboxes, &TaskMessage::Drain);
        true
    }

    /// When there is something to do without being told: never a time that is past and at which nothing can be done.
    fn wake_at(&self, stopping: StopMode) -> Option<Instant> {
        let overtake = self.pending.iter().filter_map(|pending| pending.overtake_at);
        let due = self.deadline().into_iter().chain(overtake).min();
        if self.last.is_some() || !self.takes_another(self.purpose(stopping)) {
            return due;
        }
        due.into_iter().chain(self.begins_at(stopping)).min()
    }

    /// When there is something to do that needs no other checkpoint to end.
    fn begins_at(&self, stopping: StopMode) -> Option<Instant> {
        if !self.is_whole() {
            return self.returns_at();
        }
        if !self.is_restored() || self.increments.is_taking_over() {
            // Its tasks say when it is, and so does who takes over.
            return None;
        }
        match self.purpose(stopping) {
            Purpose::Periodic => self.next_trigger,
            // Neither interval nor pause is for the last one: somebody waits for it.
            Purpose::Stop | Purpose::End => self.retry_at.filter(|_| self.failures.any()),
        }
    }

    fn report(&mut self, task: TaskId, attempt: u32, report: TaskReport) -> Result<(), Failure> {
        let index = self.region_of[task.chain];
        let region = &self.regions[index];
        if region.attempt != attempt || !region.runs() {
            return Ok(());
        }
        match report {
            TaskReport::Restored => {
                self.regions[index].restoring -= 1;
                Ok(())
            }
            TaskReport::NeedsSplit => self.sources.split_wanted(task, &self.mailboxes).map_err(Failure::of(index)),
            TaskReport::SourceEvent { taken, event } => {
                // On its way while the checkpoint is being taken: behind what the enumerator said, before what the reader says.
                for pending in self.pending.iter_mut().filter(|pending| pending.id > taken) {
                    pending.enumerators.extend(self.sources.on_its_way(task, &event));
                }
                self.sources.event(task, &event, &self.mailboxes).map_err(Failure::of(index))
            }
            TaskReport::Ended => {
                self.ended.insert(task);
                Ok(())
            }
            TaskReport::Ack(ack) => {
                self.part_of(task, ack.checkpoint, ack.previous)?;
                let Some(pending) = self.pending.iter_mut().find(|pending| pending.id == ack.checkpoint) else {
                    // It was given up. The part of the next one comes behind this one, so nothing of it can be complete.
                    self.increments.keep(ack.contents.pieces);
                    self.carried.keep(ack.checkpoint, ack.contents.entries);
                    return Ok(());
                };
                pending.acknowledge(task, ack)?;
                Ok(())
            }
            TaskReport::Decline(decline) => Ok(self.declined(task, decline)?),
        }
    }

    fn task_ended(&mut self, joined: Result<(TaskId, Result<(), TaskFailure>), tokio::task::JoinError>) -> Result<(), Failure> {
        let (task, result) = match joined {
            Ok((task, result)) => (Some(task), result),
            Err(error) => {
                let task = self.running.get(&error.id()).copied();
                let name = task.map_or_else(|| "a task".to_owned(), |task| self.name_of(task));
                (task, Err(JobError::transient(format!("{name} panicked: {}", message(error))).into()))
            }
        };
        let region = task.map(|task| self.region_of[task.chain]);
        if let Some(region) = region {
            self.regions[region].running -= 1;
        }
        match result {
            // A task that lost its partner was cancelled by the failure of that one, which is about to be reported.
            Ok(()) | Err(TaskFailure::Cancelled) => Ok(()),
            Err(TaskFailure::Failed(error)) => Err(Failure { region, error }),
        }
    }

    /// `counts (subtask 1)`
    fn name_of(&self, task: TaskId) -> String {
        format!("{} (subtask {})", self.settings.job.chains[task.chain].name, task.subtask)
    }
}

/// Waits until another process has taken the checkpoint directory.
pub(super) async fn lost(store: Option<&CheckpointStore>) -> JobError {
    match store {
        Some(store) => store.lost().await,
        None => std::future::pending().await,
    }
}
