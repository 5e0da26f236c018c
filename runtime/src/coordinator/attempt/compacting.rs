//! A chain of checkpoints that has grown long is compacted, beside everything else; and what the job goes on from and lies elsewhere is
//! copied, so that its first checkpoint need not hold all state. That one waits for this, but not the last one of a job that is to stop:
//! no row comes beside that, so it may hold all state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use tokio::task::JoinHandle;

use super::Attempt;
use crate::coordinator::compaction::NotCompacted;
use crate::coordinator::lineage::{Compacted, Plan};
use crate::coordinator::retention::Pin;
use crate::coordinator::storage::CheckpointStore;
use crate::error::JobError;
use crate::notice::notice;

/// What comes of it.
pub(super) type Done = Result<(Compacted, Pin), NotCompacted>;

/// A compaction that is on its way.
pub(super) struct Compacting {
    /// Of a checkpoint that lies elsewhere.
    takes_over: bool,
    stop: Arc<AtomicBool>,
    job: JoinHandle<Done>,
}

impl Compacting {
    /// Nobody wants it any more. Nothing of it is on its way to the store behind this.
    pub async fn stop(self) {
        self.stop.store(true, SeqCst);
        let _ = self.job.await;
    }
}

impl Attempt<'_> {
    /// Begins to compact what the next checkpoint builds upon, if that is long.
    pub(super) fn compact_if_long(&mut self) {
        let Some(store) = self.store.clone().filter(|_| self.compacting.is_none()) else { return };
        let Some(plan) = self.increments.plan() else { return };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let job = tokio::spawn(async move { store.compact(plan, &stopped).await });
        self.compacting = Some(Compacting { takes_over: false, stop, job });
    }

    /// A compaction has come to its end. If it has failed, everything goes on as it did.
    pub(super) fn compacted(&mut self, (takes_over, done): (bool, Done)) {
        let job = self.settings.job.name;
        if takes_over {
            let result = done.map_err(|error| match error {
                NotCompacted::Failed(error) => error.message().to_owned(),
                NotCompacted::Damaged(reason) => reason,
            });
            if let Some(reason) = self.increments.taken_over(result) {
                notice(&format!(
                    "warning: {job}: the files of the checkpoint that it goes on from cannot be taken over, so its first one holds all state: \
                     {reason}"
                ));
            }
            return;
        }
        let result = done.map_err(|error| match error {
            NotCompacted::Failed(error) => {
                notice(&format!("warning: {job}: files of checkpoints cannot be put together now: {error}"));
                error
            }
            NotCompacted::Damaged(reason) => {
                notice(&format!(
                    "warning: {job}: checkpoints build upon a file that is not what was written, so the next one holds all state: {reason}"
                ));
                self.increments.lose();
                JobError::transient(reason)
            }
        });
        self.increments.compacted(result);
    }
}

/// Begins to copy what is in a checkpoint that lies elsewhere to the folder of this one.
pub(super) fn take_over(store: &Arc<CheckpointStore>, from: Arc<CheckpointStore>, plan: Plan, into: u64) -> Compacting {
    let stop = Arc::new(AtomicBool::new(false));
    let (store, stopped) = (store.clone(), stop.clone());
    let job = tokio::spawn(async move { store.take_over(&from, plan, into, &stopped).await });
    Compacting { takes_over: true, stop, job }
}

/// Waits for a compaction to end. Says also whether it was of a checkpoint that lies elsewhere. Cancel safe.
pub(super) async fn compacted(compacting: &mut Option<Compacting>) -> (bool, Done) {
    let Some(Compacting { job, takes_over, .. }) = compacting else { return std::future::pending().await };
    let takes_over = *takes_over;
    let done = job.await.unwrap_or_else(|error| {
        Err(NotCompacted::Failed(JobError::transient(format!("it panicked: {}", crate::panics::message(error)))))
    });
    *compacting = None;
    (takes_over, done)
}
