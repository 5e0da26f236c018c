//! What a checkpoint gives back to the operators of one subtask.
//!
//! The engine fills it from one or more old subtasks: the key groups of the new subtask's range, and its share of list items.

use std::sync::OnceLock;

use hashbrown::HashMap;

use crate::checkpoint::{Conversion, ConversionError, Layout};
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
        self.state(uid, state, schema).stored.groups.push((group, bytes));
    }

    /// Adds one encoded list item.
    pub fn add_item(&mut self, uid: &str, state: &str, schema: &str, bytes: Vec<u8>) {
        self.state(uid, state, schema).stored.items.push(bytes);
    }

    fn state(&mut self, uid: &str, name: &str, schema: &str) -> &mut RestoredParts {
        let operator = self.operators.entry_ref(uid).or_default();
        let found = operator.states.iter().position(|state| state.name == name);
        let index = found.unwrap_or_else(|| {
            operator.states.push(RestoredParts {
                name: name.to_owned(),
                schema: schema.to_owned(),
                stored: Parts::default(),
                converted: OnceLock::new(),
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
    stored: Parts,
    /// For a job whose types have changed since, with the schema that they have now.
    converted: OnceLock<(String, Parts)>,
}

#[derive(Clone, Debug, Default)]
struct Parts {
    groups: Vec<(u16, Vec<u8>)>,
    items: Vec<Vec<u8>>,
}

impl RestoredOperator {
    /// The key groups of a keyed state, encoded with this schema. What was written with another is converted, where fields
    /// were added that may be absent, removed, or made wider; else an error says which field does not fit.
    pub fn keyed(&self, state: &str, schema: &str) -> Result<&[(u16, Vec<u8>)], JobError> {
        Ok(self.find(state, schema)?.map_or(&[], |parts| &parts.groups))
    }

    /// The items of a list state, encoded with this schema; converted as by [`RestoredOperator::keyed`].
    pub fn list(&self, state: &str, schema: &str) -> Result<&[Vec<u8>], JobError> {
        Ok(self.find(state, schema)?.map_or(&[], |parts| &parts.items))
    }

    fn find(&self, state: &str, schema: &str) -> Result<Option<&Parts>, JobError> {
        let Some(found) = self.states.iter().find(|parts| parts.name == state) else { return Ok(None) };
        if found.schema == schema {
            return Ok(Some(&found.stored));
        }
        if found.converted.get().is_none() {
            let parts =
                convert(&found.stored, &found.schema, schema).map_err(|reason| refused(&found.schema, schema, &reason))?;
            // Whoever was first has stored the same.
            let _ = found.converted.set((schema.to_owned(), parts));
        }
        match found.converted.get() {
            Some((converted, parts)) if converted == schema => Ok(Some(parts)),
            _ => Err(refused(&found.schema, schema, "it is taken in two forms at once")),
        }
    }
}

fn convert(stored: &Parts, old: &str, new: &str) -> Result<Parts, String> {
    let unknown = || "its types cannot be compared".to_owned();
    let (old, new) = (Layout::parse(old).ok_or_else(unknown)?, Layout::parse(new).ok_or_else(unknown)?);
    let conversion = Conversion::between(&old, &new).map_err(|mismatch| match named(&mismatch.path).as_str() {
        "" => mismatch.reason,
        path => format!("`{path}` {}", mismatch.reason),
    })?;
    let apply = |bytes: &Vec<u8>| {
        conversion.apply(bytes).map_err(|error| match error {
            ConversionError::Damaged => "it is damaged".to_owned(),
            ConversionError::Value(value) => format!("it holds `{value}`, which does not exist any more"),
        })
    };
    Ok(Parts {
        groups: stored.groups.iter().map(|(group, bytes)| Ok((*group, apply(bytes)?))).collect::<Result<_, String>>()?,
        items: stored.items.iter().map(apply).collect::<Result<_, String>>()?,
    })
}

/// The part of a path that people have written: without the tables and tuples around it.
fn named(path: &str) -> String {
    let structure = |part: &&str| !matches!(*part, "entries" | "panes") && !part.bytes().all(|byte| byte.is_ascii_digit());
    path.split('.').filter(structure).collect::<Vec<_>>().join(".")
}

#[cold]
fn refused(old: &str, new: &str, reason: &str) -> JobError {
    JobError::new(format!(
        "the state in the checkpoint does not fit this job: {reason}\n  in the checkpoint: {old}\n  in this job:       {new}\n  keep \
         the types as they were, give the operator another name (@id) to begin with empty state, or start anew (--fresh)"
    ))
}
