//! The trait of column types: how a value of each type is read from and written to JSON, cells and text.

use super::record_trait::derived::from_json_text;
use super::{Cell, CellWriter, FieldError, Row, Slot};
use crate::formats::json::JsonReader;
use crate::graph::TimeUnit;
use crate::value::compare::Compare;
use crate::value::{ParseError, Str};

/// A type that a column may have.
#[diagnostic::on_unimplemented(
    message = "no column has the type `{Self}`",
    label = "no type of a column",
    note = "write a type of columns such as `String` or `Option<i64>`; a struct or an enum of your own is one with `#[derive(Clone, Record)]`"
)]
pub trait Value: Sized + Compare {
    /// How many slots it takes in a row: one, or one and those of its columns for a nested record.
    const SLOTS: usize = 1;
    /// Whether it may be null.
    const OPTIONAL: bool = false;

    /// Whether an empty text is a value: only for strings.
    const EMPTY_IS_VALUE: bool = false;

    /// The type in the language's words.
    fn type_text() -> String;

    /// Reads the next JSON value.
    fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError>;

    /// Appends the JSON form.
    fn write_json(&self, out: &mut Vec<u8>);

    /// What a member that has not come means: null, where that is allowed.
    #[inline]
    fn missing() -> Option<Self> {
        None
    }

    /// The value of a cell. By default only texts are known.
    #[inline]
    fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        cell_as_text(cell, |text| Self::from_text(text, unit))
    }

    /// Reads the text form. By default the JSON form.
    fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        from_json_text(text).map_err(|error| FieldError::value(text, error.reason().to_owned()))
    }

    /// The value in a slot of a row.
    #[inline]
    fn from_row<R: Row>(row: &R, slot: usize, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        Self::from_cell(row.cell(slot), unit)
    }

    /// Gives the value to a writer of cells. By default as its JSON form.
    #[inline]
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        let mut json = Vec::new();
        self.write_json(&mut json);
        out.string(std::str::from_utf8(&json).unwrap_or_default());
    }

    /// Gives null to a writer of cells, once for each leaf.
    #[inline]
    fn write_null_row<W: CellWriter>(out: &mut W) {
        out.null();
    }

    /// Lists its slots.
    fn add_slots(path: Vec<&'static str>, slots: &mut Vec<Slot>) {
        slots.push(Slot { path, nested: 0, optional: Self::OPTIONAL });
    }

    /// The text form, None for null.
    fn column_text(&self) -> Option<Str>;

    // Lists of this type. Bytes are a list of `u8` to Rust, but not to the language: `u8` has its own answers here.

    /// The type of a list of such values.
    #[doc(hidden)]
    fn list_type_text() -> String {
        format!("list<{}>", Self::type_text())
    }

    /// Reads a list.
    #[doc(hidden)]
    fn list_from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Vec<Self>, FieldError> {
        let mut list = Vec::new();
        let mut more = reader.first_element()?;
        while more {
            list.push(Self::from_json(reader, unit).map_err(|error| error.within_element(list.len()))?);
            more = reader.next_element()?;
        }
        Ok(list)
    }

    /// Appends the JSON form of a list.
    #[doc(hidden)]
    fn list_write_json(list: &[Self], out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            item.write_json(out);
        }
        out.push(b']');
    }

    /// Reads the text form of a list: its JSON form.
    #[doc(hidden)]
    fn list_from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Vec<Self>, FieldError> {
        from_json_text(text).map_err(|error| FieldError::value(text, error.reason().to_owned()))
    }

    /// The text form of a list.
    #[doc(hidden)]
    fn list_text(list: &[Self]) -> Str {
        let mut out = Vec::new();
        Self::list_write_json(list, &mut out);
        Str::from_utf8_lossy(&out)
    }
}

/// A cell that has to be a text.
#[inline]
pub(super) fn cell_as_text<T>(cell: Cell<'_>, read: impl FnOnce(&str) -> Result<T, FieldError>) -> Result<T, FieldError> {
    match &cell {
        Cell::Text(text) => read(text),
        Cell::Str(text) => read(text),
        other => Err(unexpected(other)),
    }
}

/// The error for a cell of another type.
#[cold]
pub(super) fn unexpected(cell: &Cell<'_>) -> FieldError {
    match cell {
        Cell::Empty => FieldError::new("is empty, and the column may not be null"),
        Cell::Null => FieldError::new("is null, and the column may not be null"),
        Cell::Bool(value) => FieldError::value(&value.to_string(), "has another type"),
        Cell::Int(value) => FieldError::value(&value.to_string(), "has another type"),
        Cell::Float(value) => FieldError::value(&value.to_string(), "has another type"),
        Cell::Timestamp(value) => FieldError::value(&value.to_string(), "has another type"),
        Cell::Text(text) => FieldError::value(text, "has another type"),
        Cell::Str(text) => FieldError::value(text, "has another type"),
    }
}

/// Names the text that could not be read.
#[inline]
pub(super) fn named<T>(text: &str, result: Result<T, ParseError>) -> Result<T, FieldError> {
    result.map_err(|error| FieldError::value(text, error.0))
}
