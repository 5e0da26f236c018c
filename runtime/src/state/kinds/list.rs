//! A list whose elements may go by themselves.

use super::{Expiring, stored_as};
use crate::state::State;
use crate::value::Timestamp;

/// Elements in the order in which they came; each may go by itself at a time of the clock. Where all stay, a `Vec` will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListState<T>(Vec<Expiring<T>>);

impl<T> Default for ListState<T> {
    fn default() -> Self {
        ListState(Vec::new())
    }
}

impl<T> ListState<T> {
    /// The elements that are there at this time.
    pub fn iter(&self, now: Timestamp) -> impl Iterator<Item = &T> {
        self.0.iter().filter(move |kept| kept.lives(now)).map(|kept| &kept.value)
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self, now: Timestamp) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().filter(move |kept| kept.lives(now)).map(|kept| &mut kept.value)
    }

    /// How many there are at this time.
    pub fn len(&self, now: Timestamp) -> usize {
        self.iter(now).count()
    }

    /// Whether there is none at this time.
    pub fn is_empty(&self, now: Timestamp) -> bool {
        self.iter(now).next().is_none()
    }

    /// Adds an element that stays.
    pub fn push(&mut self, value: T) {
        self.0.push(Expiring::forever(value));
    }

    /// Adds an element that is gone from `until` on.
    pub fn push_until(&mut self, value: T, until: Timestamp) {
        self.0.push(Expiring::until(value, until));
    }

    /// Of the elements that are there at this time, keeps only those like these.
    pub fn retain(&mut self, now: Timestamp, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|kept| kept.lives(now) && keep(&kept.value));
    }

    /// Lets all elements that are there at this time live on until another.
    pub fn renew(&mut self, until: Timestamp, now: Timestamp) {
        self.0.iter_mut().for_each(|kept| kept.renew(until, now));
    }

    /// Takes all elements out.
    pub fn take(&mut self, now: Timestamp) -> Vec<T> {
        std::mem::take(&mut self.0).into_iter().filter(|kept| kept.lives(now)).map(|kept| kept.value).collect()
    }

    /// Forgets all elements.
    pub fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

impl<T: State> ListState<T> {
    fn drop_expired(&mut self, now: i64) {
        self.0.retain_mut(|kept| {
            kept.expire(now);
            !kept.gone_by(now)
        });
        if self.0.capacity() > 4 * self.0.len() {
            self.0.shrink_to_fit();
        }
    }
}

stored_as!([T: State] ListState<T>, Vec<Expiring<T>>);
