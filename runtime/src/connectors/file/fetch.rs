//! Reads files on a fetcher thread and cuts them into records.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use super::open::{Bytes, Codec};
use super::split::FileSplit;
use crate::error::{JobError, JobResult};
use crate::formats::{Framer, Framing, byte_order_mark};
use crate::source::Split;
use crate::source::fetch::{Fetched, SplitFetcher};

/// Bytes that are read at once.
const READ: usize = 256 * 1024;

/// How long a paused split is left alone before it is looked at again; going on with it wakes the thread up anyway.
const PAUSE: Duration = Duration::from_secs(1);

/// A longer record is taken for a file that is no text.
const LONGEST_RECORD: usize = 256 * 1024 * 1024;

/// Whole records, in order.
#[derive(Debug, Default)]
pub struct Chunk {
    pub bytes: Vec<u8>,
    /// The place of the first byte in the (decompressed) file.
    pub base: u64,
    /// Start and length in `bytes`.
    pub records: Vec<(u32, u32)>,
    /// The next one to be emitted.
    pub next: usize,
    /// In the first chunk of a split: the header of the file, where the format has one.
    pub header: Option<Vec<u8>>,
    /// Nothing follows because the file is damaged.
    pub broken: Option<String>,
}

impl Chunk {
    /// The place in the file behind the records before `next`.
    pub(crate) fn position(&self) -> u64 {
        let within = self.records.get(self.next).map_or(self.bytes.len(), |&(start, _)| start as usize);
        self.base + within as u64
    }
}

/// The blocking half of the file source.
#[derive(Debug)]
pub(crate) struct FileFetcher {
    shape: Shape,
    read: usize,
    /// Splits to be read, one after the other; the first is the one that is open.
    splits: VecDeque<FileSplit>,
    current: Option<(Arc<str>, Open)>,
    paused: bool,
}

/// What a file is cut into.
#[derive(Clone, Copy, Debug)]
struct Shape {
    framing: Framing,
    has_header: bool,
}

struct Open {
    path: String,
    bytes: Bytes,
    end: Option<u64>,
    framer: Framer,
    /// Read and not yet handed over; starts with a record.
    carry: Vec<u8>,
    /// The place of `carry` in the file.
    base: u64,
    header: Option<Vec<u8>>,
    /// The first chunk is handed over even if it is empty: it brings the header.
    first: bool,
    /// Damage that was found when the file was opened.
    broken: Option<String>,
    done: bool,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("path", &self.path).field("base", &self.base).finish_non_exhaustive()
    }
}

impl FileFetcher {
    pub(crate) fn new(framing: Framing, has_header: bool) -> Self {
        FileFetcher { shape: Shape { framing, has_header }, read: READ, splits: VecDeque::new(), current: None, paused: false }
    }

    /// Reads so many bytes at once; for tests.
    #[cfg(test)]
    pub(crate) fn with_read_size(framing: Framing, has_header: bool, read: usize) -> Self {
        FileFetcher { read, ..FileFetcher::new(framing, has_header) }
    }
}

impl Shape {
    /// Opens the start of a file: behind the byte order mark, and the header where there is one.
    fn open_head(self, path: &str, codec: Codec) -> JobResult<Open> {
        let bytes = Bytes::open(path, codec, 0).map_err(|error| cannot_read(path, &error))?;
        let mut open = Open::new(path, bytes, Framer::new(self.framing), 0);
        open.read_more(4);
        match byte_order_mark(&open.carry) {
            Ok(mark) => {
                open.carry.drain(..mark);
                open.base = mark as u64;
            }
            Err(reason) => open.broken = Some(reason),
        }
        if self.has_header {
            open.take_header()?;
        }
        Ok(open)
    }

    fn open_at(self, split: &FileSplit) -> JobResult<Open> {
        let header = if self.has_header { self.open_head(&split.path, split.codec)?.header } else { None };
        // A range that begins inside of the file: the record there belongs to the range before it, unless a line break is
        // right before.
        let unread_range = split.position == split.start && split.start > 0;
        let from = if unread_range { split.position - 1 } else { split.position };
        let bytes = Bytes::open(&split.path, split.codec, from).map_err(|error| cannot_read(&split.path, &error))?;
        let mut open = Open::new(&split.path, bytes, Framer::new(self.framing), from);
        open.header = header;
        if unread_range {
            open.skip_line()?;
        }
        Ok(open)
    }
}

impl Open {
    fn new(path: &str, bytes: Bytes, framer: Framer, base: u64) -> Self {
        Open {
            path: path.to_owned(),
            bytes,
            end: None,
            framer,
            carry: Vec::new(),
            base,
            header: None,
            first: true,
            broken: None,
            done: false,
        }
    }

    /// Reads up to `len` bytes more; gives how many. None after damage.
    fn read_more(&mut self, len: usize) -> usize {
        match self.bytes.read_into(len, &mut self.carry) {
            Ok(read) => read,
            Err(error) => {
                self.broken = Some(self.bytes.explain(&error));
                0
            }
        }
    }

    fn take_header(&mut self) -> JobResult<()> {
        let frame = loop {
            if let Some(frame) = self.framer.next(&self.carry) {
                break frame;
            }
            if self.read_more(4096) == 0 {
                match self.framer.rest(&self.carry) {
                    Some(frame) if self.broken.is_none() => break frame,
                    _ => return Ok(()),
                }
            }
            if self.carry.len() > LONGEST_RECORD {
                return Err(too_long(&self.path, self.base));
            }
        };
        self.header = Some(self.carry[..frame.length].to_vec());
        self.carry.drain(..frame.consumed);
        self.base += frame.consumed as u64;
        Ok(())
    }

    /// Drops everything up to the first line break.
    fn skip_line(&mut self) -> JobResult<()> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.carry) {
                self.carry.drain(..=at);
                self.base += at as u64 + 1;
                return Ok(());
            }
            self.base += self.carry.len() as u64;
            self.carry.clear();
            let read = self.bytes.read_into(4096, &mut self.carry);
            if read.map_err(|error| cannot_read(&self.path, &error))? == 0 {
                return Ok(());
            }
        }
    }

    fn fetch(&mut self, read: usize) -> JobResult<Option<Chunk>> {
        if self.done {
            return Ok(None);
        }
        let mut chunk = Chunk { base: self.base, header: self.header.take(), ..Chunk::default() };
        if let Some(broken) = self.broken.take() {
            self.done = true;
            return Ok(Some(Chunk { broken: Some(broken), ..chunk }));
        }
        let mut buffer = Vec::with_capacity(self.carry.len() + read + 32);
        buffer.extend_from_slice(&self.carry);
        self.carry.clear();
        let mut at = 0;
        loop {
            let result = self.bytes.read_into(read, &mut buffer);
            while let Some(frame) = self.framer.next(&buffer[at..]) {
                if self.is_past_end(at) {
                    break;
                }
                chunk.records.push(place(at, frame.length));
                at += frame.consumed;
            }
            match result {
                Err(error) => {
                    // The rows before the damage are whole; what stands behind the last line break is not.
                    chunk.broken = Some(self.bytes.explain(&error));
                    self.done = true;
                }
                Ok(len) if len < read && !self.is_past_end(at) => {
                    if let Some(frame) = self.framer.rest(&buffer[at..]) {
                        chunk.records.push(place(at, frame.length));
                        at += frame.consumed;
                    }
                    self.done = true;
                }
                Ok(_) => self.done = self.is_past_end(at),
            }
            if self.done || !chunk.records.is_empty() {
                break;
            }
            if buffer.len() > LONGEST_RECORD {
                return Err(too_long(&self.path, self.base));
            }
        }
        if !self.done {
            self.carry.extend_from_slice(&buffer[at..]);
        }
        buffer.truncate(at);
        self.base += at as u64;
        chunk.bytes = buffer;
        let empty = chunk.records.is_empty() && chunk.broken.is_none() && !self.first;
        self.first = false;
        Ok((!empty).then_some(chunk))
    }

    /// Whether a record that starts at this place of the buffer belongs to the next range.
    fn is_past_end(&self, at: usize) -> bool {
        self.end.is_some_and(|end| self.base + at as u64 >= end)
    }
}

fn place(start: usize, len: usize) -> (u32, u32) {
    // A buffer is never longer than the longest record and a read.
    (u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(len).unwrap_or(u32::MAX))
}

fn cannot_read(path: &str, error: &std::io::Error) -> JobError {
    JobError::io(format_args!("cannot read `{path}`"), error)
}

#[cold]
fn too_long(path: &str, base: u64) -> JobError {
    JobError::new(format!("{path}: the record at byte {base} is longer than 256 MB; is this a text file of this format?"))
}

impl SplitFetcher for FileFetcher {
    type Split = FileSplit;
    type Chunk = Chunk;

    fn add(&mut self, split: FileSplit) -> JobResult<()> {
        self.splits.push_back(split);
        Ok(())
    }

    fn fetch(&mut self) -> JobResult<Fetched<Chunk>> {
        let Some(split) = self.splits.front() else { return Ok(Fetched::Nothing(Duration::MAX)) };
        if self.paused {
            return Ok(Fetched::Nothing(PAUSE));
        }
        let (id, open) = match &mut self.current {
            Some(current) => current,
            none => {
                let shape = self.shape;
                let mut open =
                    if split.position == 0 { shape.open_head(&split.path, split.codec)? } else { shape.open_at(split)? };
                open.end = split.end;
                none.insert((split.id().into(), open))
            }
        };
        Ok(match open.fetch(self.read)? {
            Some(chunk) => Fetched::Chunk(id.clone(), chunk),
            None => {
                let id = id.clone();
                self.current = None;
                self.splits.pop_front();
                Fetched::End(id)
            }
        })
    }

    fn set_paused(&mut self, split: &str, paused: bool) {
        if self.splits.front().is_some_and(|front| front.id() == split) {
            self.paused = paused;
        }
    }
}

/// The number of the line that starts at this place of a file, from 1. Reads the file again: for messages only.
pub(crate) fn line_at(path: &str, codec: Codec, position: u64) -> Option<u64> {
    let mut bytes = Bytes::open(path, codec, 0).ok()?.take(position);
    let mut buffer = vec![0; READ];
    let mut line = 1;
    loop {
        match bytes.read(&mut buffer).ok()? {
            0 => return Some(line),
            len => line += memchr::memchr_iter(b'\n', &buffer[..len]).count() as u64,
        }
    }
}
