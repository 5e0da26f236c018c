//! A chain of checkpoints that has grown long is compacted, beside everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use tokio::task::JoinHandle;

use super::Attempt;
use crate::coordinator::compaction::NotCompacted;
use crate::coordinator::lineage::Compacted;
use crate::coordinator::retention::Pin;
use crate::error::JobError;
use crate::notice::notice;

/// What comes of it.
pub(super) type Done = Result<(Compacted, Pin), NotCompacted>;

/// A compaction that is on its way.
pub(super) struct Compacting {
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
        let Some(store) = self.store.clone() else { return };
        let Some(plan) = self.increments.plan() else { return };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let job = tokio::spawn(async move { store.compact(plan, &stopped).await });
        self.compacting = Some(Compacting { stop, job });
    }

    /// A compaction has come to its end. If it has failed, everything goes on as it did.
    pub(super) fn compacted(&mut self, done: Done) {
        let job = self.settings.job.name;
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

/// Waits for a compaction to end. Cancel safe.
pub(super) async fn compacted(compacting: &mut Option<Compacting>) -> Done {
    let Some(Compacting { job, .. }) = compacting else { return std::future::pending().await };
    let done = job.await.unwrap_or_else(|error| {
        Err(NotCompacted::Failed(JobError::transient(format!("it panicked: {}", crate::panics::message(error)))))
    });
    *compacting = None;
    done
}
