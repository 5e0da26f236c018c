//! What sinks have staged for checkpoints that were given up. Its rows are behind the sources' positions, so it belongs to the next
//! checkpoint, and is committed with that one.

use std::collections::BTreeMap;

use super::compaction::Sealed;
use super::{COMMITTABLES, Collected, Part, StateEntry};
use crate::sink::SUMMARY;

/// Committables without a checkpoint, by writer, in the order in which they were made.
#[derive(Debug, Default)]
pub(in crate::coordinator) struct Carried {
    writers: BTreeMap<(String, u32), Vec<Vec<u8>>>,
    sealed: Vec<Sealed>,
}

impl Carried {
    /// Keeps the committables among the entries of a task's part.
    pub(in crate::coordinator) fn keep(&mut self, entries: impl IntoIterator<Item = StateEntry>) {
        for entry in entries.into_iter().filter(|entry| entry.state == COMMITTABLES) {
            let Part::Item(bytes) = entry.part else { continue };
            self.writers.entry((entry.uid, entry.subtask)).or_default().push(bytes);
        }
    }

    /// Keeps what was collected for a checkpoint that could not be stored.
    pub(in crate::coordinator) fn keep_collected(&mut self, collected: Vec<Collected>, sealed: Vec<Sealed>) {
        for Collected { uid, subtask, committables } in collected {
            if !committables.is_empty() {
                self.writers.entry((uid, subtask)).or_default().extend(committables);
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
    /// counts both.
    pub(in crate::coordinator) fn join(&mut self, entries: &mut Vec<StateEntry>) -> Vec<Sealed> {
        let mut joined = Vec::new();
        for ((uid, subtask), committables) in std::mem::take(&mut self.writers) {
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
            joined.extend(committables.into_iter().map(|bytes| entry(COMMITTABLES, bytes)));
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
        carried.keep(part(0, &["a", "b"]));
        carried.keep(part(1, &[]));
        carried.keep(part(0, &["c"]));
        carried.keep(part(2, &["x"]));
        let mut entries = [part(0, &["d"]), part(1, &["y"])].concat();
        assert!(carried.join(&mut entries).is_empty());
        let expected = [(0, "a b c d"), (1, "y"), (2, "x")].map(|(subtask, texts)| (subtask, texts.to_owned()));
        assert_eq!(found(&entries), expected);
        // Neither lost nor doubled if that one cannot be stored either.
        carried.keep_collected(collect(&entries).unwrap(), Vec::new());
        let mut entries = part(0, &["e"]);
        carried.join(&mut entries);
        assert_eq!(found(&entries)[0], (0, "a b c d e".to_owned()));
        let mut entries = part(0, &["f"]);
        carried.join(&mut entries);
        assert_eq!(found(&entries), [(0, "f".to_owned())]);
    }
}
