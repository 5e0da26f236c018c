//! Windows of the calendar in a time zone: days, weeks from Monday, months, quarters, years. On a day on which clocks go forward a day is
//! an hour shorter, and longer when they go back.

use std::cell::Cell;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::window::{WindowAssigner, WindowBounds};
use crate::error::{JobError, JobResult};
use crate::graph::CalendarUnit;

/// Windows that begin when clocks in a zone show the beginning of a day, week, month, quarter or year.
#[derive(Clone, Debug)]
pub struct Calendar {
    unit: CalendarUnit,
    name: &'static str,
    zone: TimeZone,
    /// The last window that was asked for: the next row is most likely in it.
    last: Cell<WindowBounds>,
}

impl Calendar {
    /// `zone`: a name of the tz database; an unknown one is an error.
    pub fn new(unit: CalendarUnit, zone: &'static str) -> JobResult<Self> {
        let known = TimeZone::get(zone);
        let zone_of = known.map_err(|_| {
            JobError::new(format!(
                "`{zone}` is no time zone; write a name such as `America/New_York` in `calendar(.., zone: ..)`"
            ))
        })?;
        Ok(Calendar { unit, name: zone, zone: zone_of, last: Cell::new(WindowBounds::new(0, 0)) })
    }

    /// When clocks first show the beginning of this day, in microseconds.
    fn midnight(&self, date: Date) -> Option<i64> {
        let shown = DateTime::from_parts(date, jiff::civil::Time::midnight());
        self.zone.to_ambiguous_timestamp(shown).compatible().ok().map(|moment| moment.as_microsecond())
    }

    /// The first day of the unit that holds this day.
    fn first_day(&self, date: Date) -> Option<Date> {
        let (year, month) = (date.year(), date.month());
        match self.unit {
            CalendarUnit::Day => Some(date),
            CalendarUnit::Week => {
                let behind = i64::from(date.weekday().to_monday_zero_offset());
                date.checked_sub(Span::new().days(behind)).ok()
            }
            CalendarUnit::Month => Date::new(year, month, 1).ok(),
            CalendarUnit::Quarter => Date::new(year, (month - 1) / 3 * 3 + 1, 1).ok(),
            CalendarUnit::Year => Date::new(year, 1, 1).ok(),
        }
    }

    fn next_day(&self, first: Date) -> Option<Date> {
        let span = match self.unit {
            CalendarUnit::Day => Span::new().days(1),
            CalendarUnit::Week => Span::new().weeks(1),
            CalendarUnit::Month => Span::new().months(1),
            CalendarUnit::Quarter => Span::new().months(3),
            CalendarUnit::Year => Span::new().years(1),
        };
        first.checked_add(span).ok()
    }

    /// The window of a time. Times that no calendar has are in the first or last window.
    fn window(&self, time: i64) -> WindowBounds {
        let known = time.clamp(Timestamp::MIN.as_microsecond(), Timestamp::MAX.as_microsecond());
        let moment = Timestamp::from_microsecond(known).unwrap_or_default();
        let date = self.zone.to_datetime(moment).date();
        let mut first = self.first_day(date);
        // Where clocks go back over midnight, a date comes twice: the windows are still cut where each begins first.
        while let Some(start) = first.and_then(|first| self.midnight(first))
            && start > known
        {
            first = first.and_then(|first| first.yesterday().ok()).and_then(|day| self.first_day(day));
        }
        let start = first.and_then(|first| self.midnight(first)).unwrap_or(i64::MIN);
        let mut next = first.and_then(|first| self.next_day(first));
        let mut from = start;
        while let Some(end) = next.and_then(|next| self.midnight(next)) {
            if end > known {
                return WindowBounds::new(from, end);
            }
            from = end;
            next = next.and_then(|next| self.next_day(next));
        }
        WindowBounds::new(from, i64::MAX)
    }
}

impl WindowAssigner for Calendar {
    const ONE_PANE: bool = true;

    #[inline]
    fn pane(&self, time: i64) -> WindowBounds {
        let last = self.last.get();
        if last.start.0 <= time && time < last.end.0 {
            return last;
        }
        let window = self.window(time);
        self.last.set(window);
        window
    }

    fn next_window(&self, pane: i64, after: i64) -> Option<WindowBounds> {
        let window = self.pane(pane);
        (window.end.0 > after).then_some(window)
    }

    fn last_end(&self, pane: i64) -> Option<i64> {
        Some(self.pane(pane).end.0)
    }

    fn describe(&self) -> String {
        format!("calendar({},{})", self.unit.word(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::functions::local_time;
    use crate::value::Timestamp as Moment;

    fn at(text: &str) -> i64 {
        Moment::parse(text).unwrap().0
    }

    fn bounds(unit: CalendarUnit, zone: &'static str, time: &str) -> [String; 2] {
        let window = Calendar::new(unit, zone).unwrap().pane(at(time));
        [window.start, window.end].map(|bound| bound.to_string())
    }

    #[test]
    fn days_are_shorter_and_longer_when_clocks_change() {
        let new_york = |time| bounds(CalendarUnit::Day, "America/New_York", time);
        assert_eq!(new_york("2026-03-07T12:00:00Z"), ["2026-03-07T05:00:00Z", "2026-03-08T05:00:00Z"]);
        assert_eq!(new_york("2026-03-08T12:00:00Z"), ["2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"], "23 hours");
        assert_eq!(new_york("2026-11-01T12:00:00Z"), ["2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"], "25 hours");
        assert_eq!(new_york("2026-11-02T04:59:59.999999Z")[0], "2026-11-01T04:00:00Z");
        assert_eq!(new_york("2026-11-02T05:00:00Z")[0], "2026-11-02T05:00:00Z");
        // There is no midnight on this day: it begins at one.
        assert_eq!(bounds(CalendarUnit::Day, "America/Sao_Paulo", "2018-11-04T12:00:00Z")[0], "2018-11-04T03:00:00Z");
    }

    #[test]
    fn weeks_begin_on_monday_and_months_have_their_lengths() {
        let of = |unit| bounds(unit, "Europe/Berlin", "2026-02-18T12:00:00Z");
        assert_eq!(of(CalendarUnit::Week), ["2026-02-15T23:00:00Z", "2026-02-22T23:00:00Z"]);
        assert_eq!(of(CalendarUnit::Month), ["2026-01-31T23:00:00Z", "2026-02-28T23:00:00Z"]);
        assert_eq!(of(CalendarUnit::Quarter), ["2025-12-31T23:00:00Z", "2026-03-31T22:00:00Z"]);
        assert_eq!(of(CalendarUnit::Year), ["2025-12-31T23:00:00Z", "2026-12-31T23:00:00Z"]);
        assert_eq!(bounds(CalendarUnit::Week, "UTC", "1969-12-31T00:00:00Z")[0], "1969-12-29T00:00:00Z");
    }

    #[test]
    fn an_unknown_zone_is_refused() {
        let error = Calendar::new(CalendarUnit::Day, "Europe/Atlantis").unwrap_err();
        assert!(error.message().starts_with("`Europe/Atlantis` is no time zone"), "{error}");
    }

    fn zones() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            Just("America/New_York"),
            Just("America/Sao_Paulo"),
            Just("America/Havana"),
            Just("Asia/Kathmandu"),
            Just("Asia/Beirut"),
            Just("Australia/Lord_Howe"),
            Just("Pacific/Apia"),
            Just("UTC"),
        ]
    }

    proptest! {
        /// Windows cover time without gaps and overlaps, and a day holds the times that have its date.
        #[test]
        fn windows_part_time(zone in zones(), unit in 0..5usize, time in -2_000_000_000i64..4_000_000_000) {
            let unit = CalendarUnit::ALL[unit];
            let calendar = Calendar::new(unit, zone).unwrap();
            let time = time * 1_000_000 + 17;
            let window = calendar.pane(time);
            prop_assert!(window.start.0 <= time && time < window.end.0);
            prop_assert_eq!(calendar.window(window.start.0), window);
            prop_assert_eq!(calendar.window(window.last()), window);
            prop_assert_eq!(calendar.window(window.end.0).start, window.end);
            prop_assert_eq!(calendar.window(window.start.0 - 1).end, window.start);
            if unit == CalendarUnit::Day && zone == "America/New_York" {
                let date = |time: i64| local_time(Moment(time), zone).unwrap().to_string()[..10].to_owned();
                prop_assert_eq!(date(window.start.0), date(time));
                prop_assert_eq!(date(window.last()), date(time));
            }
        }
    }
}
