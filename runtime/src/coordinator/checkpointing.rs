//! Checkpoints in progress.

use std::collections::BTreeMap;

use super::contents::Contents;
use super::control::CheckpointRequest;
use crate::checkpoint::{ChainEntry, Manifest, StateEntry, SubtaskEntry};
use crate::error::{JobError, JobResult};
use crate::graph::KeptBy;
use crate::job::ChainSpec;
use crate::seam::Instant;
use crate::task::{Ack, TaskId};

/// What happens after a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The job goes on.
    Periodic,
    /// All input has ended: what the sinks still hold is committed.
    End,
    /// The job stops, to be resumed.
    Stop,
}

/// A checkpoint that waits for the tasks.
#[derive(Debug)]
pub(super) struct Pending {
    pub id: u64,
    pub purpose: Purpose,
    pub started: Instant,
    /// When it is given up; None: it has as long as it takes.
    pub deadline: Option<Instant>,
    /// When its barriers are to overtake rows; None: not, or they do already.
    pub overtake_at: Option<Instant>,
    /// What the enumerators said when it began, and what readers have told them since then before they took part.
    pub enumerators: Vec<StateEntry>,
    /// Who wants to know when it is complete.
    pub requests: Vec<CheckpointRequest>,
    acks: BTreeMap<TaskId, Ack>,
    tasks: usize,
}

/// Identifies the job in a manifest.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub job: String,
    pub fingerprint: u64,
    pub run: String,
    pub max_parallelism: u32,
    /// What the job has taken over.
    pub claimed: Option<String>,
    /// It goes on from a checkpoint behind a drain.
    pub drained: bool,
    /// What state is kept by.
    pub kept_by: Vec<KeptBy>,
}

impl Pending {
    pub(super) fn new(id: u64, purpose: Purpose, enumerators: Vec<StateEntry>, tasks: usize) -> Self {
        let (started, deadline) = (Instant::now(), None);
        Pending {
            id,
            purpose,
            started,
            deadline,
            overtake_at: None,
            enumerators,
            requests: Vec::new(),
            acks: BTreeMap::new(),
            tasks,
        }
    }

    /// Who has not taken part yet: `2 of 6 tasks have not taken part: counts (subtasks 0, 1)`.
    pub(super) fn missing(&self, chains: &[ChainSpec], parallelism: &[u32]) -> String {
        let missing = chains.iter().zip(parallelism).enumerate().filter_map(|(chain, (spec, &subtasks))| {
            let subtasks = (0..subtasks).filter(|&subtask| !self.acks.contains_key(&TaskId { chain, subtask }));
            let subtasks: Vec<_> = subtasks.map(|subtask| subtask.to_string()).collect();
            (!subtasks.is_empty()).then(|| format!("{} (subtasks {})", spec.name, subtasks.join(", ")))
        });
        let missing: Vec<_> = missing.collect();
        let count = self.tasks - self.acks.len();
        format!("{count} of {} tasks have not taken part: {}", self.tasks, missing.join(", "))
    }

    /// Whether all tasks have taken part.
    pub(super) fn is_complete(&self) -> bool {
        self.acks.len() == self.tasks
    }

    /// It is given up: what its tasks have handed over, and who waits for it.
    pub(super) fn abandon(self) -> (Contents, Vec<CheckpointRequest>) {
        let mut contents = Contents::default();
        for ack in self.acks.into_values() {
            contents.entries.extend(ack.contents.entries);
            contents.pieces.extend(ack.contents.pieces);
        }
        (contents, self.requests)
    }

    /// Takes a task's part. A second part of the same task is an error: the first may hold
    /// committables that the second does not.
    pub(super) fn acknowledge(&mut self, task: TaskId, ack: Ack) -> JobResult<()> {
        if self.acks.insert(task, ack).is_some() {
            return Err(JobError::transient(format!("a task took part in checkpoint {} twice", self.id)));
        }
        Ok(())
    }

    /// All parts together.
    pub(super) fn complete(self, identity: &Identity, chains: &[ChainSpec]) -> (Manifest, Contents) {
        let mut manifest = Manifest {
            job: identity.job.clone(),
            fingerprint: identity.fingerprint,
            run: identity.run.clone(),
            checkpoint: self.id,
            // The store says so.
            epoch: 0,
            max_parallelism: identity.max_parallelism,
            claimed: identity.claimed.clone(),
            drained: identity.drained,
            chains: chains.iter().map(entry_of).collect(),
            kept_by: Some(identity.kept_by.clone()),
            files: Vec::new(),
        };
        let mut contents = Contents { entries: self.enumerators, ..Contents::default() };
        for (task, ack) in self.acks {
            manifest.chains[task.chain].subtasks.push(SubtaskEntry { finished: ack.finished, watermark: ack.watermark });
            contents.entries.extend(ack.contents.entries);
            contents.pieces.extend(ack.contents.pieces);
        }
        (manifest, contents)
    }
}

fn entry_of(chain: &ChainSpec) -> ChainEntry {
    let operators = chain.uids.iter().map(|&uid| uid.to_owned()).collect();
    ChainEntry { name: chain.name.to_owned(), operators, subtasks: Vec::new() }
}
