//! Opening files: what compresses them is told by their first bytes, not by their name.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::remote::{ObjectFile, start_of, store_failure};
use super::stamp::Stamp;
use crate::storage::scheme_of;

const BUFFER: usize = 128 * 1024;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    Plain,
    /// gzip, of one or several members.
    Gzip,
    /// zstd, of one or several frames.
    Zstd,
}

impl Codec {
    pub(crate) fn number(self) -> u32 {
        match self {
            Codec::Plain => 0,
            Codec::Gzip => 1,
            Codec::Zstd => 2,
        }
    }

    pub(crate) fn of_number(number: u32) -> Option<Self> {
        [Codec::Plain, Codec::Gzip, Codec::Zstd].into_iter().find(|codec| codec.number() == number)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Codec::Plain => "plain",
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
        }
    }

    /// What the first bytes of a file of this size say.
    pub(crate) fn detect_of(path: &str, size: u64) -> std::io::Result<Self> {
        match scheme_of(path) {
            Some(_) => Ok(Codec::of_start(&start_of(path, size, 4)?)),
            None => Codec::detect(Path::new(path)),
        }
    }

    /// What the first bytes of a local file say.
    pub(crate) fn detect(path: &Path) -> std::io::Result<Self> {
        let mut start = [0; 4];
        let mut file = File::open(path)?;
        let mut len = 0;
        while len < start.len() {
            match file.read(&mut start[len..])? {
                0 => break,
                more => len += more,
            }
        }
        Ok(Codec::of_start(&start[..len]))
    }

    fn of_start(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Codec::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Codec::Zstd,
            _ => Codec::Plain,
        }
    }
}

/// A file, or an object of a bucket.
pub(crate) enum Input {
    File(File),
    Object(Box<ObjectFile>),
}

impl Input {
    fn open(path: &str) -> std::io::Result<Self> {
        match scheme_of(path) {
            Some(_) => Ok(Input::Object(Box::new(ObjectFile::open(path)?))),
            None => Ok(Input::File(File::open(path)?)),
        }
    }

    fn stamp(&self) -> std::io::Result<Stamp> {
        match self {
            Input::File(file) => Ok(Stamp::of(&file.metadata()?)),
            Input::Object(object) => Ok(object.stamp()),
        }
    }

    fn seek(&mut self, position: u64) -> std::io::Result<()> {
        match self {
            Input::File(file) => file.seek(SeekFrom::Start(position)).map(drop),
            Input::Object(object) => {
                object.seek(position);
                Ok(())
            }
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Input::File(file) => file.read(buffer),
            Input::Object(object) => object.read(buffer),
        }
    }
}

/// The decompressed bytes of a file, from some position.
pub(crate) enum Bytes {
    Plain(Input),
    Gzip(Box<MultiGzDecoder<BufReader<Input>>>),
    Zstd(Box<ZstdFrames>),
}

impl Bytes {
    /// Opens a file at a position in its decompressed bytes.
    pub(crate) fn open(path: &str, codec: Codec, position: u64) -> std::io::Result<Self> {
        let mut file = Input::open(path)?;
        let mut bytes = match codec {
            Codec::Plain => {
                if file.stamp()?.len < position {
                    return Err(shorter(position));
                }
                file.seek(position)?;
                return Ok(Bytes::Plain(file));
            }
            Codec::Gzip => Bytes::Gzip(Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file)))),
            Codec::Zstd => Bytes::Zstd(Box::new(ZstdFrames::new(BufReader::with_capacity(BUFFER, file)))),
        };
        let skipped = std::io::copy(&mut (&mut bytes).take(position), &mut std::io::sink())?;
        if skipped < position { Err(shorter(position)) } else { Ok(bytes) }
    }

    /// Appends up to `len` bytes; fewer only at the end. What was read before an error is kept.
    pub(crate) fn read_into(&mut self, len: usize, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
        match self {
            // A file reads into memory that was not written before; decoders want it zeroed.
            Bytes::Plain(Input::File(file)) => file.take(len as u64).read_to_end(buffer),
            other => other.take(len as u64).read_to_end(buffer),
        }
    }

    /// What the file system says of the file, whatever its name is now.
    pub(crate) fn stamp(&self) -> std::io::Result<Stamp> {
        match self {
            Bytes::Plain(file) => file.stamp(),
            Bytes::Gzip(decoder) => decoder.get_ref().get_ref().stamp(),
            Bytes::Zstd(frames) => frames.reader.get_ref().stamp(),
        }
    }

    fn codec(&self) -> Codec {
        match self {
            Bytes::Plain(_) => Codec::Plain,
            Bytes::Gzip(_) => Codec::Gzip,
            Bytes::Zstd(_) => Codec::Zstd,
        }
    }

    /// The cause of a failed read, in words.
    pub(crate) fn explain(&self, error: &std::io::Error) -> String {
        let name = self.codec().name();
        match (self.codec(), error.kind()) {
            (Codec::Plain, _) => error.to_string(),
            (_, std::io::ErrorKind::UnexpectedEof) => format!("unexpected end of {name} stream: the file is cut off"),
            _ => format!("the {name} stream is damaged: {error}"),
        }
    }
}

fn shorter(position: u64) -> std::io::Error {
    std::io::Error::other(format!("the file is shorter than it was: {position} bytes of it had been read"))
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Bytes::Plain(file) => file.read(buffer),
            Bytes::Gzip(decoder) => decoder.read(buffer),
            Bytes::Zstd(frames) => frames.read(buffer),
        }
    }
}

/// All frames of a zstd file, one after the other.
pub(crate) struct ZstdFrames {
    reader: BufReader<Input>,
    decoder: FrameDecoder,
    inside: bool,
}

impl ZstdFrames {
    fn new(reader: BufReader<Input>) -> Self {
        ZstdFrames { reader, decoder: FrameDecoder::new(), inside: false }
    }

    /// Reads the next frame header; false at the end of the file.
    fn next_frame(&mut self) -> std::io::Result<bool> {
        while !self.reader.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.reader) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    std::io::copy(&mut (&mut self.reader).take(u64::from(length)), &mut std::io::sink())?;
                }
                Err(error) => return Err(zstd_error(error)),
            }
        }
        Ok(false)
    }

    fn check(&self) -> std::io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(calculated)) if stored != calculated => Err(std::io::Error::other("a checksum is wrong")),
            _ => Ok(()),
        }
    }
}

impl Read for ZstdFrames {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if !self.inside {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.inside = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder.decode_blocks(&mut self.reader, BlockDecodingStrategy::UptoBlocks(1)).map_err(zstd_error)?;
            }
            match self.decoder.read(buffer)? {
                0 => {
                    self.check()?;
                    self.inside = false;
                }
                len => return Ok(len),
            }
        }
    }
}

/// An input error that the decoder has wrapped stays what it was.
fn zstd_error(error: FrameDecoderError) -> std::io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            if let Some(failure) = store_failure(io) {
                return failure;
            }
            return match io.raw_os_error() {
                Some(code) => std::io::Error::from_raw_os_error(code),
                None => std::io::Error::new(io.kind(), io.to_string()),
            };
        }
        cause = inner.source();
    }
    std::io::Error::other(error.to_string())
}
