//! Columns that may be null, lists and maps.

use super::derived::json_text;
use super::{Cell, CellWriter, FieldError, Row, Slot, Value};
use crate::formats::json::{JsonReader, write_string};
use crate::graph::TimeUnit;
use crate::value::text::Print;
use crate::value::{Map, Str};

impl<T: Value> Value for Option<T> {
    const SLOTS: usize = T::SLOTS;
    const OPTIONAL: bool = true;

    fn type_text() -> String {
        format!("{}?", T::type_text())
    }
    #[inline]
    fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        if reader.null()? { Ok(None) } else { T::from_json(reader, unit).map(Some) }
    }
    #[inline]
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write_json(out),
            None => out.extend_from_slice(b"null"),
        }
    }
    #[inline]
    fn missing() -> Option<Self> {
        Some(None)
    }
    #[inline]
    fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        match cell {
            Cell::Null => Ok(None),
            Cell::Empty if !T::EMPTY_IS_VALUE => Ok(None),
            cell => T::from_cell(cell, unit).map(Some),
        }
    }
    #[inline]
    fn from_row<R: Row>(row: &R, slot: usize, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        if T::SLOTS == 1 {
            Self::from_cell(row.cell(slot), unit)
        } else if row.is_present(slot, T::SLOTS - 1) {
            T::from_row(row, slot, unit).map(Some)
        } else {
            Ok(None)
        }
    }
    #[inline]
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        match self {
            Some(value) => value.write_row(out),
            None => T::write_null_row(out),
        }
    }
    #[inline]
    fn write_null_row<W: CellWriter>(out: &mut W) {
        T::write_null_row(out);
    }
    fn add_slots(path: Vec<&'static str>, slots: &mut Vec<Slot>) {
        let first = slots.len();
        T::add_slots(path, slots);
        if let Some(slot) = slots.get_mut(first) {
            slot.optional = true;
        }
    }
    fn column_text(&self) -> Option<Str> {
        self.as_ref().and_then(T::column_text)
    }
}

/// `list<T>`; a list of `u8` is `bytes` and has its own form.
impl<T: Value> Value for Vec<T> {
    fn type_text() -> String {
        T::list_type_text()
    }
    fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        T::list_from_json(reader, unit)
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        T::list_write_json(self, out);
    }
    fn from_text(text: &str, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        T::list_from_text(text, unit)
    }
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        out.string(&T::list_text(self));
    }
    fn column_text(&self) -> Option<Str> {
        Some(T::list_text(self))
    }
}

impl<T: Value> Print for [T] {
    fn print(&self, out: &mut Str) {
        out.push_str(&T::list_text(self));
    }
}

impl<T: Value> Print for Vec<T> {
    fn print(&self, out: &mut Str) {
        self.as_slice().print(out);
    }
}

/// `map<K, V>`: a JSON object whose names are the text forms of the keys.
impl<K: Value + Ord, V: Value> Value for Map<K, V> {
    fn type_text() -> String {
        format!("map<{}, {}>", K::type_text(), V::type_text())
    }
    fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        let mut map = Map::new();
        let mut next = reader.first_key()?;
        while let Some(name) = next {
            let key = K::from_cell(Cell::Text(&name), None).map_err(|error| error.within(&name))?;
            let value = V::from_json(reader, unit).map_err(|error| error.within(&name))?;
            map.insert(key, value);
            next = reader.next_key()?;
        }
        Ok(map)
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (key, value)) in self.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_string(&key.column_text().unwrap_or_default(), out);
            out.push(b':');
            value.write_json(out);
        }
        out.push(b'}');
    }
    fn column_text(&self) -> Option<Str> {
        Some(json_text(self))
    }
}

impl<K: Value + Ord, V: Value> Print for Map<K, V> {
    fn print(&self, out: &mut Str) {
        out.push_str(&json_text(self));
    }
}
