//! Encoding what tasks hand over for a checkpoint.

use crate::checkpoint::{Part, StateEntry};
use crate::error::JobResult;
use crate::operator::{OperatorSnapshot, Spread, StateParts};
use crate::sink::{COMMITTABLES, SUMMARY};

/// Encodes lazily taken snapshots. Heavy: not on a task.
pub(crate) fn entries_of(operators: Vec<OperatorSnapshot>, subtask: u32) -> JobResult<Vec<StateEntry>> {
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
                StateParts::Keyed(groups) => {
                    for group in groups {
                        let mut bytes = Vec::new();
                        group.part.encode(&mut bytes)?;
                        entries.push(entry(Part::Group(group.group, bytes)));
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

/// Takes out what sinks want to have committed: that is encoded already, and must not be lost.
pub(crate) fn take_staged(operators: &mut [OperatorSnapshot], subtask: u32) -> Vec<StateEntry> {
    let is_staged = |name: &str| name == SUMMARY || name == COMMITTABLES;
    let staged = operators.iter_mut().map(|operator| OperatorSnapshot {
        uid: operator.uid.clone(),
        states: operator.states.extract_if(.., |state| is_staged(&state.name)).collect(),
    });
    let staged: Vec<_> = staged.collect();
    // They are items, which are encoded.
    entries_of(staged, subtask).unwrap_or_default()
}
