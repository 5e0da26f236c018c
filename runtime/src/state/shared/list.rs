//! A list of a subtask.

use std::sync::Arc;

use super::SharedState;
use crate::error::JobError;
use crate::operator::{OperatorSnapshot, RestoredOperator, Spread};
use crate::state::{State, decode_from_slice, encode_to_vec};

/// Elements that belong to a subtask and to no key: rows that wait to be sent, say. With another parallelism they are dealt
/// out anew, one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorList<T>(pub(super) Arc<Vec<T>>);

impl<T> Default for OperatorList<T> {
    fn default() -> Self {
        OperatorList(Arc::default())
    }
}

impl<T: Clone> OperatorList<T> {
    /// The elements.
    pub fn get(&self) -> &[T] {
        &self.0
    }

    /// The elements, to be changed.
    pub fn get_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }

    /// Adds an element.
    pub fn push(&mut self, value: T) {
        self.get_mut().push(value);
    }

    /// Takes all elements out.
    pub fn take(&mut self) -> Vec<T> {
        std::mem::take(self.get_mut())
    }
}

impl<T: State + Clone + Send + Sync + 'static> OperatorList<T> {
    pub(super) fn hand_over(&mut self, name: &str, spread: Spread, snapshot: &mut OperatorSnapshot) {
        let shared = self.0.clone();
        snapshot.shared(name, T::schema(), spread, move || Ok(shared.iter().map(encode_to_vec).collect()));
    }

    pub(super) fn take_over(&mut self, name: &str, state: &RestoredOperator) -> Result<(), JobError> {
        let items = state.list(name, &T::schema())?.iter();
        let decoded: Result<Vec<T>, _> = items.map(|bytes| decode_from_slice(bytes)).collect();
        self.0 = Arc::new(decoded.map_err(|error| JobError::new(format!("the state `{name}`: {error}")))?);
        Ok(())
    }
}

impl<T: State + Clone + Send + Sync + 'static> SharedState for OperatorList<T> {
    fn snapshot(&mut self, name: &str, snapshot: &mut OperatorSnapshot) {
        self.hand_over(name, Spread::Deal, snapshot);
    }

    fn restore(&mut self, name: &str, state: &RestoredOperator) -> Result<(), JobError> {
        self.take_over(name, state)
    }

    fn clear(&mut self) {
        self.0 = Arc::default();
    }
}
