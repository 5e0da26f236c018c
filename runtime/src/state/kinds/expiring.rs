//! A value with the time at which it is over.

use crate::state::{State, StateError, StateReader};
use crate::value::Timestamp;

/// A value, and until when it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiring<T> {
    /// The value.
    pub value: T,
    /// From this time of the clock on it is gone. `i64::MAX`: never.
    until: i64,
}

impl<T> Expiring<T> {
    /// A value that stays.
    pub fn forever(value: T) -> Self {
        Expiring { value, until: i64::MAX }
    }

    /// A value that is gone from this time of the clock on.
    pub fn until(value: T, until: Timestamp) -> Self {
        Expiring { value, until: until.0 }
    }

    /// Whether it still counts.
    #[inline]
    pub fn lives(&self, now: Timestamp) -> bool {
        now.0 < self.until
    }

    /// Counts until another time, if it still counts now: what is over may be freed already, and never comes back.
    pub fn renew(&mut self, until: Timestamp, now: Timestamp) {
        if self.lives(now) {
            self.until = until.0;
        }
    }

    #[inline]
    pub(super) fn gone_by(&self, now: i64) -> bool {
        self.until <= now
    }
}

impl<T: State> State for Expiring<T> {
    const EXPIRES: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        self.value.encode(out);
        (self.until != i64::MAX).then_some(self.until).encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let value = T::decode(input)?;
        Ok(Expiring { value, until: Option::<i64>::decode(input)?.unwrap_or(i64::MAX) })
    }

    fn schema() -> String {
        format!("expiring{{value:{},until:timestamp?}}", T::schema())
    }

    fn is_over(&self, now: i64) -> bool {
        self.gone_by(now) || (T::EXPIRES && self.value.is_over(now))
    }

    fn expire(&mut self, now: i64) {
        if T::EXPIRES {
            self.value.expire(now);
        }
    }
}
