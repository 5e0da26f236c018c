//! Values of the Flow language as Rust types, and what can be done with them.
//!
//! Everything here is plain data. Text forms are the same in JSON, CSV, casts and parameters: each type has one parser
//! and one printer.

pub mod arith;
mod base64;
pub mod cast;
pub mod compare;
mod convert;
mod decimal;
mod duration;
mod error;
mod float_key;
mod json;
pub mod logic;
mod number;
mod regex;
pub mod text;
mod time;
mod time_text;
mod uuid;

use std::collections::BTreeMap;

pub use self::convert::Convert;
pub use self::decimal::Decimal;
pub(crate) use self::decimal::{divide_half_up, pow10};
pub use self::duration::Duration;
pub use self::error::{At, EvalError, RequiredAt, required};
pub use self::float_key::{AsKey, Float, FloatKey};
pub use self::json::Json;
pub use self::regex::{Regex, dynamic_pattern, pattern};
pub use self::text::Print;
pub(crate) use self::time::days_in_month;
pub use self::time::{Date, MICROS_PER_DAY, Time, Timestamp, civil_from_days, days_from_civil};
pub use self::uuid::Uuid;
pub(crate) use base64::{decode as base64_decode, encode as base64_encode};
pub(crate) use number::{parse_bool, parse_float, parse_integer};

/// `string`: up to 24 bytes lie inline, without an allocation.
pub type Str = compact_str::CompactString;

/// `bytes`. Text form: base64.
pub type Bytes = Vec<u8>;

/// `map<K, V>`, ordered by key so that output is the same every time.
pub type Map<K, V> = BTreeMap<K, V>;

/// `list[index]`, from 0; None outside of the list.
#[inline]
pub fn list_get<T>(list: &[T], index: i64) -> Option<&T> {
    usize::try_from(index).ok().and_then(|index| list.get(index))
}

/// A text that is no value of the type that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub std::borrow::Cow<'static, str>);

impl ParseError {
    /// An error with a fixed reason.
    pub const fn new(reason: &'static str) -> Self {
        ParseError(std::borrow::Cow::Borrowed(reason))
    }
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}
