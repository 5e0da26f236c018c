//! `year` to `microsecond`, `day_of_week`, `date`, `time_of`, `date_trunc`, and the like

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new("time", "date(time: timestamp) -> date", "The day of a moment, in UTC.", &[("date(@2026-03-15T07:59:20Z)", "@2026-03-15")]),
    FunctionSpec::new("time", "time_of(time: timestamp) -> time", "The time of day of a moment, in UTC.", &[("cast(time_of(@2026-03-15T07:59:20Z), string)", "\"07:59:20\"")]),
    FunctionSpec::new("time", "year(time: timestamp) -> int64", "The year, in UTC.", &[("year(@2026-03-15)", "2026")]),
    FunctionSpec::new("time", "quarter(time: timestamp) -> int64", "The quarter of the year, 1 to 4.", &[("quarter(@2026-03-15)", "1")]),
    FunctionSpec::new("time", "month(time: timestamp) -> int64", "The month, 1 to 12.", &[("month(@2026-03-15)", "3")]),
    FunctionSpec::new("time", "week(time: timestamp) -> int64", "The week of the year as ISO 8601 counts, 1 to 53.", &[("week(@2026-01-01)", "1")]),
    FunctionSpec::new("time", "day(time: timestamp) -> int64", "The day of the month, 1 to 31.", &[("day(@2026-03-15)", "15")]),
    FunctionSpec::new("time", "day_of_week(time: timestamp) -> int64", "The day of the week, 1 (Monday) to 7 (Sunday).", &[("day_of_week(@2026-03-15)", "7")]),
    FunctionSpec::new("time", "day_of_year(time: timestamp) -> int64", "The day of the year, 1 to 366.", &[("day_of_year(@2026-03-15)", "74")]),
    FunctionSpec::new("time", "hour(time: timestamp) -> int64", "The hour of the day, 0 to 23, in UTC.", &[("hour(@2026-03-15T07:59:20Z)", "7")]),
    FunctionSpec::new("time", "minute(time: timestamp) -> int64", "The minute of the hour, 0 to 59.", &[("minute(@2026-03-15T07:59:20Z)", "59")]),
    FunctionSpec::new("time", "second(time: timestamp) -> int64", "The second of the minute, 0 to 59.", &[("second(@2026-03-15T07:59:20Z)", "20")]),
    FunctionSpec::new("time", "millisecond(time: timestamp) -> int64", "The millisecond of the second, 0 to 999.", &[("millisecond(@2026-03-15T07:59:20.030Z)", "30")]),
    FunctionSpec::new("time", "microsecond(time: timestamp) -> int64", "The microsecond of the second, 0 to 999999.", &[("microsecond(@2026-03-15T07:59:20.030Z)", "30000")]),
    FunctionSpec::new(
        "time",
        "date_trunc(time: timestamp, unit: string) -> timestamp",
        "The start of the unit in which a moment lies, in UTC.\n\nUnits: microsecond, millisecond, second, minute, hour, day, week (from Monday), month, quarter, year.",
        &[("date_trunc(@2026-03-15T07:59:20Z, \"hour\")", "@2026-03-15T07:00:00Z"), ("date_trunc(@2026-03-15T07:59:20Z, \"month\")", "cast(@2026-03-01, timestamp)")],
    )
    .fallible(),
    FunctionSpec::new("time", "make_date(year: int64, month: int64, day: int64) -> date?", "The date of a year, a month and a day; null if there is no such day.", &[("make_date(2026, 2, 30)", "null")]),
    FunctionSpec::new(
        "time",
        "add_months(time: timestamp, months: int64) -> timestamp",
        "The moment this many months later; where that month is shorter, its last day.",
        &[("cast(add_months(@2026-01-31, 1), date)", "@2026-02-28")],
    )
    .fallible(),
    FunctionSpec::new(
        "time",
        "months_between(start: timestamp, end: timestamp) -> int64",
        "The whole months from `start` to `end`; negative where `end` is earlier. A month is whole when its day and time have come.",
        &[("months_between(@2026-01-31, @2026-03-30)", "1"), ("months_between(@2026-03-15, @2025-03-15)", "-12")],
    ),
    FunctionSpec::new(
        "time",
        "days_between(start: date, end: date) -> int64",
        "The days from `start` to `end`; negative where `end` is earlier.",
        &[("days_between(@2026-02-28, @2026-03-01)", "1")],
    ),
    FunctionSpec::new(
        "time",
        "last_day(time: timestamp) -> date",
        "The last day of the month.",
        &[("last_day(@2024-02-10)", "@2024-02-29")],
    ),
    FunctionSpec::new(
        "time",
        "time_bucket(time: timestamp, size: duration) -> timestamp",
        "The start of the piece of time in which the moment lies, where time is cut into pieces of this size from 1970-01-01 on: \
         the start of its tumbling window.",
        &[("time_bucket(@2026-03-15T07:59:20Z, 15m)", "@2026-03-15T07:45:00Z")],
    )
    .fallible(),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::{Date, Duration, EvalError, MICROS_PER_DAY, Time, Timestamp, days_from_civil, days_in_month};

    /// The day of a moment.
    #[inline]
    pub fn date(time: Timestamp) -> Date {
        time.date()
    }

    /// The time of day.
    #[inline]
    pub fn time_of(time: Timestamp) -> Time {
        time.time()
    }

    fn civil(time: Timestamp) -> (i32, u32, u32) {
        time.date().civil()
    }

    /// The year.
    pub fn year(time: Timestamp) -> i64 {
        civil(time).0 as i64
    }

    /// The quarter of the year.
    pub fn quarter(time: Timestamp) -> i64 {
        (civil(time).1 as i64 + 2) / 3
    }

    /// The month.
    pub fn month(time: Timestamp) -> i64 {
        civil(time).1 as i64
    }

    /// The week of the year: that of its Thursday.
    pub fn week(time: Timestamp) -> i64 {
        let date = time.date();
        let thursday = Date(date.0 + 4 - date.weekday() as i32);
        let start = days_from_civil(thursday.civil().0, 1, 1);
        ((thursday.0 - start) / 7 + 1) as i64
    }

    /// The day of the month.
    pub fn day(time: Timestamp) -> i64 {
        civil(time).2 as i64
    }

    /// The day of the week, from Monday.
    pub fn day_of_week(time: Timestamp) -> i64 {
        time.date().weekday() as i64
    }

    /// The day of the year.
    pub fn day_of_year(time: Timestamp) -> i64 {
        (time.date().0 - days_from_civil(civil(time).0, 1, 1) + 1) as i64
    }

    /// The hour of the day.
    #[inline]
    pub fn hour(time: Timestamp) -> i64 {
        time.time().0 / 3_600_000_000
    }

    /// The minute of the hour.
    #[inline]
    pub fn minute(time: Timestamp) -> i64 {
        time.time().0 / 60_000_000 % 60
    }

    /// The second of the minute.
    #[inline]
    pub fn second(time: Timestamp) -> i64 {
        time.time().0 / 1_000_000 % 60
    }

    /// The millisecond of the second.
    #[inline]
    pub fn millisecond(time: Timestamp) -> i64 {
        time.time().0 / 1000 % 1000
    }

    /// The microsecond of the second.
    #[inline]
    pub fn microsecond(time: Timestamp) -> i64 {
        time.time().0 % 1_000_000
    }

    fn midnight(days: i64) -> Result<Timestamp, EvalError> {
        days.checked_mul(MICROS_PER_DAY).map(Timestamp).ok_or_else(|| EvalError::overflow("timestamp"))
    }

    /// The start of the unit.
    pub fn date_trunc(time: Timestamp, unit: &str) -> Result<Timestamp, EvalError> {
        let (year, month, _) = civil(time);
        let micros = match unit {
            "microsecond" => 1,
            "millisecond" => 1000,
            "second" => 1_000_000,
            "minute" => 60_000_000,
            "hour" => 3_600_000_000,
            "day" => MICROS_PER_DAY,
            "week" => return midnight(time.date().0 as i64 + 1 - day_of_week(time)),
            "month" => return midnight(days_from_civil(year, month, 1) as i64),
            "quarter" => return midnight(days_from_civil(year, (month - 1) / 3 * 3 + 1, 1) as i64),
            "year" => return midnight(days_from_civil(year, 1, 1) as i64),
            other => {
                return Err(EvalError::new(format!(
                    "unknown unit `{other}`: use microsecond, millisecond, second, minute, hour, day, week, month, quarter or year"
                )));
            }
        };
        time.0.checked_sub(time.0.rem_euclid(micros)).map(Timestamp).ok_or_else(|| EvalError::overflow("timestamp"))
    }

    /// The date of a year, a month and a day.
    pub fn make_date(year: i64, month: i64, day: i64) -> Option<Date> {
        let year = i32::try_from(year).ok().filter(|year| (-9999..=9999).contains(year))?;
        let month = u32::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        let day = u32::try_from(day).ok().filter(|day| (1..=days_in_month(year, month)).contains(day))?;
        Some(Date(days_from_civil(year, month, day)))
    }

    /// The moment some months later.
    pub fn add_months(time: Timestamp, months: i64) -> Result<Timestamp, EvalError> {
        let overflow = || EvalError::overflow("timestamp");
        let (year, month, day) = civil(time);
        let month = (year as i64 * 12 + month as i64 - 1).checked_add(months).ok_or_else(overflow)?;
        let year = i32::try_from(month.div_euclid(12)).ok().filter(|year| year.abs() < 300_000).ok_or_else(overflow)?;
        let month = month.rem_euclid(12) as u32 + 1;
        let days = days_from_civil(year, month, day.min(days_in_month(year, month)));
        midnight(days as i64)?.0.checked_add(time.time().0).map(Timestamp).ok_or_else(overflow)
    }

    /// The whole months between two moments.
    pub fn months_between(start: Timestamp, end: Timestamp) -> i64 {
        let place = |time: Timestamp| {
            let (year, month, day) = civil(time);
            (year as i64 * 12 + month as i64, (day, time.time().0))
        };
        let ((first, from), (last, to)) = (place(start), place(end));
        // A month that has begun does not count.
        last - first - (last > first && to < from) as i64 + (last < first && to > from) as i64
    }

    /// The days between two dates.
    #[inline]
    pub fn days_between(start: Date, end: Date) -> i64 {
        end.0 as i64 - start.0 as i64
    }

    /// The last day of the month.
    pub fn last_day(time: Timestamp) -> Date {
        let (year, month, _) = civil(time);
        Date(days_from_civil(year, month, days_in_month(year, month)))
    }

    /// The start of the piece of time.
    pub fn time_bucket(time: Timestamp, size: Duration) -> Result<Timestamp, EvalError> {
        if size.0 <= 0 {
            return Err(EvalError::new(format!("time cannot be cut into pieces of {size}")));
        }
        time.0.checked_sub(time.0.rem_euclid(size.0)).map(Timestamp).ok_or_else(|| EvalError::overflow("timestamp"))
    }

    #[test]
    fn distances() {
        let at = |text| Timestamp::parse(text).unwrap();
        for (start, end, months) in [
            ("2026-01-31", "2026-02-28", 0),
            ("2026-01-31", "2026-03-31", 2),
            ("2026-01-15T10:00:00Z", "2026-02-15T09:59:59Z", 0),
            ("2026-02-15T09:59:59Z", "2026-01-15T10:00:00Z", 0),
            ("2026-03-15", "2025-03-15", -12),
            ("2026-03-15", "2026-03-01", 0),
            ("1969-12-01", "1970-01-01", 1),
        ] {
            assert_eq!(months_between(at(start), at(end)), months, "{start} {end}");
        }
        assert_eq!(days_between(Date(i32::MAX), Date(i32::MIN)), -(u32::MAX as i64));
        assert_eq!((last_day(at("2024-02-10")), last_day(at("2026-12-31T23:00:00Z"))), (Date(19782), Date(20818)));
        let quarter = Duration(900_000_000);
        assert_eq!(time_bucket(at("1969-12-31T23:59:59Z"), quarter), Ok(at("1969-12-31T23:45:00Z")));
        assert!(time_bucket(Timestamp(0), Duration(0)).is_err() && time_bucket(Timestamp(i64::MIN), quarter).is_err());
    }

    #[test]
    fn parts_agree_with_an_independent_calendar() {
        for days in (-200_000..200_000).step_by(31) {
            let time = Timestamp(days * MICROS_PER_DAY + 43_211_000_001);
            let other = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days)).unwrap();
            assert_eq!((year(time), month(time), day(time)), (other.year() as i64, other.month() as i64, other.day() as i64));
            assert_eq!((day_of_year(time), week(time)), (other.day_of_year() as i64, other.iso_week_date().week() as i64));
            assert_eq!((hour(time), minute(time), second(time), millisecond(time), microsecond(time)), (12, 0, 11, 0, 1));
        }
    }

    #[test]
    fn truncation_goes_to_the_past() {
        let at = |text| Timestamp::parse(text).unwrap();
        for (unit, expected) in [
            ("second", "1969-08-14T07:59:20Z"),
            ("minute", "1969-08-14T07:59:00Z"),
            ("hour", "1969-08-14T07:00:00Z"),
            ("day", "1969-08-14"),
            ("week", "1969-08-11"),
            ("month", "1969-08-01"),
            ("quarter", "1969-07-01"),
            ("year", "1969-01-01"),
        ] {
            assert_eq!(date_trunc(at("1969-08-14T07:59:20.5Z"), unit), Ok(at(expected)), "{unit}");
        }
        assert!(date_trunc(at("1969-08-14"), "fortnight").is_err() && date_trunc(Timestamp(i64::MIN), "year").is_err());
        assert_eq!(add_months(at("2026-01-31T01:00:00Z"), 1), Ok(at("2026-02-28T01:00:00Z")));
        assert_eq!(add_months(at("2026-01-31"), -11), Ok(at("2025-02-28")));
        assert!(add_months(at("2026-01-31"), i64::MAX).is_err() && add_months(at("2026-01-31"), 10_000_000).is_err());
        assert_eq!((make_date(2024, 2, 29), make_date(2026, 2, 29), make_date(2026, 0, 1)), (Some(Date(19782)), None, None));
    }
}
