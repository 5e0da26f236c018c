//! What an operator knows of its place in the job.

use std::sync::Arc;

use crate::graph::ErrorPolicy;
use crate::state::{KeyGroupRange, KeyGroups};

/// Where an operator runs.
#[derive(Clone, Debug)]
pub struct OperatorContext {
    /// Stable id from the names in the text (`delays/aggregate/1`): keys the operator's state.
    pub uid: Arc<str>,
    /// For people: `delays: aggregate`.
    pub name: Arc<str>,
    /// The number of this copy of the operator, from 0.
    pub subtask: u32,
    /// How many copies run side by side.
    pub parallelism: u32,
    /// The number of key groups.
    pub max_parallelism: u32,
    /// What happens to rows that cannot be computed.
    pub on_error: ErrorPolicy,
    /// Where keyed state goes that does not fit into memory. None: all of it fits.
    #[cfg(feature = "disk")]
    pub disk: Option<Arc<crate::state::Disk>>,
}

impl OperatorContext {
    /// The one copy of an operator, with the default number of key groups; for tests and tools.
    pub fn single(uid: &str) -> Self {
        OperatorContext {
            uid: uid.into(),
            name: uid.into(),
            subtask: 0,
            parallelism: 1,
            max_parallelism: 128,
            on_error: ErrorPolicy::Fail,
            #[cfg(feature = "disk")]
            disk: None,
        }
    }

    /// How keys are spread over key groups.
    pub fn key_groups(&self) -> KeyGroups {
        KeyGroups::new(self.max_parallelism)
    }

    /// The key groups of this copy.
    pub fn key_group_range(&self) -> KeyGroupRange {
        self.key_groups().range(self.subtask, self.parallelism)
    }
}
