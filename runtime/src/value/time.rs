//! `date`, `time`, `timestamp`: numbers with a meaning, in the proleptic Gregorian calendar, UTC.

/// Microseconds of a day.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Days since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

/// Microseconds since midnight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// Microseconds since the epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The day on which the moment lies. Also right before 1970.
    #[inline]
    pub fn date(self) -> Date {
        // The range of timestamps is 292,000 years: 107 million days.
        Date(self.0.div_euclid(MICROS_PER_DAY) as i32)
    }

    /// The time of day.
    #[inline]
    pub fn time(self) -> Time {
        Time(self.0.rem_euclid(MICROS_PER_DAY))
    }
}

impl Date {
    /// Year, month, day.
    #[inline]
    pub fn civil(self) -> (i32, u32, u32) {
        civil_from_days(self.0)
    }

    /// Midnight of the day, or None where timestamps do not reach that far.
    #[inline]
    pub fn midnight(self) -> Option<Timestamp> {
        (self.0 as i64).checked_mul(MICROS_PER_DAY).map(Timestamp)
    }

    /// 1 Monday to 7 Sunday.
    #[inline]
    pub fn weekday(self) -> u32 {
        // 1970-01-01 was a Thursday.
        ((self.0 as i64 + 3).rem_euclid(7) + 1) as u32
    }
}

/// Days since 1970-01-01 of a date (which must exist).
#[inline]
pub fn days_from_civil(year: i32, month: u32, day: u32) -> i32 {
    let year = year as i64 - (month <= 2) as i64;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month as i64 + 9) % 12) + 2) / 5 + day as i64 - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era - 719_468) as i32
}

/// Year, month, day of days since 1970-01-01.
#[inline]
pub fn civil_from_days(days: i32) -> (i32, u32, u32) {
    let days = days as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u32;
    let month = (if shifted < 10 { shifted + 3 } else { shifted - 9 }) as u32;
    ((year_of_era + era * 400 + (month <= 2) as i64) as i32, month, day)
}

/// How many days the month has.
pub(crate) fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_agrees_with_an_independent_one() {
        let epoch = jiff::civil::date(1970, 1, 1);
        for days in (-700_000..2_900_000).step_by(97) {
            let (year, month, day) = civil_from_days(days);
            let other = epoch.checked_add(jiff::Span::new().days(days)).unwrap();
            assert_eq!((year, month, day), (other.year() as i32, other.month() as u32, other.day() as u32));
            assert_eq!(days_from_civil(year, month, day), days);
            assert_eq!(Date(days).weekday(), other.weekday().to_monday_one_offset() as u32);
        }
        assert_eq!(days_in_month(2000, 2), 29);
        assert_eq!(days_in_month(1900, 2), 28);
    }

    /// C11: moments before 1970 belong to the day that began before them.
    #[test]
    fn before_the_epoch_days_still_begin_at_midnight() {
        assert_eq!((Timestamp(-1).date(), Timestamp(-1).time()), (Date(-1), Time(MICROS_PER_DAY - 1)));
        assert_eq!((Timestamp(-MICROS_PER_DAY).date(), Timestamp(-MICROS_PER_DAY).time()), (Date(-1), Time(0)));
    }
}
