//! A region of an attempt: its tasks and its sinks, and how it goes away and comes back while the others go on.
//!
//! In: a failure of one of its tasks, of an enumerator of its sources, or of a committer of its sinks. The checkpoint that is being taken is
//! given up, its tasks are cancelled, and when they are gone, what is being committed is settled and no checkpoint is on its way to the
//! store, the region begins again from the newest one, as the job would: state, enumerators, committers.
//!
//! - While a region is away no checkpoint begins, so each holds all regions.
//! - Nothing of the attempt that failed is heard any more, and nothing that it has staged is in a later checkpoint.
//! - The others have gone on: they are further than that checkpoint, and no row goes between them and the region.

use std::task::{Context, Poll};

use tokio::sync::watch;
use tokio::task::JoinError;

use super::Attempt;
use super::build::{Built, Restored};
use crate::checkpoint::folder_of;
use crate::coordinator::commit::CommitQueue;
use crate::coordinator::control::{Control, StopMode};
use crate::coordinator::run::{Repeated, gives_up};
use crate::coordinator::storage::{Checkpoint, ReadError};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::notice::notice;
use crate::panics::message;
use crate::restart::RestartStrategy;
use crate::seam::{self, Instant, Point};
use crate::task::Task;

/// Something has failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// What has to begin again; None: the job.
    pub region: Option<usize>,
    pub error: JobError,
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        Failure { region: None, error }
    }
}

impl Failure {
    pub(super) fn of(region: usize) -> impl FnOnce(JobError) -> Self {
        move |error| Failure { region: Some(region), error }
    }
}

/// See the module.
pub(super) struct Region {
    /// `orders -> totals`
    pub name: String,
    /// Their indices in the job.
    pub chains: Vec<usize>,
    /// From 1, over all attempts of the job in this process.
    pub attempt: u32,
    /// Tasks that have not ended.
    pub running: usize,
    /// Of them, those whose state is not there yet.
    pub restoring: usize,
    pub cancel: watch::Sender<bool>,
    pub phase: Phase,
    repeated: Repeated,
}

/// Where a region stands.
pub(super) enum Phase {
    /// With what its sinks have to commit.
    Runs(CommitQueue),
    /// It has failed, and what it was doing comes to its end.
    Stops { until: Instant, settled: bool },
    /// It is being restored. What stops that.
    Returns(Option<watch::Sender<bool>>),
}

/// A step of a region that is away, done beside the coordinator's loop.
pub(super) enum Step {
    /// What was being committed is settled.
    Settled,
    Read(Result<Option<Checkpoint>, Failure>),
    /// The sinks are ready for the tasks.
    Ready(JobResult<(CommitQueue, Box<Ready>)>),
}

/// A region that can begin.
pub(super) struct Ready {
    tasks: Vec<Task>,
    restored: Restored,
}

impl Region {
    pub(super) fn new(name: String, chains: Vec<usize>, attempt: u32, cancel: watch::Sender<bool>, queue: CommitQueue) -> Self {
        Region {
            name,
            chains,
            attempt,
            running: 0,
            restoring: 0,
            cancel,
            phase: Phase::Runs(queue),
            repeated: Repeated::default(),
        }
    }

    pub(super) fn runs(&self) -> bool {
        matches!(self.phase, Phase::Runs(_))
    }

    pub(super) fn queue(&self) -> Option<&CommitQueue> {
        match &self.phase {
            Phase::Runs(queue) => Some(queue),
            _ => None,
        }
    }

    pub(super) fn queue_mut(&mut self) -> Option<&mut CommitQueue> {
        match &mut self.phase {
            Phase::Runs(queue) => Some(queue),
            _ => None,
        }
    }
}

/// Waits for a commit or a merge of any region to end. Gives the region.
pub(super) async fn step_done(regions: &mut [Region]) -> Result<usize, Failure> {
    std::future::poll_fn(|cx: &mut Context<'_>| {
        for (index, region) in regions.iter_mut().enumerate() {
            if let Some(queue) = region.queue_mut()
                && let Poll::Ready(done) = queue.poll_step(cx)
            {
                return Poll::Ready(done.map(|()| index).map_err(Failure::of(index)));
            }
        }
        Poll::Pending
    })
    .await
}

impl Attempt<'_> {
    /// Whether all regions run.
    pub(super) fn is_whole(&self) -> bool {
        self.regions.iter().all(Region::runs)
    }

    /// Whether no task is still reading its state, which may take longer than a checkpoint.
    pub(super) fn is_restored(&self) -> bool {
        self.regions.iter().all(|region| region.restoring == 0)
    }

    /// Something has failed: its region goes away, to come back. Err: the job does not go on, or all of it begins again.
    pub(super) fn failed(&mut self, failure: Failure, strategy: &mut RestartStrategy, control: &Control) -> JobResult<()> {
        let Failure { region: Some(index), error } = failure else { return Err(failure.error) };
        // A job of one region begins again as a whole: so it may take an older checkpoint. Behind the last one nothing is restored.
        let named = self.completed.is_none() && self.origin.is_some_and(|(_, named)| named);
        let whole = self.regions.len() == 1 || self.last.is_some() || named || self.shared.is_broken();
        if whole || error.kind() != ErrorKind::Transient || control.stopping() != StopMode::None {
            return Err(error);
        }
        let job = self.settings.job.name;
        let region = &mut self.regions[index];
        if let Phase::Stops { .. } = region.phase {
            // It comes of the same failure, or with it.
            return Ok(());
        }
        let hint = region.repeated.again(&error, self.completed);
        let Some(delay) = strategy.after_failure(Instant::now()) else {
            self.gave_up = Some(gives_up(
                job,
                &format!("`{}` failed in its attempt {}", region.name, region.attempt),
                error,
                hint,
                strategy,
            ));
            return Err(JobError::transient("gave up"));
        };
        let hint = hint.map(|hint| format!("\n  {hint}")).unwrap_or_default();
        notice(&format!(
            "{job}: `{name}` failed in its attempt {attempt}: {error}{hint}\n{job}: `{name}` begins its attempt {next} in {:.1} s (failure {}), \
             everything else goes on",
            delay.as_secs_f64(),
            strategy.failures(),
            name = region.name,
            attempt = region.attempt,
            next = region.attempt + 1,
        ));
        self.goes_away(index, Instant::now() + delay);
        Ok(())
    }

    fn goes_away(&mut self, index: usize, until: Instant) {
        let region = &mut self.regions[index];
        let _ = region.cancel.send(true);
        let chains = region.chains.clone();
        let before = std::mem::replace(&mut region.phase, Phase::Stops { until, settled: false });
        match before {
            Phase::Runs(mut queue) => {
                self.steps.spawn(async move {
                    queue.settle().await;
                    (index, Step::Settled)
                });
            }
            // It could not be restored: nothing of it runs.
            _ => region.phase = Phase::Stops { until, settled: true },
        }
        self.sources.close(&chains);
        self.alignment.leave(&chains);
        for &chain in &chains {
            self.mailboxes[chain].clear();
        }
        self.ended.retain(|task| !chains.contains(&task.chain));
        self.parts.retain(|task, _| !chains.contains(&task.chain));
        self.abort_pending();
    }

    /// Begins the next step of the regions that are away. `now`: the job is to stop, which waits for no delay.
    pub(super) fn bring_back(&mut self, now: bool) {
        // A checkpoint that completes is the one to go on from; what is left of one that does not must not be found by anybody.
        if self.writing.is_some() || !self.stale.is_empty() || self.is_whole() {
            return;
        }
        for index in 0..self.regions.len() {
            let region = &mut self.regions[index];
            let Phase::Stops { until, settled: true } = region.phase else { continue };
            if region.running > 0 || (!now && until > Instant::now()) {
                continue;
            }
            region.phase = Phase::Returns(None);
            let chains = region.chains.clone();
            let uids = self.uids_of(&chains);
            self.carried.forget(|uid| uids.contains(&uid));
            let newest = self.completed.or(self.origin.map(|(checkpoint, _)| checkpoint));
            self.increments.goes_back(newest, |uid| uids.contains(&uid));
            // Those go on, so it needs nothing that is theirs alone.
            let of_others = self.increments.of_others(|uid| uids.contains(&uid));
            let (store, job, run) = (self.store.clone(), self.settings.job.name, self.identity.run.clone());
            self.steps.spawn(async move {
                let read = async {
                    seam::reach(Point::Search).await.map_err(Failure::of(index))?;
                    let Some(store) = store else { return Ok(None) };
                    let highest = store.ids().await.map_err(Failure::of(index))?.last().copied().unwrap_or(0);
                    store.go_on_from(newest.unwrap_or(0), highest, &run);
                    let Some(newest) = newest else {
                        // Were one given up behind which there is none, nobody could go on any more: all go on from that one.
                        return match store.search(job).await.map_err(Failure::of(index))?.checkpoint {
                            None => Ok(None),
                            Some(_) => {
                                Err(JobError::transient("a checkpoint is there, though it seemed that it was not stored").into())
                            }
                        };
                    };
                    match store.read_without(&folder_of(newest), job, &of_others).await {
                        Ok(Some(checkpoint)) => Ok(Some(checkpoint)),
                        Err(ReadError::Unreadable(reason)) => {
                            Err(Failure::of(index)(JobError::transient(format!("checkpoint {newest} cannot be read: {reason}"))))
                        }
                        // An older one may be whole: then all regions go back to that.
                        _ => Err(JobError::transient(format!("checkpoint {newest} is not what was stored")).into()),
                    }
                };
                (index, Step::Read(read.await))
            });
        }
    }

    /// A step of a region that is away is done.
    pub(super) fn stepped(&mut self, stepped: Result<(usize, Step), JoinError>) -> Result<(), Failure> {
        let (index, step) = stepped.map_err(|error| JobError::transient(format!("restoring panicked: {}", message(error))))?;
        match step {
            Step::Settled => {
                if let Phase::Stops { settled, .. } = &mut self.regions[index].phase {
                    *settled = true;
                }
                Ok(())
            }
            Step::Read(read) => {
                let checkpoint = read?;
                self.restores(index, checkpoint).map_err(Failure::of(index))
            }
            Step::Ready(ready) => {
                let (queue, ready) = ready.map_err(Failure::of(index))?;
                self.begins(index, queue, *ready).map_err(Failure::of(index))
            }
        }
    }

    fn uids_of(&self, chains: &[usize]) -> Vec<&'static str> {
        chains.iter().flat_map(|&chain| self.settings.job.chains[chain].uids.iter().copied()).collect()
    }

    /// Builds the tasks of a region anew, and has its sinks go on from the checkpoint.
    fn restores(&mut self, index: usize, checkpoint: Option<Checkpoint>) -> JobResult<()> {
        let chains = self.regions[index].chains.clone();
        let uids = self.uids_of(&chains);
        let own = checkpoint.map(|Checkpoint { manifest, mut entries, mut groups, to_build_upon }| {
            entries.retain(|entry| uids.contains(&entry.uid.as_str()));
            groups.retain(|group| uids.contains(&group.uid.as_str()));
            Checkpoint { manifest, entries, groups, to_build_upon }
        });
        let mut restored = Restored::new(self.settings, own)?;
        let attempt = self.board.begin_region(chains[0]);
        self.board.region_restarts();
        let region = &mut self.regions[index];
        region.attempt = attempt;
        region.cancel = watch::channel(false).0;
        let cancelled = region.cancel.subscribe();
        let from = match restored.checkpoint {
            Some(checkpoint) => format!("goes on from checkpoint {checkpoint}"),
            None => "begins anew: there is no checkpoint yet".to_owned(),
        };
        notice(&format!("{}: attempt {attempt} of `{}` {from}", self.settings.job.name, region.name));
        let built = self.shared.build(&chains, attempt, &cancelled, self.next_checkpoint, &mut restored)?;
        let Built { tasks, mailboxes, sinks, aligned } = built;
        for (chain, mailboxes) in mailboxes {
            self.mailboxes[chain] = mailboxes;
        }
        self.alignment.join(aligned);
        let mut queue = CommitQueue::new(sinks.into_sinks(), &self.board);
        self.regions[index].phase = Phase::Returns(Some(queue.canceller()));
        let store = self.store.clone();
        self.steps.spawn(async move {
            let start = async {
                queue.agree(restored.checkpoint).await?;
                // Before sinks take back what newer checkpoints hold: these count no more.
                if let Some(store) = &store {
                    store.give_up_newer().await?;
                }
                let entries = restored.dealt.own.iter().map(|(_, entry)| entry);
                queue.start(restored.checkpoint, entries, store.as_deref()).await?;
                seam::reach(Point::Restored).await?;
                Ok((queue, Box::new(Ready { tasks, restored })))
            };
            (index, Step::Ready(start.await))
        });
        Ok(())
    }

    fn begins(&mut self, index: usize, queue: CommitQueue, ready: Ready) -> JobResult<()> {
        self.regions[index].phase = Phase::Runs(queue);
        self.open(index, &ready.restored)?;
        self.spawn(index, ready.tasks);
        // It has not heard of it.
        self.drained = false;
        Ok(())
    }

    /// Finds the sources of a region.
    pub(super) fn open(&mut self, index: usize, restored: &Restored) -> JobResult<()> {
        let (chains, resumed) = (&self.regions[index].chains, restored.checkpoint.is_some());
        self.sources.open(self.settings, chains, &restored.dealt, resumed, &self.mailboxes, &self.board)
    }

    /// Lets its tasks run.
    pub(super) fn spawn(&mut self, index: usize, tasks: Vec<Task>) {
        let region = &mut self.regions[index];
        (region.running, region.restoring) = (tasks.len(), tasks.len());
        for task in tasks {
            let id = task.id;
            let spawned = self.tasks.spawn(async move { (id, task.run().await) });
            self.running.insert(spawned.id(), id);
        }
    }

    /// When there is something to do for a region that is away.
    pub(super) fn returns_at(&self) -> Option<Instant> {
        if self.writing.is_some() || !self.stale.is_empty() {
            return None;
        }
        let waits = self.regions.iter().filter_map(|region| match region.phase {
            Phase::Stops { until, settled: true } if region.running == 0 => Some(until),
            _ => None,
        });
        waits.min()
    }

    /// All regions end: what is being committed is settled, whoever does it.
    pub(super) async fn settle(&mut self) {
        for region in &mut self.regions {
            match &mut region.phase {
                Phase::Runs(queue) => queue.settle().await,
                Phase::Returns(Some(cancel)) => drop(cancel.send(true)),
                Phase::Returns(None) | Phase::Stops { .. } => {}
            }
        }
        while self.steps.join_next().await.is_some() {}
    }
}
