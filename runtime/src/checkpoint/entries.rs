//! The state of a checkpoint as entries, and as the bytes of its data files.

use std::ops::Range;

use bytes::Bytes;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::bytes::{Reader, large_buffer, put_bytes, put_str, put_u32, put_u64, settled};
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
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Group(u16),
    Piece(u16),
    Item,
    Union,
    Copy,
}

impl Tag {
    fn of(tag: u32) -> JobResult<Self> {
        Ok(match tag {
            ITEM => Tag::Item,
            UNION => Tag::Union,
            COPY => Tag::Copy,
            piece if piece & PIECE == PIECE && piece < 2 * PIECE => Tag::Piece(piece as u16),
            group => Tag::Group(u16::try_from(group).map_err(|_| JobError::new("it is damaged: no such key group"))?),
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

/// Whole blocks of a disk begin at multiples of this, and so does the memory that is written to them past the page cache: enough for every
/// disk.
pub const BLOCK: usize = 4096;

/// The length of a name that is the same as in the entry before.
const SAME: u64 = u64::MAX;

/// The bytes of a data file.
pub fn encode_entries(entries: &[StateEntry]) -> Vec<u8> {
    let mut out = EntryWriter::new();
    for StateEntry { uid, state, schema, subtask, part } in entries {
        out.head([uid, state, schema], *subtask, part.tag());
        put_bytes(&mut out.bytes, part.bytes());
    }
    out.bytes
}

/// The bytes of a data file.
#[derive(Clone, Debug)]
pub struct NewFile {
    pub bytes: Bytes,
    pub xxh3: u64,
}

impl From<Vec<u8>> for NewFile {
    fn from(bytes: Vec<u8>) -> Self {
        NewFile { xxh3: xxh3_64(&bytes), bytes: bytes.into() }
    }
}

/// Makes the bytes of a data file, entry by entry.
pub struct EntryWriter {
    /// The file, behind as many bytes as let it begin where whole blocks do.
    bytes: Vec<u8>,
    start: usize,
    before: [String; 3],
    /// Of what is before `hashed`: entries are hashed while they are still at hand.
    hash: Xxh3,
    hashed: usize,
}

impl EntryWriter {
    /// A file without entries.
    #[allow(clippy::new_without_default, reason = "an empty file is none")]
    pub fn new() -> Self {
        EntryWriter::over(Vec::new())
    }

    /// The same, about to become large. In this buffer, if there is one, of a file that is written.
    pub fn large(spare: Option<Vec<u8>>) -> Self {
        let mut bytes = spare.unwrap_or_else(|| large_buffer(1 << 20));
        bytes.clear();
        // It is not met any more if the buffer has to grow: then the file is written in another way.
        let start = bytes.as_ptr().align_offset(BLOCK);
        bytes.resize(if start < BLOCK { start } else { 0 }, 0);
        EntryWriter::over(bytes)
    }

    fn over(mut bytes: Vec<u8>) -> Self {
        let start = bytes.len();
        bytes.extend_from_slice(MAGIC);
        EntryWriter { bytes, start, before: Default::default(), hash: Xxh3::new(), hashed: start }
    }

    fn head(&mut self, names: [&str; 3], subtask: u32, tag: u32) {
        for (name, before) in names.into_iter().zip(&mut self.before) {
            // An empty one is as short as a repeated one.
            if name.is_empty() || name != before {
                put_str(&mut self.bytes, name);
                name.clone_into(before);
            } else {
                put_u64(&mut self.bytes, SAME);
            }
        }
        put_u32(&mut self.bytes, subtask);
        put_u32(&mut self.bytes, tag);
    }

    /// A piece of a key group of a state (operator, state, schema), as `encode` appends it. Gives where it is.
    ///
    /// # Errors
    /// Those of `encode`; the file is of no use then.
    pub fn piece(
        &mut self,
        names: [&str; 3],
        subtask: u32,
        group: u16,
        encode: impl FnOnce(&mut Vec<u8>) -> JobResult<()>,
    ) -> JobResult<Range<usize>> {
        self.head(names, subtask, PIECE | u32::from(group));
        let len_at = self.bytes.len();
        put_u64(&mut self.bytes, 0);
        let at = self.bytes.len();
        encode(&mut self.bytes)?;
        let len = (self.bytes.len() - at) as u64;
        self.bytes[len_at..at].copy_from_slice(&len.to_le_bytes());
        self.hash();
        Ok(at - self.start..self.len())
    }

    /// What is there so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Bytes so far.
    #[allow(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    fn hash(&mut self) {
        self.hash.update(&self.bytes[self.hashed..]);
        self.hashed = self.bytes.len();
    }

    /// The file.
    pub fn finish(mut self) -> NewFile {
        self.hash();
        NewFile { xxh3: self.hash.digest(), bytes: Bytes::from(settled(self.bytes)).slice(self.start..) }
    }
}

/// Every entry of what [`encode_entries`] gave: operator, state and schema, the subtask, what it is, and where its bytes are.
pub(super) fn walk_entries(
    bytes: &[u8],
    mut each: impl FnMut([&str; 3], u32, Tag, Range<usize>) -> JobResult<()>,
) -> JobResult<()> {
    let mut input = Reader::new(bytes);
    let magic = input.take(MAGIC.len())?;
    if magic != MAGIC && magic != FIRST {
        return Err(JobError::new("it is no state of a checkpoint"));
    }
    let mut names = [""; 3];
    while !input.is_empty() {
        for name in &mut names {
            if input.clone().u64()? == SAME {
                input.u64()?;
            } else {
                *name = input.str()?;
            }
        }
        let subtask = input.u32()?;
        let tag = Tag::of(input.u32()?)?;
        let len = input.bytes()?.len();
        let end = bytes.len() - input.len();
        each(names, subtask, tag, end - len..end)?;
    }
    Ok(())
}

/// What [`encode_entries`] gave.
pub fn decode_entries(bytes: &[u8]) -> JobResult<Vec<StateEntry>> {
    let mut entries = Vec::new();
    walk_entries(bytes, |[uid, state, schema], subtask, tag, at| {
        let bytes = bytes[at].to_vec();
        let part = match tag {
            Tag::Group(group) => Part::Group(group, bytes),
            Tag::Piece(group) => Part::Piece(group, bytes),
            Tag::Item => Part::Item(bytes),
            Tag::Union => Part::Union(bytes),
            Tag::Copy => Part::Copy(bytes),
        };
        let (uid, state, schema) = (uid.to_owned(), state.to_owned(), schema.to_owned());
        entries.push(StateEntry { uid, state, schema, subtask, part });
        Ok(())
    })?;
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
