//! Moments and lengths of time as numbers: `unix_millis`, `from_unix_millis`, `to_seconds`, and the like

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "time",
        "unix_seconds(time: timestamp) -> int64",
        "The seconds since 1970-01-01, rounded down.",
        &[("unix_seconds(@1970-01-01T00:00:01.5Z)", "1")],
    ),
    FunctionSpec::new(
        "time",
        "unix_millis(time: timestamp) -> int64",
        "The milliseconds since 1970-01-01, rounded down.",
        &[("unix_millis(@1970-01-01T00:00:01Z)", "1000")],
    ),
    FunctionSpec::new(
        "time",
        "unix_micros(time: timestamp) -> int64",
        "The microseconds since 1970-01-01.",
        &[("unix_micros(@1970-01-01T00:00:01Z)", "1000000")],
    ),
    FunctionSpec::new(
        "time",
        "from_unix_seconds(seconds: int64) -> timestamp",
        "The moment this many seconds after 1970-01-01.",
        &[("from_unix_seconds(1)", "@1970-01-01T00:00:01Z")],
    )
    .fallible(),
    FunctionSpec::new(
        "time",
        "from_unix_millis(millis: int64) -> timestamp",
        "The moment this many milliseconds after 1970-01-01.",
        &[("from_unix_millis(1500)", "@1970-01-01T00:00:01.500Z")],
    )
    .fallible(),
    FunctionSpec::new(
        "time",
        "from_unix_micros(micros: int64) -> timestamp",
        "The moment this many microseconds after 1970-01-01.",
        &[("from_unix_micros(1)", "@1970-01-01T00:00:00.000001Z")],
    ),
    FunctionSpec::new(
        "time",
        "to_seconds(length: duration) -> float64",
        "A length of time in seconds.",
        &[("to_seconds(1m500ms)", "60.5")],
    ),
    FunctionSpec::new(
        "time",
        "to_millis(length: duration) -> int64",
        "A length of time in milliseconds, cut off towards zero.",
        &[("to_millis(1s)", "1000")],
    ),
    FunctionSpec::new(
        "time",
        "from_millis(millis: int64) -> duration",
        "A length of time of this many milliseconds.",
        &[("from_millis(1500)", "1s500ms")],
    )
    .fallible(),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::{Duration, EvalError, Timestamp};

    /// Seconds since 1970.
    pub fn unix_seconds(time: Timestamp) -> i64 {
        time.0.div_euclid(1_000_000)
    }

    /// Milliseconds since 1970.
    pub fn unix_millis(time: Timestamp) -> i64 {
        time.0.div_euclid(1000)
    }

    /// Microseconds since 1970.
    pub fn unix_micros(time: Timestamp) -> i64 {
        time.0
    }

    fn scaled(count: i64, unit: i64) -> Result<Timestamp, EvalError> {
        count.checked_mul(unit).map(Timestamp).ok_or_else(|| EvalError::overflow("timestamp"))
    }

    /// Seconds since 1970 as a moment.
    pub fn from_unix_seconds(seconds: i64) -> Result<Timestamp, EvalError> {
        scaled(seconds, 1_000_000)
    }

    /// Milliseconds since 1970 as a moment.
    pub fn from_unix_millis(millis: i64) -> Result<Timestamp, EvalError> {
        scaled(millis, 1000)
    }

    /// Microseconds since 1970 as a moment.
    pub fn from_unix_micros(micros: i64) -> Timestamp {
        Timestamp(micros)
    }

    /// Seconds.
    pub fn to_seconds(length: Duration) -> f64 {
        length.0 as f64 / 1e6
    }

    /// Milliseconds.
    pub fn to_millis(length: Duration) -> i64 {
        length.0 / 1000
    }

    /// Milliseconds as a length of time.
    pub fn from_millis(millis: i64) -> Result<Duration, EvalError> {
        millis.checked_mul(1000).map(Duration).ok_or_else(|| EvalError::overflow("duration"))
    }

    #[test]
    fn moments_before_1970_round_down() {
        assert_eq!((unix_millis(Timestamp(-1)), unix_seconds(Timestamp(-1)), unix_millis(Timestamp(1_000_999))), (-1, -1, 1000));
        assert_eq!((from_unix_millis(-1), from_unix_seconds(i64::MAX).is_err()), (Ok(Timestamp(-1000)), true));
        assert_eq!(
            (to_seconds(Duration(60_500_000)), to_millis(Duration(-1)), from_millis(1500)),
            (60.5, 0, Ok(Duration(1_500_000)))
        );
    }
}
