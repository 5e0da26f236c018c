//! What a checkpoint gives back to the operators of one subtask.
//!
//! The engine fills it from one or more old subtasks: the key groups of the new subtask's range, and its share of list items. Key groups
//! are read one by one when the operator comes to them: all together they may be more than fits into memory.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;

use crate::checkpoint::{Conversion, ConversionError, GroupBytes, Layout, Part, StateEntry, StoredGroup, without_defaults};
use crate::error::JobError;
use crate::notice::notice;

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
        self.add_stored(uid, state, schema, group, GroupBytes::in_memory(bytes));
    }

    /// Adds the state of one key group, to be read when it is wanted.
    pub fn add_stored(&mut self, uid: &str, state: &str, schema: &str, group: u16, bytes: GroupBytes) {
        self.state(uid, state, schema).groups.push((group, bytes));
    }

    /// Adds one encoded list item.
    pub fn add_item(&mut self, uid: &str, state: &str, schema: &str, bytes: Vec<u8>) {
        self.state(uid, state, schema).items.push(bytes);
    }

    /// What of these operators does not fit is dropped, and said.
    pub(crate) fn drop_what_does_not_fit(&mut self, drops: &Arc<Drops>) {
        for (uid, operator) in &mut self.operators {
            operator.drops = drops.uids.contains(uid).then(|| drops.clone());
        }
    }

    fn state(&mut self, uid: &str, name: &str, schema: &str) -> &mut RestoredParts {
        let operator =
            self.operators.entry_ref(uid).or_insert_with(|| RestoredOperator { uid: uid.to_owned(), ..Default::default() });
        let found = operator.states.iter().position(|state| state.name == name);
        let index = found.unwrap_or_else(|| {
            operator.states.push(RestoredParts {
                name: name.to_owned(),
                schema: schema.to_owned(),
                groups: Vec::new(),
                items: Vec::new(),
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
    uid: String,
    states: Vec<RestoredParts>,
    /// What does not fit is dropped.
    drops: Option<Arc<Drops>>,
}

/// State that is dropped if it does not fit, as all subtasks share it: that it is dropped is said once.
#[derive(Debug)]
pub(crate) struct Drops {
    uids: Vec<String>,
    /// Of each state: how many key groups and how many other entries a checkpoint has, until that was said.
    holds: Mutex<HashMap<(String, String), (usize, usize)>>,
}

impl Drops {
    /// Of these operators, with what a checkpoint has of them.
    pub fn new(uids: &[String], entries: &[StateEntry], groups: &[StoredGroup]) -> Arc<Self> {
        let mut holds: HashMap<(String, String), (usize, usize)> = HashMap::new();
        for entry in entries.iter().filter(|entry| uids.contains(&entry.uid)) {
            let held = holds.entry((entry.uid.clone(), entry.state.clone())).or_default();
            match entry.part {
                Part::Group(..) => held.0 += 1,
                _ => held.1 += 1,
            }
        }
        for group in groups.iter().filter(|group| uids.contains(&group.uid)) {
            holds.entry((group.uid.clone(), group.state.clone())).or_default().0 += 1;
        }
        Arc::new(Drops { uids: uids.to_vec(), holds: Mutex::new(holds) })
    }

    /// Says that a state is not taken, if nobody has.
    #[cold]
    fn say(&self, uid: &str, state: &str, reason: &str) {
        let held = self.holds.lock().unwrap_or_else(PoisonError::into_inner).remove(&(uid.to_owned(), state.to_owned()));
        if let Some((groups, items)) = held {
            notice(&format!(
                "the state `{state}` of `{uid}` in the checkpoint is dropped, as --drop-state says: {reason}; it held {groups} key \
                 groups, {items} other entries"
            ));
        }
    }
}

#[derive(Debug)]
struct RestoredParts {
    name: String,
    schema: String,
    groups: Vec<(u16, GroupBytes)>,
    items: Vec<Vec<u8>>,
    /// The items for a job whose types have changed since, with the schema that they have now.
    converted: OnceLock<(String, Vec<Vec<u8>>)>,
}

impl RestoredOperator {
    /// The key groups of a keyed state, encoded with this schema, read one by one. What was written with another is converted, where
    /// fields were added that may be absent, removed, or made wider; else an error says which field does not fit.
    pub fn keyed<'a>(
        &'a self,
        state: &str,
        schema: &str,
    ) -> Result<impl Iterator<Item = Result<(u16, Cow<'a, [u8]>), JobError>> + use<'a>, JobError> {
        let mut found = self.states.iter().find(|parts| parts.name == state);
        let refused = |found: &RestoredParts, schema: &str, reason: &str| self.refused(&found.schema, schema, reason);
        let mut converts = None;
        if let Some(parts) = found.filter(|parts| parts.schema != without_defaults(schema)) {
            match conversion(&parts.schema, schema) {
                Ok(conversion) => converts = Some(conversion),
                Err(reason) => match &self.drops {
                    Some(drops) => {
                        drops.say(&self.uid, state, &reason);
                        found = None;
                    }
                    None => return Err(refused(parts, schema, &reason)),
                },
            }
        }
        let schema = schema.to_owned();
        let groups = found.into_iter().flat_map(|found| found.groups.iter().map(move |group| (found, group)));
        Ok(groups.filter_map(move |(found, (group, bytes))| {
            let read = bytes.read().map(|bytes| match (bytes, &converts) {
                (Some(bytes), Some(conversion)) => match apply(conversion, &bytes) {
                    Ok(converted) => Some(Ok((*group, Cow::Owned(converted)))),
                    Err(reason) => Some(Err(refused(found, &schema, &reason))),
                },
                (bytes, _) => bytes.map(|bytes| Ok((*group, bytes))),
            });
            read.unwrap_or_else(|error| Some(Err(error)))
        }))
    }

    /// The key groups of a keyed state that are in pieces with this very schema: checkpoints can build upon what is restored of them.
    pub(crate) fn in_pieces(&self, state: &str, schema: &str) -> impl Iterator<Item = u16> {
        let schema = without_defaults(schema);
        let found = self.states.iter().find(|parts| parts.name == state && parts.schema == schema);
        let groups = found.into_iter().flat_map(|found| &found.groups);
        groups.filter(|(_, bytes)| bytes.is_in_pieces()).map(|(group, _)| *group)
    }

    /// The items of a list state, encoded with this schema; converted as by [`RestoredOperator::keyed`].
    pub fn list(&self, state: &str, schema: &str) -> Result<&[Vec<u8>], JobError> {
        let Some(found) = self.states.iter().find(|parts| parts.name == state) else { return Ok(&[]) };
        if found.schema == without_defaults(schema) {
            return Ok(&found.items);
        }
        if found.converted.get().is_none() {
            let convert = || {
                let conversion = conversion(&found.schema, schema)?;
                found.items.iter().map(|bytes| apply(&conversion, bytes)).collect::<Result<_, String>>()
            };
            let items = match convert() {
                Ok(items) => items,
                Err(reason) => match &self.drops {
                    Some(drops) => {
                        drops.say(&self.uid, state, &reason);
                        Vec::new()
                    }
                    None => return Err(self.refused(&found.schema, schema, &reason)),
                },
            };
            // Whoever was first has stored the same.
            let _ = found.converted.set((schema.to_owned(), items));
        }
        match found.converted.get() {
            Some((converted, items)) if converted == schema => Ok(items),
            _ => Err(self.refused(&found.schema, schema, "it is taken in two forms at once")),
        }
    }

    /// What an operator finds only when it has taken a state: that it is not of the form that it needs. Ok: it is to begin without it.
    pub(crate) fn does_not_fit(&self, state: &str, reason: &str) -> Result<(), JobError> {
        match &self.drops {
            Some(drops) => {
                drops.say(&self.uid, state, reason);
                Ok(())
            }
            None => Err(JobError::new(format!(
                "the state in the checkpoint does not fit this job: {reason}\n  keep `{uid}` as it was, drop just this state with \
                 --drop-state {uid}, or start anew (--fresh)",
                uid = self.uid
            ))),
        }
    }

    #[cold]
    fn refused(&self, old: &str, new: &str, reason: &str) -> JobError {
        let new = without_defaults(new);
        JobError::new(format!(
            "the state in the checkpoint does not fit this job: {reason}\n  in the checkpoint: {old}\n  in this job:       {new}\n  keep \
             the types as they were, drop just this state with --drop-state {}, or start anew (--fresh)",
            self.uid
        ))
    }
}

fn conversion(old: &str, new: &str) -> Result<Conversion, String> {
    let unknown = || "its types cannot be compared".to_owned();
    let (old, new) = (Layout::parse(old).ok_or_else(unknown)?, Layout::parse(new).ok_or_else(unknown)?);
    Conversion::between(&old, &new).map_err(|mismatch| match named(&mismatch.path).as_str() {
        "" => mismatch.reason,
        path => format!("`{path}` {}", mismatch.reason),
    })
}

fn apply(conversion: &Conversion, bytes: &[u8]) -> Result<Vec<u8>, String> {
    conversion.apply(bytes).map_err(|error| match error {
        ConversionError::Damaged => "it is damaged".to_owned(),
        ConversionError::Value(value) => format!("it holds `{value}`, which does not exist any more"),
    })
}

/// The part of a path that people have written: without the tables and tuples around it.
fn named(path: &str) -> String {
    let structure = |part: &&str| !matches!(*part, "entries" | "panes") && !part.bytes().all(|byte| byte.is_ascii_digit());
    path.split('.').filter(structure).collect::<Vec<_>>().join(".")
}
