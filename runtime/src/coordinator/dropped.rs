//! State of a checkpoint that somebody gives up: that of operators that a changed job does not have any more, or that it keeps by another
//! key, or makes of other values, now.
//!
//! Nothing is dropped unasked, and only what does not fit: so who repeats the same command at each start loses nothing later. What else
//! does not fit an operator that the job still has, the operator finds out when it takes it ([`RestoredOperator`]).
//!
//! [`RestoredOperator`]: crate::operator::RestoredOperator

use std::collections::BTreeMap;

use super::commit::is_committable;
use super::storage::Checkpoint;
use crate::checkpoint::Part;
use crate::error::{JobError, JobResult};
use crate::graph::{KeptBy, KeptOtherwise};
use crate::job::ChainSpec;

/// What a checkpoint had of an operator.
#[derive(Default)]
pub(super) struct Had {
    pub key_groups: usize,
    pub entries: usize,
    /// Staged by a sink, and perhaps not committed.
    staged: usize,
}

impl Had {
    /// Takes all state of the operators that `goes` names out of a checkpoint; what the coordinator keeps of them only where `own` is so.
    pub fn take(checkpoint: &mut Checkpoint, own: bool, goes: impl Fn(&str) -> bool) -> BTreeMap<String, Had> {
        let mut taken: BTreeMap<String, Had> = BTreeMap::new();
        for entry in checkpoint.entries.extract_if(.., |entry| goes(&entry.uid) && (own || !entry.state.starts_with('#'))) {
            let had = taken.entry(entry.uid).or_default();
            match (is_committable(&entry.state), entry.part) {
                (true, _) => had.staged += 1,
                (false, Part::Group(..)) => had.key_groups += 1,
                (false, _) => had.entries += 1,
            }
        }
        for group in checkpoint.groups.extract_if(.., |group| goes(&group.uid)) {
            taken.entry(group.uid).or_default().key_groups += 1;
        }
        taken
    }
}

/// Takes the state of these operators out of a checkpoint, as far as the job does not have them. Gives a line for each.
pub(super) fn drop_unknown(checkpoint: &mut Checkpoint, chains: &[ChainSpec], given_up: &[String]) -> Vec<String> {
    let goes = |uid: &str| given_up.iter().any(|name| name == uid) && !chains.iter().any(|chain| chain.uids.contains(&uid));
    let words = |(uid, had): (String, Had)| {
        let Had { key_groups, entries, staged } = had;
        let staged = match staged {
            0 => String::new(),
            some => format!("; what it has staged and not committed is never committed ({some} committables)"),
        };
        format!("the state of `{uid}` is dropped, as --drop-state says: {key_groups} key groups, {entries} other entries{staged}")
    };
    Had::take(checkpoint, true, goes).into_iter().map(words).collect()
}

/// Compares what the operators of the job keep state by with what the checkpoint says of them. What is kept otherwise now is refused, given
/// up, or, where it is a key, kept all the same, as somebody has said. Gives what is to be told.
pub(super) fn compare_keys(
    checkpoint: &mut Checkpoint,
    kept_by: &[KeptBy],
    given_up: &[String],
    kept: &[String],
) -> JobResult<Vec<String>> {
    let has_state = |uid: &str| {
        checkpoint.groups.iter().any(|group| group.uid == uid)
            || checkpoint.entries.iter().any(|entry| entry.uid == uid && !entry.state.starts_with('#'))
    };
    let stateful: Vec<&KeptBy> = kept_by.iter().filter(|now| has_state(&now.uid)).collect();
    let Some(old) = &checkpoint.manifest.kept_by else {
        let none = stateful.is_empty();
        let told = "the checkpoint is of a version that does not say what state is kept by: another key of the same type would not be noticed";
        return Ok(if none { Vec::new() } else { vec![told.to_owned()] });
    };
    let (mut told, mut refused, mut dropped) = (Vec::new(), Vec::new(), BTreeMap::new());
    for now in stateful {
        let uid = &now.uid;
        let Some(otherwise) = old.iter().find(|old| old.uid == *uid).and_then(|old| old.otherwise(now)) else { continue };
        match otherwise {
            KeptOtherwise::Key(how) | KeptOtherwise::Window(how) | KeptOtherwise::Value(how) if given_up.contains(uid) => {
                dropped.insert(uid.clone(), how);
            }
            KeptOtherwise::Key(how) if kept.contains(uid) => {
                told.push(format!("the state of `{uid}` is kept, as --keep-state says, for the key is said to be the same: {how}"));
            }
            KeptOtherwise::Value(how) if kept.contains(uid) => {
                told.push(format!("the state of `{uid}` is kept, as --keep-state says, for what it holds is said to fit: {how}"));
            }
            KeptOtherwise::Value(how) => refused.push(format!(
                "`{uid}`: {how}\n    what the old one has made of the rows before would go on as that of the new one: drop just this state \
                 with --drop-state {uid}\n    or, if that is meant, keep it with --keep-state {uid}"
            )),
            KeptOtherwise::Key(how) => refused.push(format!(
                "`{uid}`: {how}\n    what was kept for a value of the old key would be that of the new one: drop just this state with \
                 --drop-state {uid}\n    or, if the values are the same and only their name is another, keep it with --keep-state {uid}"
            )),
            KeptOtherwise::Window(how) => {
                refused.push(format!("`{uid}`: {how}\n    drop just this state with --drop-state {uid}"));
            }
        }
    }
    if !refused.is_empty() {
        return Err(JobError::new(format!(
            "the state in the checkpoint does not fit this job\n  {}\n  or go on with the pipeline as it was, or start anew (--fresh)",
            refused.join("\n  ")
        )));
    }
    for (uid, had) in Had::take(checkpoint, false, |uid| dropped.contains_key(uid)) {
        let Had { key_groups, entries, .. } = had;
        let how = dropped.get(&uid).map_or("", String::as_str);
        told.push(format!(
            "the state of `{uid}` is dropped, as --drop-state says: {how}; it held {key_groups} key groups, {entries} other entries"
        ));
    }
    Ok(told)
}
