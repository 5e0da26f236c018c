//! `rebalance`, `broadcast` or `partition by` right before an operator that brings rows together by a key: the key decides how
//! rows travel, and what the text asks for does not happen. And `broadcast` before one that sees row by row: it would do
//! everything once per task.

use std::collections::HashSet;

use millstream_runtime::graph::Operation;

use super::errors::tables;
use super::program::Node;
use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// A warning for each, at its place.
pub fn without_effect(nodes: &[Node], spans: &[Span]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut told = HashSet::new();
    for node in nodes {
        let Some(operator) = gathers(&node.operation) else {
            for (input, _) in node.inputs.iter().filter(|_| travels(&node.operation).is_none()) {
                let at = input.0 as usize;
                if let (Some(before), Some(span)) = (nodes.get(at), spans.get(at))
                    && before.operation == Operation::Broadcast
                    && told.insert(*input)
                {
                    found.push(tables::multiplies(*span, node.name.rsplit(": ").next().unwrap_or(&node.name)));
                }
            }
            continue;
        };
        for (input, _) in &node.inputs {
            // Nodes are numbered by their place.
            let at = input.0 as usize;
            if let (Some(before), Some(span)) = (nodes.get(at), spans.get(at))
                && let Some(word) = travels(&before.operation)
                && told.insert(*input)
            {
                found.push(tables::travels_by_key(word, *span, operator));
            }
        }
    }
    found
}

fn travels(operation: &Operation) -> Option<&'static str> {
    match operation {
        Operation::Rebalance => Some("rebalance"),
        Operation::Broadcast => Some("broadcast"),
        Operation::PartitionBy(_) => Some("partition by"),
        _ => None,
    }
}

/// The word of an operator that takes rows by key, or all in one place.
fn gathers(operation: &Operation) -> Option<&'static str> {
    match operation {
        Operation::Aggregate(_) => Some("aggregate"),
        Operation::Dedup(_) => Some("dedup"),
        Operation::Top(_) => Some("top"),
        Operation::Sort(_) => Some("sort"),
        Operation::Process(_) => Some("process"),
        Operation::Over(_) => Some("over (..)"),
        // The sides of the others are brought into one form first.
        Operation::Combine(_) => Some("distinct"),
        Operation::Join(join) if join.lookup().is_none() => Some(join.kind.words()),
        _ => None,
    }
}
