//! Operators whose state grows for as long as the job runs: those that keep every key, behind a source without an end.

use std::collections::HashMap;

use millstream_runtime::graph::{
    Combine, ConnectorOption, Expr, ExprKind, Literal, Operation, OptionValue, RustModule, SourceOperation, Ty, find_connector,
};

use super::errors::tables::{self, OVER};
use super::program::{Node, NodeId};
use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// A warning for each, at its place.
pub fn growing(rust: &[RustModule], nodes: &[Node], spans: &[Span]) -> Vec<Diagnostic> {
    // Nodes stand behind their inputs: the endless source that feeds each, by its name.
    let mut endless: HashMap<NodeId, &str> = HashMap::new();
    let mut found = Vec::new();
    for (node, span) in nodes.iter().zip(spans) {
        let source = match &node.operation {
            Operation::Source(source) if !is_bounded(rust, source) => Some(node.name.as_str()),
            _ => node.inputs.iter().find_map(|(input, _)| endless.get(input).copied()),
        };
        let Some(source) = source else { continue };
        endless.insert(node.id, source);
        if node.hints.ttl.is_none()
            && let Some((word, what)) = keeps(&node.operation)
        {
            found.push(tables::grows_for_ever(word, *span, &what, source));
        }
    }
    found
}

/// Whether a source ends: of a hybrid one, whether its last stage does.
fn is_bounded(rust: &[RustModule], source: &SourceOperation) -> bool {
    match source.stages.last() {
        Some(stage) => ends(rust, &stage.connector, &stage.options),
        None => ends(rust, &source.connector, &source.options),
    }
}

/// Whether what this connector reads ends. An option that is off is as good as not given.
pub fn ends(rust: &[RustModule], connector: &str, options: &[ConnectorOption]) -> bool {
    let off = |value: &OptionValue| match value {
        OptionValue::Value(value) => value.kind == ExprKind::Literal(Literal::Bool(false)),
        _ => false,
    };
    let given: Vec<&str> = options.iter().filter(|option| !off(&option.value)).map(|option| option.name.as_str()).collect();
    find_connector(rust, connector).and_then(|spec| spec.source).is_none_or(|spec| (spec.bounded)(&given))
}

/// The operator's word, and what it keeps for ever.
fn keeps(operation: &Operation) -> Option<(&'static str, String)> {
    let keys = |keys: Vec<&Expr>| {
        let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let many = keys.iter().any(|key| *key.ty.required() != Ty::Bool);
        many.then(|| format!("every `{}` that ever came", names.join(", ")))
    };
    if !operation.keeps_keys() {
        return None;
    }
    match operation {
        Operation::Aggregate(aggregate) => Some(("aggregate", keys(aggregate.keys.iter().map(|(_, key)| key).collect())?)),
        Operation::Dedup(dedup) if dedup.within.is_none() => Some(("dedup", keys(dedup.keys.iter().collect())?)),
        Operation::Top(top) => {
            // `dedup` over a table has no order of its own.
            let word = if top.latest_first || top.order.is_empty() { "dedup" } else { "top" };
            Some((word, keys(top.keys.iter().collect())?))
        }
        Operation::Join(join) => Some((join.kind.words(), "every row of both sides".to_owned())),
        Operation::Over(over) => Some((OVER, keys(over.keys.iter().collect())?)),
        Operation::Combine(combine) => {
            let word = match combine.how {
                Combine::Distinct => "distinct",
                Combine::Intersect => "intersect",
                Combine::Except => "except",
            };
            Some((word, "every row that ever came".to_owned()))
        }
        _ => None,
    }
}
