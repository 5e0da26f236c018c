//! `rebalance`, `broadcast` or `partition by` right before an operator that brings rows together by a key: the key decides how
//! rows travel, and what the text asks for does not happen. And `broadcast` before one that sees row by row: it would do
//! everything once per task.

use std::collections::HashSet;

use millstream_runtime::graph::Operation;

use super::errors::tables;
use super::program::Node;
use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// A warning or an error for each, at its place.
pub fn without_effect(nodes: &[Node], spans: &[Span]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut told = HashSet::new();
    for node in nodes {
        for (number, (input, _)) in node.inputs.iter().enumerate() {
            // Nodes are numbered by their place.
            let at = input.0 as usize;
            let (Some(before), Some(span)) = (nodes.get(at), spans.get(at)) else { continue };
            let Some(word) = travels(&before.operation) else { continue };
            let gathering = gathers(&node.operation, number);
            let diagnostic = match gathering {
                Some(operator) if before.operation == Operation::Broadcast && number == 1 => {
                    tables::broadcast_before_join(*span, operator, broadcasts(&node.operation))
                }
                Some(operator) => tables::travels_by_key(word, *span, operator),
                None if before.operation == Operation::Broadcast && travels(&node.operation).is_none() => {
                    let named = written(nodes, spans, node);
                    tables::multiplies(*span, named.name.rsplit(": ").next().unwrap_or(&named.name))
                }
                None => continue,
            };
            // What one reader ignores may be wrong for another.
            if told.insert((*input, gathering.is_some())) {
                found.push(diagnostic);
            }
        }
    }
    found
}

/// The operator that the user wrote where this node stands: the rows of a `process` are brought into the form of its input first.
fn written<'a>(nodes: &'a [Node], spans: &[Span], node: &'a Node) -> &'a Node {
    let place = |node: &Node| spans.get(node.id.0 as usize);
    let reads = |next: &&Node| next.inputs.iter().any(|(input, _)| *input == node.id);
    let mut behind = nodes.iter().filter(reads);
    behind.find(|next| matches!(next.operation, Operation::Process(_)) && place(next) == place(node)).unwrap_or(node)
}

fn broadcasts(operation: &Operation) -> bool {
    matches!(operation, Operation::Join(join) if join.broadcast)
}

fn travels(operation: &Operation) -> Option<&'static str> {
    match operation {
        Operation::Rebalance => Some("rebalance"),
        Operation::Broadcast => Some("broadcast"),
        Operation::PartitionBy(_) => Some("partition by"),
        _ => None,
    }
}

/// The word of an operator that takes the rows of this input by key, or all in one place (or as `broadcast` says).
fn gathers(operation: &Operation, input: usize) -> Option<&'static str> {
    match operation {
        Operation::Aggregate(_) => Some("aggregate"),
        Operation::Dedup(_) => Some("dedup"),
        Operation::Top(_) => Some("top"),
        Operation::Sort(_) => Some("sort"),
        Operation::Process(process) if !process.takes_rows_anywhere() => Some("process"),
        Operation::Over(_) => Some(tables::OVER),
        // The sides of the others are brought into one form first.
        Operation::Combine(_) => Some("distinct"),
        Operation::Join(join) if join.lookup().is_none() && (input == 1 || !join.broadcast) => Some(join.kind.words()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::session::{Loader, Session};

    /// A file of this text.
    struct Text(&'static str);

    impl Loader for Text {
        fn load(&self, _path: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    #[test]
    fn rows_that_one_reader_takes_by_key_and_another_one_by_one_are_refused() {
        let text = "record Order { id: int64 }\n\
                    source orders: Order from generator { kind: sequence, rows: 10 }\n\
                    stream everywhere = orders | broadcast\n\
                    stream unique = everywhere | dedup by id\n\
                    sink unique into blackhole\n\
                    sink everywhere into blackhole\n";
        let session = Session::open("travel.flow", &Text(text)).expect("the text is there");
        let mut codes: Vec<&str> = session.diagnostics().iter().map(|found| found.code.0).collect();
        codes.sort_unstable();
        assert_eq!(codes, ["E0514", "W0502"]);
    }
}
