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
    /// A list item: of one subtask.
    Item(Vec<u8>),
    /// A list item that all subtasks get.
    Union(Vec<u8>),
    /// A subtask's copy of what is the same in all of them.
    Copy(Vec<u8>),
}

impl Part {
    /// What is stored.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Part::Group(_, bytes) | Part::Item(bytes) | Part::Union(bytes) | Part::Copy(bytes) => bytes,
        }
    }

    /// The number of the key group, or what stands in its place.
    fn tag(&self) -> u32 {
        match self {
            Part::Group(group, _) => u32::from(*group),
            Part::Item(_) => ITEM,
            Part::Union(_) => UNION,
            Part::Copy(_) => COPY,
        }
    }

    fn of_tag(tag: u32, bytes: Vec<u8>) -> JobResult<Self> {
        Ok(match tag {
            ITEM => Part::Item(bytes),
            UNION => Part::Union(bytes),
            COPY => Part::Copy(bytes),
            group => Part::Group(u16::try_from(group).map_err(|_| JobError::new("it is damaged: no such key group"))?, bytes),
        })
    }
}

const ITEM: u32 = u32::MAX;
const UNION: u32 = u32::MAX - 1;
const COPY: u32 = u32::MAX - 2;

const MAGIC: &[u8; 8] = b"MSSTATE1";

/// The bytes of a data file.
pub fn encode_entries(entries: &[StateEntry]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for entry in entries {
        put_str(&mut out, &entry.uid);
        put_str(&mut out, &entry.state);
        put_str(&mut out, &entry.schema);
        put_u32(&mut out, entry.subtask);
        put_u32(&mut out, entry.part.tag());
        put_bytes(&mut out, entry.part.bytes());
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
        let tag = input.u32()?;
        let part = Part::of_tag(tag, input.bytes()?.to_vec())?;
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
        let entries = vec![
            entry(Part::Group(7, vec![1, 2])),
            entry(Part::Item(vec![])),
            entry(Part::Item(vec![9])),
            entry(Part::Union(vec![3])),
            entry(Part::Copy(vec![])),
        ];
        let bytes = encode_entries(&entries);
        assert_eq!(decode_entries(&bytes).unwrap(), entries);
        assert!(decode_entries(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode_entries(b"something else").is_err());
    }
}
