//! What a checkpoint is to hold: entries that are encoded, and pieces of key groups that are encoded when they are written.
//!
//! State on disk may be larger than memory, so no more of it is encoded at a time than goes into one data file: a task hands over a
//! snapshot of its tables, and whoever writes the checkpoint encodes that, file by file ([`encode_file`]).

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::checkpoint::{EntryWriter, Piece, PieceAt, PiecesAt, StateEntry};
use crate::error::{JobError, JobResult};
use crate::operator::EncodePart;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    pub entries: Vec<StateEntry>,
    pub pieces: Vec<LazyPiece>,
    /// A piece could not be encoded.
    pub unreadable: Arc<AtomicBool>,
}

/// A piece of a key group that is encoded when it is written, any number of times.
#[derive(Clone)]
pub(crate) struct LazyPiece {
    pub uid: Arc<str>,
    pub state: Arc<str>,
    pub schema: Arc<str>,
    pub subtask: u32,
    pub group: u16,
    pub piece: Piece,
    /// About how many bytes it has in memory until then.
    pub weight: usize,
    pub part: Arc<dyn EncodePart>,
}

impl fmt::Debug for LazyPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyPiece")
            .field("uid", &self.uid)
            .field("group", &self.group)
            .field("piece", &self.piece)
            .finish_non_exhaustive()
    }
}

/// Encodes as many pieces as go into one data file. Gives also where they are. Heavy: not on a task.
pub(super) fn encode_file(pieces: &mut VecDeque<LazyPiece>, size: usize) -> JobResult<(Vec<u8>, Vec<PieceAt>)> {
    let (mut file, mut written) = (EntryWriter::large(), PiecesAt::default());
    while let Some(LazyPiece { uid, state, schema, subtask, group, piece, part, .. }) = pieces.pop_front() {
        let names = [&*uid, &*state, &*schema];
        let encoded = file.piece(names, subtask, group, |out| part.encode(out));
        let at = encoded.map_err(|error| JobError::transient(format!("the state of {uid} has no part of it: {error}")))?;
        written.note(names, subtask, group, piece, at, file.bytes());
        if file.len() >= size {
            break;
        }
    }
    Ok((file.into_bytes(), written.0))
}

#[cfg(test)]
impl From<Vec<StateEntry>> for Contents {
    /// Pieces that are encoded already.
    fn from(entries: Vec<StateEntry>) -> Self {
        use crate::checkpoint::Part;
        use crate::operator::KeyGroupPart;

        let mut contents = Contents::default();
        for StateEntry { uid, state, schema, subtask, part } in entries {
            match part {
                Part::Piece(group, bytes) => contents.pieces.push(LazyPiece {
                    uid: uid.into(),
                    state: state.into(),
                    schema: schema.into(),
                    subtask,
                    group,
                    piece: Piece::of(&bytes).unwrap(),
                    weight: bytes.len(),
                    part: KeyGroupPart::new(group, move |out| {
                        out.extend_from_slice(&bytes);
                        Ok(())
                    })
                    .part,
                }),
                part => contents.entries.push(StateEntry { uid, state, schema, subtask, part }),
            }
        }
        contents
    }
}
