//! Reading CSV.

use std::marker::PhantomData;

use super::CsvFormat;
use super::split::{Field, FieldKind, split};
use crate::error::{JobError, JobResult};
use crate::formats::Decoder;
use crate::formats::format::utf8;
use crate::record::{Cell, FieldError, Record, Row};
use crate::value::Str;

/// Reads CSV records of one file.
#[derive(Clone, Debug)]
pub struct CsvDecoder<T> {
    delimiter: u8,
    quote: u8,
    null: String,
    /// How many fields a record has.
    width: usize,
    /// For each slot of the record the number of its field; None: the file does not have it, or it is a nested record.
    columns: Vec<Option<usize>>,
    /// Scratch space.
    fields: Vec<Field>,
    record: PhantomData<fn() -> T>,
}

impl<T: Record> CsvDecoder<T> {
    pub(super) fn new(format: &CsvFormat, names: &[String]) -> JobResult<Self> {
        let slots = T::slots();
        let mut columns = Vec::with_capacity(slots.len());
        // The slots behind an optional nested record may be missing with it.
        let mut optional_until = 0;
        for (index, slot) in slots.iter().enumerate() {
            if slot.nested > 0 {
                if slot.optional {
                    optional_until = optional_until.max(index + 1 + slot.nested);
                }
                columns.push(None);
                continue;
            }
            let name = slot.name();
            let column = names.iter().position(|column| *column == name);
            if column.is_none() && !slot.optional && index >= optional_until {
                return Err(JobError::new(format!("there is no column `{name}` in the file: it has {}", list(names))));
            }
            columns.push(column);
        }
        Ok(CsvDecoder {
            delimiter: format.delimiter,
            quote: format.quote,
            null: format.null.clone(),
            width: names.len(),
            columns,
            fields: Vec::with_capacity(names.len()),
            record: PhantomData,
        })
    }
}

fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let rest = names.len() - shown.len();
    if rest > 0 { format!("{} and {rest} more", shown.join(", ")) } else { shown.join(", ") }
}

impl<T: Record> Decoder<T> for CsvDecoder<T> {
    fn decode(&mut self, record: &[u8]) -> Result<Option<T>, FieldError> {
        // In a file of one column an empty line is a row.
        if record.is_empty() && self.width != 1 {
            return Ok(None);
        }
        let record = utf8(record)?;
        split(record, self.quote, self.delimiter, &mut self.fields)?;
        if self.fields.len() != self.width {
            return Err(FieldError::value(record, format!("has {} fields, expected {}", self.fields.len(), self.width)));
        }
        T::decode_row(&CsvRow { decoder: self, record }, 0).map(Some)
    }
}

struct CsvRow<'a, T> {
    decoder: &'a CsvDecoder<T>,
    record: &'a str,
}

impl<T> Row for CsvRow<'_, T> {
    #[inline]
    fn cell(&self, slot: usize) -> Cell<'_> {
        let decoder = self.decoder;
        let Some(field) = decoder.columns[slot].map(|column| decoder.fields[column]) else { return Cell::Null };
        let text = field.text(self.record);
        match field.kind {
            FieldKind::Unquoted if text == decoder.null => Cell::Null,
            FieldKind::Unquoted if text.is_empty() => Cell::Empty,
            FieldKind::Unquoted | FieldKind::Quoted => Cell::Text(text),
            FieldKind::Escaped => Cell::Str(unescape(text, decoder.quote)),
        }
    }
}

fn unescape(text: &str, quote: u8) -> Str {
    let mut out = Str::with_capacity(text.len());
    let mut parts = text.split(quote as char);
    // Quotes come in pairs: every second part between them is empty.
    if let Some(first) = parts.next() {
        out.push_str(first);
    }
    while parts.next().is_some() {
        out.push(quote as char);
        if let Some(part) = parts.next() {
            out.push_str(part);
        }
    }
    out
}
