//! Durations as people write them elsewhere, `1 week` and `2w`: what is meant.

use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// What a number and the name of a unit stand for.
pub(super) enum Meant {
    /// A length of time: `7d`.
    Length(String),
    /// No length of time: months differ. The unit of `calendar`.
    Calendar(&'static str),
}

/// Units by all their names, with their length in the language's own.
const LENGTHS: &[(&[&str], u64, &str)] = &[
    (&["microsecond", "microseconds", "micros", "usec"], 1, "us"),
    (&["millisecond", "milliseconds", "millis", "msec"], 1, "ms"),
    (&["second", "seconds", "sec", "secs"], 1, "s"),
    (&["minute", "minutes", "min", "mins"], 1, "m"),
    (&["hour", "hours", "hr", "hrs"], 1, "h"),
    (&["day", "days"], 1, "d"),
    (&["week", "weeks", "w", "wk", "wks"], 7, "d"),
    (&["us", "ms", "s", "m", "h", "d"], 1, ""),
];

const CALENDAR: &[(&[&str], &str)] = &[
    (&["month", "months", "mo", "mon"], "month"),
    (&["quarter", "quarters", "q"], "quarter"),
    (&["year", "years", "y", "yr", "yrs"], "year"),
];

/// What `1 week` means; None: it is no duration.
pub(super) fn meant(count: &str, unit: &str) -> Option<Meant> {
    let unit = unit.to_ascii_lowercase();
    let count: u64 = count.parse().ok()?;
    if let Some((_, unit)) = CALENDAR.iter().find(|(names, _)| names.contains(&unit.as_str())) {
        return Some(Meant::Calendar(unit));
    }
    let (_, times, own) = LENGTHS.iter().find(|(names, ..)| names.contains(&unit.as_str()))?;
    let own = if own.is_empty() { unit.as_str() } else { own };
    let text = format!("{}{own}", count.checked_mul(*times)?);
    Some(Meant::Length(text))
}

impl Meant {
    /// What to write instead.
    fn help(&self) -> String {
        match self {
            Meant::Length(text) if text.ends_with('d') => format!(
                "write `{text}`; windows that go by the calendar of a time zone are `calendar(day, zone: \"..\")` and `calendar(week, zone: \"..\")`"
            ),
            Meant::Length(text) => format!("write `{text}`"),
            Meant::Calendar(unit) => format!(
                "a {unit} is no fixed time: write days, such as `30d`, or, behind `over`, the window `calendar({unit}, zone: \"America/New_York\")`"
            ),
        }
    }

    /// Says so, with the fix.
    pub fn on(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        let diagnostic = diagnostic.with_help(self.help());
        match self {
            Meant::Length(text) => diagnostic.with_fix(format!("write `{text}`"), span, text, false),
            Meant::Calendar(_) => diagnostic,
        }
    }
}
