//! Columns of scalar types.
//!
//! Numbers: a JSON number or a string that holds one; integers take any number whose value is whole (`1.0`, `1e2`), and
//! nothing is cut off. Floats also take `"NaN"`, `"Infinity"` and `"-Infinity"`, which is how they are written. Out of
//! range is an error. Decimals are written as strings, so that no reader rounds them. Bytes are base64.

use super::value_trait::{cell_as_text, named, unexpected};
use super::{Cell, CellWriter, FieldError, Value};
use crate::formats::json::{JsonReader, write_string};
use crate::graph::TimeUnit;
use crate::value::text::print;
use crate::value::{Bytes, Decimal, Json, Str, Uuid, base64_decode, base64_encode, parse_bool, parse_float, parse_integer};

/// A number as text: of a number, or of a string that holds one.
#[inline]
fn number_text<T>(reader: &mut JsonReader<'_>, read: impl FnOnce(&str) -> Result<T, FieldError>) -> Result<T, FieldError> {
    if reader.peek() == b'"' {
        let start = reader.start();
        let text = reader.string()?;
        // Named with its quotes, so that the message shows what stands there.
        read(&text).map_err(|error| reader.wrong(start, error.reason().to_owned()))
    } else {
        read(reader.number()?)
    }
}

macro_rules! integers {
    ($($ty:ty = $name:literal $({ $($lists:tt)* })?),*) => {$(
        impl Value for $ty {
            $($($lists)*)?
            fn type_text() -> String {
                $name.into()
            }
            #[inline]
            fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                if let Some(value) = reader.short_integer() {
                    return <$ty>::try_from(value).map_err(|_| FieldError::value(&value.to_string(), concat!("is out of range for ", $name)));
                }
                number_text(reader, |text| Self::from_text(text, unit))
            }
            #[inline]
            fn write_json(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(itoa::Buffer::new().format(*self).as_bytes());
            }
            #[inline]
            fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                match cell {
                    Cell::Int(value) => <$ty>::try_from(value).map_err(|_| FieldError::value(&value.to_string(), concat!("is out of range for ", $name))),
                    other => cell_as_text(other, |text| Self::from_text(text, unit)),
                }
            }
            fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                let value = named(text, parse_integer(text))?;
                <$ty>::try_from(value).map_err(|_| FieldError::value(text, concat!("is out of range for ", $name)))
            }
            #[inline]
            fn write_row<W: CellWriter>(&self, out: &mut W) {
                out.plain(|out| self.write_json(out));
            }
            fn column_text(&self) -> Option<Str> {
                Some(print(self))
            }
        }
    )*};
}
integers!(i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", u8 = "uint8" {
    fn list_type_text() -> String {
        "bytes".into()
    }
    fn list_from_json(reader: &mut JsonReader<'_>, _unit: Option<TimeUnit>) -> Result<Bytes, FieldError> {
        let start = reader.start();
        let text = reader.string()?;
        base64_decode(&text).map_err(|error| reader.wrong(start, error.0))
    }
    fn list_write_json(list: &[u8], out: &mut Vec<u8>) {
        out.push(b'"');
        base64_encode(list, out);
        out.push(b'"');
    }
    fn list_from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Bytes, FieldError> {
        named(text, base64_decode(text))
    }
    fn list_text(list: &[u8]) -> Str {
        let mut text = Vec::new();
        base64_encode(list, &mut text);
        Str::from_utf8_lossy(&text)
    }
}, u16 = "uint16", u32 = "uint32", u64 = "uint64");

macro_rules! floats {
    ($($ty:ty = $name:literal),*) => {$(
        impl Value for $ty {
            fn type_text() -> String {
                $name.into()
            }
            #[inline]
            fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                number_text(reader, |text| Self::from_text(text, unit))
            }
            #[inline]
            fn write_json(&self, out: &mut Vec<u8>) {
                if self.is_finite() {
                    out.extend_from_slice(zmij::Buffer::new().format_finite(*self).as_bytes());
                } else {
                    write_string(&print(self), out);
                }
            }
            #[inline]
            fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                match cell {
                    Cell::Float(value) => Ok(value as $ty),
                    Cell::Int(value) => Ok(value as $ty),
                    other => cell_as_text(other, |text| Self::from_text(text, unit)),
                }
            }
            fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                let value = named(text, parse_float(text))?;
                let narrow = value as $ty;
                if narrow.is_infinite() && value.is_finite() { Err(FieldError::value(text, concat!("is out of range for ", $name))) } else { Ok(narrow) }
            }
            #[inline]
            fn write_row<W: CellWriter>(&self, out: &mut W) {
                let value = *self;
                out.plain(|out| out.extend_from_slice(print(&value).as_bytes()));
            }
            fn column_text(&self) -> Option<Str> {
                Some(print(self))
            }
        }
    )*};
}
floats!(f32 = "float32", f64 = "float64");

impl<const P: u8, const S: u8> Value for Decimal<P, S> {
    fn type_text() -> String {
        format!("decimal({P}, {S})")
    }
    #[inline]
    fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        number_text(reader, |text| Self::from_text(text, unit))
    }
    #[inline]
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(print(self).as_bytes());
        out.push(b'"');
    }
    #[inline]
    fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        match cell {
            Cell::Int(value) => Decimal::rescale(value as i128, 0)
                .map_err(|error| FieldError::value(&value.to_string(), error.reason().to_owned())),
            other => cell_as_text(other, |text| Self::from_text(text, unit)),
        }
    }
    fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        named(text, Decimal::parse(text))
    }
    #[inline]
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        out.plain(|out| out.extend_from_slice(print(self).as_bytes()));
    }
    fn column_text(&self) -> Option<Str> {
        Some(print(self))
    }
}

impl Value for bool {
    fn type_text() -> String {
        "bool".into()
    }
    #[inline]
    fn from_json(reader: &mut JsonReader<'_>, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        reader.boolean()
    }
    #[inline]
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
    #[inline]
    fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        match cell {
            Cell::Bool(value) => Ok(value),
            other => cell_as_text(other, |text| Self::from_text(text, unit)),
        }
    }
    fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        named(text, parse_bool(text))
    }
    #[inline]
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        out.plain(|out| self.write_json(out));
    }
    fn column_text(&self) -> Option<Str> {
        Some(print(self))
    }
}

/// A text in a struct of the user's own; rows of the language hold [`Str`].
impl Value for String {
    const EMPTY_IS_VALUE: bool = true;

    fn type_text() -> String {
        Str::type_text()
    }
    #[inline]
    fn from_json(reader: &mut JsonReader<'_>, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        reader.string().map(String::from)
    }
    #[inline]
    fn write_json(&self, out: &mut Vec<u8>) {
        write_string(self, out);
    }
    #[inline]
    fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        Str::from_cell(cell, unit).map(String::from)
    }
    #[inline]
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        out.string(self);
    }
    fn column_text(&self) -> Option<Str> {
        Some(self.as_str().into())
    }
}

impl Value for Str {
    const EMPTY_IS_VALUE: bool = true;

    fn type_text() -> String {
        "string".into()
    }
    #[inline]
    fn from_json(reader: &mut JsonReader<'_>, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        reader.string().map(Str::from)
    }
    #[inline]
    fn write_json(&self, out: &mut Vec<u8>) {
        write_string(self, out);
    }
    #[inline]
    fn from_cell(cell: Cell<'_>, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        match cell {
            Cell::Text(text) => Ok(text.into()),
            Cell::Str(text) => Ok(text),
            Cell::Empty => Ok(Str::default()),
            other => Err(unexpected(&other)),
        }
    }
    #[inline]
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        out.string(self);
    }
    fn column_text(&self) -> Option<Str> {
        Some(self.clone())
    }
}

impl Value for Uuid {
    fn type_text() -> String {
        "uuid".into()
    }
    fn from_json(reader: &mut JsonReader<'_>, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        let start = reader.start();
        let text = reader.string()?;
        Uuid::parse(&text).map_err(|error| reader.wrong(start, error.0))
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(print(self).as_bytes());
        out.push(b'"');
    }
    fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        named(text, Uuid::parse(text))
    }
    fn write_row<W: CellWriter>(&self, out: &mut W) {
        out.plain(|out| out.extend_from_slice(print(self).as_bytes()));
    }
    fn column_text(&self) -> Option<Str> {
        Some(print(self))
    }
}

impl Value for Json {
    fn type_text() -> String {
        "json".into()
    }
    fn from_json(reader: &mut JsonReader<'_>, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        let raw = reader.raw()?;
        named(raw, Json::parse(raw))
    }
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_str().as_bytes());
    }
    fn from_text(text: &str, _unit: Option<TimeUnit>) -> Result<Self, FieldError> {
        named(text, Json::parse(text))
    }
    fn column_text(&self) -> Option<Str> {
        Some(print(self))
    }
}
