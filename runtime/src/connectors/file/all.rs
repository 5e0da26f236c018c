//! Reads files as a whole: for tables that are kept in memory.

use super::discover::{Found, find_files};
use super::open::Codec;
use super::records::{Chunk, READ, Shape, Step, cannot_read};
use super::split::FileSplit;
use crate::connectors::emitter::explain;
use crate::error::{JobError, JobResult};
use crate::formats::{Decoder, Format};
use crate::record::Record;

/// Which files were there, and in which state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamps(Vec<Found>);

/// All rows of all files that a path means, in the order of their names. None: all of them are as they were at `known`. A record
/// that is no row is an error. Blocks.
pub fn read_all<T: Record, F: Format>(path: &str, format: &F, known: Option<&Stamps>) -> JobResult<Option<(Stamps, Vec<T>)>> {
    let found = Stamps(find_files(path, None)?);
    if known == Some(&found) {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for file in &found.0 {
        read_file(file, format, &mut rows)?;
    }
    Ok(Some((found, rows)))
}

fn read_file<T: Record, F: Format>(file: &Found, format: &F, rows: &mut Vec<T>) -> JobResult<()> {
    let path = &file.path;
    let codec = Codec::detect_of(path, file.stamp.len).map_err(|error| cannot_read(path, &error))?;
    let shape = Shape { framing: format.framing(), has_header: format.has_header() };
    let mut open = shape.open_head(path, codec)?;
    open.expected = Some(file.stamp.len);
    let split = FileSplit::whole(path.clone(), codec);
    let mut decoder = None;
    loop {
        let Step::Chunk(chunk) = open.step(READ)? else { return Ok(()) };
        let decoder = match &mut decoder {
            Some(decoder) => decoder,
            none => none.insert(format.decoder(chunk.header.as_deref()).map_err(|error| error.context(path))?),
        };
        decode(&chunk, &split, decoder, rows)?;
        if let Some(reason) = chunk.broken {
            return Err(JobError::new(format!("{path}: {reason}")));
        }
    }
}

fn decode<T: Record>(chunk: &Chunk, split: &FileSplit, decoder: &mut impl Decoder<T>, rows: &mut Vec<T>) -> JobResult<()> {
    for &(start, len) in &chunk.records {
        let record = &chunk.bytes[start as usize..start as usize + len as usize];
        let position = chunk.base + u64::from(start);
        let row = decoder.decode(record).map_err(|error| JobError::new(explain(split, position, record, &error)))?;
        rows.extend(row);
    }
    Ok(())
}
