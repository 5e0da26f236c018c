//! Splitting a CSV record into fields.

use memchr::memchr;

use crate::record::FieldError;

/// One field of a record: a range of its bytes, without the quotes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub start: u32,
    pub end: u32,
    pub kind: FieldKind,
}

/// How a field stands in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Unquoted,
    Quoted,
    /// In quotes, with doubled quotes inside.
    Escaped,
}

/// Finds all fields of a record, whose bytes are valid UTF-8. The ranges end at character boundaries, as quote and
/// delimiter are ASCII.
#[inline]
pub(super) fn split(record: &str, quote: u8, delimiter: u8, fields: &mut Vec<Field>) -> Result<(), FieldError> {
    let bytes = record.as_bytes();
    if u32::try_from(bytes.len()).is_err() {
        return Err(FieldError::new("the record is longer than 4 GB"));
    }
    fields.clear();
    let mut at = 0;
    loop {
        let (field, end) = if bytes.get(at) == Some(&quote) {
            quoted(record, at + 1, quote, delimiter)?
        } else {
            // Fields are short: a plain loop is faster than a vector search.
            let end = bytes[at..].iter().position(|byte| *byte == delimiter).map_or(bytes.len(), |length| at + length);
            (Field { start: at as u32, end: end as u32, kind: FieldKind::Unquoted }, end)
        };
        fields.push(field);
        if end >= bytes.len() {
            return Ok(());
        }
        at = end + 1;
    }
}

/// A quoted field whose content starts at `start`, and where it ends.
fn quoted(record: &str, start: usize, quote: u8, delimiter: u8) -> Result<(Field, usize), FieldError> {
    let bytes = record.as_bytes();
    let (mut at, mut kind) = (start, FieldKind::Quoted);
    loop {
        let Some(length) = memchr(quote, &bytes[at..]) else {
            return Err(FieldError::value(&record[start - 1..], "is a field whose closing quote is missing"));
        };
        let end = at + length;
        match bytes.get(end + 1) {
            Some(byte) if *byte == quote => {
                kind = FieldKind::Escaped;
                at = end + 2;
            }
            Some(byte) if *byte != delimiter => {
                return Err(FieldError::value(&record[start - 1..], "is a field with text behind its closing quote"));
            }
            _ => return Ok((Field { start: start as u32, end: end as u32, kind }, end + 1)),
        }
    }
}

impl Field {
    /// The bytes between the quotes, as they stand.
    #[inline]
    pub(super) fn text(self, record: &str) -> &str {
        &record[self.start as usize..self.end as usize]
    }
}
