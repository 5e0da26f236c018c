//! The trait of records, which `#[derive(Record)]` implements.

use super::{CellWriter, FieldError, Row, Slot, Value};
use crate::formats::json::JsonReader;
use crate::value::Str;

/// One column of a record.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name in the outside data.
    pub name: &'static str,
    /// The type in the language's words.
    pub ty: fn() -> String,
    /// Whether it may be null.
    pub optional: bool,
}

/// A row type: a struct whose fields are columns.
///
/// Derive it. `#[flow(name = "order-id")]` gives a column another name in the outside data; `#[flow(unit = "ms")]` says what
/// a number means for a timestamp, time or duration.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no record",
    label = "no record",
    note = "write `#[derive(Clone, Record)]` above the struct"
)]
pub trait Record: Clone + Send + Sync + 'static {
    /// The struct's name.
    const NAME: &'static str;
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Reads a JSON object. Members that are no columns are skipped; of members with one name the last counts.
    fn decode_json(reader: &mut JsonReader<'_>) -> Result<Self, FieldError>;

    /// Appends a JSON object with all columns, null ones too.
    fn encode_json(&self, out: &mut Vec<u8>);

    /// Reads a row whose slots, as [`slots`](Self::slots) lists them, begin at `slot`.
    fn decode_row<R: Row>(row: &R, slot: usize) -> Result<Self, FieldError>;

    /// Gives the leaf columns to a writer, in the order of the slots.
    fn encode_row<W: CellWriter>(&self, out: &mut W);

    /// Gives null for every leaf column.
    fn encode_null<W: CellWriter>(out: &mut W);

    /// Lists the slots: leaf columns in order, before those of a nested record the record itself.
    fn add_slots(prefix: &[&'static str], slots: &mut Vec<Slot>);

    /// The slots of this record.
    fn slots() -> Vec<Slot> {
        let mut slots = Vec::new();
        Self::add_slots(&[], &mut slots);
        slots
    }

    /// The text form of a column, for partition folders; None for null or where there is no such column.
    fn column_text(&self, index: usize) -> Option<Str>;
}

/// What derived code calls; not for people.
#[doc(hidden)]
pub mod derived {
    use super::*;
    use crate::graph::TimeUnit;

    /// Reads the value of one member.
    #[inline]
    pub fn json_field<T: Value>(
        reader: &mut JsonReader<'_>,
        name: &'static str,
        unit: Option<TimeUnit>,
    ) -> Result<T, FieldError> {
        T::from_json(reader, unit).map_err(|error| error.within(name))
    }

    /// The value of a member that has not come.
    #[inline]
    pub fn missing_field<T: Value>(name: &'static str) -> Result<T, FieldError> {
        T::missing().ok_or_else(|| FieldError::new("is missing, and the column may not be null").within(name))
    }

    /// Reads the value in one slot.
    #[inline]
    pub fn row_field<T: Value, R: Row>(
        row: &R,
        slot: usize,
        name: &'static str,
        unit: Option<TimeUnit>,
    ) -> Result<T, FieldError> {
        T::from_row(row, slot, unit).map_err(|error| error.within(name))
    }

    /// Lists the slots of a column.
    pub fn add_slots<T: Value>(prefix: &[&'static str], name: &'static str, slots: &mut Vec<Slot>) {
        let path: Vec<&'static str> = prefix.iter().copied().chain([name]).collect();
        T::add_slots(path, slots);
    }

    /// Lists the slot of a nested record and then its own.
    pub fn add_record_slots<T: Record + Value>(path: Vec<&'static str>, slots: &mut Vec<Slot>) {
        slots.push(Slot { path: path.clone(), nested: T::SLOTS - 1, optional: false });
        <T as Record>::add_slots(&path, slots);
    }

    /// The JSON form as a text.
    pub fn json_text<T: Value>(value: &T) -> Str {
        let mut out = Vec::new();
        value.write_json(&mut out);
        Str::from_utf8_lossy(&out)
    }

    /// Reads a nested record that stands in a text (a CSV field that holds JSON).
    pub fn from_json_text<T: Value>(text: &str) -> Result<T, FieldError> {
        let mut reader = JsonReader::new(text);
        let value = T::from_json(&mut reader, None)?;
        reader.end()?;
        Ok(value)
    }
}
