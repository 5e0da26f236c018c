//! Rows that are on their way between two tasks while a checkpoint is taken whose barriers overtake them: how they are stored with it.

use super::element::Batch;
use crate::error::{JobError, JobResult};
use crate::state::{State, StateReader, write_varint};

/// How the batches of an edge are encoded.
#[derive(Clone, Copy, Debug)]
pub struct BatchCodec {
    encode: fn(&Batch) -> JobResult<Vec<u8>>,
    decode: fn(&[u8]) -> JobResult<Batch>,
    schema: fn() -> String,
}

impl BatchCodec {
    /// For batches of these rows.
    pub fn of<T: State + Send + 'static>() -> Self {
        BatchCodec { encode: encode::<T>, decode: decode::<T>, schema: T::schema }
    }

    pub(crate) fn encode(&self, batch: &Batch) -> JobResult<Vec<u8>> {
        (self.encode)(batch)
    }

    pub(crate) fn decode(&self, bytes: &[u8]) -> JobResult<Batch> {
        (self.decode)(bytes)
    }

    /// The types in it.
    pub(crate) fn schema(&self) -> String {
        (self.schema)()
    }
}

fn encode<T: State + 'static>(batch: &Batch) -> JobResult<Vec<u8>> {
    let Some(rows) = batch.downcast_ref::<Vec<T>>() else {
        return Err(JobError::new(format!("a batch of other rows than {} is on its way", std::any::type_name::<T>())));
    };
    let mut out = Vec::new();
    write_varint(rows.len() as u64, &mut out);
    for row in rows {
        row.encode(&mut out);
    }
    Ok(out)
}

fn decode<T: State + Send + 'static>(bytes: &[u8]) -> JobResult<Batch> {
    let mut input = StateReader::new(bytes);
    let mut read = || {
        let count = input.varint()?;
        let mut rows = Vec::new();
        for _ in 0..count {
            rows.push(T::decode(&mut input)?);
        }
        Ok::<_, crate::state::StateError>(rows)
    };
    let rows = read().map_err(|error| JobError::new(format!("rows on their way: {error}")))?;
    Ok(Box::new(rows))
}
