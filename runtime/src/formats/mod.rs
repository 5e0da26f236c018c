//! Formats: how rows look as bytes. Each describes itself here; its code is compiled with the feature `engine`.

#[cfg(feature = "engine")]
pub mod json;

use crate::connectors::OptionSpec;

/// What the compiler, the editor and the manual know of a format.
#[derive(Clone, Copy, Debug)]
pub struct FormatSpec {
    pub name: &'static str,
    /// The Rust type: `millstream::formats::Json`.
    pub rust: &'static str,
    pub options: &'static [OptionSpec],
    pub doc: &'static str,
}

/// All formats, by name.
pub static FORMATS: &[&FormatSpec] = &[];

/// The format of this name.
pub fn find(name: &str) -> Option<&'static FormatSpec> {
    FORMATS.iter().copied().find(|format| format.name == name)
}
