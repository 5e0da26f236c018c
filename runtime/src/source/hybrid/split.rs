//! The splits of a hybrid source: those of its stages, marked with the stage.

use std::fmt::Write as _;

use crate::bytes::{Reader, put_bytes, put_str, put_u32};
use crate::error::{JobError, JobResult};
use crate::source::Split;

/// A split of a stage, or what a reader has seen of a stage so far. It is read as bytes, and only the stage, once it is made,
/// knows what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HybridSplit {
    /// The number of the stage, from 0.
    pub(super) stage: u32,
    pub(super) kind: Kind,
    /// The stage's own name for it.
    pub(super) inner_id: String,
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Split,
    /// Travels with the splits of a reader, so that it goes where they go after a restart.
    Seen,
}

impl HybridSplit {
    pub(super) fn of_stage(stage: u32, inner_id: String, bytes: Vec<u8>) -> Self {
        HybridSplit { stage, kind: Kind::Split, inner_id, bytes }
    }

    pub(super) fn seen(stage: u32, summary: Vec<u8>) -> Self {
        HybridSplit { stage, kind: Kind::Seen, inner_id: String::new(), bytes: summary }
    }
}

/// Two stages may give the same names to their splits.
pub(super) fn write_id(stage: u32, inner: &str, out: &mut String) {
    out.clear();
    let _ = write!(out, "{stage}/{inner}");
}

/// The stage and its own name of a split, of what [`write_id`] wrote.
pub(super) fn parts_of_id(id: &str) -> Option<(u32, &str)> {
    let (stage, inner) = id.split_once('/')?;
    Some((stage.parse().ok()?, inner))
}

impl Split for HybridSplit {
    fn id(&self) -> String {
        let mut id = String::new();
        write_id(self.stage, &self.inner_id, &mut id);
        id
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, self.stage);
        put_u32(&mut out, u32::from(self.kind == Kind::Seen));
        put_str(&mut out, &self.inner_id);
        put_bytes(&mut out, &self.bytes);
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        let stage = input.u32()?;
        let kind = match input.u32()? {
            0 => Kind::Split,
            1 => Kind::Seen,
            _ => return Err(JobError::new("a split of a hybrid source of an unknown kind")),
        };
        Ok(HybridSplit { stage, kind, inner_id: input.str()?.to_owned(), bytes: input.bytes()?.to_vec() })
    }
}
