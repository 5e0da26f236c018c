//! Committing what sinks have staged: per sink in the order of checkpoints, one after the other, beside the coordinator's loop.
//!
//! In: the committables of completed checkpoints. Out: calls to committers. Whatever is not settled is in every checkpoint, so
//! that nothing is forgotten when the process dies, and nothing is committed that no completed checkpoint holds.

mod carried;
mod collect;
mod compaction;
mod status;
#[cfg(test)]
mod tests;
mod worker;

pub(super) use carried::Carried;
pub(super) use collect::{Collected, collect};
pub(super) use compaction::Sealed;
pub(crate) use status::SinkStatus;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::checkpointing::Purpose;
use super::storage::CheckpointStore;
use crate::chain::SinkParts;
use crate::checkpoint::{Part, StateEntry};
use crate::error::{JobError, JobResult};
use crate::progress::Board;
use crate::sink::{COMMITTABLES, SinkStart, Staged};
use collect::Stored;
use compaction::Compaction;
use worker::{Waiting, Workers, commit_all};

/// The state in a checkpoint of what is committed when it is complete, beside what writers made for it: `#commit@7`.
const COMMIT: &str = "#commit@";

/// Whether an entry of a checkpoint is something that a sink has staged.
pub(super) fn is_committable(state: &str) -> bool {
    state == COMMITTABLES || state.starts_with(COMMIT)
}

/// All sinks' committables on their way, and those who commit them.
pub(super) struct CommitQueue {
    sinks: BTreeMap<String, SinkCommits>,
    running: JoinSet<Done>,
    /// Whether merges may begin.
    merging: bool,
    cancel: watch::Sender<bool>,
}

/// One sink.
struct SinkCommits {
    /// `sink delays`
    label: Arc<str>,
    status: Arc<SinkStatus>,
    waiting: Arc<Waiting>,
    /// None while they work.
    workers: Option<Workers>,
    compaction: Option<Compaction>,
}

/// A step that ended.
enum Done {
    Commit { uid: String, workers: Workers, result: JobResult<()> },
    Merge { uid: String, number: u64, result: JobResult<Vec<Vec<u8>>> },
}

/// How sinks start: anew, or behind this checkpoint.
fn start_of(resumed: Option<u64>) -> SinkStart {
    resumed.map_or(SinkStart::Fresh, |checkpoint| SinkStart::Resumed { checkpoint })
}

impl CommitQueue {
    pub(super) fn new(sinks: BTreeMap<String, SinkParts>, board: &Board) -> Self {
        let sinks = sinks.into_iter().map(|(uid, parts)| {
            let commits = SinkCommits {
                label: sink_of(&uid).into(),
                status: board.sink_status(&uid, &parts.name),
                waiting: Arc::default(),
                compaction: parts.compactor.map(Compaction::new),
                workers: Some(Workers::new(parts.committer, parts.global)),
            };
            (uid, commits)
        });
        CommitQueue { sinks: sinks.collect(), running: JoinSet::new(), merging: true, cancel: watch::channel(false).0 }
    }

    /// Asks all sinks whether the job may begin: nothing is removed before every one has agreed.
    pub(super) async fn agree(&mut self, resumed: Option<u64>) -> JobResult<()> {
        let start = start_of(resumed);
        for sink in self.sinks.values_mut() {
            let in_sink = |error: JobError| error.context(&sink.label);
            let Some(mut workers) = sink.workers.take() else { continue };
            let (workers, result) = blocking(move || {
                let result = workers.start(&start);
                (workers, result)
            })
            .await
            .map_err(in_sink)?;
            sink.workers = Some(workers);
            result.map_err(in_sink)?;
        }
        Ok(())
    }

    /// Once all have agreed and before the first task starts: commits what the resumed checkpoint holds. Nothing is taken back once `store`
    /// belongs to another process: what sinks do not know is its output then.
    pub(super) async fn start(
        &mut self,
        resumed: Option<u64>,
        entries: impl Iterator<Item = &StateEntry>,
        store: Option<&CheckpointStore>,
    ) -> JobResult<()> {
        let start = start_of(resumed);
        let mut stored = Stored::read(entries, resumed.unwrap_or(0))?;
        for (uid, sink) in &mut self.sinks {
            let in_sink = |error: JobError| error.context(&sink.label);
            sink.status.counters.pending.store(0, std::sync::atomic::Ordering::Relaxed);
            let Some(workers) = sink.workers.take() else { continue };
            let own = stored.take(uid);
            for (checkpoint, staged) in own.commit {
                sink.waiting.add(checkpoint, staged, &sink.status);
            }
            let made = own.made;
            let ready = match &mut sink.compaction {
                Some(compaction) => {
                    compaction.restore(own.held, own.merges);
                    compaction.complete(resumed.unwrap_or(0), made, false).map_err(in_sink)?
                }
                // Without a compactor, perhaps because it was taken out of the pipeline: as they are.
                None => own.held.into_iter().chain(own.merges.into_values().flatten()).chain(made).collect(),
            };
            sink.waiting.add(resumed.unwrap_or(0), ready, &sink.status);
            let cancel = self.cancel.subscribe();
            let (mut workers, result) =
                commit_all(workers, sink.waiting.clone(), sink.status.clone(), sink.label.clone(), cancel).await;
            result?;
            if *self.cancel.borrow() {
                // What is not committed must not be discarded.
                return Err(JobError::transient("cancelled").context(&sink.label));
            }
            // Commits may have waited long for a service.
            if let Some(store) = store {
                store.still_held().await?;
            }
            let kept: Vec<Vec<u8>> =
                sink.compaction.iter().flat_map(Compaction::inputs).map(|staged| staged.committable.clone()).collect();
            let (workers, result) = blocking(move || {
                let result = workers.discard_unknown(&start, &kept);
                (workers, result)
            })
            .await
            .map_err(in_sink)?;
            result.map_err(in_sink)?;
            sink.workers = Some(workers);
        }
        Ok(())
    }

    /// Results of merges that have ended: they are committed with this checkpoint, which is about to be written.
    pub(super) fn seal(&mut self, checkpoint: u64) -> JobResult<Vec<Sealed>> {
        let mut sealed = Vec::new();
        for (uid, sink) in &mut self.sinks {
            if let Some(compaction) = &mut sink.compaction {
                compaction.seal(uid, checkpoint, &mut sealed).map_err(|error| error.context(&sink.label))?;
            }
        }
        Ok(sealed)
    }

    /// What a checkpoint that is written now has to keep.
    pub(super) fn entries(&self, sealed: &[Sealed]) -> Vec<StateEntry> {
        let mut entries = Vec::new();
        let mut put = |uid: &str, state: String, subtask: u32, bytes: Vec<u8>| {
            entries.push(StateEntry { uid: uid.to_owned(), state, schema: String::new(), subtask, part: Part::Item(bytes) });
        };
        for (uid, sink) in &self.sinks {
            sink.waiting.each(|checkpoint, subtask, bytes| put(uid, format!("{COMMIT}{checkpoint}"), subtask, bytes.to_vec()));
            if let Some(compaction) = &sink.compaction {
                compaction.each(|state, staged| {
                    put(uid, state, staged.subtask, collect::encode_staged(staged.checkpoint, &staged.committable));
                });
            }
        }
        for result in sealed.iter().filter(|result| self.has(&result.uid)) {
            let staged = &result.staged;
            put(&result.uid, format!("{COMMIT}{}", staged.checkpoint), staged.subtask, staged.committable.clone());
        }
        entries
    }

    /// Whether it commits for this sink.
    pub(super) fn has(&self, uid: &str) -> bool {
        self.sinks.contains_key(uid)
    }

    /// This checkpoint is complete: what it holds may be committed.
    pub(super) fn complete(
        &mut self,
        checkpoint: u64,
        collected: Vec<Collected>,
        sealed: Vec<Sealed>,
        purpose: Purpose,
    ) -> JobResult<()> {
        self.merging = purpose != Purpose::Stop;
        let mut made: BTreeMap<String, Vec<Staged>> = BTreeMap::new();
        for Collected { uid, subtask, committables } in collected {
            let staged = committables.into_iter().map(|committable| Staged { checkpoint, subtask, committable });
            made.entry(uid).or_default().extend(staged);
        }
        let mut results: BTreeMap<String, Vec<Staged>> = BTreeMap::new();
        for Sealed { uid, staged } in sealed {
            results.entry(uid).or_default().push(staged);
        }
        for (uid, sink) in &mut self.sinks {
            let made = made.remove(uid).unwrap_or_default();
            let mut ready = results.remove(uid).unwrap_or_default();
            ready.extend(match &mut sink.compaction {
                Some(compaction) => {
                    let planned = compaction.complete(checkpoint, made, purpose == Purpose::End);
                    planned.map_err(|error| error.context(&sink.label))?
                }
                None => made,
            });
            sink.waiting.add(checkpoint, ready, &sink.status);
        }
        Ok(())
    }

    /// Whether everything that may be committed is, and nothing is being merged.
    pub(super) fn is_done(&self) -> bool {
        let unmerged = |sink: &SinkCommits| self.merging && sink.compaction.as_ref().is_some_and(Compaction::is_merging);
        self.running.is_empty() && self.sinks.values().all(|sink| sink.waiting.is_empty() && !unmerged(sink))
    }

    /// Whether everything that belongs to this checkpoint and those before it is committed, but for what waits to be merged.
    pub(super) fn is_committed(&self, checkpoint: u64) -> bool {
        self.sinks.values().all(|sink| sink.waiting.first_id().is_none_or(|first| first > checkpoint))
    }

    /// Whether merges have results that no checkpoint holds yet.
    pub(super) fn has_results(&self) -> bool {
        self.sinks.values().any(|sink| sink.compaction.as_ref().is_some_and(Compaction::has_results))
    }

    /// Starts what can be started.
    pub(super) fn go_on(&mut self) {
        for (uid, sink) in &mut self.sinks {
            if !sink.waiting.is_empty()
                && let Some(workers) = sink.workers.take()
            {
                let (waiting, status, label) = (sink.waiting.clone(), sink.status.clone(), sink.label.clone());
                let (uid, cancel) = (uid.clone(), self.cancel.subscribe());
                self.running.spawn(async move {
                    let (workers, result) = commit_all(workers, waiting, status, label, cancel).await;
                    Done::Commit { uid, workers, result }
                });
            }
            let Some(compaction) = sink.compaction.as_mut().filter(|_| self.merging) else { continue };
            while let Some((number, compactor, inputs)) = compaction.next_merge() {
                let uid = uid.clone();
                self.running.spawn(async move {
                    let result = blocking(move || compactor.merge(&inputs)).await.and_then(|result| result);
                    Done::Merge { uid, number, result }
                });
            }
        }
    }

    /// Waits for a step to end; forever if nothing runs.
    #[cfg(test)]
    async fn step_done(&mut self) -> JobResult<()> {
        std::future::poll_fn(|cx| self.poll_step(cx)).await
    }

    /// Ready when a step has ended; never if nothing runs.
    pub(super) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<JobResult<()>> {
        match self.running.poll_join_next(cx) {
            Poll::Ready(Some(joined)) => Poll::Ready(self.step(joined)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    fn step(&mut self, joined: Result<Done, tokio::task::JoinError>) -> JobResult<()> {
        match joined.map_err(|error| JobError::transient(format!("committing panicked: {error}")))? {
            Done::Commit { uid, workers, result } => {
                if let Some(sink) = self.sinks.get_mut(&uid) {
                    sink.workers = Some(workers);
                }
                result
            }
            Done::Merge { uid, number, result } => {
                let Some(sink) = self.sinks.get_mut(&uid) else { return Ok(()) };
                let merged = result.map_err(|error| error.context(&sink.label))?;
                if let Some(compaction) = &mut sink.compaction {
                    compaction.merged(number, merged);
                }
                Ok(())
            }
        }
    }

    /// What stops it when it is elsewhere: commits that wait are given up, and a start that is not done fails.
    pub(super) fn canceller(&self) -> watch::Sender<bool> {
        self.cancel.clone()
    }

    /// Waits until nothing is being committed, whatever comes of it. A commit that waits to be tried again is given up.
    pub(super) async fn settle(&mut self) {
        let _ = self.cancel.send(true);
        while self.running.join_next().await.is_some() {}
    }

    /// The job has ended and everything is committed.
    pub(super) async fn finish(&mut self) -> JobResult<()> {
        for sink in self.sinks.values_mut() {
            if let Some(mut workers) = sink.workers.take() {
                let finished = blocking(move || workers.finish()).await.flatten();
                finished.map_err(|error| error.context(&sink.label))?;
            }
        }
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> JobResult<T> {
    crate::seam::blocking(act).await.map_err(|reason| JobError::transient(format!("a committer panicked: {reason}")))
}

/// `sink/delays/file` as `sink delays`.
fn sink_of(uid: &str) -> String {
    let mut parts = uid.split('/');
    match (parts.next(), parts.next()) {
        (Some("sink"), Some(name)) => format!("sink {name}"),
        _ => uid.to_owned(),
    }
}
