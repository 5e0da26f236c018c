//! Where the pieces of key groups are in a data file, so that single ones can be read and known for what was written.

use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::{DataFile, Piece};

/// Whose key groups they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateName {
    /// The operator.
    pub uid: Arc<str>,
    /// The name of the state in its operator.
    pub state: Arc<str>,
    /// The types in it.
    pub schema: Arc<str>,
}

/// A piece in a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceAt {
    pub of: Arc<StateName>,
    pub subtask: u32,
    pub group: u16,
    pub piece: Piece,
    /// Where its bytes are in the file.
    pub at: Range<u64>,
    xxh3: u64,
}

impl PieceAt {
    /// Whether these bytes are what was written.
    pub fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.at.end - self.at.start && xxh3_64(bytes) == self.xxh3
    }
}

/// A data file with pieces, and where they are, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceFile {
    pub file: DataFile,
    pub pieces: Vec<PieceAt>,
}

/// Notes where the pieces of a file are.
#[derive(Debug, Default)]
pub struct PiecesAt(pub Vec<PieceAt>);

impl PiecesAt {
    /// A piece of a key group of a state (operator, state, schema): there, in the bytes of the file.
    pub fn note(&mut self, names: [&str; 3], subtask: u32, group: u16, piece: Piece, at: Range<usize>, file: &[u8]) {
        let [uid, state, schema] = names;
        let same = |of: &StateName| *of.uid == *uid && *of.state == *state && *of.schema == *schema;
        let of = match self.0.last().filter(|last| same(&last.of)) {
            Some(last) => last.of.clone(),
            None => Arc::new(StateName { uid: uid.into(), state: state.into(), schema: schema.into() }),
        };
        let xxh3 = xxh3_64(&file[at.clone()]);
        self.0.push(PieceAt { of, subtask, group, piece, at: at.start as u64..at.end as u64, xxh3 });
    }
}
