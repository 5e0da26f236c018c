//! Turns chunks of records into rows: what the sources of records share, whatever they read them from.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::file::Chunk;
use crate::error::JobResult;
use crate::formats::{Decoder, Format};
use crate::operator::ErrorRow;
use crate::record::{FieldError, Record};
use crate::source::fetch::Emitter;
use crate::source::{SourceOutput, Split, Throttle};

/// Bytes of a record that a message shows.
const SHOWN: usize = 80;

/// A split whose records stand somewhere.
pub trait RecordSplit: Split {
    /// Where they come from, for messages: the path of a file.
    fn origin(&self) -> &str;

    /// All records before this byte are emitted.
    fn advance(&mut self, position: u64);

    /// The number of the line at a byte, from 1, where that can be found out.
    fn line_at(&self, position: u64) -> Option<u64>;
}

/// Decodes records, on the task.
pub struct RecordEmitter<T: Record, F: Format, S> {
    format: F,
    rate: Option<u64>,
    throttle: Arc<Throttle>,
    row: PhantomData<fn(S) -> T>,
}

impl<T: Record, F: Format, S> RecordEmitter<T, F, S> {
    /// `rate`: rows per second; None: as fast as they come.
    pub(crate) fn new(format: F, rate: Option<u64>, throttle: Arc<Throttle>) -> Self {
        RecordEmitter { format, rate, throttle, row: PhantomData }
    }
}

impl<T: Record, F: Format, S: RecordSplit> Emitter for RecordEmitter<T, F, S> {
    type Row = T;
    type Split = S;
    type Chunk = Chunk;
    type State = Option<F::Decoder<T>>;

    fn begin(&mut self, _split: &S) -> JobResult<Self::State> {
        // Made with the header, which the first chunk brings.
        Ok(None)
    }

    fn emit(
        &mut self,
        state: &mut Self::State,
        chunk: &mut Chunk,
        split: &mut S,
        limit: usize,
        out: &mut impl SourceOutput<T>,
    ) -> JobResult<bool> {
        if chunk.records.is_empty() {
            // A damaged file may have lost its header: there is nothing to decode.
            return self.end_of_chunk(state, chunk, split, out);
        }
        let decoder = match &mut *state {
            Some(decoder) => decoder,
            none => {
                let decoder = self.format.decoder(chunk.header.as_deref()).map_err(|error| error.context(split.origin()))?;
                none.insert(decoder)
            }
        };
        let end = chunk.records.len().min(chunk.next.saturating_add(limit));
        for &(start, len) in &chunk.records[chunk.next..end] {
            let record = &chunk.bytes[start as usize..start as usize + len as usize];
            match decoder.decode(record) {
                Ok(Some(row)) => {
                    let position = chunk.base + u64::from(start);
                    out.emit_record(row, || found(split, position).with_raw(record))?;
                }
                Ok(None) => {}
                Err(error) => {
                    let position = chunk.base + u64::from(start);
                    let row = || undecoded(split, position, record, &error);
                    out.reject_record(kind_of(error.reason()), || explain(split, position, record, &error), row)?;
                }
            }
        }
        let before = chunk.position();
        chunk.next = end;
        let position = chunk.position();
        split.advance(position);
        out.bytes_read(position.saturating_sub(before));
        if chunk.next < chunk.records.len() {
            return Ok(false);
        }
        self.end_of_chunk(state, chunk, split, out)
    }

    fn allowance(&mut self, wanted: usize) -> Result<usize, Duration> {
        match self.rate {
            Some(rate) => self.throttle.take(rate, wanted),
            None => Ok(wanted),
        }
    }
}

impl<T: Record, F: Format, S: RecordSplit> RecordEmitter<T, F, S> {
    /// All records of the chunk are emitted.
    fn end_of_chunk(
        &self,
        decoder: &mut Option<F::Decoder<T>>,
        chunk: &mut Chunk,
        split: &S,
        out: &mut impl SourceOutput<T>,
    ) -> JobResult<bool> {
        if let Some(reason) = chunk.broken.take() {
            let message = format!("{}: {reason}", split.origin());
            let position = chunk.position();
            out.reject_record("the file is damaged", || message.clone(), || found(split, position))?;
        } else if decoder.is_none() {
            // A file without rows: its header is checked all the same.
            *decoder = Some(self.format.decoder(chunk.header.as_deref()).map_err(|error| error.context(split.origin()))?);
        }
        Ok(true)
    }
}

/// What records are counted under: the reason without what differs from record to record.
fn kind_of(reason: &str) -> &str {
    reason.split_once(" at byte ").map_or(reason, |(kind, _)| kind)
}

/// Where a record stands.
#[cold]
fn found(split: &impl RecordSplit, position: u64) -> ErrorRow {
    ErrorRow { origin: Some(split.origin().into()), position: i64::try_from(position).ok(), ..ErrorRow::default() }
}

/// A record that is no row, for the stream of `on error into`. Without its line: that would read the file again for each.
#[cold]
fn undecoded(split: &impl RecordSplit, position: u64, record: &[u8], error: &FieldError) -> ErrorRow {
    let some = |text: &str| (!text.is_empty()).then(|| text.into());
    ErrorRow {
        error: error.to_string().into(),
        field: some(error.path()),
        value: some(error.raw()),
        ..found(split, position).with_raw(record)
    }
}

/// `data/a.csv line 3, byte 45: field \`id\`: \`2iii\` is no int64; the line: 2iii,x`
#[cold]
pub(crate) fn explain(split: &impl RecordSplit, position: u64, record: &[u8], error: &FieldError) -> String {
    let line = split.line_at(position).map_or_else(String::new, |line| format!(" line {line},"));
    let text = String::from_utf8_lossy(record);
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{line} byte {position}: {error}\n  the record: {shown}{more}", split.origin())
}
