//! What aggregates are called in the state of their operator.
//!
//! State fits a changed pipeline field by field, by name: so a name has to go with what it names, wherever a column is moved. It is
//! that of the column that shows the value, and the function's where none shows it alone. Given before passes, which take columns away.

use std::collections::HashSet;

use super::expr::ExprKind;
use super::job::JobGraph;
use super::operation::{AggregateCall, Operation};

impl JobGraph {
    /// Gives every call of an aggregate its [name in the state](AggregateCall::state), each once per operator. A name that it has is
    /// taken for that of its column.
    pub fn name_accumulators(&mut self) {
        for vertex in self.topological() {
            match &mut self.vertex_mut(vertex).operation {
                Operation::Aggregate(aggregate) => {
                    for (index, call) in aggregate.calls.iter_mut().enumerate() {
                        let column = aggregate.output.iter().find(|(_, value)| value.kind == ExprKind::Aggregate(index));
                        call.state = column.map(|(name, _)| name.clone()).unwrap_or_default();
                    }
                    name(aggregate.calls.iter_mut().collect());
                }
                Operation::Over(over) => name(over.calls.iter_mut().map(|(_, call)| &mut call.call).collect()),
                _ => {}
            }
        }
    }
}

/// Columns first: what has no column must not take the name of one.
fn name(mut calls: Vec<&mut AggregateCall>) {
    let mut taken = HashSet::new();
    calls.sort_by_key(|call| call.state.is_empty());
    for call in calls {
        let base = if call.state.is_empty() { call.function } else { &call.state };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let name = std::iter::once(base.to_owned()).chain(numbered).find(|name| !taken.contains(name));
        call.state = name.unwrap_or_default();
        taken.insert(call.state.clone());
    }
}
