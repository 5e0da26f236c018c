//! `local_time`, `from_local_time`, `zone_offset`: time zones, daylight saving time included.
//!
//! Zones are those of the tz database: that of the machine, else the copy in the binary. Compiled only into pipelines that
//! call one of these (feature `zones`).

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "time",
        "local_time(time: timestamp, zone: string) -> timestamp",
        "What clocks in a time zone show at a moment, as a timestamp.\n\nThe zone is a name of the tz database, such as `Europe/Berlin`, or `UTC`; an unknown one is an error. All functions of time take the result: `date(local_time(t, \"America/New_York\"))` is the day in New York, `format_time(local_time(t, zone), \"HH:mm\")` the time of day there. In the hour that is repeated in autumn two moments have one local time.",
        &[
            ("local_time(@2026-07-01T12:00:00Z, \"Europe/Berlin\")", "@2026-07-01T14:00:00Z"),
            ("date(local_time(@2026-01-01T03:00:00Z, \"America/New_York\"))", "@2025-12-31"),
        ],
    )
    .fallible()
    .behind("zones"),
    FunctionSpec::new(
        "time",
        "from_local_time(local: timestamp, zone: string) -> timestamp",
        "The moment at which clocks in a time zone show this.\n\nA time that is repeated in autumn is the first of the two; one that is skipped in spring is taken with the offset before, which makes it later by what was skipped.",
        &[
            ("from_local_time(@2026-07-01T14:00:00Z, \"Europe/Berlin\")", "@2026-07-01T12:00:00Z"),
            ("from_local_time(@2026-10-25T02:30:00Z, \"Europe/Berlin\")", "@2026-10-25T00:30:00Z"),
            ("from_local_time(@2026-03-29T02:30:00Z, \"Europe/Berlin\")", "@2026-03-29T01:30:00Z"),
        ],
    )
    .fallible()
    .behind("zones"),
    FunctionSpec::new(
        "time",
        "zone_offset(time: timestamp, zone: string) -> duration",
        "How far clocks in a time zone are ahead of UTC at a moment; negative west of Greenwich.",
        &[("zone_offset(@2026-01-01, \"America/New_York\")", "-5h")],
    )
    .fallible()
    .behind("zones"),
];

#[cfg(feature = "zones")]
pub use engine::*;

#[cfg(feature = "zones")]
mod engine {
    use std::cell::RefCell;

    use jiff::tz::{Offset, TimeZone};

    use crate::value::{Duration, EvalError, Timestamp};

    /// So many zones are remembered; more are looked up each time.
    const MOST: usize = 64;

    thread_local! {
        /// The zones that this thread has looked up; the last one found stands first.
        static ZONES: RefCell<Vec<(String, TimeZone)>> = const { RefCell::new(Vec::new()) };
    }

    #[inline]
    fn in_zone<T>(name: &str, then: impl FnOnce(&TimeZone) -> Result<T, EvalError>) -> Result<T, EvalError> {
        ZONES.with_borrow_mut(|zones| {
            match zones.iter().position(|(known, _)| known == name) {
                Some(0) => {}
                Some(at) => zones.swap(0, at),
                None => {
                    let zone = TimeZone::get(name)
                        .map_err(|_| EvalError::new(format!("`{name}` is no time zone; write a name such as Europe/Berlin")))?;
                    zones.truncate(MOST - 1);
                    zones.insert(0, (name.to_owned(), zone));
                }
            }
            then(&zones[0].1)
        })
    }

    fn moment(time: Timestamp) -> Result<jiff::Timestamp, EvalError> {
        jiff::Timestamp::from_microsecond(time.0).map_err(|_| EvalError::overflow("timestamp"))
    }

    fn offset(time: Timestamp, zone: &str) -> Result<i64, EvalError> {
        in_zone(zone, |zone| Ok(i64::from(zone.to_offset(moment(time)?).seconds()) * 1_000_000))
    }

    /// What clocks in a zone show.
    pub fn local_time(time: Timestamp, zone: &str) -> Result<Timestamp, EvalError> {
        let local = time.0.checked_add(offset(time, zone)?).ok_or_else(|| EvalError::overflow("timestamp"))?;
        Ok(Timestamp(local))
    }

    /// The moment at which clocks in a zone show this.
    pub fn from_local_time(local: Timestamp, zone: &str) -> Result<Timestamp, EvalError> {
        let shown = Offset::UTC.to_datetime(moment(local)?);
        in_zone(zone, |zone| {
            let found = zone.to_ambiguous_timestamp(shown).compatible().map_err(|_| EvalError::overflow("timestamp"))?;
            Ok(Timestamp(found.as_microsecond()))
        })
    }

    /// How far clocks in a zone are ahead of UTC.
    pub fn zone_offset(time: Timestamp, zone: &str) -> Result<Duration, EvalError> {
        offset(time, zone).map(Duration)
    }
}

#[cfg(all(test, feature = "zones"))]
mod tests {
    use super::*;
    use crate::value::{Duration, Timestamp};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn local_times_follow_daylight_saving_time() {
        let pairs = [
            ("2026-01-01T03:00:00Z", "America/New_York", "2025-12-31T22:00:00Z"),
            ("2026-07-01T12:00:00Z", "Europe/Berlin", "2026-07-01T14:00:00Z"),
            ("2026-03-29T00:59:59Z", "Europe/Berlin", "2026-03-29T01:59:59Z"),
            ("2026-03-29T01:00:00Z", "Europe/Berlin", "2026-03-29T03:00:00Z"),
            ("2026-10-25T00:30:00Z", "Europe/Berlin", "2026-10-25T02:30:00Z"),
            ("2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T02:30:00Z"),
            ("2026-01-01T00:00:00Z", "Asia/Kathmandu", "2026-01-01T05:45:00Z"),
        ];
        for (moment, zone, local) in pairs {
            assert_eq!(local_time(at(moment), zone), Ok(at(local)), "{moment} in {zone}");
        }
        // The first of two, and what was skipped.
        assert_eq!(from_local_time(at("2026-10-25T02:30:00Z"), "Europe/Berlin"), Ok(at("2026-10-25T00:30:00Z")));
        assert_eq!(from_local_time(at("2026-03-29T02:30:00Z"), "Europe/Berlin"), Ok(at("2026-03-29T01:30:00Z")));
        assert_eq!(zone_offset(at("2026-01-01T00:00:00Z"), "America/New_York"), Ok(Duration(-5 * 3_600_000_000)));
    }

    #[test]
    fn an_unknown_zone_is_an_error_and_many_zones_are_found() {
        assert!(local_time(at("2026-01-01T00:00:00Z"), "Europe/Atlantis").unwrap_err().to_string().contains("`Europe/Atlantis`"));
        for hours in 1..=12 {
            for zone in [format!("Etc/GMT+{hours}"), format!("Etc/GMT-{hours}")] {
                assert!(zone_offset(at("2026-01-01T00:00:00Z"), &zone).is_ok(), "{zone}");
            }
        }
    }
}
