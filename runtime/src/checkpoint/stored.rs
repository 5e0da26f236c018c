//! Key groups of a checkpoint that stay where they are until they are wanted: there may be more of them than there is memory.
//!
//! In: the bytes of data files that were found whole, and where they lie. Out: each key group by itself, put together from its pieces. Whoever
//! restores has one key group in memory at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use super::entries::{Tag, walk_entries};
use super::piece_file::PiecesAt;
use super::{DataFile, Part, Piece, PieceFile, StateEntry, pieces};
use crate::bytes::large_buffer;
use crate::error::{JobError, JobResult};

/// The bytes of a data file, once they were found to be what was written.
#[derive(Clone)]
pub struct Held(Source);

#[derive(Clone)]
enum Source {
    Memory(Arc<Vec<u8>>),
    File {
        path: Arc<PathBuf>,
        /// What keeps it there.
        _kept: Option<Arc<dyn Send + Sync>>,
    },
}

impl Held {
    /// In memory.
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        Held(Source::Memory(Arc::new(bytes)))
    }

    /// If they are in memory.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Source::Memory(bytes) => Some(bytes),
            Source::File { .. } => None,
        }
    }

    /// In a local file, which is there as long as `kept` is.
    pub fn in_file(path: PathBuf, kept: Option<Arc<dyn Send + Sync>>) -> Self {
        Held(Source::File { path: Arc::new(path), _kept: kept })
    }
}

/// Some bytes of a data file.
#[derive(Clone)]
struct Blob {
    held: Held,
    at: usize,
    len: usize,
}

impl Blob {
    fn read(&self) -> JobResult<Cow<'_, [u8]>> {
        match &self.held.0 {
            Source::Memory(bytes) => Ok(Cow::Borrowed(&bytes[self.at..self.at + self.len])),
            Source::File { path, .. } => {
                let read = || -> io::Result<Vec<u8>> {
                    let mut file = File::open(path.as_path())?;
                    file.seek(SeekFrom::Start(self.at as u64))?;
                    let mut bytes = large_buffer(self.len);
                    file.take(self.len as u64).read_to_end(&mut bytes)?;
                    if bytes.len() == self.len { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
                };
                let bytes = read().map_err(|error| {
                    JobError::io(format_args!("cannot read the state of a checkpoint in `{}`", path.display()), &error)
                })?;
                Ok(Cow::Owned(bytes))
            }
        }
    }
}

/// The bytes of a key group, to be read.
#[derive(Clone)]
pub struct GroupBytes(Form);

#[derive(Clone)]
enum Form {
    Whole(Blob),
    /// Those that count, in their order.
    Pieces(Vec<Blob>),
}

impl fmt::Debug for GroupBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size: usize = match &self.0 {
            Form::Whole(blob) => blob.len,
            Form::Pieces(blobs) => blobs.iter().map(|blob| blob.len).sum(),
        };
        write!(f, "{size} bytes")
    }
}

impl GroupBytes {
    /// A key group as a whole.
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        GroupBytes(Form::Whole(Blob { at: 0, len: bytes.len(), held: Held::in_memory(bytes) }))
    }

    /// Whether it is put together from pieces, on which others can build.
    pub fn is_in_pieces(&self) -> bool {
        matches!(self.0, Form::Pieces(_))
    }

    /// The key group, as if it had been written as a whole. None: it has nothing.
    ///
    /// # Errors
    /// Where it cannot be read, or its pieces do not fit.
    pub fn read(&self) -> JobResult<Option<Cow<'_, [u8]>>> {
        match &self.0 {
            Form::Whole(blob) => blob.read().map(Some),
            Form::Pieces(blobs) => {
                let read = blobs.iter().map(Blob::read).collect::<JobResult<Vec<_>>>()?;
                let bytes: Vec<&[u8]> = read.iter().map(|bytes| &**bytes).collect();
                Ok(pieces::join_those(&bytes).map_err(JobError::new)?.map(Cow::Owned))
            }
        }
    }
}

/// A key group of a state of an operator.
#[derive(Clone, Debug)]
pub struct StoredGroup {
    /// Whose it is.
    pub uid: String,
    /// The name of the state in its operator.
    pub state: String,
    /// The types in it.
    pub schema: String,
    /// The number of the key group.
    pub group: u16,
    /// What is in it.
    pub bytes: GroupBytes,
}

/// Takes the data files of a checkpoint in, one after the other, in their order.
#[derive(Default)]
pub struct StoredState {
    entries: Vec<StateEntry>,
    groups: Vec<StoredGroup>,
    pieces: BTreeMap<(String, String, u16), Pieces>,
    files: Vec<Arc<PieceFile>>,
}

/// What is in a checkpoint.
#[derive(Debug)]
pub struct Contained {
    /// What goes with no key.
    pub entries: Vec<StateEntry>,
    /// The key groups.
    pub groups: Vec<StoredGroup>,
    /// The files with pieces, in their order.
    pub files: Vec<Arc<PieceFile>>,
}

#[derive(Default)]
struct Pieces {
    schema: String,
    pieces: Vec<(Piece, Blob)>,
}

impl StoredState {
    /// What is in a data file with these bytes, which lie there from now on.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn add(&mut self, file: &DataFile, bytes: &[u8], held: &Held) -> JobResult<()> {
        let mut pieces_at = PiecesAt::default();
        walk_entries(bytes, |[uid, state, schema], subtask, tag, at| {
            let blob = || Blob { held: held.clone(), at: at.start, len: at.len() };
            let part = match tag {
                Tag::Group(group) => {
                    let bytes = GroupBytes(Form::Whole(blob()));
                    let (uid, state, schema) = (uid.to_owned(), state.to_owned(), schema.to_owned());
                    self.groups.push(StoredGroup { uid, state, schema, group, bytes });
                    return Ok(());
                }
                Tag::Piece(group) => {
                    let piece = Piece::of(&bytes[at.clone()]).ok_or_else(|| JobError::new("a piece of it is damaged"))?;
                    let of = self.pieces.entry((uid.to_owned(), state.to_owned(), group)).or_default();
                    schema.clone_into(&mut of.schema);
                    of.pieces.push((piece, blob()));
                    pieces_at.note([uid, state, schema], subtask, group, piece, at, bytes);
                    return Ok(());
                }
                Tag::Item => Part::Item(bytes[at].to_vec()),
                Tag::Union => Part::Union(bytes[at].to_vec()),
                Tag::Copy => Part::Copy(bytes[at].to_vec()),
            };
            let (uid, state, schema) = (uid.to_owned(), state.to_owned(), schema.to_owned());
            self.entries.push(StateEntry { uid, state, schema, subtask, part });
            Ok(())
        })?;
        let PiecesAt(pieces) = pieces_at;
        if !pieces.is_empty() {
            self.files.push(Arc::new(PieceFile { file: file.clone(), pieces }));
        }
        Ok(())
    }

    /// All files are there: what is in this checkpoint.
    ///
    /// # Errors
    /// A piece that is missing, with the operator and the key group.
    pub fn finish(self, checkpoint: u64) -> Result<Contained, String> {
        let mut groups = self.groups;
        for ((uid, state, group), Pieces { schema, pieces: mut all }) in self.pieces {
            let headers: Vec<Piece> = all.iter().map(|(piece, _)| *piece).collect();
            let from = pieces::counting(checkpoint, &headers)
                .map_err(|reason| format!("key group {group} of {uid} {state}: {reason}"))?;
            if let Some(from) = from {
                let bytes = GroupBytes(Form::Pieces(all.drain(from..).map(|(_, blob)| blob).collect()));
                groups.push(StoredGroup { uid, state, schema, group, bytes });
            }
        }
        Ok(Contained { entries: self.entries, groups, files: self.files })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::checkpoint::encode_entries;

    fn piece(checkpoint: u64, since: u64, changes: &[(u8, bool)]) -> Vec<u8> {
        let mut out = Vec::new();
        Piece { checkpoint, since, live: 0 }.table(&[7], &mut out);
        pieces::write_table(&[], since == 0, &mut out);
        for (key, is_there) in changes {
            match is_there {
                true => pieces::put(&[*key], &[u8::try_from(checkpoint).unwrap()], &mut out),
                false => pieces::removed(&[*key], &mut out),
            }
        }
        pieces::end(&mut out);
        pieces::end(&mut out);
        out
    }

    fn entry(uid: &str, part: Part) -> StateEntry {
        StateEntry { uid: uid.into(), state: "s".into(), schema: "int64".into(), subtask: 1, part }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// What is read bit by bit from files is what is read as a whole from memory.
        #[test]
        fn bit_by_bit_is_as_a_whole(
            checkpoints in prop::collection::vec(prop::collection::vec((0..5u16, prop::collection::vec((0..9u8, any::<bool>()), 0..6)), 1..5), 1..5),
            anew in 1..4u64,
            missing in prop::option::weighted(0.2, 0..4usize),
        ) {
            let last = checkpoints.len() as u64;
            let mut files = Vec::new();
            for (id, groups) in (1..).zip(&checkpoints) {
                let mut entries = Vec::new();
                let since = if id == 1 || id == anew { 0 } else { id - 1 };
                // Every checkpoint has a piece of each key group.
                for group in 0..5 {
                    let changes: Vec<_> = groups.iter().filter(|(of, _)| *of == group).flat_map(|(_, changes)| changes.clone()).collect();
                    entries.push(entry("u", Part::Piece(group, piece(id, since, &changes))));
                }
                entries.push(entry("v", Part::Item(vec![u8::try_from(id).unwrap()])));
                entries.push(entry("w", Part::Group(u16::try_from(id).unwrap(), vec![1, 2])));
                files.push(entries);
            }
            if let Some(missing) = missing.filter(|&missing| missing < files.len()) {
                files.remove(missing);
            }
            let folder = tempfile::tempdir().unwrap();
            let mut state = StoredState::default();
            for (number, entries) in files.iter().enumerate() {
                let bytes = encode_entries(entries);
                let path = folder.path().join(number.to_string());
                std::fs::write(&path, &bytes).unwrap();
                let held = if number % 2 == 0 { Held::in_file(path, None) } else { Held::in_memory(bytes.clone()) };
                state.add(&DataFile::of(String::new(), &bytes), &bytes, &held).unwrap();
            }
            let expected = pieces::whole(last, files.into_iter().flatten().collect());
            let found = state.finish(last).map(|Contained { mut entries, groups, .. }| {
                entries.extend(groups.into_iter().filter_map(|StoredGroup { uid, group, bytes, .. }| {
                    Some(entry(&uid, Part::Group(group, bytes.read().unwrap()?.into_owned())))
                }));
                entries
            });
            let sorted = |entries: Vec<StateEntry>| {
                let mut all: Vec<_> = entries.into_iter().map(|entry| format!("{entry:?}")).collect();
                all.sort();
                all
            };
            prop_assert_eq!(found.map(sorted), expected.map(sorted));
        }
    }

    #[test]
    fn a_file_that_is_gone_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = encode_entries(&[entry("u", Part::Group(3, vec![1]))]);
        let mut state = StoredState::default();
        let file = DataFile::of("0000.state".into(), &bytes);
        state.add(&file, &bytes, &Held::in_file(folder.path().join("0000.state"), None)).unwrap();
        let error = state.finish(1).unwrap().groups[0].bytes.read().unwrap_err();
        assert!(error.message().contains("0000.state"), "{error}");
    }
}
