//! A list that every subtask gets as a whole after a restore.

use super::{OperatorList, SharedState};
use crate::error::JobError;
use crate::operator::{OperatorSnapshot, RestoredOperator, Spread};
use crate::state::State;

/// Elements that a subtask keeps; after a restore, at any parallelism, every subtask has those of all subtasks, and drops what
/// is not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnionList<T>(OperatorList<T>);

impl<T> Default for UnionList<T> {
    fn default() -> Self {
        UnionList(OperatorList::default())
    }
}

impl<T: Clone> UnionList<T> {
    /// The elements.
    pub fn get(&self) -> &[T] {
        self.0.get()
    }

    /// The elements, to be changed.
    pub fn get_mut(&mut self) -> &mut Vec<T> {
        self.0.get_mut()
    }

    /// Adds an element.
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }
}

impl<T: State + Clone + Send + Sync + 'static> SharedState for UnionList<T> {
    fn snapshot(&mut self, name: &str, snapshot: &mut OperatorSnapshot) {
        self.0.hand_over(name, Spread::All, snapshot);
    }

    fn restore(&mut self, name: &str, state: &RestoredOperator) -> Result<(), JobError> {
        self.0.take_over(name, state)
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}
