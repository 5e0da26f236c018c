//! `date`.

#[cfg(feature = "engine")]
use crate::value::{Date, Timestamp};

use super::FunctionSpec;

pub(super) const DATE: FunctionSpec = FunctionSpec {
    name: "date",
    category: "time",
    signature: "date(time: timestamp) -> date",
    fallible: false,
    doc: "The day, in UTC, on which the moment lies.",
    examples: &[("date(@2026-03-15T23:59:59.999Z)", "@2026-03-15"), ("date(@1969-12-31T23:00:00Z)", "@1969-12-31")],
};

/// `date(time)`
#[cfg(feature = "engine")]
#[inline]
pub fn date(time: Timestamp) -> Date {
    time.date()
}
