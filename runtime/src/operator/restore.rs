//! What a checkpoint gives back to the operators of one subtask.
//!
//! The engine fills it from one or more old subtasks: the key groups of the new subtask's range, and its share of list items.

use hashbrown::HashMap;

use crate::error::JobError;

/// The state of all operators of a chain.
#[derive(Debug, Default)]
pub struct RestoredState {
    operators: HashMap<String, RestoredOperator>,
}

impl RestoredState {
    /// No state at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of this operator, if the checkpoint has any.
    pub fn operator(&self, uid: &str) -> Option<&RestoredOperator> {
        self.operators.get(uid)
    }

    /// Adds the encoded state of one key group.
    pub fn add_group(&mut self, uid: &str, state: &str, schema: &str, group: u16, bytes: Vec<u8>) {
        self.state(uid, state, schema).groups.push((group, bytes));
    }

    /// Adds one encoded list item.
    pub fn add_item(&mut self, uid: &str, state: &str, schema: &str, bytes: Vec<u8>) {
        self.state(uid, state, schema).items.push(bytes);
    }

    fn state(&mut self, uid: &str, name: &str, schema: &str) -> &mut RestoredParts {
        let operator = self.operators.entry_ref(uid).or_default();
        let found = operator.states.iter().position(|state| state.name == name);
        let index = found.unwrap_or_else(|| {
            operator.states.push(RestoredParts {
                name: name.to_owned(),
                schema: schema.to_owned(),
                groups: Vec::new(),
                items: Vec::new(),
            });
            operator.states.len() - 1
        });
        &mut operator.states[index]
    }
}

/// The state of one operator.
#[derive(Debug, Default)]
pub struct RestoredOperator {
    states: Vec<RestoredParts>,
}

#[derive(Debug)]
struct RestoredParts {
    name: String,
    schema: String,
    groups: Vec<(u16, Vec<u8>)>,
    items: Vec<Vec<u8>>,
}

impl RestoredOperator {
    /// The key groups of a keyed state, encoded. An error if it was written with other types.
    pub fn keyed(&self, state: &str, schema: &str) -> Result<&[(u16, Vec<u8>)], JobError> {
        Ok(self.find(state, schema)?.map_or(&[], |parts| &parts.groups))
    }

    /// The items of a list state, encoded. An error if it was written with other types.
    pub fn list(&self, state: &str, schema: &str) -> Result<&[Vec<u8>], JobError> {
        Ok(self.find(state, schema)?.map_or(&[], |parts| &parts.items))
    }

    fn find(&self, state: &str, schema: &str) -> Result<Option<&RestoredParts>, JobError> {
        let Some(parts) = self.states.iter().find(|parts| parts.name == state) else { return Ok(None) };
        if parts.schema != schema {
            return Err(JobError::new(format!(
                "the checkpoint's state `{state}` has other types\n  in the checkpoint: {}\n  in this job:       {schema}\n  \
                 keep the types as they were, or start without the checkpoint (--fresh)",
                parts.schema
            )));
        }
        Ok(Some(parts))
    }
}
