//! What a stage may ask of the stages before it.

use crate::bytes::{Reader, put_bytes, put_str, put_u32, put_u64};
use crate::error::{JobError, JobResult};
use crate::state::{State, StateReader};
use crate::value::Timestamp;

/// The stages that have ended, at the moment of a switch. Fixed from then on: checkpoints keep it.
#[derive(Clone, Debug)]
pub struct Switch<E> {
    ends: Vec<StageEnd<E>>,
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StageEnd<E> {
    /// `history`
    pub name: String,
    /// When its splits were looked for, by the clock: what was there by then has been read.
    pub start_time: Timestamp,
    /// When the last reader had read it, by the clock.
    pub end_time: Timestamp,
    /// What is known of its rows.
    pub summary: E,
}

impl<E> Default for Switch<E> {
    fn default() -> Self {
        Switch { ends: Vec::new() }
    }
}

impl<E> Switch<E> {
    /// How a stage ended.
    pub fn of(&self, stage: &str) -> JobResult<&StageEnd<E>> {
        self.ends.iter().find(|end| end.name == stage).ok_or_else(|| {
            JobError::new(format!(
                "it is not known how the stage `{stage}` ended: the checkpoint was taken when the source had other stages\n  give \
                 the stage its old name, or start from the beginning with --fresh"
            ))
        })
    }

    pub(super) fn push(&mut self, end: StageEnd<E>) {
        self.ends.push(end);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

impl<E: State> Switch<E> {
    /// The first so many ends.
    pub(super) fn encode(&self, count: usize, out: &mut Vec<u8>) {
        let ends = &self.ends[..count.min(self.ends.len())];
        put_u32(out, u32::try_from(ends.len()).unwrap_or(u32::MAX));
        for end in ends {
            put_str(out, &end.name);
            put_time(out, end.start_time);
            put_time(out, end.end_time);
            put_bytes(out, &encoded(&end.summary));
        }
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> JobResult<Self> {
        let mut ends = Vec::new();
        for _ in 0..input.u32()? {
            let name = input.str()?.to_owned();
            let (start_time, end_time) = (time(input)?, time(input)?);
            ends.push(StageEnd { name, start_time, end_time, summary: decoded(input.bytes()?)? });
        }
        Ok(Switch { ends })
    }
}

pub(super) fn put_time(out: &mut Vec<u8>, time: Timestamp) {
    put_u64(out, u64::from_le_bytes(time.0.to_le_bytes()));
}

pub(super) fn time(input: &mut Reader<'_>) -> JobResult<Timestamp> {
    Ok(Timestamp(i64::from_le_bytes(input.u64()?.to_le_bytes())))
}

/// The bytes of a summary.
pub(super) fn encoded<E: State>(summary: &E) -> Vec<u8> {
    let mut bytes = Vec::new();
    summary.encode(&mut bytes);
    bytes
}

/// A summary from its bytes.
pub(super) fn decoded<E: State>(bytes: &[u8]) -> JobResult<E> {
    E::decode(&mut StateReader::new(bytes)).map_err(|error| JobError::new(error.to_string()))
}
