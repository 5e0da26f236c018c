//! CSV as a format: its options, and which column of a file is which of a record.

use super::decoder::CsvDecoder;
use super::encoder::CsvEncoder;
use super::split::{FieldKind, split};
use crate::error::{JobError, JobResult};
use crate::formats::format::utf8;
use crate::formats::{Format, Framing};
use crate::options::Options;
use crate::record::{Record, Slot};

/// Comma-separated values.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvFormat {
    pub(super) header: bool,
    pub(super) columns: Vec<String>,
    pub(super) delimiter: u8,
    pub(super) quote: u8,
    pub(super) null: String,
}

impl Default for CsvFormat {
    fn default() -> Self {
        CsvFormat { header: true, columns: Vec::new(), delimiter: b',', quote: b'"', null: String::new() }
    }
}

impl Format for CsvFormat {
    type Decoder<T: Record> = CsvDecoder<T>;
    type Encoder<T: Record> = CsvEncoder<T>;

    fn from_options(options: &Options) -> JobResult<Self> {
        let format = CsvFormat {
            header: options.boolean("header")?.unwrap_or(true),
            columns: options.columns("columns")?.to_vec(),
            delimiter: character(options, "delimiter", b',')?,
            quote: character(options, "quote", b'"')?,
            null: options.text("null")?.unwrap_or_default().to_owned(),
        };
        if format.delimiter == format.quote {
            return Err(JobError::new("the options `delimiter` and `quote` are the same character"));
        }
        if format.header && !format.columns.is_empty() {
            return Err(JobError::new("the option `columns` is for files without a header: add `header: false`"));
        }
        if format.null.contains(['\n', '\r']) || format.null.bytes().any(|byte| byte == format.delimiter || byte == format.quote)
        {
            return Err(JobError::new("the option `null` cannot contain delimiters, quotes or line breaks"));
        }
        check_unique(&format.columns, "the option `columns`")?;
        Ok(format)
    }

    fn framing(&self) -> Framing {
        Framing::Quoted { quote: self.quote, delimiter: self.delimiter }
    }

    fn has_header(&self) -> bool {
        self.header
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn decoder<T: Record>(&self, header: Option<&[u8]>) -> JobResult<CsvDecoder<T>> {
        let columns = match header {
            Some(header) if self.header => self.names(header)?,
            _ if !self.columns.is_empty() => self.columns.clone(),
            // An empty file, or one with the record's own columns.
            _ => leaves(&T::slots()).map(Slot::name).collect(),
        };
        CsvDecoder::new(self, &columns)
    }

    fn encoder<T: Record>(&self) -> JobResult<CsvEncoder<T>> {
        Ok(CsvEncoder::new(self))
    }
}

impl CsvFormat {
    /// The names in a header.
    fn names(&self, header: &[u8]) -> JobResult<Vec<String>> {
        let wrong = |error: crate::record::FieldError| JobError::new(format!("the header cannot be read: {error}"));
        let header = utf8(header).map_err(wrong)?;
        let mut fields = Vec::new();
        split(header, self.quote, self.delimiter, &mut fields).map_err(wrong)?;
        let quote = self.quote as char;
        let names: Vec<String> = fields
            .into_iter()
            .map(|field| match field.kind {
                FieldKind::Escaped => field.text(header).replace(&format!("{quote}{quote}"), &quote.to_string()),
                _ => field.text(header).to_owned(),
            })
            .collect();
        check_unique(&names, "the header")?;
        Ok(names)
    }
}

/// The slots that are columns of a file.
pub(super) fn leaves(slots: &[Slot]) -> impl Iterator<Item = &Slot> {
    slots.iter().filter(|slot| slot.nested == 0)
}

/// C70: a name that stands twice would hide a column.
fn check_unique(names: &[String], place: &str) -> JobResult<()> {
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = names[..index].iter().position(|other| other == name) {
            return Err(JobError::new(format!(
                "{place} names two columns `{name}`: column {} and column {}",
                first + 1,
                index + 1
            )));
        }
    }
    Ok(())
}

fn character(options: &Options, name: &str, default: u8) -> JobResult<u8> {
    match options.text(name)?.map(str::as_bytes) {
        None => Ok(default),
        Some([byte]) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        Some(_) => Err(JobError::new(format!("the option `{name}` is one ASCII character"))),
    }
}
