//! Values that are put together into one.

use super::stored_as;
use crate::state::State;

/// Values of which two make one.
pub trait Reduce: State {
    /// Takes another value, which came behind this one.
    fn reduce(&mut self, other: Self);
}

/// All values that were added, as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducingState<T>(Option<T>);

impl<T> Default for ReducingState<T> {
    fn default() -> Self {
        ReducingState(None)
    }
}

impl<T: Reduce> ReducingState<T> {
    /// Adds a value.
    pub fn add(&mut self, value: T) {
        match &mut self.0 {
            Some(all) => all.reduce(value),
            None => self.0 = Some(value),
        }
    }

    /// All values as one; None before the first.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    fn drop_expired(&mut self, now: i64) {
        if let Some(all) = &mut self.0 {
            all.expire(now);
        }
    }
}

stored_as!([T: Reduce] ReducingState<T>, Option<T>);
