//! A limit on the rows per second of a source, shared by its subtasks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Rows that were not taken are given later, but not more than this long's worth at once.
const BURST: Duration = Duration::from_millis(500);

/// Waking up more often than this is not worth it.
const SHORTEST_WAIT: Duration = Duration::from_millis(5);

/// The rows that a source may still emit.
#[derive(Debug, Default)]
pub struct Throttle {
    state: Mutex<Option<(Instant, f64)>>,
}

impl Throttle {
    /// Up to `wanted` rows at `rate` rows per second, or how long to wait for the next.
    pub fn take(&self, rate: u64, wanted: usize) -> Result<usize, Duration> {
        self.take_at(Instant::now(), rate, wanted)
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn take_at(&self, now: Instant, rate: u64, wanted: usize) -> Result<usize, Duration> {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rate = rate.max(1) as f64;
        let (last, saved) = state.unwrap_or((now, 1.0));
        let earned = now.saturating_duration_since(last).as_secs_f64() * rate;
        let available = (saved + earned).min((rate * BURST.as_secs_f64()).max(1.0));
        let rows = (available as usize).min(wanted);
        *state = Some((now, available - rows as f64));
        if rows > 0 { Ok(rows) } else { Err(Duration::from_secs_f64((1.0 - available) / rate).max(SHORTEST_WAIT)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_rate_rows_per_second_and_no_long_bursts() {
        let throttle = Throttle::default();
        let start = Instant::now();
        let mut rows = 0;
        for step in 0..1000 {
            if let Ok(more) = throttle.take_at(start + Duration::from_millis(step * 10), 100, 1024) {
                rows += more;
            }
        }
        assert!((999..=1001).contains(&rows), "10 s at 100 rows/s: {rows}");
        let late = start + Duration::from_secs(1000);
        assert_eq!(throttle.take_at(late, 100, 1024), Ok(50), "half a second's worth after a long pause");
        assert!(throttle.take_at(late, 100, 1024).unwrap_err() <= Duration::from_millis(10));
    }
}
