//! Columns of dates, times, timestamps and durations.
//!
//! They are texts in the outside data, unless the column says with a unit what a number means: there is no guessing by the
//! number of digits. With a unit both are read.

use super::value_trait::{cell_as_text, named};
use super::{Cell, CellWriter, FieldError, Value};
use crate::formats::json::JsonReader;
use crate::graph::TimeUnit;
use crate::value::text::print;
use crate::value::{Date, Decimal, Duration, ParseError, Str, Time, Timestamp, parse_integer};

/// A number of units as microseconds. What is finer than a microsecond is cut off towards the past.
fn micros_of(text: &str, unit: TimeUnit) -> Result<i64, ParseError> {
    let nanos_per_unit = match unit {
        TimeUnit::Seconds => 1_000_000_000,
        TimeUnit::Milliseconds => 1_000_000,
        TimeUnit::Microseconds => 1000,
        TimeUnit::Nanoseconds => 1,
    };
    const RANGE: ParseError = ParseError::new("is out of range");
    let nanos = match parse_integer(text) {
        Ok(count) => count.checked_mul(nanos_per_unit).ok_or(RANGE)?,
        // A fraction: up to nine digits count.
        Err(_) => Decimal::<38, 9>::parse_rounded(text)
            .map_err(|_| ParseError::new("is not a number"))?
            .0
            .0
            .checked_mul(nanos_per_unit)
            .ok_or(RANGE)?
            .div_euclid(1_000_000_000),
    };
    i64::try_from(nanos.div_euclid(1000)).map_err(|_| RANGE)
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
}

const NO_UNIT: &str = "is a number, but the column does not say its unit: give it an attribute like @unit(\"ms\")";

/// Reads a text, or a number where the column has a unit.
#[inline]
fn read<T>(
    text: &str,
    unit: Option<TimeUnit>,
    parse: impl FnOnce(&str) -> Result<T, ParseError>,
    from_micros: impl FnOnce(i64) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    match parse(text) {
        Ok(value) => Ok(value),
        // Dates begin like numbers: a text that is no date may be one.
        Err(error) if !is_number(text) => Err(error),
        Err(_) => match unit {
            Some(unit) => micros_of(text, unit).and_then(from_micros),
            None => Err(ParseError::new(NO_UNIT)),
        },
    }
}

macro_rules! times {
    ($($ty:ident = $name:literal: $from_micros:expr;)*) => {$(
        impl Value for $ty {
            fn type_text() -> String {
                $name.into()
            }
            #[inline]
            fn from_json(reader: &mut JsonReader<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                let start = reader.start();
                if reader.peek() == b'"' {
                    let text = reader.string()?;
                    return read(&text, unit, $ty::parse, $from_micros).map_err(|error| reader.wrong(start, error.0));
                }
                if unit.is_none() && matches!(reader.peek(), b'-' | b'0'..=b'9') {
                    return Err(reader.wrong(start, NO_UNIT));
                }
                let text = reader.number().map_err(|error| FieldError::value(error.raw(), match error.reason() {
                    "is not a number" => concat!("is not a ", $name).to_owned(),
                    other => other.to_owned(),
                }))?;
                named(text, read(text, unit, |_| Err(ParseError::new("")), $from_micros))
            }
            #[inline]
            fn write_json(&self, out: &mut Vec<u8>) {
                out.push(b'"');
                write_text(*self, out);
                out.push(b'"');
            }
            #[inline]
            fn from_cell(cell: Cell<'_>, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                if let Cell::Timestamp(value) = cell
                    && let Some(value) = <$ty as FromTimestamp>::from_timestamp(value)
                {
                    return Ok(value);
                }
                cell_as_text(cell, |text| Self::from_text(text, unit))
            }
            fn from_text(text: &str, unit: Option<TimeUnit>) -> Result<Self, FieldError> {
                named(text, read(text, unit, $ty::parse, $from_micros))
            }
            #[inline]
            fn write_row<W: CellWriter>(&self, out: &mut W) {
                out.plain(|out| write_text(*self, out));
            }
            fn column_text(&self) -> Option<Str> {
                Some(print(self))
            }
        }
    )*};
}
times! {
    Timestamp = "timestamp": |micros| Ok(Timestamp(micros));
    Date = "date": |micros| Ok(Timestamp(micros).date());
    Time = "time": |micros| if (0..crate::value::MICROS_PER_DAY).contains(&micros) { Ok(Time(micros)) } else { Err(ParseError::new("is not within a day")) };
    Duration = "duration": |micros| Ok(Duration(micros));
}

#[inline]
fn write_text(value: impl AppendText, out: &mut Vec<u8>) {
    value.append(out);
}

trait AppendText {
    fn append(self, out: &mut Vec<u8>);
}

impl AppendText for Timestamp {
    #[inline]
    fn append(self, out: &mut Vec<u8>) {
        self.with_text(|text| out.extend_from_slice(text.as_bytes()));
    }
}

macro_rules! append_display {
    ($($ty:ty),*) => {$(
        impl AppendText for $ty {
            fn append(self, out: &mut Vec<u8>) {
                use std::io::Write as _;
                // Writing to memory cannot fail.
                let _ = write!(out, "{self}");
            }
        }
    )*};
}
append_display!(Date, Time, Duration);

/// Which of the types a moment in a cell may stand for.
trait FromTimestamp: Sized {
    fn from_timestamp(value: Timestamp) -> Option<Self>;
}

impl FromTimestamp for Timestamp {
    #[inline]
    fn from_timestamp(value: Timestamp) -> Option<Self> {
        Some(value)
    }
}

impl FromTimestamp for Date {
    fn from_timestamp(value: Timestamp) -> Option<Self> {
        Some(value.date())
    }
}

impl FromTimestamp for Time {
    fn from_timestamp(_value: Timestamp) -> Option<Self> {
        None
    }
}

impl FromTimestamp for Duration {
    fn from_timestamp(_value: Timestamp) -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json<T: Value>(text: &str, unit: Option<TimeUnit>) -> Result<T, FieldError> {
        T::from_json(&mut JsonReader::new(text), unit)
    }

    /// C15: a number is a moment only where the column has a unit.
    #[test]
    fn numbers_need_a_unit() {
        let error = json::<Timestamp>("1714558272", None).unwrap_err();
        assert_eq!(error.to_string(), format!("`1714558272` {NO_UNIT}"));
        let text = |number, unit| json::<Timestamp>(number, Some(unit)).unwrap().to_string();
        assert_eq!(text("1714558272", TimeUnit::Milliseconds), "1970-01-20T20:15:58.272Z");
        assert_eq!(text("1714558272345", TimeUnit::Milliseconds), "2024-05-01T10:11:12.345Z");
        assert_eq!(text("1714558272345678", TimeUnit::Microseconds), "2024-05-01T10:11:12.345678Z");
        assert_eq!(text("1714558272345678789", TimeUnit::Nanoseconds), "2024-05-01T10:11:12.345678Z");
        assert_eq!(text("1714558272.5", TimeUnit::Seconds), "2024-05-01T10:11:12.500Z");
        assert_eq!(text("\"1714558272\"", TimeUnit::Seconds), "2024-05-01T10:11:12Z");
        assert_eq!(text("\"2024-05-01T10:11:12Z\"", TimeUnit::Seconds), "2024-05-01T10:11:12Z");
        assert_eq!(text("-1", TimeUnit::Nanoseconds), "1969-12-31T23:59:59.999999Z");
        assert!(json::<Timestamp>("1e30", Some(TimeUnit::Seconds)).is_err());
        assert_eq!(json::<Time>("40271000", Some(TimeUnit::Milliseconds)).unwrap().to_string(), "11:11:11");
        assert!(json::<Time>("86400000", Some(TimeUnit::Milliseconds)).is_err());
        assert_eq!(Timestamp::from_text("1000", Some(TimeUnit::Milliseconds)).unwrap(), Timestamp(1_000_000));
        assert!(Timestamp::from_text("1000", None).is_err());
    }
}
