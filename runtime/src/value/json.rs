//! `json`: a JSON value of any shape.

use std::fmt;

use super::{ParseError, Str};

/// A JSON value, kept as its compact text: exact numbers, members in the order in which they came. Two values are equal
/// if their compact texts are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json(Str);

impl Json {
    /// Reads and checks a JSON text, and drops the white space between its parts.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        crate::formats::json::compact(text).map(Json).map_err(|error| ParseError(format!("is not JSON: {error}").into()))
    }

    /// The compact text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A value from a text that is known to be compact JSON.
    pub(crate) fn from_compact(text: Str) -> Self {
        Json(text)
    }
}

impl Default for Json {
    fn default() -> Self {
        Json(Str::const_new("null"))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
