//! What the file sink commits: a staged file and the name it gets.

use crate::bytes::{Reader, put_str, put_u32, put_u64};
use crate::error::JobResult;

/// A complete file in the staging folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StagedFile {
    /// Its name in the staging folder.
    pub temporary: String,
    /// Its place in the target folder: `dt=2026-01-01/part-0-3-0.json`.
    pub target: String,
    pub size: u64,
    /// Staged files that were merged into it: they can go some time after it is committed.
    pub inputs: Vec<String>,
}

impl StagedFile {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_str(&mut out, &self.temporary);
        put_str(&mut out, &self.target);
        put_u64(&mut out, self.size);
        put_u32(&mut out, u32::try_from(self.inputs.len()).unwrap_or(u32::MAX));
        self.inputs.iter().for_each(|input| put_str(&mut out, input));
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        let (temporary, target, size) = (input.str()?.to_owned(), input.str()?.to_owned(), input.u64()?);
        let inputs = (0..input.u32()?).map(|_| input.str().map(str::to_owned)).collect::<JobResult<_>>()?;
        Ok(StagedFile { temporary, target, size, inputs })
    }
}
