//! Operators that had come to the end of their input, and get rows again in a changed job.
//!
//! At the end an operator writes what is due and lets go of what it keeps, so that it can neither go on from that nor say what it was:
//! this is refused, or the operator begins anew where somebody says so. Operators that keep nothing just go on.

use std::collections::BTreeMap;

use super::dropped::Had;
use super::layout::stand;
use super::storage::Checkpoint;
use crate::checkpoint::{ChainEntry, SubtaskEntry};
use crate::error::{JobError, JobResult};
use crate::graph::KeptBy;
use crate::job::ChainSpec;

/// Refuses rows for operators that are at their end, or takes their state out of the checkpoint where they are given up. Gives what is to
/// be told.
pub(super) fn refuse_ended(
    checkpoint: &mut Checkpoint,
    chains: &[ChainSpec],
    parallelism: &[u32],
    kept_by: &[KeptBy],
    given_up: &[String],
) -> JobResult<Vec<String>> {
    let mut again = fed_again(&checkpoint.manifest.chains, chains, parallelism);
    again.retain(|uid, _| {
        kept_by.iter().any(|kept| kept.uid == *uid)
            || checkpoint.groups.iter().any(|group| group.uid == *uid)
            || checkpoint.entries.iter().any(|entry| entry.uid == *uid && !entry.state.starts_with('#'))
    });
    let refused: Vec<String> = again
        .iter()
        .filter(|(uid, _)| !given_up.contains(uid))
        .map(|(uid, inputs)| {
            format!(
                "`{uid}` had come to the end of its input, and {} would give it rows behind that\n    what it kept went with the end: \
                 let it begin anew with --drop-state {uid}",
                inputs.iter().map(|input| format!("`{input}`")).collect::<Vec<_>>().join(" and ")
            )
        })
        .collect();
    if !refused.is_empty() {
        return Err(JobError::new(format!(
            "the checkpoint was taken behind the end of what this job goes on with\n  {}\n  or give the new rows a stream of their own, go \
             on with the pipeline as it was, or start anew (--fresh)",
            refused.join("\n  ")
        )));
    }
    let mut held = Had::take(checkpoint, false, |uid| again.contains_key(uid));
    let told = again.into_keys().map(|uid| {
        let Had { key_groups, entries, .. } = held.remove(&uid).unwrap_or_default();
        format!(
            "the state of `{uid}` is dropped, as --drop-state says: it had come to the end of its input; it held {key_groups} key groups, \
             {entries} other entries"
        )
    });
    Ok(told.collect())
}

/// Operators that were at their end and are to get rows of chains that are not, with the names of these.
fn fed_again(old: &[ChainEntry], chains: &[ChainSpec], parallelism: &[u32]) -> BTreeMap<String, Vec<&'static str>> {
    let stand = stand(chains, parallelism, old);
    let is_open = |chain: usize| !stand[chain].iter().all(|subtask| subtask.finished);
    let ended = |subtask: &SubtaskEntry| subtask.finished;
    let mut again = BTreeMap::new();
    for chain in chains {
        let mut inputs: Vec<usize> = chain.inputs.iter().map(|input| input.from).filter(|&from| is_open(from)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        if inputs.is_empty() {
            continue;
        }
        // A chain that had come to its end in part, and has other subtasks now, feeds those behind it anew.
        let is_new = |&input: &usize| {
            let before = chains[input].uids.first().and_then(|uid| had(old, &chains[input], uid));
            !before.is_some_and(|before| before.subtasks.iter().any(ended) && !before.subtasks.iter().all(ended))
        };
        for &uid in chain.uids {
            let Some(before) = had(old, chain, uid) else { continue };
            let all = !before.subtasks.is_empty() && before.subtasks.iter().all(ended);
            if all || (before.subtasks.iter().any(ended) && inputs.iter().any(is_new)) {
                again.insert(uid.to_owned(), inputs.iter().map(|&input| chains[input].name).collect());
            }
        }
    }
    again
}

/// The chain that had an operator which is in this one now.
fn had<'a>(old: &'a [ChainEntry], chain: &ChainSpec, uid: &str) -> Option<&'a ChainEntry> {
    old.iter().find(|old| match old.operators.is_empty() {
        true => old.name == chain.name,
        false => old.operators.iter().any(|operator| operator == uid),
    })
}
