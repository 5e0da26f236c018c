//! Committing what sinks have staged: in the order of checkpoints, one batch after the other, off the coordinator's thread.

use std::collections::BTreeMap;

use tokio::task::JoinHandle;

use crate::checkpoint::{Part, StateEntry};
use crate::error::{JobError, JobResult};
use crate::sink::{COMMITTABLES, Committer, SinkStart};

pub(super) type Committers = BTreeMap<String, Box<dyn Committer>>;

/// Something that a sink has staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Committable {
    pub checkpoint: u64,
    pub uid: String,
    pub subtask: u32,
    pub bytes: Vec<u8>,
}

/// What is staged under a completed checkpoint and not yet committed, and the committers.
pub(super) struct CommitQueue {
    waiting: Vec<Committable>,
    /// None while a batch is being committed.
    committers: Option<Committers>,
    running: Option<JoinHandle<(Committers, JobResult<()>)>>,
    /// How many of `waiting` are in the running batch.
    in_flight: usize,
}

impl CommitQueue {
    pub(super) fn new(committers: Committers) -> Self {
        CommitQueue { waiting: Vec::new(), committers: Some(committers), running: None, in_flight: 0 }
    }

    /// Makes targets ready before the first task starts. `pending`: what the resumed checkpoint holds.
    pub(super) async fn start(&mut self, resumed: Option<u64>, pending: Vec<Committable>) -> JobResult<()> {
        let mut committers = self.committers.take().unwrap_or_default();
        let (committers, result) = blocking(move || {
            let result = committers.iter_mut().try_for_each(|(uid, committer)| {
                let start = match resumed {
                    None => SinkStart::Fresh,
                    Some(checkpoint) => {
                        let mut own: Vec<_> = pending
                            .iter()
                            .filter(|committable| committable.uid == *uid)
                            .map(|committable| (committable.checkpoint, committable.bytes.clone()))
                            .collect();
                        own.sort_by_key(|(checkpoint, _)| *checkpoint);
                        SinkStart::Resumed { checkpoint, pending: own }
                    }
                };
                committer.start(&start).map_err(|error| error.context(sink_of(uid)))
            });
            (committers, result)
        })
        .await?;
        self.committers = Some(committers);
        result
    }

    /// Takes what belongs to a completed checkpoint.
    pub(super) fn add(&mut self, committables: Vec<Committable>) {
        self.waiting.extend(committables);
    }

    /// What a checkpoint that is written now has to keep.
    pub(super) fn waiting(&self) -> impl Iterator<Item = StateEntry> {
        self.waiting.iter().map(|committable| StateEntry {
            uid: committable.uid.clone(),
            state: format!("{COMMITTABLES}@{}", committable.checkpoint),
            schema: String::new(),
            subtask: committable.subtask,
            part: Part::Item(committable.bytes.clone()),
        })
    }

    /// Whether everything is committed.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running.is_none()
    }

    /// Whether everything that belongs to this checkpoint and those before it is committed.
    pub(super) fn is_committed(&self, checkpoint: u64) -> bool {
        self.waiting.iter().all(|committable| committable.checkpoint > checkpoint)
    }

    /// Starts the next batch, unless one is running.
    pub(super) fn go_on(&mut self) {
        if self.waiting.is_empty() || self.running.is_some() {
            return;
        }
        let Some(mut committers) = self.committers.take() else { return };
        let batch = self.waiting.clone();
        self.in_flight = batch.len();
        self.running = Some(tokio::task::spawn_blocking(move || {
            let result = commit_in_order(&mut committers, batch);
            (committers, result)
        }));
    }

    /// Waits for the running batch; forever if there is none.
    pub(super) async fn batch_done(&mut self) -> JobResult<()> {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let joined = running.await;
        self.running = None;
        let (committers, result) = joined.map_err(|error| JobError::transient(format!("committing panicked: {error}")))?;
        self.committers = Some(committers);
        result?;
        self.waiting.drain(..self.in_flight);
        Ok(())
    }

    /// Waits until nothing is being committed, whatever comes of it.
    pub(super) async fn settle(&mut self) {
        if let Some(running) = self.running.take() {
            let _ = running.await;
        }
    }

    /// The job has ended and everything is committed.
    pub(super) async fn finish(&mut self) -> JobResult<()> {
        let Some(mut committers) = self.committers.take() else { return Ok(()) };
        blocking(move || committers.values_mut().try_for_each(|committer| committer.finish())).await?
    }
}

async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> JobResult<T> {
    tokio::task::spawn_blocking(act).await.map_err(|error| JobError::transient(format!("a committer panicked: {error}")))
}

/// `sink/delays/file` as `sink delays`.
fn sink_of(uid: &str) -> String {
    let mut parts = uid.split('/');
    match (parts.next(), parts.next()) {
        (Some("sink"), Some(name)) => format!("sink {name}"),
        _ => uid.to_owned(),
    }
}

fn commit_in_order(committers: &mut Committers, batch: Vec<Committable>) -> JobResult<()> {
    let mut ordered: BTreeMap<(u64, String), Vec<Vec<u8>>> = BTreeMap::new();
    for committable in batch {
        ordered.entry((committable.checkpoint, committable.uid)).or_default().push(committable.bytes);
    }
    for ((checkpoint, uid), committables) in ordered {
        if let Some(committer) = committers.get_mut(&uid) {
            committer.commit(checkpoint, &committables).map_err(|error| error.context(sink_of(&uid)))?;
        }
    }
    Ok(())
}

/// Splits committables off the entries of a checkpoint's part.
pub(super) fn committables_of(entries: &[StateEntry], checkpoint: u64) -> Vec<Committable> {
    entries
        .iter()
        .filter_map(|entry| {
            let rest = entry.state.strip_prefix(COMMITTABLES)?;
            let checkpoint = rest.strip_prefix('@').map_or(Some(checkpoint), |id| id.parse().ok())?;
            let Part::Item(bytes) = &entry.part else { return None };
            Some(Committable { checkpoint, uid: entry.uid.clone(), subtask: entry.subtask, bytes: bytes.clone() })
        })
        .collect()
}
