//! Committables in the entries of a checkpoint: what writers have made, checked against what they announced.

use std::collections::BTreeMap;

use super::{COMMIT, COMMITTABLES, Part, StateEntry};
use crate::bytes::{Reader, put_bytes, put_u64};
use crate::coordinator::commit::compaction::{HELD, MERGE};
use crate::error::{JobError, JobResult};
use crate::sink::{SUMMARY, Staged};

/// What one writer has made for a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::coordinator) struct Collected {
    pub uid: String,
    pub subtask: u32,
    pub committables: Vec<Vec<u8>>,
}

/// What writers have made for one checkpoint. A second summary of a writer is an error, and so is a number of committables
/// that is not the one it announced: something was lost or doubled on the way.
pub(in crate::coordinator) fn collect<'a>(entries: impl IntoIterator<Item = &'a StateEntry>) -> JobResult<Vec<Collected>> {
    let mut made: BTreeMap<(&str, u32), (Option<u32>, Vec<Vec<u8>>)> = BTreeMap::new();
    for entry in entries {
        let Part::Item(bytes) = &entry.part else { continue };
        let writer = (entry.uid.as_str(), entry.subtask);
        if entry.state == SUMMARY {
            let announced = bytes.as_slice().try_into().map(u32::from_le_bytes);
            let announced = announced.map_err(|_| JobError::new(format!("a summary of {} cannot be read", entry.uid)))?;
            if made.entry(writer).or_default().0.replace(announced).is_some() {
                return Err(JobError::transient(format!(
                    "subtask {} of {} has announced its committables for one checkpoint twice",
                    entry.subtask, entry.uid
                )));
            }
        } else if entry.state == COMMITTABLES {
            made.entry(writer).or_default().1.push(bytes.clone());
        }
    }
    let checked = made.into_iter().map(|((uid, subtask), (announced, committables))| {
        if announced.map(|announced| announced as usize) != Some(committables.len()) {
            return Err(JobError::transient(format!(
                "subtask {subtask} of {uid} has announced {} committables and {} have come",
                announced.map_or_else(|| "no".to_owned(), |announced| announced.to_string()),
                committables.len()
            )));
        }
        Ok(Collected { uid: uid.to_owned(), subtask, committables })
    });
    checked.collect()
}

/// What a stored checkpoint holds for sinks.
#[derive(Debug, Default)]
pub(super) struct Stored(BTreeMap<String, StoredSink>);

/// What it holds for one sink.
#[derive(Debug, Default)]
pub(super) struct StoredSink {
    /// Made for this checkpoint.
    pub made: Vec<Staged>,
    /// To be committed, by the checkpoint that it was committed with the first time.
    pub commit: BTreeMap<u64, Vec<Staged>>,
    pub held: Vec<Staged>,
    /// Merges that had not ended, by number.
    pub merges: BTreeMap<u64, Vec<Staged>>,
}

impl Stored {
    pub(super) fn read<'a>(entries: impl Iterator<Item = &'a StateEntry>, checkpoint: u64) -> JobResult<Self> {
        let entries: Vec<_> = entries.collect();
        let mut sinks: BTreeMap<String, StoredSink> = BTreeMap::new();
        for Collected { uid, subtask, committables } in collect(entries.iter().copied())? {
            let staged = committables.into_iter().map(|committable| Staged { checkpoint, subtask, committable });
            sinks.entry(uid).or_default().made.extend(staged);
        }
        for entry in entries {
            let Part::Item(bytes) = &entry.part else { continue };
            let number = |prefix: &str| entry.state.strip_prefix(prefix)?.parse::<u64>().ok();
            if let Some(checkpoint) = number(COMMIT) {
                let staged = Staged { checkpoint, subtask: entry.subtask, committable: bytes.clone() };
                sinks.entry(entry.uid.clone()).or_default().commit.entry(checkpoint).or_default().push(staged);
            } else if entry.state == HELD {
                sinks.entry(entry.uid.clone()).or_default().held.push(decode_staged(entry.subtask, bytes)?);
            } else if let Some(number) = number(MERGE) {
                let merges = &mut sinks.entry(entry.uid.clone()).or_default().merges;
                merges.entry(number).or_default().push(decode_staged(entry.subtask, bytes)?);
            }
        }
        Ok(Stored(sinks))
    }

    pub(super) fn take(&mut self, uid: &str) -> StoredSink {
        self.0.remove(uid).unwrap_or_default()
    }
}

pub(super) fn encode_staged(checkpoint: u64, committable: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(committable.len() + 16);
    put_u64(&mut out, checkpoint);
    put_bytes(&mut out, committable);
    out
}

fn decode_staged(subtask: u32, bytes: &[u8]) -> JobResult<Staged> {
    let mut input = Reader::new(bytes);
    Ok(Staged { checkpoint: input.u64()?, subtask, committable: input.bytes()?.to_vec() })
}
