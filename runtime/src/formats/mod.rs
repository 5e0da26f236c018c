//! Formats: how rows look as bytes. Each describes itself here; its code is compiled with the feature `engine`.

pub mod csv;
#[cfg(feature = "engine")]
mod format;
#[cfg(feature = "engine")]
mod framing;
pub mod json;
pub mod text;

use crate::connectors::OptionSpec;

#[cfg(feature = "engine")]
pub use csv::CsvFormat;
#[cfg(feature = "engine")]
pub use format::{Decoder, Encoder, Format};
#[cfg(feature = "engine")]
pub use framing::{Frame, Framer, Framing, byte_order_mark};
#[cfg(feature = "engine")]
pub use json::JsonFormat;
#[cfg(feature = "engine")]
pub use text::TextFormat;

/// What the compiler, the editor and the manual know of a format.
#[derive(Clone, Copy, Debug)]
pub struct FormatSpec {
    /// `json`, as in `format: json`.
    pub name: &'static str,
    /// The Rust type: `millstream::formats::JsonFormat`.
    pub rust: &'static str,
    /// What stands in its block: `csv { null: "NA" }`.
    pub options: &'static [OptionSpec],
    /// One sentence, then details.
    pub doc: &'static str,
}

/// All formats, by name.
pub static FORMATS: &[&FormatSpec] = &[&csv::SPEC, &json::SPEC, &text::SPEC];

/// The format of this name.
pub fn find(name: &str) -> Option<&'static FormatSpec> {
    FORMATS.iter().copied().find(|format| format.name == name)
}
