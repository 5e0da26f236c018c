//! State that goes with no key: what a subtask of a process keeps for itself, and what all subtasks know.
//!
//! When the parallelism changes, the elements of an [`OperatorList`] are dealt out anew, those of a [`UnionList`] go to every
//! subtask, which picks what it needs, and a [`BroadcastState`] is copied.

mod broadcast;
mod list;
mod union;

pub use broadcast::{BroadcastState, Everywhere};
pub use list::OperatorList;
pub use union::UnionList;

use crate::error::JobError;
use crate::operator::{OperatorSnapshot, RestoredOperator};

/// The states without key of one process: `()`, or a struct of them with `#[derive(Shared)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no struct of states without key",
    label = "not known to checkpoints",
    note = "write `#[derive(Default, Shared)]` above it"
)]
pub trait Shared: Default + Send + 'static {
    /// Calls `visit` with each state and its name, which must never change.
    fn each(&mut self, visit: &mut dyn FnMut(&str, &mut dyn SharedState) -> Result<(), JobError>) -> Result<(), JobError>;
}

impl Shared for () {
    fn each(&mut self, _: &mut dyn FnMut(&str, &mut dyn SharedState) -> Result<(), JobError>) -> Result<(), JobError> {
        Ok(())
    }
}

/// What the engine does with such a state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no state without key",
    label = "not known to checkpoints",
    note = "write `BroadcastState<K, V>`, `OperatorList<T>` or `UnionList<T>`"
)]
pub trait SharedState {
    /// Hands it to a checkpoint: cheap, it is encoded later.
    fn snapshot(&mut self, name: &str, snapshot: &mut OperatorSnapshot);
    /// Takes it from a checkpoint.
    fn restore(&mut self, name: &str, state: &RestoredOperator) -> Result<(), JobError>;
    /// Forgets everything.
    fn clear(&mut self);
}

#[cfg(test)]
mod tests;
