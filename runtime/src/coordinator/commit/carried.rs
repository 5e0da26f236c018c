//! What sinks have staged for checkpoints that were given up. Its rows are behind the sources' positions, so it belongs to the next
//! checkpoint, and is committed with that one.

use std::collections::BTreeMap;

use super::compaction::Sealed;
use super::{COMMITTABLES, Collected, Part, StateEntry};
use crate::sink::SUMMARY;

/// Committables without a checkpoint, by writer, in the order in which they were made.
#[derive(Debug, Default)]
pub(in crate::coordinator) struct Carried {
    /// Each with the checkpoint that was given up.
    writers: BTreeMap<(String, u32), Vec<(u64, Vec<u8>)>>,
    sealed: Vec<Sealed>,
}

impl Carried {
    /// Keeps the committables among the entries of a task's part of this checkpoint.
    pub(in crate::coordinator) fn keep(&mut self, checkpoint: u64, entries: impl IntoIterator<Item = StateEntry>) {
        for entry in entries.into_iter().filter(|entry| entry.state == COMMITTABLES) {
            let Part::Item(bytes) = entry.part else { continue };
            self.writers.entry((entry.uid, entry.subtask)).or_default().push((checkpoint, bytes));
        }
    }

    /// Keeps what was collected for a checkpoint that could not be stored.
    pub(in crate::coordinator) fn keep_collected(&mut self, checkpoint: u64, collected: Vec<Collected>, sealed: Vec<Sealed>) {
        for Collected { uid, subtask, committables } in collected {
            if !committables.is_empty() {
                let committables = committables.into_iter().map(|bytes| (checkpoint, bytes));
                let kept = self.writers.entry((uid, subtask)).or_default();
                kept.extend(committables);
                // Later ones may have been given up before.
                kept.sort_by_key(|(checkpoint, _)| *checkpoint);
            }
        }
        self.sealed.extend(sealed);
    }

    /// What these sinks have staged, or merged, comes again from the last checkpoint.
    pub(in crate::coordinator) fn forget(&mut self, sink: impl Fn(&str) -> bool) {
        self.writers.retain(|(uid, _), _| !sink(uid));
        self.sealed.retain(|sealed| !sink(&sealed.uid));
    }

    /// Moves everything into the next checkpoint, as if its writers had made it now: before what they have, with a summary that
    /// counts both. What was staged behind that checkpoint stays: it is in none yet.
    pub(in crate::coordinator) fn join(&mut self, checkpoint: u64, entries: &mut Vec<StateEntry>) -> Vec<Sealed> {
        let mut joined = Vec::new();
        for ((uid, subtask), committables) in std::mem::take(&mut self.writers) {
            let (committables, later): (Vec<_>, Vec<_>) = committables.into_iter().partition(|(of, _)| *of <= checkpoint);
            if !later.is_empty() {
                self.writers.insert((uid.clone(), subtask), later);
            }
            if committables.is_empty() {
                continue;
            }
            let more = u32::try_from(committables.len()).unwrap_or(u32::MAX);
            let summary = entries.iter_mut().find(|entry| entry.state == SUMMARY && entry.uid == uid && entry.subtask == subtask);
            let counted = summary.map(|summary| &mut summary.part);
            let entry = |state: &str, bytes| {
                let schema = String::new();
                StateEntry { uid: uid.clone(), state: state.to_owned(), schema, subtask, part: Part::Item(bytes) }
            };
            match counted {
                Some(Part::Item(bytes)) => {
                    // One that cannot be read is reported where all are.
                    if let Ok(own) = bytes.as_slice().try_into().map(u32::from_le_bytes) {
                        *bytes = own.saturating_add(more).to_le_bytes().to_vec();
                    }
                }
                _ => joined.push(entry(SUMMARY, more.to_le_bytes().to_vec())),
            }
            joined.extend(committables.into_iter().map(|(_, bytes)| entry(COMMITTABLES, bytes)));
        }
        entries.splice(0..0, joined);
        std::mem::take(&mut self.sealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::commit::collect;

    fn part(subtask: u32, committables: &[&str]) -> Vec<StateEntry> {
        let entry = |state: &str, bytes| StateEntry {
            uid: "sink/out/file".into(),
            state: state.into(),
            schema: String::new(),
            subtask,
            part: Part::Item(bytes),
        };
        let summary = u32::try_from(committables.len()).unwrap().to_le_bytes().to_vec();
        let own = committables.iter().map(|text| entry(COMMITTABLES, text.as_bytes().to_vec()));
        std::iter::once(entry(SUMMARY, summary)).chain(own).collect()
    }

    fn found(entries: &[StateEntry]) -> Vec<(u32, String)> {
        let texts = |collected: Collected| {
            let texts = collected.committables.iter().map(|bytes| String::from_utf8(bytes.clone()).unwrap());
            (collected.subtask, texts.collect::<Vec<_>>().join(" "))
        };
        collect(entries).unwrap().into_iter().map(texts).collect()
    }

    #[test]
    fn what_was_staged_for_a_lost_checkpoint_comes_with_the_next_in_order() {
        let mut carried = Carried::default();
        carried.keep(1, part(0, &["a", "b"]));
        carried.keep(1, part(1, &[]));
        carried.keep(2, part(0, &["c"]));
        carried.keep(2, part(2, &["x"]));
        let mut entries = [part(0, &["d"]), part(1, &["y"])].concat();
        assert!(carried.join(3, &mut entries).is_empty());
        let expected = [(0, "a b c d"), (1, "y"), (2, "x")].map(|(subtask, texts)| (subtask, texts.to_owned()));
        assert_eq!(found(&entries), expected);
        // Neither lost nor doubled if that one cannot be stored either.
        carried.keep_collected(3, collect(&entries).unwrap(), Vec::new());
        let mut entries = part(0, &["e"]);
        carried.join(4, &mut entries);
        assert_eq!(found(&entries)[0], (0, "a b c d e".to_owned()));
        let mut entries = part(0, &["f"]);
        carried.join(5, &mut entries);
        assert_eq!(found(&entries), [(0, "f".to_owned())]);
    }

    /// Several are on their way, and the newer one is given up first: its rows are behind what the older one has read.
    #[test]
    fn what_was_staged_behind_a_checkpoint_does_not_come_with_it() {
        let mut carried = Carried::default();
        carried.keep(2, part(0, &["b"]));
        let mut entries = part(0, &["a"]);
        carried.join(1, &mut entries);
        assert_eq!(found(&entries), [(0, "a".to_owned())]);
        // That one cannot be stored: it comes before what was given up earlier.
        carried.keep_collected(1, collect(&entries).unwrap(), Vec::new());
        let mut entries = part(0, &["c"]);
        carried.join(3, &mut entries);
        assert_eq!(found(&entries), [(0, "a b c".to_owned())]);
    }
}
