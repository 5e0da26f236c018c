//! What the readers and the enumerator of a hybrid source say to each other.

use crate::bytes::{Reader, put_bytes, put_u32};
use crate::error::{JobError, JobResult};

/// From a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FromReader {
    /// It has read all of a stage that there is for it, and has seen this.
    Finished { stage: u32, summary: Vec<u8> },
    /// An event of the stage's own.
    Inner { stage: u32, event: Vec<u8> },
}

/// To a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToReader {
    /// Read this stage from now on; the ends of those before it.
    Switch { stage: u32, ends: Vec<u8> },
    /// An event of the stage's own.
    Inner { stage: u32, event: Vec<u8> },
}

impl FromReader {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            FromReader::Finished { stage, summary } => message(0, *stage, summary),
            FromReader::Inner { stage, event } => message(1, *stage, event),
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> JobResult<Self> {
        let (tag, stage, rest) = parts(bytes)?;
        match tag {
            0 => Ok(FromReader::Finished { stage, summary: rest }),
            1 => Ok(FromReader::Inner { stage, event: rest }),
            _ => Err(unknown()),
        }
    }
}

impl ToReader {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            ToReader::Switch { stage, ends } => message(0, *stage, ends),
            ToReader::Inner { stage, event } => message(1, *stage, event),
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> JobResult<Self> {
        let (tag, stage, rest) = parts(bytes)?;
        match tag {
            0 => Ok(ToReader::Switch { stage, ends: rest }),
            1 => Ok(ToReader::Inner { stage, event: rest }),
            _ => Err(unknown()),
        }
    }
}

fn message(tag: u32, stage: u32, rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_u32(&mut out, tag);
    put_u32(&mut out, stage);
    put_bytes(&mut out, rest);
    out
}

fn parts(bytes: &[u8]) -> JobResult<(u32, u32, Vec<u8>)> {
    let mut input = Reader::new(bytes);
    Ok((input.u32()?, input.u32()?, input.bytes()?.to_vec()))
}

#[cold]
fn unknown() -> JobError {
    JobError::new("an event of a hybrid source of an unknown kind")
}
