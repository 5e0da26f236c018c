//! A checkpoint of an attempt: begun when it is due, written when all tasks have taken part, announced when it is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Attempt, Failure, Phase, Region};
use crate::coordinator::checkpointing::{Pending, Purpose};
use crate::coordinator::commit::{Collected, Sealed, collect};
use crate::coordinator::control::{CheckpointInfo, CheckpointRequest, StopMode};
use crate::coordinator::increments::Draft;
use crate::coordinator::savepoint::{Stored, Wanted, store};
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::seam::Instant;
use crate::task::TaskMessage;

/// A checkpoint on its way to the store.
pub(super) struct Writing {
    pub id: u64,
    pub purpose: Purpose,
    pub started: Instant,
    pub deadline: Option<Instant>,
    pub committables: Vec<Collected>,
    /// Results of merges that are committed with it.
    pub sealed: Vec<Sealed>,
    /// What others may build upon.
    pub draft: Draft,
    pub requests: Vec<CheckpointRequest>,
    /// It is stored: there is no giving it up any more.
    pub stored: Arc<AtomicBool>,
    /// Some of its state could not be encoded.
    pub unreadable: Arc<AtomicBool>,
    /// None: there is nowhere to write to.
    pub job: Option<JoinHandle<JobResult<Stored>>>,
}

impl Attempt<'_> {
    /// Whether another checkpoint may begin beside those that are on their way. The last of an attempt begins when all others have ended.
    pub(super) fn takes_another(&self, purpose: Purpose) -> bool {
        let most = if purpose == Purpose::Periodic { self.settings.checkpoints.concurrent } else { 1 };
        self.in_progress() < most
    }

    /// What the next checkpoint is for.
    pub(super) fn purpose(&self, stopping: StopMode) -> Purpose {
        if self.ended.len() == self.task_count {
            Purpose::End
        } else if stopping.pauses() {
            Purpose::Stop
        } else {
            Purpose::Periodic
        }
    }

    /// How many checkpoints are on their way.
    pub(super) fn in_progress(&self) -> usize {
        self.pending.len() + usize::from(self.writing.is_some())
    }

    /// A checkpoint has begun, or has ended.
    pub(super) fn told_in_progress(&mut self) {
        self.begun = self.in_progress() > 0;
        self.board.checkpoints_in_progress(self.in_progress());
    }

    /// Begins a checkpoint if one is due, and as many may be on their way.
    pub(super) fn trigger_if_due(&mut self, stopping: StopMode, wanted: &mut Vec<CheckpointRequest>) -> Result<(), Failure> {
        if self.last.is_some() || !self.is_whole() {
            return Ok(());
        }
        let purpose = self.purpose(stopping);
        let is_due = || {
            self.is_restored()
                && !self.increments.is_taking_over()
                && (wanted.iter().any(|request| !request.at_end)
                    || (self.store.is_some() && self.next_trigger.is_some_and(|at| at <= Instant::now())))
        };
        if purpose == Purpose::Periodic && !is_due() {
            return Ok(());
        }
        if !self.takes_another(purpose) || self.must_wait(purpose) {
            return Ok(());
        }
        let enumerators = self.sources.snapshot().map_err(|(chain, error)| Failure::of(self.region_of[chain])(error))?;
        let id = self.next_checkpoint;
        self.next_checkpoint += 1;
        self.next_trigger = self.settings.checkpoint_interval.map(|interval| Instant::now() + interval);
        let mut pending = Pending::new(id, purpose, enumerators, self.task_count);
        pending.requests = match purpose {
            Purpose::Periodic => wanted.extract_if(.., |request| !request.at_end).collect(),
            Purpose::End | Purpose::Stop => std::mem::take(wanted),
        };
        // Without checkpoints there is one at the end, which commits what sinks hold: that has no hurry.
        pending.deadline = self.store.is_some().then(|| Instant::now() + self.settings.checkpoints.timeout);
        // Savepoints, and what the job stops or ends with, overtake nothing: they can be gone on from at any parallelism.
        let aligned = purpose != Purpose::Periodic || pending.requests.iter().any(|request| request.savepoint.is_some());
        let unaligned = self.settings.checkpoints.unaligned.filter(|_| !aligned);
        pending.overtake_at = unaligned.map(|after| Instant::now() + after);
        // Where the job keeps none, savepoints are made of what the tasks hand over.
        let alone = self.store.is_none() && pending.requests.iter().any(|request| request.savepoint.is_some());
        self.increments.begin(id, alone);
        self.pending.push_back(pending);
        self.told_in_progress();
        let pause = purpose == Purpose::Stop;
        for mailbox in self.mailboxes.iter().flatten() {
            let _ = mailbox.send(TaskMessage::Trigger { checkpoint: id, pause });
        }
        Ok(())
    }

    /// Lets the barriers of a checkpoint that is being taken overtake rows, if it has taken long enough.
    pub(super) fn overtake_if_due(&mut self) {
        for pending in &mut self.pending {
            if pending.overtake_at.take_if(|at| *at <= Instant::now()).is_some() {
                for mailbox in self.mailboxes.iter().flatten() {
                    let _ = mailbox.send(TaskMessage::Overtake(pending.id));
                }
            }
        }
    }

    /// Writes the oldest checkpoint in which all tasks have taken part, if none is being written. Older ones will never have all parts, since a
    /// task takes checkpoints in their order, and leaves one out where its input ended in between: that one stands for them.
    pub(super) fn write_if_complete(&mut self) -> JobResult<()> {
        // One whose files do not join those that are stored is given up at once.
        while self.writing.is_none()
            && let Some(complete) = self.pending.iter().position(Pending::is_complete)
        {
            let mut requests = Vec::new();
            for pending in self.pending.drain(..complete).collect::<Vec<_>>() {
                requests.extend(self.abandon(pending));
            }
            let Some(mut pending) = self.pending.pop_front() else { return Ok(()) };
            requests.append(&mut pending.requests);
            pending.requests = requests;
            self.write(pending)?;
        }
        Ok(())
    }

    /// All tasks have taken part: it is stored, beside the loop.
    fn write(&mut self, mut pending: Pending) -> JobResult<()> {
        let (id, purpose, started, deadline) = (pending.id, pending.purpose, pending.started, pending.deadline);
        let requests = std::mem::take(&mut pending.requests);
        let (mut manifest, mut contents) = pending.complete(&self.identity, &self.settings.job.chains);
        manifest.drained = (manifest.drained || self.drained) && manifest.is_of_the_end();
        let draft = match self.increments.join(id, &mut contents.pieces) {
            Ok((files, draft)) => {
                manifest.files = files;
                draft
            }
            Err(error) => return self.not_joined(id, contents.entries, requests, &error),
        };
        let entries = &mut contents.entries;
        let mut sealed = self.carried.join(id, entries);
        let committables = collect(&*entries)?;
        for queue in self.regions.iter_mut().filter_map(Region::queue_mut) {
            sealed.extend(queue.seal(id)?);
        }
        for queue in self.queues() {
            entries.extend(queue.entries(&sealed));
        }
        let retain = self.settings.retain;
        let directories: Vec<String> = requests.iter().filter_map(|request| request.savepoint.clone()).collect();
        let savepoints = match directories.is_empty() {
            true => Wanted::default(),
            false => Wanted { directories, chain: draft.chain().clone() },
        };
        let (stored, unreadable) = (Arc::new(AtomicBool::new(false)), contents.unreadable.clone());
        let job = (self.store.is_some() || !savepoints.directories.is_empty()).then(|| {
            let (own, claimed, stored) = (self.store.clone(), self.claimed.clone(), stored.clone());
            tokio::spawn(store(own, manifest, contents, retain, claimed, savepoints, stored))
        });
        self.writing =
            Some(Writing { id, purpose, started, deadline, committables, sealed, draft, requests, stored, unreadable, job });
        Ok(())
    }

    /// A checkpoint is stored, or cannot be. True: the job was to stop with a savepoint, which cannot be written, and goes on.
    pub(super) fn written(&mut self, result: JobResult<Stored>, stopper: &watch::Sender<StopMode>) -> JobResult<bool> {
        let Some(writing) = self.writing.take() else { return Ok(false) };
        let Stored { savepoints, size, to_build_upon } = match result {
            Ok(stored) => stored,
            Err(error) => return self.not_stored(writing, error).map(|()| false),
        };
        self.told_in_progress();
        self.increments.stored(writing.draft, to_build_upon, size);
        if writing.unreadable.load(SeqCst) {
            // A savepoint could not be made of it.
            notice(&format!(
                "warning: {}: checkpoint {} builds upon a file that is not what was written, so the next one holds all state",
                self.settings.job.name, writing.id
            ));
            self.increments.lose();
        }
        self.failures.succeeded();
        self.pause(Duration::ZERO);
        for mailbox in self.mailboxes.iter().flatten() {
            let _ = mailbox.send(TaskMessage::Complete(writing.id));
        }
        self.sources.checkpoint_complete(writing.id);
        let took = writing.started.elapsed();
        if self.store.is_some() {
            self.completed = Some(writing.id);
            self.board.checkpoint_completed(writing.id, took, size);
        }
        let folder = self.store.as_ref().map(|store| store.folder(writing.id));
        let info = CheckpointInfo { id: writing.id, folder, savepoint: None, took };
        let purpose = self.saved(writing.purpose, info, writing.requests, savepoints, stopper);
        let (mut committables, mut sealed) = (writing.committables, writing.sealed);
        for region in &mut self.regions {
            // One that is away finds its part in the checkpoint.
            let Phase::Runs(queue) = &mut region.phase else { continue };
            let committables = committables.extract_if(.., |collected| queue.has(&collected.uid)).collect();
            let sealed = sealed.extract_if(.., |sealed| queue.has(&sealed.uid)).collect();
            queue.complete(writing.id, committables, sealed, purpose)?;
            queue.go_on();
        }
        if purpose == Purpose::Periodic {
            self.compact_if_long();
        } else {
            // Nothing builds upon it now: what was put together would be left behind.
            self.last = Some(purpose);
        }
        Ok(purpose != writing.purpose)
    }
}

/// Waits until the checkpoint that is on its way to the store is there. Cancel safe.
pub(super) async fn written(writing: &mut Option<Writing>) -> JobResult<Stored> {
    match writing {
        None => std::future::pending().await,
        Some(Writing { job: None, .. }) => Ok(Stored::default()),
        Some(Writing { job: Some(job), .. }) => {
            job.await.unwrap_or_else(|error| Err(JobError::transient(format!("writing a checkpoint panicked: {error}"))))
        }
    }
}
