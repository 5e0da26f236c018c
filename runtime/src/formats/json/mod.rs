//! JSON, one value a line.

#[cfg(feature = "engine")]
mod compact;
#[cfg(feature = "engine")]
mod format;
#[cfg(feature = "engine")]
mod reader;
#[cfg(all(test, feature = "engine"))]
mod speed;
#[cfg(feature = "engine")]
mod writer;

use super::FormatSpec;

#[cfg(feature = "engine")]
pub(crate) use compact::compact;
#[cfg(feature = "engine")]
pub use format::{JsonDecoder, JsonEncoder, JsonFormat};
#[cfg(feature = "engine")]
pub use reader::JsonReader;
#[cfg(feature = "engine")]
pub use writer::write_string;

/// What the compiler knows of it.
pub static SPEC: FormatSpec = FormatSpec {
    name: "json",
    rust: "millstream::formats::JsonFormat",
    options: &[],
    doc: "JSON, one object a line.\n\n\
        Reading: members that are no columns are passed over; of several members with one name the last counts; a member that is \
        missing or null is null, and an error where the column may not be null. Numbers may also stand in strings; integers take \
        any number whose value is whole (`1.0`), and nothing is cut off or rounded. Timestamps are RFC 3339 texts, or numbers \
        where the column has a unit (`@unit(\"ms\")`). Blank lines are passed over. Nesting deeper than 128 is an error.\n\n\
        Writing: all columns, null ones too. Decimals are strings, so that no reader rounds them; NaN and the infinities are \
        strings; timestamps are RFC 3339 in UTC; bytes are base64.",
};
