//! Cuts a file that is open into records, chunk by chunk.

use std::io::Read;

use super::open::{Bytes, Codec};
use super::remote::store_failure;
use super::split::FileSplit;
use super::stamp::Stamp;
use crate::error::{JobError, JobResult};
use crate::formats::{Framer, Framing, byte_order_mark};

/// Bytes that are read at once.
pub(crate) const READ: usize = 256 * 1024;

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

/// What a file is cut into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub framing: Framing,
    pub has_header: bool,
}

/// What a step has brought.
pub(crate) enum Step {
    Chunk(Chunk),
    /// The file, or the range of it, is read to its end.
    End,
    /// Nothing yet: it may grow.
    Nothing,
}

/// A file that is being read.
pub(crate) struct Open {
    path: String,
    bytes: Bytes,
    /// Records that start here or behind it belong to another range.
    pub end: Option<u64>,
    /// More may be written to it: a last line without its end waits, and the end of the file is not the end.
    pub grows: bool,
    /// How many bytes on disk it has when nobody has changed it; None: that does not matter.
    pub expected: Option<u64>,
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

impl Shape {
    /// Opens the start of a file: behind the byte order mark, and the header where there is one.
    pub(crate) fn open_head(self, path: &str, codec: Codec) -> JobResult<Open> {
        let bytes = Bytes::open(path, codec, 0).map_err(|error| cannot_read(path, &error))?;
        let mut open = Open::new(path, bytes, Framer::new(self.framing), 0);
        open.read_more(4)?;
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

    pub(crate) fn open_at(self, path: &str, split: &FileSplit) -> JobResult<Open> {
        let header = if self.has_header { self.open_head(path, split.codec)?.header } else { None };
        // A range that begins inside of the file: the record there belongs to the range before it, unless a line break is
        // right before.
        let unread_range = split.position == split.start && split.start > 0;
        let from = if unread_range { split.position - 1 } else { split.position };
        let bytes = Bytes::open(path, split.codec, from).map_err(|error| cannot_read(path, &error))?;
        let mut open = Open::new(path, bytes, Framer::new(self.framing), from);
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
            grows: false,
            expected: None,
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
    fn read_more(&mut self, len: usize) -> JobResult<usize> {
        match self.bytes.read_into(len, &mut self.carry) {
            Ok(read) => Ok(read),
            Err(error) if is_of_the_system(&error) => Err(cannot_read(&self.path, &error)),
            Err(error) => {
                self.broken = Some(self.bytes.explain(&error));
                Ok(0)
            }
        }
    }

    fn take_header(&mut self) -> JobResult<()> {
        let frame = loop {
            if let Some(frame) = self.framer.next(&self.carry) {
                break frame;
            }
            if self.read_more(4096)? == 0 {
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

    /// Reads on.
    pub(crate) fn step(&mut self, read: usize) -> JobResult<Step> {
        if self.done {
            return Ok(Step::End);
        }
        let mut chunk = Chunk { base: self.base, header: self.header.take(), ..Chunk::default() };
        if let Some(broken) = self.broken.take() {
            self.done = true;
            return Ok(Step::Chunk(Chunk { broken: Some(broken), ..chunk }));
        }
        let mut buffer = Vec::with_capacity(self.carry.len() + read + 32);
        buffer.extend_from_slice(&self.carry);
        self.carry.clear();
        let mut at = 0;
        let mut at_end = false;
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
                Err(error) if is_of_the_system(&error) => return Err(cannot_read(&self.path, &error)),
                Err(error) => {
                    // The rows before the damage are whole; what stands behind the last line break is not.
                    chunk.broken = Some(self.bytes.explain(&error));
                    self.done = true;
                }
                Ok(len) if len < read && !self.is_past_end(at) => {
                    at_end = true;
                    if !self.grows {
                        self.check_unchanged()?;
                        if let Some(frame) = self.framer.rest(&buffer[at..]) {
                            chunk.records.push(place(at, frame.length));
                            at += frame.consumed;
                        }
                        self.done = true;
                    }
                }
                Ok(_) => self.done = self.is_past_end(at),
            }
            if self.done || at_end || !chunk.records.is_empty() {
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
        let empty = chunk.records.is_empty() && chunk.broken.is_none();
        if empty && self.grows {
            // Nobody needs the header before there is a row.
            self.header = chunk.header.take();
            return Ok(if self.done { Step::End } else { Step::Nothing });
        }
        let first = std::mem::replace(&mut self.first, false);
        Ok(if empty && !first { Step::End } else { Step::Chunk(chunk) })
    }

    /// At the end of a file: it must be what it was when it was found. Before its last line is taken for whole.
    fn check_unchanged(&self) -> JobResult<()> {
        let Some(expected) = self.expected else { return Ok(()) };
        let len = self.stamp().map_err(|error| cannot_read(&self.path, &error))?.len;
        if len == expected { Ok(()) } else { Err(changed(&self.path, expected, len)) }
    }

    /// The bytes of the file that were read, with those that wait for the end of their line.
    pub(crate) fn read_to(&self) -> u64 {
        self.base + self.carry.len() as u64
    }

    /// What the file system says of the file that is open, whatever its name is now.
    pub(crate) fn stamp(&self) -> std::io::Result<Stamp> {
        self.bytes.stamp()
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

/// Whether the system could not read: that says nothing about what is in the file, which may be read later.
fn is_of_the_system(error: &std::io::Error) -> bool {
    error.raw_os_error().is_some() || store_failure(error).is_some()
}

pub(crate) fn cannot_read(path: &str, error: &std::io::Error) -> JobError {
    JobError::io(format_args!("cannot read `{path}`"), error)
}

#[cold]
pub(crate) fn changed(path: &str, before: u64, now: u64) -> JobError {
    JobError::new(format!(
        "`{path}` has changed since it was found: it had {before} bytes and has {now} now\n  a file must be complete when it is \
         read: write it under a hidden name (`.new`) and rename it; or use `append: true` for files that grow"
    ))
}

#[cold]
fn too_long(path: &str, base: u64) -> JobError {
    JobError::new(format!("{path}: the record at byte {base} is longer than 256 MB; is this a text file of this format?"))
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
