//! What a checkpoint is to hold: entries that are encoded, and pieces of key groups that are encoded when they are written.
//!
//! State on disk may be larger than memory, so no more of it is encoded at a time than goes into one data file: a task hands over a
//! snapshot of its tables, and whoever writes the checkpoint encodes that, file by file ([`encode_file`]).

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::checkpoint::{EntryWriter, NewFile, Piece, PieceAt, PiecesAt, StateEntry};
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
    pub part: Arc<LazyPart>,
}

/// Encodes a piece when it is wanted, and holds what that gave as long as somebody else may want it as well.
pub(crate) struct LazyPart {
    part: Arc<dyn EncodePart>,
    /// A part of the file that it went into.
    encoded: OnceLock<Bytes>,
}

impl LazyPart {
    pub fn new(part: Arc<dyn EncodePart>) -> Arc<Self> {
        Arc::new(LazyPart { part, encoded: OnceLock::new() })
    }

    fn encode(&self, out: &mut Vec<u8>) -> JobResult<()> {
        match self.encoded.get() {
            Some(bytes) => out.extend_from_slice(bytes),
            None => self.part.encode(out)?,
        }
        Ok(())
    }
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

/// Encodes as many pieces as go into one data file. Gives also where they are. `spare`: a buffer that is not used any more.
/// Heavy: not on a task.
pub(super) fn encode_file(
    pieces: &mut VecDeque<LazyPiece>,
    size: usize,
    spare: Option<Vec<u8>>,
) -> JobResult<(NewFile, Vec<PieceAt>)> {
    let (mut file, mut written, mut wanted_again) = (EntryWriter::large(spare), PiecesAt::default(), Vec::new());
    let mut failed = None;
    while let Some(LazyPiece { uid, state, schema, subtask, group, piece, part, .. }) = pieces.pop_front() {
        let names = [&*uid, &*state, &*schema];
        match file.piece(names, subtask, group, |out| part.encode(out)) {
            Ok(at) => {
                written.note(names, subtask, group, piece, at.clone(), file.bytes());
                // It is to be carried, or written elsewhere, too.
                if Arc::strong_count(&part) > 1 {
                    wanted_again.push((part, at));
                }
            }
            Err(error) => failed = Some(JobError::transient(format!("the state of {uid} has no part of it: {error}"))),
        }
        if failed.is_some() || file.len() >= size {
            break;
        }
    }
    let file = file.finish();
    for (part, at) in wanted_again {
        let _ = part.encoded.set(file.bytes.slice(at));
    }
    failed.map_or(Ok((file, written.0)), Err)
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
                    part: LazyPart::new(
                        KeyGroupPart::new(group, move |out| {
                            out.extend_from_slice(&bytes);
                            Ok(())
                        })
                        .part,
                    ),
                }),
                part => contents.entries.push(StateEntry { uid, state, schema, subtask, part }),
            }
        }
        contents
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;
    use crate::operator::KeyGroupPart;

    /// Each time that it is encoded it is something else.
    fn pieces() -> VecDeque<LazyPiece> {
        let piece = |group: u16| {
            let times = AtomicU8::new(0);
            let part = KeyGroupPart::new(group, move |out| {
                out.extend_from_slice(&[7, times.fetch_add(1, SeqCst)]);
                if group == 2 { Err(JobError::new("no")) } else { Ok(()) }
            });
            let (piece, part) = (Piece { checkpoint: 2, since: 1, live: 1 }, LazyPart::new(part.part));
            LazyPiece { uid: "u".into(), state: "s".into(), schema: "".into(), subtask: 0, group, piece, weight: 1, part }
        };
        (0..3).map(piece).collect()
    }

    #[test]
    fn what_somebody_else_may_want_is_encoded_once() {
        let mut pieces = pieces();
        pieces.truncate(2);
        let mut carried = pieces.clone();
        let first = encode_file(&mut pieces, usize::MAX, None).unwrap();
        let again = encode_file(&mut carried, usize::MAX, None).unwrap();
        assert!(pieces.is_empty() && carried.is_empty());
        assert_eq!((first.0.bytes, first.0.xxh3, first.1), (again.0.bytes, again.0.xxh3, again.1));
    }

    #[test]
    fn what_was_encoded_in_front_of_a_failure_is_there_for_the_next() {
        let mut pieces = pieces();
        let mut next: VecDeque<_> = pieces.iter().take(2).cloned().collect();
        let expected = encode_file(&mut self::pieces().drain(..2).collect(), usize::MAX, None).unwrap();
        assert!(encode_file(&mut pieces, usize::MAX, None).is_err());
        assert_eq!(encode_file(&mut next, usize::MAX, None).unwrap().0.bytes, expected.0.bytes);
    }

    #[test]
    fn what_nobody_else_wants_is_not_kept() {
        let mut pieces = pieces();
        pieces.truncate(1);
        let part = Arc::downgrade(&pieces[0].part);
        let (file, _) = encode_file(&mut pieces, usize::MAX, None).unwrap();
        assert!(part.upgrade().is_none() && file.bytes.is_unique());
    }
}
