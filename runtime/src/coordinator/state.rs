//! Encoding what tasks hand over for a checkpoint.

use crate::checkpoint::{Part, StateEntry};
use crate::error::JobResult;
use crate::operator::{OperatorSnapshot, Spread, StateParts, StateSnapshot};
use crate::sink::{COMMITTABLES, SUMMARY};

/// Encodes lazily taken snapshots. Heavy: not on a task.
pub(crate) fn entries_of(operators: Vec<OperatorSnapshot>, subtask: u32) -> JobResult<Vec<StateEntry>> {
    let mut entries = Vec::new();
    for operator in operators {
        for state in operator.states {
            let entry = entry_of(&operator.uid, &state.name, &state.schema, subtask);
            match state.parts {
                StateParts::Keyed(groups) => {
                    for group in groups {
                        let mut bytes = Vec::new();
                        group.part.encode(&mut bytes)?;
                        entries.push(entry(Part::Group(group.group, bytes)));
                    }
                }
                StateParts::Pieces(groups) => {
                    for group in groups {
                        let mut bytes = Vec::new();
                        group.part.encode(&mut bytes)?;
                        entries.push(entry(Part::Piece(group.group, bytes)));
                    }
                }
                StateParts::List(items) => entries.extend(items.into_iter().map(|item| entry(Part::Item(item)))),
                StateParts::Shared(spread, items) => entries.extend(items.encode().into_iter().map(|item| {
                    entry(match spread {
                        Spread::Deal => Part::Item(item),
                        Spread::All => Part::Union(item),
                        Spread::Copy => Part::Copy(item),
                    })
                })),
            }
        }
    }
    Ok(entries)
}

fn entry_of(uid: &str, name: &str, schema: &str, subtask: u32) -> impl Fn(Part) -> StateEntry {
    move |part| StateEntry { uid: uid.to_owned(), state: name.to_owned(), schema: schema.to_owned(), subtask, part }
}

/// Takes out what sinks want to have committed: that is encoded already, and must not be lost.
pub(crate) fn take_staged(operators: &mut [OperatorSnapshot], subtask: u32) -> Vec<StateEntry> {
    let is_staged = |state: &StateSnapshot| {
        (state.name == SUMMARY || state.name == COMMITTABLES) && matches!(state.parts, StateParts::List(_))
    };
    let mut entries = Vec::new();
    for OperatorSnapshot { uid, states, .. } in operators {
        for StateSnapshot { name, schema, parts } in states.extract_if(.., |state| is_staged(state)) {
            let StateParts::List(items) = parts else { continue };
            entries.extend(items.into_iter().map(Part::Item).map(entry_of(uid, &name, &schema, subtask)));
        }
    }
    entries
}
