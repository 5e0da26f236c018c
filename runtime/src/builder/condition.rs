//! What must hold of two rows beside equal keys, so that a join takes them for partners.

use super::by_key::KeyedTable;
use super::join::Join;
use super::keyed::{KeyedStream, TimedStream};

/// What must hold of two rows of equal keys: a closure, or nothing more.
pub trait Condition<T, R>: Clone + Send + Sync + 'static {
    /// Whether there is one at all.
    #[doc(hidden)]
    const IS_SAID: bool;

    /// Whether they go together.
    fn holds(&self, left: &T, right: &R) -> bool;
}

impl<T, R, F: Fn(&T, &R) -> bool + Clone + Send + Sync + 'static> Condition<T, R> for F {
    const IS_SAID: bool = true;

    #[inline]
    fn holds(&self, left: &T, right: &R) -> bool {
        self(left, right)
    }
}

/// Equal keys are enough.
#[derive(Clone, Copy, Debug)]
pub struct Always;

impl<T, R> Condition<T, R> for Always {
    const IS_SAID: bool = false;

    #[inline]
    fn holds(&self, _left: &T, _right: &R) -> bool {
        true
    }
}

/// A side of a join, whatever else is known of it.
pub trait JoinSide {
    /// What a row is.
    type Row;
}

impl<T, L, K, F> JoinSide for KeyedStream<T, L, K, F> {
    type Row = T;
}

impl<T, L, K, F> JoinSide for KeyedTable<T, L, K, F> {
    type Row = T;
}

impl<T, L, K, F, W> JoinSide for TimedStream<T, L, K, F, W> {
    type Row = T;
}

impl<A: JoinSide, B: JoinSide> Join<A, B> {
    /// Rows of one key go together only where this holds of them: `on id == p.order_id and p.amount > 0` in the language. It is said before
    /// `within`, `as_of` and windows.
    pub fn when<C>(self, condition: C) -> Join<A, B, C>
    where
        C: Fn(&A::Row, &B::Row) -> bool + Clone + Send + Sync + 'static,
    {
        Join { left: self.left, right: self.right, condition, broadcast: self.broadcast }
    }
}

impl<A, B, C> Join<A, B, C> {
    /// Every subtask gets all rows of the right side, and left rows stay where they are: for a right side of few rows, or of keys that
    /// many left rows have. Such a join is of a stream, and has no `right` and no `full`, for no subtask knows which right rows have no
    /// partner.
    pub fn broadcast(self) -> Self {
        Join { broadcast: true, ..self }
    }
}
