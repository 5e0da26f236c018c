//! `hour`.

#[cfg(feature = "engine")]
use crate::value::Timestamp;

use super::FunctionSpec;

pub(super) const HOUR: FunctionSpec = FunctionSpec {
    name: "hour",
    category: "time",
    signature: "hour(time: timestamp) -> int64",
    fallible: false,
    doc: "The hour of the day, 0 to 23, in UTC.",
    examples: &[("hour(@2026-03-15T07:59:20Z)", "7")],
};

/// `hour(time)`
#[cfg(feature = "engine")]
#[inline]
pub fn hour(time: Timestamp) -> i64 {
    time.time().0 / 3_600_000_000
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn fields_also_before_1970() {
        assert_eq!((hour(Timestamp(0)), hour(Timestamp(-1))), (0, 23));
    }
}
