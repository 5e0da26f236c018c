//! Commits what waits for one sink: the lowest checkpoint first, each as a whole before the next begins.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::{SinkStatus, blocking};
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::seam::{self, Point};
use crate::sink::{CommitOutcome, CommitRequest, Committer, GlobalCommitter, RetryPolicy, SinkStart, Staged};

/// What is left to commit, by checkpoint. Shared with the coordinator, which writes it into every checkpoint.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    groups: Mutex<BTreeMap<u64, Group>>,
}

/// One checkpoint.
#[derive(Debug, Default)]
struct Group {
    open: Vec<CommitRequest>,
    /// Committed, and still to be shown to the global committer.
    committed: Vec<(u32, Vec<u8>)>,
}

impl Waiting {
    /// Adds all of a checkpoint: it is not added to while it is being committed.
    pub(super) fn add(&self, checkpoint: u64, staged: Vec<Staged>, status: &SinkStatus) {
        if staged.is_empty() {
            return;
        }
        let count = staged.len() as u64;
        status.counters.total.fetch_add(count, Relaxed);
        status.counters.pending.fetch_add(count, Relaxed);
        let requests = staged.into_iter().map(|staged| CommitRequest::new(checkpoint, staged.subtask, staged.committable));
        self.lock().entry(checkpoint).or_default().open.extend(requests);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The lowest checkpoint that is not settled.
    pub(super) fn first_id(&self) -> Option<u64> {
        self.lock().keys().next().copied()
    }

    /// Everything that is not settled: checkpoint, subtask, committable.
    pub(super) fn each(&self, mut take: impl FnMut(u64, u32, &[u8])) {
        for (checkpoint, group) in &*self.lock() {
            group.committed.iter().for_each(|(subtask, bytes)| take(*checkpoint, *subtask, bytes));
            group.open.iter().for_each(|request| take(*checkpoint, request.subtask(), request.committable()));
        }
    }

    /// What the global committer is shown of a checkpoint.
    fn committed(&self, checkpoint: u64) -> Vec<Vec<u8>> {
        let groups = self.lock();
        groups.get(&checkpoint).map_or_else(Vec::new, |group| group.committed.iter().map(|(_, bytes)| bytes.clone()).collect())
    }

    fn first(&self) -> Option<(u64, Vec<CommitRequest>)> {
        self.lock().first_key_value().map(|(checkpoint, group)| (*checkpoint, group.open.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sorts a round's outcomes. Gives the reason and the number of the next retry, if there has to be one.
    fn settle(&self, checkpoint: u64, requests: Vec<CommitRequest>, status: &SinkStatus, label: &str) -> Option<(u32, String)> {
        let counters = &status.counters;
        let mut retry = None;
        let mut groups = self.lock();
        let group = groups.entry(checkpoint).or_default();
        group.open.clear();
        for request in requests {
            match request.outcome() {
                CommitOutcome::RetryLater(reason) => {
                    let retries = request.retries() + 1;
                    if retry.as_ref().is_none_or(|(most, _)| *most < retries) {
                        retry = Some((retries, reason.clone()));
                    }
                    group.open.push(request.again(retries));
                    continue;
                }
                CommitOutcome::Failed(reason) => {
                    status.lost(reason);
                    notice(&format!("{label}: LOST: a committable of checkpoint {checkpoint} cannot be committed: {reason}"));
                }
                outcome => {
                    let counter = match outcome {
                        CommitOutcome::AlreadyCommitted => &counters.already_committed,
                        _ => &counters.committed,
                    };
                    counter.fetch_add(1, Relaxed);
                    group.committed.push((request.subtask(), request.into_committable()));
                }
            }
            counters.pending.fetch_sub(1, Relaxed);
        }
        retry
    }
}

/// Those who commit for one sink.
pub(super) struct Workers {
    pub(super) committer: Option<Box<dyn Committer>>,
    pub(super) global: Option<Box<dyn GlobalCommitter>>,
    /// How often the global committer has put a checkpoint off.
    global_retries: (u64, u32),
}

impl Workers {
    pub(super) fn new(committer: Option<Box<dyn Committer>>, global: Option<Box<dyn GlobalCommitter>>) -> Self {
        Workers { committer, global, global_retries: (0, 0) }
    }

    pub(super) fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        self.committer.as_mut().map_or(Ok(()), |committer| committer.start(start))?;
        self.global.as_mut().map_or(Ok(()), |global| global.start(start))
    }

    pub(super) fn discard_unknown(&mut self, start: &SinkStart, waiting: &[Vec<u8>]) -> JobResult<()> {
        self.committer.as_mut().map_or(Ok(()), |committer| committer.discard_unknown(start, waiting))
    }

    pub(super) fn finish(&mut self) -> JobResult<()> {
        self.committer.as_mut().map_or(Ok(()), |committer| committer.finish())?;
        self.global.as_mut().map_or(Ok(()), |global| global.finish())
    }
}

/// Commits until nothing is left, a failure, or a cancellation. Gives the workers back in any case but a panic of theirs.
pub(super) async fn commit_all(
    mut workers: Workers,
    waiting: Arc<Waiting>,
    status: Arc<SinkStatus>,
    label: Arc<str>,
    mut cancel: watch::Receiver<bool>,
) -> (Workers, JobResult<()>) {
    loop {
        // The rest is in the checkpoint that the next attempt begins with.
        if *cancel.borrow() {
            return (workers, Ok(()));
        }
        let Some((checkpoint, requests)) = waiting.first() else { return (workers, Ok(())) };
        if let Err(error) = seam::reach(Point::Commit).await {
            return (workers, Err(error));
        }
        let (back, outcome) = match round(workers, checkpoint, requests, &waiting, &status, &label).await {
            Ok(done) => done,
            // Both are gone with the panic; the attempt is over.
            Err(error) => return (Workers::new(None, None), Err(error)),
        };
        workers = back;
        if let Err(error) = seam::reach(Point::Committed).await {
            return (workers, Err(error));
        }
        let (retry, reason, policy) = match outcome {
            Ok(None) => continue,
            Ok(Some(again)) => again,
            Err(error) => return (workers, Err(error.context(&label))),
        };
        if retry > policy.retries {
            let error = JobError::transient(format!("checkpoint {checkpoint} could not be committed in {retry} tries: {reason}"));
            return (workers, Err(error.context(&label)));
        }
        status.counters.retried.fetch_add(1, Relaxed);
        if retry == 1 {
            notice(&format!("{label}: checkpoint {checkpoint} cannot be committed yet and is tried again: {reason}"));
        }
        tokio::select! {
            biased;
            () = tokio::time::sleep(policy.delay(retry)) => {}
            _ = cancel.wait_for(|&cancelled| cancelled) => return (workers, Ok(())),
        }
    }
}

type Again = (u32, String, RetryPolicy);

/// One try at one checkpoint. Gives whether it has to be tried again.
async fn round(
    workers: Workers,
    checkpoint: u64,
    requests: Vec<CommitRequest>,
    waiting: &Arc<Waiting>,
    status: &Arc<SinkStatus>,
    label: &Arc<str>,
) -> JobResult<(Workers, JobResult<Option<Again>>)> {
    let (waiting, status, label) = (waiting.clone(), status.clone(), label.clone());
    blocking(move || {
        let mut workers = workers;
        let outcome = try_once(&mut workers, checkpoint, requests, &waiting, &status, &label);
        (workers, outcome)
    })
    .await
}

fn try_once(
    workers: &mut Workers,
    checkpoint: u64,
    mut requests: Vec<CommitRequest>,
    waiting: &Waiting,
    status: &SinkStatus,
    label: &str,
) -> JobResult<Option<Again>> {
    if !requests.is_empty() {
        let mut policy = RetryPolicy::default();
        if let Some(committer) = &mut workers.committer {
            policy = committer.retry();
            committer.commit(&mut requests)?;
        }
        if let Some((retry, reason)) = waiting.settle(checkpoint, requests, status, label) {
            return Ok(Some((retry, reason, policy)));
        }
    }
    if let Some(global) = &mut workers.global {
        let committed = waiting.committed(checkpoint);
        let outcome = if committed.is_empty() { CommitOutcome::Committed } else { global.commit(checkpoint, &committed)? };
        match outcome {
            CommitOutcome::Committed | CommitOutcome::AlreadyCommitted => {}
            CommitOutcome::Failed(reason) => {
                status.lost(&reason);
                notice(&format!("{label}: LOST: checkpoint {checkpoint} cannot be committed as a whole: {reason}"));
            }
            CommitOutcome::RetryLater(reason) => {
                let (of, retries) = workers.global_retries;
                let retry = if of == checkpoint { retries + 1 } else { 1 };
                workers.global_retries = (checkpoint, retry);
                return Ok(Some((retry, reason, global.retry())));
            }
        }
    }
    waiting.lock().remove(&checkpoint);
    Ok(None)
}
