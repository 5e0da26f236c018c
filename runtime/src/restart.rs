//! Restart strategies: whether and when to try again after a failure.

use std::time::Duration;

use crate::job::Restart;
use crate::seam::Instant;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// Without a failure for so long, the delay starts small again.
const QUIET: Duration = Duration::from_secs(3600);

/// Decides after each failure.
#[derive(Clone, Debug)]
pub struct RestartStrategy {
    restart: Restart,
    restarts: u32,
    delay: Duration,
    last_failure: Option<Instant>,
}

impl RestartStrategy {
    /// The job's setting; with checkpoints the default is to try again, without it is to give up.
    pub fn new(restart: Restart, checkpoints: bool) -> Self {
        let restart = match restart {
            Restart::Default if checkpoints => Restart::Exponential,
            Restart::Default => Restart::None,
            other => other,
        };
        RestartStrategy { restart, restarts: 0, delay: FIRST, last_failure: None }
    }

    /// A failure at `now`: the delay before the next attempt, or None to give up.
    pub fn after_failure(&mut self, now: Instant) -> Option<Duration> {
        let quiet = self.last_failure.is_some_and(|last| now.duration_since(last) >= QUIET);
        self.last_failure = Some(now);
        self.restarts += 1;
        match self.restart {
            Restart::Default | Restart::None => None,
            Restart::Fixed { attempts, delay_micros } => {
                (self.restarts <= attempts).then(|| Duration::from_micros(u64::try_from(delay_micros).unwrap_or(0)))
            }
            Restart::Exponential => {
                if quiet {
                    self.delay = FIRST;
                }
                let delay = self.delay;
                self.delay = (delay * 3 / 2).min(LONGEST);
                Some(delay)
            }
        }
    }

    /// Failures so far.
    pub fn failures(&self) -> u32 {
        self.restarts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_delays_grow_to_a_minute_and_start_again_after_a_quiet_hour() {
        let mut strategy = RestartStrategy::new(Restart::Default, true);
        let mut now = Instant::now();
        let mut delays = Vec::new();
        for _ in 0..14 {
            delays.push(strategy.after_failure(now).unwrap());
            now += Duration::from_secs(61);
        }
        assert_eq!(delays[..3], [Duration::from_secs(1), Duration::from_millis(1500), Duration::from_millis(2250)]);
        assert_eq!(delays[13], LONGEST);
        assert_eq!(strategy.after_failure(now + QUIET), Some(FIRST));
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
}
