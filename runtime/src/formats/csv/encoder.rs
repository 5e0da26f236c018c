//! Writing CSV: what was written reads back as the same rows.

use std::marker::PhantomData;

use super::CsvFormat;
use super::format::leaves;
use crate::formats::Encoder;
use crate::record::{CellWriter, Record};

/// Writes CSV records.
#[derive(Clone, Debug)]
pub struct CsvEncoder<T> {
    format: CsvFormat,
    /// Scratch space.
    field: Vec<u8>,
    record: PhantomData<fn() -> T>,
}

impl<T: Record> CsvEncoder<T> {
    pub(super) fn new(format: &CsvFormat) -> Self {
        CsvEncoder { format: format.clone(), field: Vec::new(), record: PhantomData }
    }
}

impl<T: Record> Encoder<T> for CsvEncoder<T> {
    fn header(&mut self, out: &mut Vec<u8>) {
        if !self.format.header {
            return;
        }
        for (index, slot) in leaves(&T::slots()).enumerate() {
            if index > 0 {
                out.push(self.format.delimiter);
            }
            write_field(&self.format, slot.name().as_bytes(), false, out);
        }
        out.push(b'\n');
    }

    fn encode(&mut self, row: &T, out: &mut Vec<u8>) {
        row.encode_row(&mut FieldWriter { format: &self.format, field: &mut self.field, out, first: true });
        out.push(b'\n');
    }
}

struct FieldWriter<'a> {
    format: &'a CsvFormat,
    field: &'a mut Vec<u8>,
    out: &'a mut Vec<u8>,
    first: bool,
}

impl FieldWriter<'_> {
    fn separate(&mut self) {
        if !self.first {
            self.out.push(self.format.delimiter);
        }
        self.first = false;
    }
}

impl CellWriter for FieldWriter<'_> {
    fn null(&mut self) {
        self.separate();
        self.out.extend_from_slice(self.format.null.as_bytes());
    }

    fn string(&mut self, text: &str) {
        self.separate();
        write_field(self.format, text.as_bytes(), true, self.out);
    }

    fn plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        self.field.clear();
        write(self.field);
        write_field(self.format, self.field, true, self.out);
    }
}

/// Writes a field, in quotes where it needs them. `data`: not a name, so what would read as null is quoted.
fn write_field(format: &CsvFormat, field: &[u8], data: bool, out: &mut Vec<u8>) {
    let special = |byte: &u8| *byte == format.delimiter || *byte == format.quote || matches!(byte, b'\n' | b'\r');
    if !field.iter().any(special) && !(data && (field.is_empty() || field == format.null.as_bytes())) {
        out.extend_from_slice(field);
        return;
    }
    out.push(format.quote);
    for byte in field {
        if *byte == format.quote {
            out.push(format.quote);
        }
        out.push(*byte);
    }
    out.push(format.quote);
}
