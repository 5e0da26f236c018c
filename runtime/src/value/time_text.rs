//! The text form of dates, times and timestamps: the same in JSON, CSV, casts and parameters.
//!
//! Read: `YYYY-MM-DD`, then optionally `T` or a blank and `HH:MM[:SS[.fraction]]`, then optionally `Z`, `+HH`, `+HHMM` or
//! `+HH:MM` (UTC without). A date alone is its midnight. Hours go to 23, seconds to 59: `24:00` and leap seconds are
//! refused. Fraction digits beyond microseconds are cut off. Written: RFC 3339 in UTC with 0, 3 or 6 fraction digits.

use std::fmt;

use super::time::days_in_month;
use super::{Date, MICROS_PER_DAY, ParseError, Time, Timestamp, days_from_civil};

/// Takes values off the front of a text.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    /// A number of exactly `COUNT` digits.
    #[inline]
    fn digits<const COUNT: usize>(&mut self) -> Option<u32> {
        let (digits, rest) = self.0.split_first_chunk::<COUNT>()?;
        let mut value = 0;
        for digit in digits {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + digit as u32;
        }
        self.0 = rest;
        Some(value)
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn date(&mut self) -> Option<i32> {
        let year = self.digits::<4>()? as i32;
        let month = self.take(b'-').then(|| self.digits::<2>())??;
        let day = self.take(b'-').then(|| self.digits::<2>())??;
        if !(1..=12).contains(&month) || day < 1 || day > 28 && day > days_in_month(year, month) {
            return None;
        }
        Some(days_from_civil(year, month, day))
    }

    /// `HH:MM[:SS[.fraction]]` in microseconds.
    #[inline]
    fn time(&mut self) -> Option<i64> {
        let hour = self.digits::<2>()?;
        let minute = self.take(b':').then(|| self.digits::<2>())??;
        let mut micros = 0;
        let mut second = 0;
        if self.take(b':') {
            second = self.digits::<2>()?;
            if self.take(b'.') {
                let mut unit = 100_000;
                let before = self.0.len();
                while let Some((digit @ b'0'..=b'9', rest)) = self.0.split_first() {
                    micros += (digit - b'0') as i64 * unit;
                    unit /= 10;
                    self.0 = rest;
                }
                if self.0.len() == before {
                    return None;
                }
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some((hour as i64 * 3600 + minute as i64 * 60 + second as i64) * 1_000_000 + micros)
    }

    /// Distance to UTC in microseconds.
    fn zone(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.take(b'Z') || self.take(b'z') {
            return Some(0);
        }
        let sign = if self.take(b'+') {
            1
        } else if self.take(b'-') {
            -1
        } else {
            return None;
        };
        let hours = self.digits::<2>()?;
        let minutes = if self.take(b':') || !self.0.is_empty() { self.digits::<2>()? } else { 0 };
        if hours > 23 || minutes > 59 {
            return None;
        }
        Some(sign * (hours * 60 + minutes) as i64 * 60_000_000)
    }
}

impl Date {
    /// Reads `2026-03-15`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut scanner = Scanner(text.as_bytes());
        match scanner.date() {
            Some(days) if scanner.0.is_empty() => Ok(Date(days)),
            _ => Err(ParseError::new("is not a date like 2026-03-15")),
        }
    }
}

impl Time {
    /// Reads `07:59`, `07:59:20`, `07:59:20.030`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut scanner = Scanner(text.as_bytes());
        match scanner.time() {
            Some(micros) if scanner.0.is_empty() => Ok(Time(micros)),
            _ => Err(ParseError::new("is not a time like 07:59:20")),
        }
    }
}

impl Timestamp {
    /// Reads a moment; see the head of this file for what is accepted.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut scanner = Scanner(text.as_bytes());
        let moment = (|| {
            let midnight = scanner.date()? as i64 * MICROS_PER_DAY;
            if scanner.0.is_empty() {
                return Some(midnight);
            }
            if !(scanner.take(b'T') || scanner.take(b' ') || scanner.take(b't')) {
                return None;
            }
            let micros = scanner.time()?;
            let zone = scanner.zone()?;
            scanner.0.is_empty().then_some(midnight + micros - zone)
        })();
        moment.map(Timestamp).ok_or(ParseError::new("is not a timestamp like 2026-03-15T07:59:20.030Z"))
    }

    /// Calls `write` with the text form. No allocation.
    #[inline]
    pub fn with_text<R>(self, write: impl FnOnce(&str) -> R) -> R {
        let mut text = Text::new();
        text.date(self.date());
        text.push(b'T');
        text.time(self.time());
        text.push(b'Z');
        write(text.as_str())
    }
}

/// A short text on the stack.
struct Text {
    bytes: [u8; 40],
    len: usize,
}

impl Text {
    fn new() -> Self {
        Text { bytes: [0; 40], len: 0 }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    #[inline]
    fn two(&mut self, value: u32) {
        self.push(b'0' + (value / 10) as u8);
        self.push(b'0' + (value % 10) as u8);
    }

    fn date(&mut self, date: Date) {
        let (year, month, day) = date.civil();
        // Years outside of 0000 to 9999 carry a sign and six or more digits, as ISO 8601 has it.
        if (0..=9999).contains(&year) {
            self.two(year as u32 / 100);
            self.two(year as u32 % 100);
        } else {
            self.push(if year < 0 { b'-' } else { b'+' });
            let mut buffer = itoa::Buffer::new();
            let digits = buffer.format(year.unsigned_abs());
            for _ in digits.len()..6 {
                self.push(b'0');
            }
            digits.bytes().for_each(|digit| self.push(digit));
        }
        self.push(b'-');
        self.two(month);
        self.push(b'-');
        self.two(day);
    }

    fn time(&mut self, time: Time) {
        let seconds = (time.0 / 1_000_000) as u32;
        let micros = (time.0 % 1_000_000) as u32;
        self.two(seconds / 3600);
        self.push(b':');
        self.two(seconds / 60 % 60);
        self.push(b':');
        self.two(seconds % 60);
        if micros != 0 {
            self.push(b'.');
            self.push(b'0' + (micros / 100_000) as u8);
            self.two(micros / 1000 % 100);
            if !micros.is_multiple_of(1000) {
                self.push(b'0' + (micros / 100 % 10) as u8);
                self.two(micros % 100);
            }
        }
    }

    fn as_str(&self) -> &str {
        // Only ASCII is ever pushed.
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::new();
        text.date(*self);
        f.write_str(text.as_str())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::new();
        text.time(*self);
        f.write_str(text.as_str())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.write_str(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> Option<i64> {
        Timestamp::parse(text).ok().map(|moment| moment.0)
    }

    /// C17: one documented rule, whatever the rows before looked like.
    #[test]
    fn the_forms_of_iso_8601() {
        let base = 1_714_557_600_000_000;
        for (text, expected) in [
            ("2024-05-01T10:00:00Z", Some(base)),
            ("2024-05-01T12:00:00+02:00", Some(base)),
            ("2024-05-01T10:00:00.1Z", Some(base + 100_000)),
            ("2024-05-01T10:00:00.123456789Z", Some(base + 123_456)),
            ("2024-05-01T10:00Z", Some(base)),
            ("2024-05-01 10:00:00", Some(base)),
            ("2024-05-01T05:00:00-0500", Some(base)),
            ("2024-05-01T11:00:00+01", Some(base)),
            ("2024-05-01", Some(base - 36_000_000_000)),
            ("2024-05-01T24:00:00Z", None),
            ("2016-12-31T23:59:60Z", None),
            ("2023-02-29", None),
            ("2024-02-29", Some(1_709_164_800_000_000)),
            ("2024-13-01", None),
            ("2024-05-00", None),
            ("2024-05-01T10:00:00.Z", None),
            ("2024-05-01T10:00:00Zx", None),
            ("2024-05-01X10:00:00Z", None),
            ("yesterday", None),
            ("", None),
            ("2024-05-01T", None),
            ("２０２４-05-01", None),
        ] {
            assert_eq!(micros(text), expected, "{text}");
        }
    }

    #[test]
    fn text_is_short_and_reads_back() {
        for text in [
            "2026-03-15T07:59:20Z",
            "2026-03-15T07:59:20.030Z",
            "2026-03-15T07:59:20.030001Z",
            "1969-12-31T23:59:59.999Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999Z",
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Timestamp(i64::MAX).to_string(), "+294247-01-10T04:00:54.775807Z");
        assert_eq!(Timestamp(i64::MIN).to_string(), "-290308-12-21T19:59:05.224192Z");
        assert_eq!(Date::parse("2026-03-15").unwrap().to_string(), "2026-03-15");
        assert_eq!(Time::parse("07:05").unwrap().to_string(), "07:05:00");
        assert_eq!(Date(i32::MAX).to_string(), "+5881580-07-11");
    }
}
