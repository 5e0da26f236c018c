//! The source of the connector `file`.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::discover::Search;
use super::enumerator::FileEnumerator;
use super::fetch::FileFetcher;
use super::open::Codec;
use super::records::{Chunk, line_at};
use super::split::FileSplit;
use crate::error::JobResult;
use crate::formats::{Decoder, Format};
use crate::operator::ErrorRow;
use crate::options::Options;
use crate::record::{FieldError, Record};
use crate::source::fetch::{Emitter, FetchingReader};
use crate::source::{ReaderContext, Source, SourceContext, SourceOutput, Throttle};

/// Bytes of a record that a message shows.
const SHOWN: usize = 80;

/// Reads rows of type `T` in the format `F` from files.
#[derive(Clone, Debug)]
pub struct FileSource<T, F> {
    path: String,
    /// None: as the first bytes of each file say.
    compression: Option<Codec>,
    /// How often to look for new files; None: once.
    watch: Option<Duration>,
    /// Files grow.
    append: bool,
    rate: Option<u64>,
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T: Record, F: Format> FileSource<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let compression = match options.word("compression", &["auto", "none", "gzip", "zstd"])? {
            "none" => Some(Codec::Plain),
            "gzip" => Some(Codec::Gzip),
            "zstd" => Some(Codec::Zstd),
            _ => None,
        };
        Ok(FileSource {
            path: options.required_text("path")?.to_owned(),
            compression,
            watch: options.every("watch")?,
            append: options.boolean("append")?.unwrap_or(false),
            rate: options.unsigned("rate")?,
            format: super::format_of(options)?,
            row: PhantomData,
        })
    }
}

impl<T: Record, F: Format> Source for FileSource<T, F> {
    type Row = T;
    type Split = FileSplit;
    type Enumerator = FileEnumerator;
    type Reader = FetchingReader<FileEmitter<T, F>>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<FileEnumerator> {
        let splittable = self.format.framing().is_splittable() && !self.format.has_header();
        let search = Search {
            pattern: self.path.clone(),
            compression: self.compression,
            splittable,
            append: self.append,
            parallelism: context.parallelism,
        };
        FileEnumerator::new(search, self.watch, restored)
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        let emitter =
            FileEmitter { format: self.format.clone(), row: PhantomData, rate: self.rate, throttle: context.throttle.clone() };
        let fetcher = FileFetcher::new(self.format.framing(), self.format.has_header(), self.append);
        FetchingReader::start(&context.name, fetcher, emitter)
    }

    fn bounded(&self) -> bool {
        self.watch.is_none() && !self.append
    }
}

/// Decodes the records of files, on the task.
pub struct FileEmitter<T: Record, F: Format> {
    format: F,
    row: PhantomData<fn() -> T>,
    rate: Option<u64>,
    throttle: Arc<Throttle>,
}

impl<T: Record, F: Format> Emitter for FileEmitter<T, F> {
    type Row = T;
    type Split = FileSplit;
    type Chunk = Chunk;
    type State = Option<F::Decoder<T>>;

    fn begin(&mut self, _split: &FileSplit) -> JobResult<Self::State> {
        // Made with the header, which the first chunk brings.
        Ok(None)
    }

    fn emit(
        &mut self,
        state: &mut Self::State,
        chunk: &mut Chunk,
        split: &mut FileSplit,
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
                let decoder = self.format.decoder(chunk.header.as_deref()).map_err(|error| error.context(&split.path))?;
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
        split.position = chunk.position();
        out.bytes_read(split.position.saturating_sub(before));
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

impl<T: Record, F: Format> FileEmitter<T, F> {
    /// All records of the chunk are emitted.
    fn end_of_chunk(
        &self,
        decoder: &mut Option<F::Decoder<T>>,
        chunk: &mut Chunk,
        split: &FileSplit,
        out: &mut impl SourceOutput<T>,
    ) -> JobResult<bool> {
        if let Some(reason) = chunk.broken.take() {
            let message = format!("{}: {reason}", split.path);
            let position = chunk.position();
            out.reject_record("the file is damaged", || message.clone(), || found(split, position))?;
        } else if decoder.is_none() {
            // A file without rows: its header is checked all the same.
            *decoder = Some(self.format.decoder(chunk.header.as_deref()).map_err(|error| error.context(&split.path))?);
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
fn found(split: &FileSplit, position: u64) -> ErrorRow {
    ErrorRow { origin: Some(split.path.as_str().into()), position: i64::try_from(position).ok(), ..ErrorRow::default() }
}

/// A record that is no row, for the stream of `on error into`. Without its line: that would read the file again for each.
#[cold]
fn undecoded(split: &FileSplit, position: u64, record: &[u8], error: &FieldError) -> ErrorRow {
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
fn explain(split: &FileSplit, position: u64, record: &[u8], error: &FieldError) -> String {
    let line = line_at(&split.path, split.codec, position).map_or_else(String::new, |line| format!(" line {line},"));
    let text = String::from_utf8_lossy(record);
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{line} byte {position}: {error}\n  the record: {shown}{more}", split.path)
}
