//! What is remembered of the rows of a stage: the greatest values of columns that later stages ask for.

use crate::error::JobResult;
use crate::state::State;
use crate::value::compare::Compare;

/// What is known of the rows of a stage. Readers keep one each; they are merged when the stage ends. A row that is seen twice
/// (once before and once after a restart) must count once, as it does for a greatest value.
pub trait Summary<T>: State + Default + Send + Sync + 'static {
    /// A row of the stage.
    fn observe(&mut self, row: &T) -> JobResult<()>;

    /// What another reader has seen, or this one before.
    fn merge(&mut self, other: &Self);
}

/// Nothing is asked for.
impl<T> Summary<T> for () {
    fn observe(&mut self, _row: &T) -> JobResult<()> {
        Ok(())
    }

    fn merge(&mut self, _other: &Self) {}
}

/// Keeps the greater of both values.
#[inline]
pub fn raise<T: Compare + Clone>(best: &mut Option<T>, value: &T) {
    if best.as_ref().is_none_or(|best| value.compare(best).is_gt()) {
        *best = Some(value.clone());
    }
}

/// Keeps the greater of both values; null is none.
#[inline]
pub fn raise_to<T: Compare + Clone>(best: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value {
        raise(best, value);
    }
}
