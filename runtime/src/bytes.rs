//! Reading and writing the engine's own small records: little-endian numbers, and byte strings behind their length.

use crate::error::{JobError, JobResult};

/// What is larger goes to the system itself, and back to it as soon as it is not needed. Smaller ones, once freed, stay with the
/// thread that had them: glibc keeps up to this much for each of its arenas.
const LARGE: usize = 33 << 20;

/// What is smaller is reused.
const SMALL: usize = 128 << 10;

/// A buffer for so many bytes or more that does not stay behind when it is freed. Pages that are not written to take no memory.
pub fn large_buffer(len: usize) -> Vec<u8> {
    Vec::with_capacity(if len < SMALL { len } else { len.max(LARGE) })
}

/// The same buffer, without the room that it does not need if it is small.
pub fn settled(mut buffer: Vec<u8>) -> Vec<u8> {
    if buffer.len() < SMALL {
        buffer.shrink_to_fit();
    }
    buffer
}

/// Appends a number.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a number.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a byte string.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a text.
pub fn put_str(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Appends a variable-length number.
#[inline]
pub fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what the functions above wrote.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// From the start of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// So many bytes.
    pub fn take(&mut self, len: usize) -> JobResult<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or_else(short)?;
        self.rest = rest;
        Ok(head)
    }

    /// A number.
    pub fn u32(&mut self) -> JobResult<u32> {
        self.take(4)?.try_into().map(u32::from_le_bytes).map_err(|_| short())
    }

    /// A number.
    pub fn u64(&mut self) -> JobResult<u64> {
        self.take(8)?.try_into().map(u64::from_le_bytes).map_err(|_| short())
    }

    /// A byte string.
    pub fn bytes(&mut self) -> JobResult<&'a [u8]> {
        let len = usize::try_from(self.u64()?).map_err(|_| short())?;
        self.take(len)
    }

    /// A text.
    pub fn str(&mut self) -> JobResult<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| JobError::new("a text in the checkpoint is not UTF-8"))
    }
}

#[cold]
fn short() -> JobError {
    JobError::new("the stored state is shorter than it should be")
}
