//! Integers and floats from text.

use super::{Decimal, ParseError};

/// Reads an integer: an optional sign and digits, or any decimal number whose value is whole (`1.0`, `1e3`).
pub(crate) fn parse_integer(text: &str) -> Result<i128, ParseError> {
    const NOT: ParseError = ParseError::new("is not an integer");
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty() && digits.len() <= 38 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(|_| NOT);
    }
    match Decimal::<38, 0>::parse_rounded(text) {
        Ok((value, true)) => Ok(value.0),
        Ok((_, false)) => Err(ParseError::new("has a fraction, but the column is an integer")),
        Err(_) if digits.len() > 38 => Err(ParseError::new("is out of range")),
        Err(_) => Err(NOT),
    }
}

/// Reads a float: a decimal number, or `NaN`, `Infinity`, `-Infinity` (also `inf`) in any case. Out of range is an error.
pub(crate) fn parse_float(text: &str) -> Result<f64, ParseError> {
    let first = text.trim_start_matches(['-', '+']).bytes().next();
    match text.parse::<f64>() {
        Ok(value) if value.is_infinite() && first.is_some_and(|byte| byte.is_ascii_digit() || byte == b'.') => {
            Err(ParseError::new("is out of range"))
        }
        Ok(value) => Ok(value),
        Err(_) => Err(ParseError::new("is not a number")),
    }
}

/// Reads `true` or `false` in any case.
pub(crate) fn parse_bool(text: &str) -> Result<bool, ParseError> {
    if text.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if text.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(ParseError::new("is not true or false"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C45: integers are exact, fractions are not cut off, and out of range is no infinity.
    #[test]
    fn numbers_keep_their_value_or_are_refused() {
        assert_eq!(parse_integer("9007199254740993"), Ok(9_007_199_254_740_993));
        assert_eq!(parse_integer("-5"), Ok(-5));
        assert_eq!(parse_integer("1.0"), Ok(1));
        assert_eq!(parse_integer("1e2"), Ok(100));
        for text in ["1.9", "", "-", "x", "1x", "0x10", " 1", "1_000", "1e400"] {
            assert!(parse_integer(text).is_err(), "{text}");
        }
        assert_eq!(parse_float("1e2"), Ok(100.0));
        assert_eq!(parse_float("13.700000000000001"), Ok(13.700000000000001));
        assert!(parse_float("nan").unwrap().is_nan());
        assert_eq!(parse_float("-Infinity"), Ok(f64::NEG_INFINITY));
        assert_eq!(parse_float("1e-400"), Ok(0.0));
        for text in ["1e400", "-1e400", "", "1,5", "true"] {
            assert!(parse_float(text).is_err(), "{text}");
        }
    }
}
