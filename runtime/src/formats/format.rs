//! The traits of formats: what connectors that move bytes ask of them.

use std::fmt;

use super::Framing;
use crate::error::JobResult;
use crate::options::Options;
use crate::record::{FieldError, Record};

/// How rows look as bytes. Cheap to clone: a few options.
pub trait Format: Clone + fmt::Debug + Send + Sync + 'static {
    /// Reads rows of one file or stream.
    type Decoder<T: Record>: Decoder<T>;
    /// Writes rows.
    type Encoder<T: Record>: Encoder<T>;

    /// The format with these options.
    fn from_options(options: &Options) -> JobResult<Self>;

    /// How a stream of bytes is cut into records.
    fn framing(&self) -> Framing;

    /// Whether the first record of every file names the columns and is no row.
    fn has_header(&self) -> bool {
        false
    }

    /// What file names end in: `json`.
    fn extension(&self) -> &'static str;

    /// A decoder for a file with this header (None: the format has no header, or the file is empty).
    fn decoder<T: Record>(&self, header: Option<&[u8]>) -> JobResult<Self::Decoder<T>>;

    /// An encoder.
    fn encoder<T: Record>(&self) -> JobResult<Self::Encoder<T>>;
}

/// Reads rows.
pub trait Decoder<T>: Send {
    /// Reads one record, without its line break. None: a blank line, which is no row. A record that cannot be read leaves
    /// nothing behind: the next one is read as if it had not been there.
    fn decode(&mut self, record: &[u8]) -> Result<Option<T>, FieldError>;
}

/// Writes rows.
pub trait Encoder<T>: Send {
    /// Appends what stands at the start of every file.
    fn header(&mut self, out: &mut Vec<u8>);

    /// Appends one record with its line break.
    fn encode(&mut self, row: &T, out: &mut Vec<u8>);
}

/// The record as text, or an error that says it is not UTF-8.
#[inline]
pub(super) fn utf8(record: &[u8]) -> Result<&str, FieldError> {
    std::str::from_utf8(record).map_err(|error| not_utf8(record, error.valid_up_to()))
}

#[cold]
fn not_utf8(record: &[u8], at: usize) -> FieldError {
    FieldError::value(&String::from_utf8_lossy(record), format!("is not valid UTF-8 at byte {at}"))
}
