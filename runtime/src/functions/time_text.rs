//! `format_time`, `parse_time`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "time",
        "format_time(time: timestamp, pattern: string) -> string",
        "A moment as text, in UTC.\n\nThe pattern has Java's letters: `yyyy` year, `MM` month (`MMM` Mar, `MMMM` March), `dd` day, `D` day of the year, `EEE` Sun (`EEEE` \
         Sunday), `e` day of the week (1 Monday), `Q` quarter, `HH` hour, `hh` hour of the half day with `a` AM or PM, `mm` minute, `ss` second, `SSS` fraction, `X` Z. \
         One letter is without leading zeros. Text stands in single quotes; other characters stand for themselves; an unknown letter is an error.",
        &[("format_time(@2026-03-15T07:59:20Z, \"yyyy-MM-dd\")", "\"2026-03-15\""), ("format_time(@2026-03-15T07:59:20Z, \"HH:mm\")", "\"07:59\"")],
    )
    .fallible()
    .checked("pattern", super::pattern::check),
    FunctionSpec::new(
        "time",
        "parse_time(text: string, pattern: string) -> timestamp?",
        "The moment that a text stands for, in UTC; null where it does not follow the pattern or there is no such moment.\n\nThe pattern is that of `format_time`. What it does not \
         name is taken from 1970-01-01T00:00:00. For RFC 3339 use a cast.",
        &[("parse_time(\"15.03.2026 7:59\", \"dd.MM.yyyy H:mm\")", "@2026-03-15T07:59:00Z"), ("parse_time(\"30.02.2026\", \"dd.MM.yyyy\")", "null")],
    )
    .fallible()
    .checked("pattern", super::pattern::check),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::functions::pattern::{MONTHS, Part, Parts, WEEKDAYS};
    use crate::functions::{day_of_year, quarter};
    use crate::value::{Date, EvalError, MICROS_PER_DAY, Str, Timestamp, days_from_civil, days_in_month};

    /// Appends a number with at least this many digits.
    fn push(out: &mut Str, value: i64, width: usize) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(value.unsigned_abs());
        if value < 0 {
            out.push('-');
        }
        for _ in digits.len()..width {
            out.push('0');
        }
        out.push_str(digits);
    }

    /// A moment as text.
    pub fn format_time(time: Timestamp, pattern: &str) -> Result<Str, EvalError> {
        let mut out = Str::default();
        let (year, month, day) = time.date().civil();
        let micros = time.time().0;
        let seconds = micros / 1_000_000;
        for part in Parts(pattern) {
            match part.map_err(EvalError::new)? {
                Part::Text(text) => out.push_str(text),
                Part::Year(2) => push(&mut out, year.rem_euclid(100) as i64, 2),
                Part::Year(width) => push(&mut out, year as i64, width),
                Part::Month(width) => push(&mut out, month as i64, width),
                Part::MonthShort => out.push_str(&MONTHS[month as usize - 1][..3]),
                Part::MonthName => out.push_str(MONTHS[month as usize - 1]),
                Part::Day(width) => push(&mut out, day as i64, width),
                Part::DayOfYear(width) => push(&mut out, day_of_year(time), width),
                Part::WeekdayShort => out.push_str(&WEEKDAYS[time.date().weekday() as usize - 1][..3]),
                Part::WeekdayName => out.push_str(WEEKDAYS[time.date().weekday() as usize - 1]),
                Part::Weekday => push(&mut out, time.date().weekday() as i64, 1),
                Part::Quarter => push(&mut out, quarter(time), 1),
                Part::Hour(width) => push(&mut out, seconds / 3600, width),
                Part::HourOfHalf(width) => push(&mut out, (seconds / 3600 + 11) % 12 + 1, width),
                Part::Half => out.push_str(if seconds < 43_200 { "AM" } else { "PM" }),
                Part::Minute(width) => push(&mut out, seconds / 60 % 60, width),
                Part::Second(width) => push(&mut out, seconds % 60, width),
                Part::Zone => out.push('Z'),
                Part::Fraction(width) => {
                    let nanos = micros % 1_000_000 * 1000;
                    push(&mut out, nanos / 10i64.pow(9 - width as u32), width);
                }
            }
        }
        Ok(out)
    }

    /// What has been read of a moment.
    struct Fields {
        year: i64,
        month: i64,
        day: i64,
        day_of_year: Option<i64>,
        hour: i64,
        afternoon: Option<bool>,
        minute: i64,
        second: i64,
        micros: i64,
    }

    /// The moment that a text stands for.
    pub fn parse_time(text: &str, pattern: &str) -> Result<Option<Timestamp>, EvalError> {
        // The whole pattern is checked first: a mistake in it is one for every text.
        for part in Parts(pattern) {
            part.map_err(EvalError::new)?;
        }
        Ok(read(text, pattern))
    }

    fn read(mut text: &str, pattern: &str) -> Option<Timestamp> {
        let mut fields =
            Fields { year: 1970, month: 1, day: 1, day_of_year: None, hour: 0, afternoon: None, minute: 0, second: 0, micros: 0 };
        let mut parts = Parts(pattern).map_while(Result::ok).peekable();
        while let Some(part) = parts.next() {
            // Next to another number a number has exactly the width that the pattern gives.
            let adjacent =
                parts.peek().is_some_and(|next| !matches!(next, Part::Text(_) | Part::Half | Part::MonthShort | Part::MonthName));
            let mut number = |width: usize, most: usize| digits(&mut text, width, if adjacent { width } else { most });
            match part {
                Part::Text(expected) => text = text.strip_prefix(expected)?,
                Part::Year(2) => fields.year = 2000 + number(2, 2)?,
                Part::Year(width) => fields.year = number(width, width.max(4))?,
                Part::Month(width) => fields.month = number(width, 2)?,
                Part::MonthShort => fields.month = name(&mut text, MONTHS.iter().map(|month| &month[..3]))?,
                Part::MonthName => fields.month = name(&mut text, MONTHS.iter().copied())?,
                Part::Day(width) => fields.day = number(width, 2)?,
                Part::DayOfYear(width) => fields.day_of_year = Some(number(width, 3)?),
                Part::WeekdayShort => drop(name(&mut text, WEEKDAYS.iter().map(|day| &day[..3]))?),
                Part::WeekdayName => drop(name(&mut text, WEEKDAYS.iter().copied())?),
                Part::Weekday | Part::Quarter => drop(number(1, 1)?),
                Part::Hour(width) => fields.hour = number(width, 2)?,
                Part::HourOfHalf(width) => fields.hour = number(width, 2).filter(|hour| (1..=12).contains(hour))? % 12,
                Part::Half => fields.afternoon = Some(name(&mut text, ["AM", "PM"].into_iter())? == 2),
                Part::Minute(width) => fields.minute = number(width, 2)?,
                Part::Second(width) => fields.second = number(width, 2)?,
                Part::Zone => text = text.strip_prefix('Z')?,
                Part::Fraction(width) => {
                    let value = digits(&mut text, width, width)?;
                    fields.micros =
                        if width <= 6 { value * 10i64.pow(6 - width as u32) } else { value / 10i64.pow(width as u32 - 6) };
                }
            }
        }
        if text.is_empty() { fields.moment() } else { None }
    }

    /// A number of `least` to `most` digits.
    fn digits(text: &mut &str, least: usize, most: usize) -> Option<i64> {
        let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (taken, rest) = text.split_at(count);
        *text = rest;
        (count >= least).then(|| taken.parse().ok())?
    }

    /// The number, from 1, of the name that the text begins with, in any case.
    fn name<'a>(text: &mut &str, names: impl Iterator<Item = &'a str>) -> Option<i64> {
        for (index, name) in names.enumerate() {
            if let Some(start) = text.get(..name.len())
                && start.eq_ignore_ascii_case(name)
            {
                *text = &text[name.len()..];
                return Some(index as i64 + 1);
            }
        }
        None
    }

    impl Fields {
        fn moment(&self) -> Option<Timestamp> {
            let (year, month) = (i32::try_from(self.year).ok()?, u32::try_from(self.month).ok()?);
            let days = match self.day_of_year {
                Some(day) => {
                    let first = days_from_civil(year, 1, 1);
                    let length = (days_from_civil(year + 1, 1, 1) - first) as i64;
                    first + i32::try_from(day).ok().filter(|_| (1..=length).contains(&day))? - 1
                }
                None => {
                    let day = u32::try_from(self.day).ok()?;
                    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
                        return None;
                    }
                    days_from_civil(year, month, day)
                }
            };
            let hour = self.hour + if self.afternoon == Some(true) && self.hour < 12 { 12 } else { 0 };
            if hour > 23 || self.minute > 59 || self.second > 59 {
                return None;
            }
            let micros = ((hour * 60 + self.minute) * 60 + self.second) * 1_000_000 + self.micros;
            Some(Timestamp(Date(days).0 as i64 * MICROS_PER_DAY + micros))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn at(text: &str) -> Timestamp {
            Timestamp::parse(text).unwrap()
        }

        #[test]
        fn letters_as_in_java() {
            let time = at("2026-03-05T07:09:02.034567Z");
            for (pattern, expected) in [
                ("yyyy-MM-dd", "2026-03-05"),
                ("HH:mm", "07:09"),
                ("yy/M/d H:m:s", "26/3/5 7:9:2"),
                ("EEE, d MMM yyyy hh:mm a", "Thu, 5 Mar 2026 07:09 AM"),
                ("EEEE d. MMMM", "Thursday 5. March"),
                ("yyyyMMddHHmmssSSS", "20260305070902034"),
                ("S SSSSSS SSSSSSSSS", "0 034567 034567000"),
                ("yyyy-MM-dd'T'HH 'o''clock'", "2026-03-05T07 o'clock"),
                ("HH:mmX", "07:09Z"),
                ("DDD D e Q", "064 64 4 1"),
                ("", ""),
                ("数 é", "数 é"),
            ] {
                assert_eq!(format_time(time, pattern).unwrap(), expected, "{pattern}");
            }
            assert_eq!(format_time(at("2026-03-05T12:00:00Z"), "h a").unwrap(), "12 PM");
            assert_eq!(format_time(at("2026-03-05T00:00:00Z"), "h a").unwrap(), "12 AM");
            for pattern in ["YYYY", "yyyy-mm-DDDD", "T", "'open", "%Y"] {
                assert!(format_time(time, pattern).is_err(), "{pattern}");
            }
        }

        #[test]
        fn what_was_written_is_read() {
            let time = at("2026-03-05T17:09:02.034Z");
            for pattern in
                ["yyyyMMddHHmmssSSS", "EEE, d MMM yyyy hh:mm:ss.SSS a", "D yyyy H.m.s,SSS", "EEEE d. MMMM yyyy h:mm:ss.SSS a"]
            {
                assert_eq!(parse_time(&format_time(time, pattern).unwrap(), pattern), Ok(Some(time)), "{pattern}");
            }
            assert_eq!(parse_time("15.03.2026 7:59", "dd.MM.yyyy H:mm"), Ok(Some(at("2026-03-15T07:59:00Z"))));
            assert_eq!(parse_time("07:59", "HH:mm"), Ok(Some(at("1970-01-01T07:59:00Z"))));
            for (text, pattern) in [
                ("30.02.2026", "dd.MM.yyyy"),
                ("1.3.2026", "dd.MM.yyyy"),
                ("2026-03-15x", "yyyy-MM-dd"),
                ("", "yyyy"),
                ("24:00", "HH:mm"),
                ("13 PM", "hh a"),
                ("366 2026", "D yyyy"),
                ("é", "yyyy"),
            ] {
                assert_eq!(parse_time(text, pattern), Ok(None), "{text}");
            }
            assert!(parse_time("", "x").is_err());
        }
    }
}
