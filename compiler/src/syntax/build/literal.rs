//! Literals: numbers, durations, sizes, timestamps, strings.

use millstream_grammar::{Pair, Rule};

use super::Builder;
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::{duration, errors};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Units of durations, in microseconds.
const DURATIONS: &[(&str, i64)] = &[
    ("us", 1),
    ("ms", 1_000),
    ("s", MICROS_PER_SECOND),
    ("m", 60 * MICROS_PER_SECOND),
    ("h", 3_600 * MICROS_PER_SECOND),
    ("d", 86_400 * MICROS_PER_SECOND),
];

/// Units of sizes, in bytes.
const SIZES: &[(&str, u64)] = &[("B", 1), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40)];

impl Builder<'_> {
    /// `1_000`, `0xff`, `1.5`, `1.50d`, `1h30m`, `64MB`
    pub fn number(&mut self, pair: &Pair<'_, Rule>, span: Span) -> ExprKind {
        let text = pair.as_str();
        match number(text) {
            Ok(kind) => kind,
            Err((why, help)) => {
                let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
                self.report(match duration::meant(&text[..unit], &text[unit..]) {
                    Some(meant) => meant.on(errors::bad_literal(span, why, help), span),
                    None => errors::bad_literal(span, why, help),
                });
                ExprKind::Error
            }
        }
    }

    /// `@2026-01-01`, `@2026-01-01T00:00:00Z`
    pub fn timestamp(&mut self, pair: &Pair<'_, Rule>, span: Span) -> ExprKind {
        match timestamp(pair.as_str().trim_start_matches('@')) {
            Ok(kind) => kind,
            Err(why) => {
                let help = "write `@2026-01-31` for a date and `@2026-01-31T23:59:59Z` for a moment; fractions of a second and a zone like `+01:00` may follow";
                self.report(errors::bad_literal(span, format!("`{}` {why}", pair.as_str()), help));
                ExprKind::Error
            }
        }
    }

    /// The text of a `"string"`, escapes resolved; wrong ones are reported.
    pub fn string_text(&mut self, pair: &Pair<'_, Rule>) -> String {
        let span = pair.as_span();
        let text = pair.as_str();
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        self.unescape(inner, span.start() + 1)
    }

    /// `f"{carrier}-{day}"`
    pub fn f_string(&mut self, pair: Pair<'_, Rule>) -> ExprKind {
        let mut parts = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::f_text => {
                    let start = inner.as_span().start();
                    parts.push(FormatPart::Text(self.unescape(inner.as_str(), start).replace("{{", "{").replace("}}", "}")));
                }
                Rule::f_hole => parts.extend(self.only_expr(inner).map(FormatPart::Value)),
                _ => {}
            }
        }
        ExprKind::Format(parts)
    }

    /// Resolves escapes; `start` is where the text stands in the parsed text.
    fn unescape(&mut self, text: &str, start: usize) -> String {
        let mut plain = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            plain.push_str(&rest[..at]);
            let escape = &rest[at..];
            let offset = start + text.len() - escape.len();
            let (value, length) = escaped(escape);
            match value {
                Some(value) => plain.push(value),
                None => {
                    let span = self.at(offset, offset + length);
                    self.report(errors::bad_escape(span, &escape[..length]));
                }
            }
            rest = &escape[length..];
        }
        plain.push_str(rest);
        plain
    }
}

/// The character that an escape stands for, and the bytes it takes.
fn escaped(text: &str) -> (Option<char>, usize) {
    let Some(kind) = text[1..].chars().next() else { return (None, 1) };
    let simple = |value| (Some(value), 2);
    match kind {
        'n' => simple('\n'),
        't' => simple('\t'),
        'r' => simple('\r'),
        '0' => simple('\0'),
        '\\' | '"' => simple(kind),
        'u' => match text[2..].strip_prefix('{').and_then(|digits| digits.split_once('}')) {
            Some((digits, _)) => (u32::from_str_radix(digits, 16).ok().and_then(char::from_u32), digits.len() + 4),
            None => (None, 2),
        },
        _ => (None, 1 + kind.len_utf8()),
    }
}

type Wrong = (String, &'static str);

/// The value of a number, a duration or a size.
pub fn number(text: &str) -> Result<ExprKind, Wrong> {
    let plain = text.replace('_', "");
    if let Some(digits) = plain.strip_prefix("0x") {
        let value = u128::from_str_radix(digits, 16);
        return value
            .map(ExprKind::Int)
            .map_err(|_| (format!("`{text}` is not a hexadecimal number"), "write digits 0 to 9 and a to f, as in `0xff`"));
    }
    if plain.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = plain.parse();
        return value
            .map(ExprKind::Int)
            .map_err(|_| (format!("`{text}` is too large for any integer type"), "write `1e40` for a float"));
    }
    let letters = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
    let (digits, unit) = plain.split_at(letters);
    let fraction = digits.contains('.');
    if let (true, "d") = (fraction, unit) {
        return decimal(text, digits);
    }
    if let Some((_, bytes)) = SIZES.iter().find(|(name, _)| *name == unit) {
        let size = if fraction { None } else { digits.parse::<u64>().ok().and_then(|count| count.checked_mul(*bytes)) };
        return size
            .map(ExprKind::Size)
            .ok_or((format!("`{text}` is not a size"), "write a whole number and a unit: `512KB`, `64MB`, `2GB`"));
    }
    if unit.is_empty() || unit.starts_with(['e', 'E']) {
        let value = plain.parse::<f64>().ok().filter(|value| value.is_finite());
        return value.map(ExprKind::Float).ok_or((format!("`{text}` is not a number"), "write it like `1.5` or `1.5e9`"));
    }
    duration(text, &plain)
}

fn decimal(text: &str, digits: &str) -> Result<ExprKind, Wrong> {
    let wrong = || (format!("`{text}` is not a decimal"), "a decimal has at most 38 digits, as in `1.50d`");
    let (whole, fraction) = digits.split_once('.').ok_or_else(wrong)?;
    let unscaled: i128 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
    let scale = u8::try_from(fraction.len()).ok().filter(|scale| *scale <= 38).ok_or_else(wrong)?;
    if fraction.contains('.') || unscaled >= 10_i128.pow(38) {
        return Err(wrong());
    }
    Ok(ExprKind::Decimal { unscaled, scale })
}

fn duration(text: &str, plain: &str) -> Result<ExprKind, Wrong> {
    const HELP: &str = "durations are whole numbers with the units us, ms, s, m, h, d: `250ms`, `5s`, `1h30m`";
    let wrong = || (format!("`{text}` is not a number or a duration"), HELP);
    let (mut rest, mut total, mut last) = (plain, 0_i64, i64::MAX);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let count: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (_, micros) = DURATIONS.iter().find(|(name, _)| *name == &rest[..letters]).ok_or_else(wrong)?;
        if *micros >= last {
            return Err((format!("the units of `{text}` are not in order"), "write the larger unit first, each once: `1h30m`"));
        }
        last = *micros;
        rest = &rest[letters..];
        let part = count.checked_mul(*micros);
        total = part.and_then(|part| total.checked_add(part)).ok_or((format!("`{text}` is too long for a duration"), HELP))?;
    }
    Ok(ExprKind::Duration(total))
}

fn timestamp(text: &str) -> Result<ExprKind, &'static str> {
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let days = days(date)?;
    let Some(time) = time else { return Ok(ExprKind::Date(days)) };
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => (&time[..at], zone(&time[at..])?),
        None => (time, 0),
    };
    let micros = i64::from(days)
        .checked_mul(86_400 * MICROS_PER_SECOND)
        .and_then(|midnight| midnight.checked_add(time_of_day(clock).ok()?))
        .and_then(|local| local.checked_sub(offset));
    time_of_day(clock)?;
    micros.map(ExprKind::Timestamp).ok_or("is out of range")
}

/// Days since 1970-01-01.
fn days(text: &str) -> Result<i32, &'static str> {
    let mut parts = text.split('-').map(|part| (part.len(), part.parse::<i64>().ok()));
    let (Some((4, Some(year))), Some((2, Some(month))), Some((2, Some(day))), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err("is not a date: it should be year-month-day, as `2026-01-31`");
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return Err("has no such month"),
    };
    if !(1..=length).contains(&day) {
        return Err("has no such day");
    }
    // Days from civil: years begin in March, so that the leap day is the last one.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    i32::try_from(days).map_err(|_| "is out of range")
}

/// Microseconds since midnight of `23:59:59.123456`.
fn time_of_day(text: &str) -> Result<i64, &'static str> {
    const WRONG: &str = "has no such time of day";
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':').map(|part| if part.len() == 2 { part.parse::<i64>().ok() } else { None });
    let (Some(Some(hour)), Some(Some(minute))) = (parts.next(), parts.next()) else { return Err(WRONG) };
    let second = parts.next().unwrap_or(Some(0)).ok_or(WRONG)?;
    let digits = fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 || !digits {
        return Err(WRONG);
    }
    let micros: i64 = format!("{fraction:0<6}").parse().map_err(|_| WRONG)?;
    Ok((hour * 3_600 + minute * 60 + second) * MICROS_PER_SECOND + micros)
}

/// Microseconds east of UTC of `Z` or `+01:00`.
fn zone(text: &str) -> Result<i64, &'static str> {
    const WRONG: &str = "has no such zone";
    if text.eq_ignore_ascii_case("z") {
        return Ok(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hour, minute) = text[1..].split_once(':').ok_or(WRONG)?;
    let (hour, minute): (i64, i64) = (hour.parse().map_err(|_| WRONG)?, minute.parse().map_err(|_| WRONG)?);
    if !(0..=14).contains(&hour) || !(0..=59).contains(&minute) {
        return Err(WRONG);
    }
    Ok(sign * (hour * 3_600 + minute * 60) * MICROS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_durations_and_sizes() {
        assert_eq!(number("1_000").ok(), Some(ExprKind::Int(1_000)));
        assert_eq!(number("0xff").ok(), Some(ExprKind::Int(255)));
        assert_eq!(number("1.5e3").ok(), Some(ExprKind::Float(1_500.0)));
        assert_eq!(number("1.50d").ok(), Some(ExprKind::Decimal { unscaled: 150, scale: 2 }));
        assert_eq!(number("1h30m").ok(), Some(ExprKind::Duration(5_400 * MICROS_PER_SECOND)));
        assert_eq!(number("7d").ok(), Some(ExprKind::Duration(7 * 86_400 * MICROS_PER_SECOND)));
        assert_eq!(number("64MB").ok(), Some(ExprKind::Size(64 << 20)));
        for wrong in ["12abc", "0xfg", "1.5h", "30m1h", "1.2.3d", "1e999", "99999999999999999d", "1h30"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn timestamps_and_dates() {
        assert_eq!(timestamp("1970-01-02"), Ok(ExprKind::Date(1)));
        assert_eq!(timestamp("2000-03-01"), Ok(ExprKind::Date(11_017)));
        assert_eq!(timestamp("2026-01-01T00:00:00Z"), Ok(ExprKind::Timestamp(1_767_225_600 * MICROS_PER_SECOND)));
        assert_eq!(timestamp("1970-01-01T01:00:00.25+01:00"), Ok(ExprKind::Timestamp(250_000)));
        for wrong in ["2026-13-01", "2026-02-29", "2026-1-1", "2026-01-01T25:00", "2026-01-01T00:00:00+99:00", "2026-01-01Tx"] {
            assert!(timestamp(wrong).is_err(), "{wrong}");
        }
    }
}
