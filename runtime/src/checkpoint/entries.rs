//! The state of a checkpoint as entries, and as the bytes of its data files.

use crate::bytes::{Reader, put_bytes, put_str, put_u32};
use crate::error::{JobError, JobResult};

/// A piece of state of one operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEntry {
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
pub enum Part {
    /// A key group.
    Group(u16, Vec<u8>),
    /// A list item.
    Item(Vec<u8>),
}

impl Part {
    /// What is stored.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Part::Group(_, bytes) | Part::Item(bytes) => bytes,
        }
    }
}

const MAGIC: &[u8; 8] = b"MSSTATE1";

/// The bytes of a data file.
pub fn encode_entries(entries: &[StateEntry]) -> Vec<u8> {
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
pub fn decode_entries(bytes: &[u8]) -> JobResult<Vec<StateEntry>> {
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
