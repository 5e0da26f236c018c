//! `duration`: a length of time.

use std::fmt;

use super::ParseError;

/// Microseconds, positive or negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

/// Units from large to small, with their microseconds.
const UNITS: [(&str, i64); 6] =
    [("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1)];

impl Duration {
    /// Reads what the language writes: `250ms`, `5s`, `1h30m`, `-2d`, `0s`. Units from large to small, each at most once.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        const NOT: ParseError = ParseError::new("is not a duration like 250ms, 5s or 1h30m");
        let (sign, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (mut total, mut next) = (0i64, 0);
        if rest.is_empty() {
            return Err(NOT);
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or(NOT)?;
            let count: i64 = rest[..digits].parse().map_err(|_| NOT)?;
            rest = &rest[digits..];
            let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let unit = UNITS[next..].iter().position(|(name, _)| *name == &rest[..end]).ok_or(NOT)? + next;
            total = count.checked_mul(UNITS[unit].1).and_then(|part| total.checked_add(sign * part)).ok_or(NOT)?;
            next = unit + 1;
            rest = &rest[end..];
        }
        Ok(Duration(total))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let mut rest = self.0.unsigned_abs();
        for (name, micros) in UNITS {
            let count = rest / micros as u64;
            rest %= micros as u64;
            if count > 0 {
                write!(f, "{count}{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_both_ways() {
        for (text, micros) in
            [("0s", 0), ("250ms", 250_000), ("1h30m", 5_400_000_000), ("-2d", -172_800_000_000), ("1m1ms1us", 60_001_001)]
        {
            assert_eq!(Duration::parse(text).unwrap(), Duration(micros));
            assert_eq!(Duration(micros).to_string(), text);
        }
        assert_eq!(Duration::parse(&Duration(i64::MAX).to_string()), Ok(Duration(i64::MAX)));
        for bad in ["", "-", "5", "s", "5x", "5s1h", "5s5s", "99999999999999d", "1.5s"] {
            assert!(Duration::parse(bad).is_err(), "{bad}");
        }
    }
}
