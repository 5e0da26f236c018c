//! What all subtasks know: rules, rates.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use super::SharedState;
use crate::error::JobError;
use crate::operator::{OperatorSnapshot, RestoredOperator, Spread};
use crate::state::{State, decode_from_slice, encode_to_vec};

/// Says that what is done now is done in every subtask: rows of a broadcast input have it, rows with a key have not.
#[derive(Debug)]
pub struct Everywhere(pub(crate) ());

/// A map that is the same in every subtask, since only rows of a broadcast input change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastState<K, V>(Arc<BTreeMap<K, V>>);

impl<K, V> Default for BroadcastState<K, V> {
    fn default() -> Self {
        BroadcastState(Arc::default())
    }
}

/// Read as the map that it is.
impl<K, V> Deref for BroadcastState<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.0
    }
}

impl<K: Ord + Clone, V: Clone> BroadcastState<K, V> {
    /// The map, to be changed in all subtasks alike: by what the row says, and nothing that differs between them.
    pub fn change(&mut self, _: &Everywhere) -> &mut BTreeMap<K, V> {
        Arc::make_mut(&mut self.0)
    }
}

impl<K, V> SharedState for BroadcastState<K, V>
where
    K: State + Ord + Clone + Send + Sync + 'static,
    V: State + Clone + Send + Sync + 'static,
{
    fn snapshot(&mut self, name: &str, snapshot: &mut OperatorSnapshot) {
        let shared = self.0.clone();
        snapshot.shared(name, BTreeMap::<K, V>::schema(), Spread::Copy, move || Ok(vec![encode_to_vec(&*shared)]));
    }

    fn restore(&mut self, name: &str, state: &RestoredOperator) -> Result<(), JobError> {
        if let Some(copy) = state.list(name, &BTreeMap::<K, V>::schema())?.first() {
            let map = decode_from_slice(copy).map_err(|error| JobError::new(format!("the state `{name}`: {error}")))?;
            self.0 = Arc::new(map);
        }
        Ok(())
    }

    /// Stays: every subtask knows the same, and one that goes on may be restored with what one has left that has ended.
    fn clear(&mut self) {}
}
