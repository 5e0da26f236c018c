//! One value, which may be absent and may go by itself.

use super::{Expiring, stored_as};
use crate::state::State;
use crate::value::Timestamp;

/// A value that may be absent, and may go by itself at a time of the clock. For one that stays, an `Option` will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueState<T>(Option<Expiring<T>>);

impl<T> Default for ValueState<T> {
    fn default() -> Self {
        ValueState(None)
    }
}

impl<T> ValueState<T> {
    /// The value, if it is there at this time.
    #[inline]
    pub fn get(&self, now: Timestamp) -> Option<&T> {
        self.0.as_ref().filter(|kept| kept.lives(now)).map(|kept| &kept.value)
    }

    /// The same, to be changed. When it goes stays as it was.
    #[inline]
    pub fn get_mut(&mut self, now: Timestamp) -> Option<&mut T> {
        self.0.as_mut().filter(|kept| kept.lives(now)).map(|kept| &mut kept.value)
    }

    /// A value that stays.
    pub fn set(&mut self, value: T) {
        self.0 = Some(Expiring::forever(value));
    }

    /// A value that is gone from `until` on.
    pub fn set_until(&mut self, value: T, until: Timestamp) {
        self.0 = Some(Expiring::until(value, until));
    }

    /// Lets the value live on until another time, after a read, say, if it is there at this time.
    pub fn renew(&mut self, until: Timestamp, now: Timestamp) {
        if let Some(kept) = &mut self.0 {
            kept.renew(until, now);
        }
    }

    /// Takes the value out.
    pub fn take(&mut self, now: Timestamp) -> Option<T> {
        self.0.take().filter(|kept| kept.lives(now)).map(|kept| kept.value)
    }

    /// Forgets the value.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl<T: State> ValueState<T> {
    fn drop_expired(&mut self, now: i64) {
        match &mut self.0 {
            Some(kept) if kept.gone_by(now) => self.0 = None,
            Some(kept) => kept.expire(now),
            None => {}
        }
    }
}

stored_as!([T: State] ValueState<T>, Option<Expiring<T>>);
