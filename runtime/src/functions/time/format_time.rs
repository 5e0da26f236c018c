//! `format_time`: moments as text, by a pattern.

#[cfg(feature = "engine")]
use std::fmt::Write as _;

#[cfg(feature = "engine")]
use crate::value::{Date, EvalError, Str, Timestamp, days_from_civil};

use super::FunctionSpec;

pub(super) const SPEC: FunctionSpec = FunctionSpec {
    name: "format_time",
    category: "time",
    signature: "format_time(time: timestamp, pattern: string) -> string",
    fallible: true,
    doc: "The moment, in UTC, as text by a pattern. Letters stand for fields, their number for the least number of digits: \
          `yyyy` year (`yy` its last two digits), `MM` month (`MMM` Jan, `MMMM` January), `dd` day, `DDD` day of the year, `HH` hour 0 to 23, \
          `hh` hour 1 to 12, `a` AM or PM, `mm` minute, `ss` second, `S` to `SSSSSS` fraction of the second, cut off, `E` Mon, \
          `EEEE` Monday, `e` day of the week (1 Monday), `X` Z. Text in quotes `'T'` and other signs stand for themselves; \
          `''` is a quote. Other letters are an error.",
    examples: &[
        (r#"format_time(@2026-03-05T17:59:20.03Z, "yyyy-MM-dd HH:mm:ss.SSS")"#, r#""2026-03-05 17:59:20.030""#),
        (r#"format_time(@2026-03-05T17:59:20Z, "d MMMM yyyy 'at' h:mm a")"#, r#""5 March 2026 at 5:59 PM""#),
    ],
};

#[cfg(feature = "engine")]
const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

#[cfg(feature = "engine")]
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// `format_time(time, pattern)`
#[cfg(feature = "engine")]
pub fn format_time(time: Timestamp, pattern: &str) -> Result<Str, EvalError> {
    let mut out = Str::default();
    let fields = Fields::new(time);
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let length = rest.bytes().take_while(|byte| *byte as u32 == first as u32).count();
        if first == '\'' {
            rest = quoted(&rest[1..], &mut out)
                .ok_or_else(|| EvalError::new(format!("`{pattern}` has a quote that does not end")))?;
        } else if first.is_ascii_alphabetic() {
            fields.print(first, length, &mut out).ok_or_else(|| unknown(pattern, &rest[..length]))?;
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Ok(out)
}

/// Text behind an opening quote; gives what stands behind the closing one.
#[cfg(feature = "engine")]
fn quoted<'a>(text: &'a str, out: &mut Str) -> Option<&'a str> {
    if let Some(rest) = text.strip_prefix('\'') {
        out.push('\'');
        return Some(rest);
    }
    let mut text = text;
    loop {
        let (part, rest) = text.split_once('\'')?;
        out.push_str(part);
        match rest.strip_prefix('\'') {
            Some(after) => {
                out.push('\'');
                text = after;
            }
            None => return Some(rest),
        }
    }
}

#[cfg(feature = "engine")]
#[cold]
fn unknown(pattern: &str, letters: &str) -> EvalError {
    EvalError::new(format!("`{letters}` in the time pattern `{pattern}` means nothing; write text in quotes: '{letters}'"))
}

/// A moment in pieces.
#[cfg(feature = "engine")]
struct Fields {
    date: Date,
    /// Microseconds of the day.
    micros: i64,
}

#[cfg(feature = "engine")]
impl Fields {
    fn new(time: Timestamp) -> Self {
        Fields { date: time.date(), micros: time.time().0 }
    }

    /// The field of this letter. None: there is none with so many letters.
    fn print(&self, letter: char, length: usize, out: &mut Str) -> Option<()> {
        let seconds = self.micros / 1_000_000;
        let number = match (letter, length) {
            ('y' | 'u', 2) => self.date.civil().0.rem_euclid(100) as i64,
            ('y' | 'u', 1..=9) => self.date.civil().0 as i64,
            ('M', 1 | 2) => self.date.civil().1 as i64,
            ('M', 3) => return push(out, &self.month()[..3]),
            ('M', 4) => return push(out, self.month()),
            ('d', 1 | 2) => self.date.civil().2 as i64,
            ('D', 1..=3) => (self.date.0 - days_from_civil(self.date.civil().0, 1, 1) + 1) as i64,
            ('H', 1 | 2) => seconds / 3600,
            ('h', 1 | 2) => (seconds / 3600 + 11) % 12 + 1,
            ('m', 1 | 2) => seconds / 60 % 60,
            ('s', 1 | 2) => seconds % 60,
            ('S', 1..=6) => self.micros % 1_000_000 / 10i64.pow(6 - length as u32),
            ('a', 1) => return push(out, if seconds < 12 * 3600 { "AM" } else { "PM" }),
            ('E', 1..=3) => return push(out, &self.day()[..3]),
            ('E', 4) => return push(out, self.day()),
            ('e', 1) => self.date.weekday() as i64,
            ('X', 1..=3) => return push(out, "Z"),
            _ => return None,
        };
        if (0..100).contains(&number) && length == 2 {
            out.push((b'0' + (number / 10) as u8) as char);
            out.push((b'0' + (number % 10) as u8) as char);
            return Some(());
        }
        let sign = if number < 0 { "-" } else { "" };
        // Writing to memory cannot fail.
        let _ = write!(out, "{sign}{:0length$}", number.unsigned_abs());
        Some(())
    }

    fn month(&self) -> &'static str {
        MONTHS[(self.date.civil().1 as usize).clamp(1, 12) - 1]
    }

    fn day(&self) -> &'static str {
        DAYS[(self.date.weekday() as usize).clamp(1, 7) - 1]
    }
}

#[cfg(feature = "engine")]
fn push(out: &mut Str, text: &str) -> Option<()> {
    out.push_str(text);
    Some(())
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn fields_and_text() {
        let time = Timestamp::parse("2026-03-05T00:07:09.012345Z").unwrap();
        for (pattern, expected) in [
            ("yyyy-MM-dd", "2026-03-05"),
            ("HH:mm", "00:07"),
            ("HH:mm:ss.SSS", "00:07:09.012"),
            ("S SSSSSS", "0 012345"),
            ("yy M d H m s", "26 3 5 0 7 9"),
            ("hh:mm a", "12:07 AM"),
            ("E EEEE e MMM MMMM", "Thu Thursday 4 Mar March"),
            ("DDD D", "064 64"),
            ("yyyy-MM-dd'T'HH:mm:ssX", "2026-03-05T00:07:09Z"),
            ("'o''clock' ''é", "o'clock 'é"),
            ("yyyyyy", "002026"),
            ("", ""),
        ] {
            assert_eq!(format_time(time, pattern).unwrap(), expected, "{pattern}");
        }
        assert_eq!(format_time(Timestamp(-1), "yyyy-MM-dd HH:mm:ss.SSSSSS").unwrap(), "1969-12-31 23:59:59.999999");
        assert_eq!(format_time(Timestamp(i64::MIN), "yyyy DDD").unwrap(), "-290308 356");
    }

    #[test]
    fn bad_patterns_are_named() {
        let error = format_time(Timestamp(0), "yyyy-QQ").unwrap_err();
        assert_eq!(error.reason(), "`QQ` in the time pattern `yyyy-QQ` means nothing; write text in quotes: 'QQ'");
        assert!(format_time(Timestamp(0), "HHH").is_err());
        assert!(format_time(Timestamp(0), "'open").unwrap_err().reason().contains("'open"));
    }
}
