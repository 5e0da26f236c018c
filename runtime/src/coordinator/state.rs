//! The state of a checkpoint as entries, and as the bytes of its data files.

use crate::bytes::{Reader, put_bytes, put_str, put_u32};
use crate::error::{JobError, JobResult};
use crate::operator::{OperatorSnapshot, StateParts};

/// A piece of state of one operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateEntry {
    pub uid: String,
    /// The name of the state in its operator.
    pub state: String,
    /// The types in it.
    pub schema: String,
    /// The subtask that had it.
    pub subtask: u32,
    pub part: Part,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A key group.
    Group(u16, Vec<u8>),
    /// A list item.
    Item(Vec<u8>),
}

impl Part {
    pub(crate) fn len(&self) -> usize {
        match self {
            Part::Group(_, bytes) | Part::Item(bytes) => bytes.len(),
        }
    }
}

const MAGIC: &[u8; 8] = b"MSSTATE1";

/// Encodes lazily taken snapshots. Heavy: not on a task.
pub(crate) fn entries_of(operators: Vec<OperatorSnapshot>, subtask: u32) -> Vec<StateEntry> {
    let mut entries = Vec::new();
    for operator in operators {
        for state in operator.states {
            let entry = |part| StateEntry {
                uid: operator.uid.to_string(),
                state: state.name.clone(),
                schema: state.schema.clone(),
                subtask,
                part,
            };
            match state.parts {
                StateParts::Keyed(groups) => entries.extend(groups.into_iter().map(|group| {
                    let mut bytes = Vec::new();
                    group.part.encode(&mut bytes);
                    entry(Part::Group(group.group, bytes))
                })),
                StateParts::List(items) => entries.extend(items.into_iter().map(|item| entry(Part::Item(item)))),
            }
        }
    }
    entries
}

/// The bytes of a data file.
pub(crate) fn encode_entries(entries: &[StateEntry]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for entry in entries {
        put_str(&mut out, &entry.uid);
        put_str(&mut out, &entry.state);
        put_str(&mut out, &entry.schema);
        put_u32(&mut out, entry.subtask);
        match &entry.part {
            Part::Group(group, bytes) => {
                put_u32(&mut out, u32::from(*group));
                put_bytes(&mut out, bytes);
            }
            Part::Item(bytes) => {
                put_u32(&mut out, u32::MAX);
                put_bytes(&mut out, bytes);
            }
        }
    }
    out
}

/// What [`encode_entries`] gave.
pub(crate) fn decode_entries(bytes: &[u8]) -> JobResult<Vec<StateEntry>> {
    let mut input = Reader::new(bytes);
    if input.take(MAGIC.len())? != MAGIC {
        return Err(JobError::new("it is no state of a checkpoint"));
    }
    let mut entries = Vec::new();
    while !input.is_empty() {
        let (uid, state, schema) = (input.str()?.to_owned(), input.str()?.to_owned(), input.str()?.to_owned());
        let subtask = input.u32()?;
        let group = input.u32()?;
        let bytes = input.bytes()?.to_vec();
        let part = match u16::try_from(group) {
            Ok(group) => Part::Group(group, bytes),
            Err(_) => Part::Item(bytes),
        };
        entries.push(StateEntry { uid, state, schema, subtask, part });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_their_encoding() {
        let entry = |part| StateEntry { uid: "a/b/0".into(), state: "s".into(), schema: "int64".into(), subtask: 3, part };
        let entries = vec![entry(Part::Group(7, vec![1, 2])), entry(Part::Item(vec![])), entry(Part::Item(vec![9]))];
        let bytes = encode_entries(&entries);
        assert_eq!(decode_entries(&bytes).unwrap(), entries);
        assert!(decode_entries(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode_entries(b"something else").is_err());
    }
}
