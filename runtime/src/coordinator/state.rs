//! Encoding what tasks hand over for a checkpoint.

use std::sync::Arc;

use super::contents::{Contents, LazyPart, LazyPiece};
use crate::checkpoint::{Part, StateEntry};
use crate::error::{JobError, JobResult};
use crate::operator::{OperatorSnapshot, Spread, StateParts, StateSnapshot};
use crate::sink::{COMMITTABLES, SUMMARY};

/// Encodes lazily taken snapshots, but for pieces, which are encoded when they are written. Heavy: not on a task.
pub(crate) fn contents_of(operators: Vec<OperatorSnapshot>, subtask: u32) -> JobResult<Contents> {
    let (mut entries, mut pieces) = (Vec::new(), Vec::new());
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
                    let (state, schema): (Arc<str>, Arc<str>) = (state.name.as_str().into(), state.schema.as_str().into());
                    for group in groups {
                        let (piece, weight) = group.as_piece().ok_or_else(|| JobError::new("a piece of a key group is none"))?;
                        let (uid, state, schema) = (operator.uid.clone(), state.clone(), schema.clone());
                        pieces.push(LazyPiece {
                            uid,
                            state,
                            schema,
                            subtask,
                            group: group.group,
                            piece,
                            weight,
                            part: LazyPart::new(group.part),
                        });
                    }
                }
                StateParts::List(items) => entries.extend(items.into_iter().map(|item| entry(Part::Item(item)))),
                StateParts::Shared(spread, items) => entries.extend(items.encode()?.into_iter().map(|item| {
                    entry(match spread {
                        Spread::Deal => Part::Item(item),
                        Spread::All => Part::Union(item),
                        Spread::Copy => Part::Copy(item),
                    })
                })),
            }
        }
    }
    Ok(Contents { entries, pieces, ..Contents::default() })
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
