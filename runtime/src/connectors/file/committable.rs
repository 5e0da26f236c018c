//! What the file sink commits: a staged file and the name it gets.

use crate::bytes::{Reader, put_str, put_u64};
use crate::error::JobResult;

/// A complete file in the staging folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StagedFile {
    /// Its name in the staging folder.
    pub temporary: String,
    /// Its place in the target folder: `dt=2026-01-01/part-0-3-0.json`.
    pub target: String,
    pub size: u64,
}

impl StagedFile {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_str(&mut out, &self.temporary);
        put_str(&mut out, &self.target);
        put_u64(&mut out, self.size);
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        Ok(StagedFile { temporary: input.str()?.to_owned(), target: input.str()?.to_owned(), size: input.u64()? })
    }
}
