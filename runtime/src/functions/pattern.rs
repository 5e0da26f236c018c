//! Patterns of dates and times: `yyyy-MM-dd HH:mm:ss`.
//!
//! The letters are those of Java's `DateTimeFormatter`, which Flink and Spark use too. A letter that is not known is an
//! error, so that a mistake does not go unseen; text stands in quotes (`'T'`, `''` is a quote), other characters for
//! themselves.

/// One part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "engine"), allow(dead_code))]
pub(super) enum Part<'a> {
    /// Characters that stand for themselves.
    Text(&'a str),
    /// `y`, `u`: two digits, or at least this many.
    Year(usize),
    /// `M`, `L`: digits.
    Month(usize),
    /// `MMM`
    MonthShort,
    /// `MMMM`
    MonthName,
    /// `d`
    Day(usize),
    /// `D`
    DayOfYear(usize),
    /// `E`, `EEE`
    WeekdayShort,
    /// `EEEE`
    WeekdayName,
    /// `e`: 1 Monday to 7 Sunday.
    Weekday,
    /// `Q`
    Quarter,
    /// `H`, 0 to 23
    Hour(usize),
    /// `h`, 1 to 12
    HourOfHalf(usize),
    /// `a`: AM, PM
    Half,
    /// `m`
    Minute(usize),
    /// `s`
    Second(usize),
    /// `S`: this many fraction digits.
    Fraction(usize),
    /// `X`: always Z.
    Zone,
}

#[cfg(feature = "engine")]
pub(super) const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
#[cfg(feature = "engine")]
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// What is wrong with a pattern.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    Parts(pattern).try_for_each(|part| part.map(drop))
}

/// The parts of a pattern, one after the other.
pub(super) struct Parts<'a>(pub &'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = Result<Part<'a>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let pattern = self.0;
        let first = pattern.chars().next()?;
        if first == '\'' {
            let rest = &pattern[1..];
            let Some(end) = rest.find('\'') else {
                self.0 = "";
                return Some(Err(format!("a quote is not closed in the pattern: `{pattern}`")));
            };
            self.0 = &rest[end + 1..];
            return Some(Ok(Part::Text(match end {
                0 => "'",
                // A doubled quote inside: the second one opens what follows.
                _ if self.0.starts_with('\'') => &rest[..=end],
                _ => &rest[..end],
            })));
        }
        if !first.is_ascii_alphabetic() {
            let end = pattern.find(|c: char| c.is_ascii_alphabetic() || c == '\'').unwrap_or(pattern.len());
            self.0 = &pattern[end..];
            return Some(Ok(Part::Text(&pattern[..end])));
        }
        let count = pattern.len() - pattern.trim_start_matches(first).len();
        self.0 = &pattern[count..];
        Some(Ok(match (first, count) {
            ('y' | 'u', 1..=6) => Part::Year(count),
            ('M' | 'L', 1..=2) => Part::Month(count),
            ('M' | 'L', 3) => Part::MonthShort,
            ('M' | 'L', 4) => Part::MonthName,
            ('d', 1..=2) => Part::Day(count),
            ('D', 1..=3) => Part::DayOfYear(count),
            ('E', 1..=3) => Part::WeekdayShort,
            ('E', 4) => Part::WeekdayName,
            ('e', 1) => Part::Weekday,
            ('Q', 1) => Part::Quarter,
            ('H', 1..=2) => Part::Hour(count),
            ('h', 1..=2) => Part::HourOfHalf(count),
            ('a', 1) => Part::Half,
            ('m', 1..=2) => Part::Minute(count),
            ('s', 1..=2) => Part::Second(count),
            ('S', 1..=9) => Part::Fraction(count),
            ('X', 1..=3) => Part::Zone,
            _ => {
                return Some(Err(format!(
                    "`{0}` means nothing in a time pattern; known are y M d D E e Q H h a m s S X; text stands in quotes: '{0}'",
                    &pattern[..count]
                )));
            }
        }))
    }
}
