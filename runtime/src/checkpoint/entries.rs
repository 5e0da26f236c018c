//! The state of a checkpoint as entries, and as the bytes of its data files.

use crate::bytes::{Reader, put_bytes, put_str, put_u32, put_u64};
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
    /// A piece of a key group: only [`pieces::whole`](super::pieces::whole) makes something of it.
    Piece(u16, Vec<u8>),
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
            Part::Group(_, bytes) | Part::Piece(_, bytes) | Part::Item(bytes) | Part::Union(bytes) | Part::Copy(bytes) => bytes,
        }
    }

    /// The number of the key group, or what stands in its place.
    fn tag(&self) -> u32 {
        match self {
            Part::Group(group, _) => u32::from(*group),
            Part::Piece(group, _) => PIECE | u32::from(*group),
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
            piece if piece & PIECE == PIECE && piece < 2 * PIECE => Part::Piece(piece as u16, bytes),
            group => Part::Group(u16::try_from(group).map_err(|_| JobError::new("it is damaged: no such key group"))?, bytes),
        })
    }
}

const ITEM: u32 = u32::MAX;
const UNION: u32 = u32::MAX - 1;
const COPY: u32 = u32::MAX - 2;

const PIECE: u32 = 1 << 16;

const MAGIC: &[u8; 8] = b"MSSTATE2";

/// The first version had no pieces, and wrote out every name.
const FIRST: &[u8; 8] = b"MSSTATE1";

/// The length of a name that is the same as in the entry before.
const SAME: u64 = u64::MAX;

/// The bytes of a data file.
pub fn encode_entries(entries: &[StateEntry]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut before = ["", "", ""];
    for entry in entries {
        let names = [entry.uid.as_str(), &entry.state, &entry.schema];
        for (name, before) in names.iter().zip(before) {
            // An empty one is as short as a repeated one.
            if name.is_empty() || *name != before {
                put_str(&mut out, name);
            } else {
                put_u64(&mut out, SAME);
            }
        }
        before = names;
        put_u32(&mut out, entry.subtask);
        put_u32(&mut out, entry.part.tag());
        put_bytes(&mut out, entry.part.bytes());
    }
    out
}

/// What [`encode_entries`] gave.
pub fn decode_entries(bytes: &[u8]) -> JobResult<Vec<StateEntry>> {
    let mut input = Reader::new(bytes);
    let magic = input.take(MAGIC.len())?;
    if magic != MAGIC && magic != FIRST {
        return Err(JobError::new("it is no state of a checkpoint"));
    }
    let mut entries = Vec::new();
    let mut names = [String::new(), String::new(), String::new()];
    while !input.is_empty() {
        for name in &mut names {
            if input.clone().u64()? == SAME {
                input.u64()?;
            } else {
                input.str()?.clone_into(name);
            }
        }
        let [uid, state, schema] = names.clone();
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
            entry(Part::Piece(7, vec![3])),
            entry(Part::Group(u16::MAX, vec![])),
            entry(Part::Piece(u16::MAX, vec![])),
            StateEntry { uid: "b".into(), ..entry(Part::Piece(0, vec![])) },
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

    #[test]
    fn the_first_version_is_read() {
        let mut bytes = b"MSSTATE1".to_vec();
        for group in [3, 4] {
            for name in ["a/b/0", "s", "int64"] {
                put_str(&mut bytes, name);
            }
            put_u32(&mut bytes, 1);
            put_u32(&mut bytes, group);
            put_bytes(&mut bytes, &[9]);
        }
        let groups: Vec<_> = decode_entries(&bytes).unwrap().into_iter().map(|entry| (entry.uid, entry.part)).collect();
        assert_eq!(groups, [3, 4].map(|group| ("a/b/0".to_owned(), Part::Group(group, vec![9]))));
    }
}
