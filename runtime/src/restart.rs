//! Restart strategies: whether and when to try again after a failure.

use std::collections::VecDeque;
use std::time::Duration;

use crate::graph::text::duration_text;
use crate::graph::{Backoff, FailureRate};
use crate::job::Restart;
use crate::seam::Instant;

/// Decides after each failure.
#[derive(Clone, Debug)]
pub struct RestartStrategy {
    restart: Restart,
    failures: u32,
    /// In thousandths, from -1000 to 1000: where in its jitter a delay lies.
    random: fn() -> i64,
    /// Of growing delays: the next one, before jitter.
    delay: Duration,
    /// When the attempt that fails next begins.
    began: Option<Instant>,
    /// The failures that a rate counts, oldest first.
    recent: VecDeque<Instant>,
}

impl RestartStrategy {
    /// The job's setting; with checkpoints the default is to try again, without it is to give up.
    pub fn new(restart: Restart, checkpoints: bool) -> Self {
        let restart = match restart {
            Restart::Default if checkpoints => Restart::Exponential(Backoff::DEFAULT),
            Restart::Default => Restart::None,
            other => other,
        };
        RestartStrategy { restart, failures: 0, random, delay: Duration::ZERO, began: None, recent: VecDeque::new() }
    }

    /// A failure at `now`: the delay before the next attempt, or None to give up. All that fails in one attempt is one failure. Growing
    /// delays do not grow by what fails while a part of the job still waits for its next attempt.
    pub fn after_failure(&mut self, now: Instant) -> Option<Duration> {
        self.failures += 1;
        let delay = match self.restart {
            Restart::Default | Restart::None => None,
            Restart::Fixed { attempts, delay_micros } => (self.failures <= attempts).then(|| micros(delay_micros)),
            Restart::Exponential(backoff) => Some(self.grown(backoff, now)),
            Restart::FailureRate(rate) => self.within_rate(rate, now),
        };
        self.began = delay.map(|delay| now + delay);
        delay
    }

    fn grown(&mut self, backoff: Backoff, now: Instant) -> Duration {
        if let Some(began) = self.began.filter(|&began| began > now) {
            return began - now;
        }
        let quiet = self.began.is_none_or(|began| now.saturating_duration_since(began) >= micros(backoff.reset));
        let delay = if quiet { micros(backoff.first) } else { self.delay };
        self.delay = (delay * backoff.factor / 1000).min(micros(backoff.most));
        let width = i64::try_from(delay.as_micros()).unwrap_or(i64::MAX / 1_000_000) * i64::from(backoff.jitter) / 1000;
        let shift = width.saturating_mul((self.random)()) / 1000;
        micros(i64::try_from(delay.as_micros()).unwrap_or(i64::MAX).saturating_add(shift))
    }

    fn within_rate(&mut self, rate: FailureRate, now: Instant) -> Option<Duration> {
        while self.recent.front().is_some_and(|&first| now.saturating_duration_since(first) > micros(rate.within)) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        (self.recent.len() <= rate.failures as usize).then(|| micros(rate.delay))
    }

    /// Failures so far.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Why there is no other attempt: `restart: fixed(2, 1s)`; None where nothing was to be tried again.
    pub(crate) fn limit(&self) -> Option<String> {
        match self.restart {
            Restart::Fixed { attempts, delay_micros } if attempts > 0 => {
                Some(format!("restart: fixed({attempts}, {})", duration_text(delay_micros)))
            }
            Restart::FailureRate(FailureRate { failures, within, delay }) => {
                Some(format!("restart: failure_rate({failures}, {}, {})", duration_text(within), duration_text(delay)))
            }
            _ => None,
        }
    }
}

fn micros(time: i64) -> Duration {
    Duration::from_micros(u64::try_from(time).unwrap_or(0))
}

/// Of an id: that is random, and repeated in a simulation.
fn random() -> i64 {
    let id = u64::from_str_radix(&crate::seam::run_id(), 16).unwrap_or(0);
    i64::try_from(id % 2001).unwrap_or(0) - 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(3600);

    fn exponential(random: fn() -> i64) -> RestartStrategy {
        RestartStrategy { random, ..RestartStrategy::new(Restart::Default, true) }
    }

    #[test]
    fn exponential_delays_grow_to_a_minute_and_start_again_after_a_quiet_hour() {
        let mut strategy = exponential(|| 0);
        let mut now = Instant::now();
        let mut delays = Vec::new();
        for _ in 0..14 {
            delays.push(strategy.after_failure(now).unwrap());
            now += Duration::from_secs(61);
        }
        assert_eq!(delays[..3], [SECOND, Duration::from_millis(1500), Duration::from_millis(2250)]);
        assert_eq!(delays[13], Duration::from_secs(60));
        // The hour is one of running: the delay before it does not count.
        now += HOUR - Duration::from_secs(2);
        assert_eq!(strategy.after_failure(now), Some(Duration::from_secs(60)));
        assert_eq!(strategy.after_failure(now + HOUR + Duration::from_secs(60)), Some(SECOND));
    }

    #[test]
    fn failures_before_the_next_attempt_are_one() {
        let mut strategy = exponential(|| 0);
        let now = Instant::now();
        assert_eq!(strategy.after_failure(now), Some(SECOND));
        assert_eq!(strategy.after_failure(now + SECOND / 4), Some(SECOND * 3 / 4), "the other part begins at the same time");
        assert_eq!(strategy.after_failure(now + SECOND), Some(SECOND * 3 / 2));
    }

    #[test]
    fn jitter_is_a_tenth_at_the_most() {
        let now = Instant::now();
        assert_eq!(exponential(|| -1000).after_failure(now), Some(Duration::from_millis(900)));
        assert_eq!(exponential(|| 1000).after_failure(now), Some(Duration::from_millis(1100)));
        let delays: Vec<_> = (0..50).filter_map(|_| exponential(random).after_failure(now)).collect();
        assert!(delays.iter().all(|&delay| (900..=1100).contains(&delay.as_millis())), "{delays:?}");
        assert!(delays.iter().any(|delay| *delay != delays[0]), "{delays:?}");
    }

    #[test]
    fn fixed_gives_up_after_its_attempts() {
        let mut strategy = RestartStrategy::new(Restart::Fixed { attempts: 2, delay_micros: 5 }, false);
        let now = Instant::now();
        assert_eq!(strategy.after_failure(now), Some(Duration::from_micros(5)));
        assert_eq!(strategy.after_failure(now), Some(Duration::from_micros(5)));
        assert_eq!(strategy.after_failure(now), None);
        assert_eq!(RestartStrategy::new(Restart::Default, false).after_failure(now), None, "nothing to go on from");
        assert_eq!(RestartStrategy::new(Restart::None, true).after_failure(now), None);
    }

    #[test]
    fn a_rate_takes_so_many_failures_within_its_time() {
        let rate = FailureRate { failures: 2, within: 60_000_000, delay: 7 };
        let mut strategy = RestartStrategy::new(Restart::FailureRate(rate), true);
        let start = Instant::now();
        let mut after = |seconds: u64| strategy.after_failure(start + SECOND * u32::try_from(seconds).unwrap()).is_some();
        assert!(after(0) && after(50));
        // The first is out of the minute.
        assert!(after(70));
        assert!(!after(80), "50, 70 and 80 are within a minute");
    }
}
