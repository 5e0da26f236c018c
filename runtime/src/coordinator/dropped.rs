//! State of a checkpoint that somebody gives up: that of operators that a changed job does not have any more.
//!
//! Nothing is dropped unasked, and only what does not fit: so who repeats the same command at each start loses nothing later. What does
//! not fit an operator that the job still has, the operator finds out when it takes it ([`RestoredOperator`]).
//!
//! [`RestoredOperator`]: crate::operator::RestoredOperator

use std::collections::BTreeMap;

use super::commit::is_committable;
use super::storage::Checkpoint;
use crate::job::ChainSpec;

/// What a checkpoint had of an operator.
#[derive(Default)]
struct Had {
    key_groups: usize,
    entries: usize,
    /// Staged by a sink, and perhaps not committed.
    staged: usize,
}

/// Takes the state of these operators out of a checkpoint, as far as the job does not have them. Gives a line for each.
pub(super) fn drop_unknown(checkpoint: &mut Checkpoint, chains: &[ChainSpec], given_up: &[String]) -> Vec<String> {
    let goes = |uid: &str| given_up.iter().any(|name| name == uid) && !chains.iter().any(|chain| chain.uids.contains(&uid));
    let mut dropped: BTreeMap<String, Had> = BTreeMap::new();
    for entry in checkpoint.entries.extract_if(.., |entry| goes(&entry.uid)) {
        let had = dropped.entry(entry.uid).or_default();
        match is_committable(&entry.state) {
            true => had.staged += 1,
            false => had.entries += 1,
        }
    }
    for group in checkpoint.groups.extract_if(.., |group| goes(&group.uid)) {
        dropped.entry(group.uid).or_default().key_groups += 1;
    }
    let words = |(uid, had): (String, Had)| {
        let Had { key_groups, entries, staged } = had;
        let staged = match staged {
            0 => String::new(),
            some => format!("; what it has staged and not committed is never committed ({some} committables)"),
        };
        format!("the state of `{uid}` is dropped, as --drop-state says: {key_groups} key groups, {entries} other entries{staged}")
    };
    dropped.into_iter().map(words).collect()
}
