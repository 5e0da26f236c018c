//! Watermarks: how far event time has come.

/// No later row has this event time or an earlier one. Microseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watermark(pub i64);

impl Watermark {
    /// Nothing is known.
    pub const MIN: Watermark = Watermark(i64::MIN);
    /// The input has ended.
    pub const MAX: Watermark = Watermark(i64::MAX);
}

/// Derives watermarks from rows: the running maximum, less one microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatermarkTracker {
    max: i64,
}

impl Default for WatermarkTracker {
    fn default() -> Self {
        WatermarkTracker { max: i64::MIN }
    }
}

impl WatermarkTracker {
    /// Takes the time that a row allows.
    #[inline]
    pub fn observe(&mut self, time: i64) {
        self.max = self.max.max(time);
    }

    /// The watermark after the rows so far. `MIN` before the first.
    pub fn watermark(&self) -> Watermark {
        Watermark(self.max.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_goes_back() {
        let mut tracker = WatermarkTracker::default();
        assert_eq!(tracker.watermark(), Watermark::MIN);
        tracker.observe(10);
        tracker.observe(3);
        assert_eq!(tracker.watermark(), Watermark(9));
        tracker.observe(-5);
        assert_eq!(tracker.watermark(), Watermark(9));
    }
}
