//! Giving a checkpoint up: everybody hears of it, nothing of it is left, and what its sinks have staged goes into the next.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::{Attempt, Writing};
use crate::checkpoint::StateEntry;
use crate::coordinator::checkpointing::{Pending, Purpose};
use crate::coordinator::control::CheckpointRequest;
use crate::error::{ErrorKind, JobError, JobResult};
use crate::graph::text::duration_text;
use crate::notice::notice;
use crate::seam::Instant;
use crate::task::{Decline, TaskId, TaskMessage};

/// Behind a checkpoint that was given up the next one waits at least so long, or for the interval if that is shorter.
const RETRY: Duration = Duration::from_secs(1);

/// A checkpoint that comes to nothing.
struct Lost {
    id: u64,
    requests: Vec<CheckpointRequest>,
}

impl Attempt<'_> {
    /// When a checkpoint that is being taken has taken too long.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let writing = self.writing.as_ref().and_then(|writing| writing.deadline);
        self.pending.iter().filter_map(|pending| pending.deadline).chain(writing).min()
    }

    /// Gives up checkpoints that have taken too long, the oldest first.
    pub(super) fn expire(&mut self) -> JobResult<()> {
        let now = Instant::now();
        let is_over = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        if !is_over(self.deadline()) {
            return Ok(());
        }
        let within = duration_text(i64::try_from(self.settings.checkpoints.timeout.as_micros()).unwrap_or(i64::MAX));
        let not_stored = format!("it could not be stored within {within}");
        if let Some(mut writing) = self.writing.take_if(|writing| is_over(writing.deadline)) {
            if writing.stored.load(SeqCst) {
                // Those before it may be removed already: without it there would be none to go on from.
                self.writing = Some(Writing { deadline: None, ..writing });
            } else {
                if let Some(job) = &writing.job {
                    job.abort();
                }
                let job = writing.job.take();
                let lost = self.abandon_writing(writing, async move {
                    if let Some(job) = job {
                        let _ = job.await;
                    }
                });
                self.give_up(lost, &not_stored)?;
            }
        }
        while let Some(index) = self.pending.iter().position(|pending| is_over(pending.deadline))
            && let Some(pending) = self.pending.remove(index)
        {
            let reason = if pending.is_complete() {
                not_stored.clone()
            } else {
                let missing = pending.missing(&self.settings.job.chains, &self.settings.parallelism);
                format!("it has not come through within {within}: {missing}")
            };
            let lost = Lost { id: pending.id, requests: self.abandon_pending(pending) };
            self.give_up(lost, &reason)?;
        }
        Ok(())
    }

    /// The checkpoint could not be stored. A failure that would come again at once ends the attempt.
    pub(super) fn not_stored(&mut self, writing: Writing, error: JobError) -> JobResult<()> {
        if error.kind() != ErrorKind::Transient || writing.stored.load(SeqCst) {
            return Err(error);
        }
        let lost = self.abandon_writing(writing, async {});
        self.give_up(lost, error.message())
    }

    /// A task has no part of a checkpoint.
    pub(super) fn declined(&mut self, task: TaskId, decline: Decline) -> JobResult<()> {
        let Decline { checkpoint, previous, reason, staged } = decline;
        self.part_of(task, checkpoint, previous)?;
        let index = self.pending.iter().position(|pending| pending.id == checkpoint);
        let lost = index
            .and_then(|index| self.pending.remove(index))
            .map(|pending| Lost { id: checkpoint, requests: self.abandon_pending(pending) });
        self.carried.keep(checkpoint, staged);
        self.increments.lose();
        let chain = self.settings.job.chains[task.chain].name;
        match lost {
            Some(lost) => self.give_up(lost, &format!("subtask {} of {chain} has no part of it: {reason}", task.subtask)),
            None => Ok(()),
        }
    }

    /// A task has handed over its part of a checkpoint. The one before that must have come: with it would be lost what sinks have
    /// staged.
    pub(super) fn part_of(&mut self, task: TaskId, checkpoint: u64, previous: u64) -> JobResult<()> {
        let last = self.parts.insert(task, checkpoint).unwrap_or(0);
        if last == previous {
            return Ok(());
        }
        let chain = self.settings.job.chains[task.chain].name;
        Err(JobError::transient(format!(
            "the part that subtask {} of {chain} has of checkpoint {previous} is lost",
            task.subtask
        )))
    }

    /// The pieces of a checkpoint do not join those that are stored.
    pub(super) fn not_joined(
        &mut self,
        id: u64,
        entries: Vec<StateEntry>,
        requests: Vec<CheckpointRequest>,
        error: &JobError,
    ) -> JobResult<()> {
        self.carried.keep(id, entries);
        self.give_up(Lost { id, requests }, error.message())
    }

    fn abandon_pending(&mut self, pending: Pending) -> Vec<CheckpointRequest> {
        let id = pending.id;
        let (contents, requests) = pending.abandon();
        self.increments.keep(contents.pieces);
        self.carried.keep(id, contents.entries);
        requests
    }

    /// What it has written is removed, once `before` is done.
    fn abandon_writing(&mut self, writing: Writing, before: impl Future<Output = ()> + Send + 'static) -> Lost {
        let Writing { id, committables, sealed, draft, requests, unreadable, .. } = writing;
        self.carried.keep_collected(id, committables, sealed);
        self.increments.not_stored(draft, unreadable.load(SeqCst));
        if let Some(store) = self.store.clone() {
            while self.stale.try_join_next().is_some() {}
            self.stale.spawn(async move {
                before.await;
                store.abandon(id).await;
            });
        }
        Lost { id, requests }
    }

    /// Gives up the checkpoints that are being taken, since a part of the job is away. That is no failure of checkpoints, and who asked
    /// for them is served by the next one.
    pub(super) fn abort_pending(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            let requests = self.abandon(pending);
            self.again.extend(requests);
        }
    }

    /// Gives a checkpoint up which has not failed. Gives who asked for it.
    pub(super) fn abandon(&mut self, pending: Pending) -> Vec<CheckpointRequest> {
        let id = pending.id;
        let requests = self.abandon_pending(pending);
        self.let_go(id);
        requests
    }

    /// Everybody hears of it.
    fn let_go(&mut self, id: u64) {
        self.told_in_progress();
        self.increments.given_up(id);
        self.board.checkpoint_failed();
        for mailbox in self.mailboxes.iter().flatten() {
            let _ = mailbox.send(TaskMessage::Abort(id));
        }
        self.sources.checkpoint_aborted(id);
    }

    fn give_up(&mut self, lost: Lost, reason: &str) -> JobResult<()> {
        let Lost { id, requests } = lost;
        self.let_go(id);
        self.not_saved(requests, &format!("checkpoint {id} was given up: {reason}"));
        let least = RETRY.min(self.settings.checkpoint_interval.unwrap_or(RETRY));
        self.retry_at = Some(Instant::now() + least);
        self.pause(least);
        let tolerated = self.failures.failed();
        let words = self.failures.words();
        match tolerated {
            Ok(()) => {
                notice(&format!("warning: {}: checkpoint {id} was given up ({words}): {reason}", self.settings.job.name));
                Ok(())
            }
            Err(()) => Err(JobError::transient(format!("checkpoint {id} failed ({words}): {reason}"))),
        }
    }

    /// A checkpoint has ended: the next one does not begin at once, nor before `least`.
    pub(super) fn pause(&mut self, least: Duration) {
        let earliest = Instant::now() + self.settings.checkpoints.pause.max(least);
        self.next_trigger = self.next_trigger.map(|next| next.max(earliest));
    }

    /// Whether the last checkpoint of an attempt has to wait, since one before it was given up.
    pub(super) fn must_wait(&self, purpose: Purpose) -> bool {
        purpose != Purpose::Periodic && self.failures.any() && self.retry_at.is_some_and(|at| at > Instant::now())
    }
}
