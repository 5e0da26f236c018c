//! Encoding what tasks hand over for a checkpoint.

use crate::checkpoint::{Part, StateEntry};
use crate::operator::{OperatorSnapshot, StateParts};

/// Encodes lazily taken snapshots. Heavy: not on a task.
pub(crate) fn entries_of(operators: Vec<OperatorSnapshot>, subtask: u32) -> Vec<StateEntry> {
    let mut entries = Vec::new();
    for operator in operators {
        for state in operator.states {
            let entry = |part| StateEntry {
                uid: operator.uid.to_string(),
                state: state.name.clone(),
                schema: state.schema.clone(),
                subtask,
                part,
            };
            match state.parts {
                StateParts::Keyed(groups) => entries.extend(groups.into_iter().map(|group| {
                    let mut bytes = Vec::new();
                    group.part.encode(&mut bytes);
                    entry(Part::Group(group.group, bytes))
                })),
                StateParts::List(items) => entries.extend(items.into_iter().map(|item| entry(Part::Item(item)))),
            }
        }
    }
    entries
}
