//! The pre-commit stage of one sink: committables that wait, merges, and their results.
//!
//! A merge begins only after the checkpoint that holds its inputs is complete. Until its result is in a checkpoint, the inputs
//! are: whatever was not finished is merged again after a failure.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::JobResult;
use crate::panics;
use crate::sink::{Compactor, Staged};

/// The state of what waits.
pub(super) const HELD: &str = "#held";
/// The state of the inputs of a merge that has not ended: `#merge@3`.
pub(super) const MERGE: &str = "#merge@";

/// Merges of one sink at a time.
const MOST_AT_ONCE: usize = 2;

pub(super) struct Compaction {
    compactor: Arc<dyn Compactor>,
    held: Vec<Staged>,
    merges: BTreeMap<u64, Merge>,
    next: u64,
}

struct Merge {
    inputs: Vec<Staged>,
    progress: Progress,
}

enum Progress {
    Waiting,
    Running,
    Done(Vec<Vec<u8>>),
}

/// A result in its place in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::coordinator) struct Sealed {
    pub uid: String,
    pub staged: Staged,
}

impl Compaction {
    pub(super) fn new(compactor: Arc<dyn Compactor>) -> Self {
        Compaction { compactor, held: Vec::new(), merges: BTreeMap::new(), next: 0 }
    }

    /// Takes back what a checkpoint held.
    pub(super) fn restore(&mut self, held: Vec<Staged>, merges: BTreeMap<u64, Vec<Staged>>) {
        self.held = held;
        self.next = merges.keys().max().map_or(0, |last| last + 1);
        let waiting = |(number, inputs)| (number, Merge { inputs, progress: Progress::Waiting });
        self.merges = merges.into_iter().map(waiting).collect();
    }

    /// This checkpoint is complete, with these. Gives what is committed without merging.
    pub(super) fn complete(&mut self, checkpoint: u64, made: Vec<Staged>, end: bool) -> JobResult<Vec<Staged>> {
        self.held.extend(made);
        if self.held.is_empty() {
            return Ok(Vec::new());
        }
        let held = std::mem::take(&mut self.held);
        let plan = panics::guarded("its compactor", || self.compactor.plan(held, checkpoint, end))?;
        self.held = plan.hold;
        for inputs in plan.merge {
            self.merges.insert(self.next, Merge { inputs, progress: Progress::Waiting });
            self.next += 1;
        }
        Ok(plan.pass)
    }

    /// The next merge to run, if one waits and not too many run.
    pub(super) fn next_merge(&mut self) -> Option<(u64, Arc<dyn Compactor>, Vec<Staged>)> {
        let running = self.merges.values().filter(|merge| matches!(merge.progress, Progress::Running)).count();
        if running >= MOST_AT_ONCE {
            return None;
        }
        let (number, merge) = self.merges.iter_mut().find(|(_, merge)| matches!(merge.progress, Progress::Waiting))?;
        merge.progress = Progress::Running;
        Some((*number, self.compactor.clone(), merge.inputs.clone()))
    }

    pub(super) fn merged(&mut self, number: u64, results: Vec<Vec<u8>>) {
        if let Some(merge) = self.merges.get_mut(&number) {
            merge.progress = Progress::Done(results);
        }
    }

    /// Moves results into a checkpoint.
    pub(super) fn seal(&mut self, uid: &str, checkpoint: u64, sealed: &mut Vec<Sealed>) -> JobResult<()> {
        let mut number = 0;
        let mut open = BTreeMap::new();
        for (key, merge) in std::mem::take(&mut self.merges) {
            let Progress::Done(results) = merge.progress else {
                open.insert(key, merge);
                continue;
            };
            for result in results {
                let committable = panics::guarded("its compactor", || self.compactor.seal(result, checkpoint, number))?;
                let subtask = merge.inputs.first().map_or(0, |input| input.subtask);
                sealed.push(Sealed { uid: uid.to_owned(), staged: Staged { checkpoint, subtask, committable } });
                number += 1;
            }
        }
        self.merges = open;
        Ok(())
    }

    /// Everything that is still needed as the input of a merge, now or later.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Staged> {
        self.held.iter().chain(self.merges.values().flat_map(|merge| &merge.inputs))
    }

    /// What a checkpoint keeps, with the names of the states.
    pub(super) fn each(&self, mut take: impl FnMut(String, &Staged)) {
        for staged in &self.held {
            take(HELD.to_owned(), staged);
        }
        for (number, merge) in &self.merges {
            for staged in &merge.inputs {
                take(format!("{MERGE}{number}"), staged);
            }
        }
    }

    pub(super) fn is_merging(&self) -> bool {
        self.merges.values().any(|merge| !matches!(merge.progress, Progress::Done(_)))
    }

    pub(super) fn has_results(&self) -> bool {
        self.merges.values().any(|merge| matches!(merge.progress, Progress::Done(_)))
    }
}
