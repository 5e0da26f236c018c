//! Which time an operator goes by.

use crate::error::JobError;

/// Event time, or the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeDomain {
    /// The time in the rows; watermarks say how far it has come.
    Event,
    /// The clock when a row arrives. None: the engine has not told it yet.
    Processing(Option<i64>),
}

impl TimeDomain {
    /// Takes the time of the clock, which never goes back here. True: the operator goes by it.
    pub fn tick(&mut self, now: i64) -> bool {
        match self {
            TimeDomain::Event => false,
            TimeDomain::Processing(clock) => {
                *clock = Some(clock.map_or(now, |before| before.max(now)));
                true
            }
        }
    }

    /// The clock's time for a row; None in event time.
    #[inline]
    pub fn clock(self) -> Result<Option<i64>, JobError> {
        match self {
            TimeDomain::Event => Ok(None),
            TimeDomain::Processing(Some(now)) => Ok(Some(now)),
            TimeDomain::Processing(None) => Err(JobError::new("a row came before the clock was told to its operator")),
        }
    }

    /// Whether the clock counts.
    pub fn is_processing(self) -> bool {
        matches!(self, TimeDomain::Processing(_))
    }
}
