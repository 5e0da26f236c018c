//! Filters move towards sources, so that what is dropped is dropped early.

use std::collections::HashMap;

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, JobGraph, JobVertex, Operation, VertexId};

use super::merge_filters::and;
use super::{Pass, rewire};
use crate::plan::analysis::columns::{is_free, reads, substitute};
use crate::plan::analysis::failure::{Failure, is_guarded};

/// Filters move below projections, `explode` and unions that they alone consume. They never pass what can fail (it would
/// no longer run on the rows that the filter drops) nor a watermark (dropped rows move it, too); and one that can fail
/// only moves to where it sees the same rows. No expression is evaluated twice for it.
pub struct PushFilters;

impl Pass for PushFilters {
    const NAME: &'static str = "push_filters";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut changed = false;
        // Each step brings a filter nearer to a source; those nearest to sources go first and make way for the others.
        let mut open = graph.topological();
        open.reverse();
        while let Some(id) = open.pop() {
            if let Some(moved) = push(graph, &failure, id) {
                changed = true;
                open.extend(moved);
            }
        }
        changed
    }
}

/// Moves a filter, or a part of its condition, one step. Gives the filters that moved, to move on; None: it cannot move.
fn push(graph: &mut JobGraph, failure: &Failure, id: VertexId) -> Option<Vec<VertexId>> {
    let Operation::Filter(condition) = &graph.vertex(id).operation else { return None };
    let (before, edge) = rewire::only_producer(graph, id)?;
    if rewire::only_consumer(graph, before).is_none() || !rewire::same_task(graph, before, &edge, id) {
        return None;
    }
    let parts = conjuncts(condition);
    match &graph.vertex(before).operation {
        Operation::Project(columns) => {
            if columns.iter().any(|(_, value)| failure.can_fail(value)) {
                return None;
            }
            let values: HashMap<&str, &Expr> = columns.iter().map(|(name, value)| (name.as_str(), value)).collect();
            let movable = |part: &Expr| reads_of(part).keys().all(|name| values.get(name).is_some_and(|value| is_free(value)));
            let (mut moved, rest) = split(parts, failure, movable)?;
            substitute(&mut moved, &values);
            move_below(graph, id, before, moved, rest)
        }
        Operation::Explode { list, name } => {
            if failure.can_fail(list) || failure.can_fail(condition) {
                return None;
            }
            let (moved, rest) = split(parts, failure, |part| !reads_of(part).contains_key(name.as_str()))?;
            move_below(graph, id, before, moved, rest)
        }
        Operation::Union => {
            let condition = condition.clone();
            Some(move_into_union(graph, id, before, condition))
        }
        _ => None,
    }
}

fn reads_of(expr: &Expr) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    reads(expr, &mut counts);
    counts
}

/// The operands of the outermost `and`s, in order.
fn conjuncts(expr: &Expr) -> Vec<Expr> {
    let mut parts = Vec::new();
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                stack.push(right);
                stack.push(left);
            }
            _ => parts.push(expr.clone()),
        }
    }
    parts
}

/// Parts a condition in what moves and what stays, if parting it changes nothing; all may move.
fn split(parts: Vec<Expr>, failure: &Failure, movable: impl Fn(&Expr) -> bool) -> Option<(Expr, Option<Expr>)> {
    let first_fixed = parts.iter().position(|part| !movable(part)).unwrap_or(parts.len());
    if first_fixed == parts.len() {
        return Some((parts.into_iter().reduce(and)?, None));
    }
    // Parts jump over others only if nothing can fail and nothing relies on a part before it.
    let free = parts.iter().all(|part| !failure.can_fail(part) && !is_guarded(part));
    let (moved, rest): (Vec<_>, Vec<_>) = if free {
        parts.into_iter().partition(movable)
    } else {
        // A null in front does not drop the row before the rest is evaluated, as long as both are one condition.
        let null_in_front = parts[..first_fixed].iter().any(|part| part.ty.is_optional());
        if null_in_front && parts[first_fixed..].iter().any(|part| failure.can_fail(part)) {
            return None;
        }
        let mut moved = parts;
        let rest = moved.split_off(first_fixed);
        (moved, rest)
    };
    Some((moved.into_iter().reduce(and)?, rest.into_iter().reduce(and)))
}

/// Puts the moved part in front of `before`; the rest stays behind it.
fn move_below(
    graph: &mut JobGraph,
    filter: VertexId,
    before: VertexId,
    moved: Expr,
    rest: Option<Expr>,
) -> Option<Vec<VertexId>> {
    let (first, edge) = rewire::only_producer(graph, before)?;
    let output = graph.output_type(first, edge.port).clone();
    let Some(rest) = rest else {
        let vertex = graph.vertex_mut(filter);
        vertex.operation = Operation::Filter(moved);
        vertex.output = output;
        rewire::swap_with_producer(graph, filter);
        return Some(vec![before]);
    };
    let mut new = graph.vertex(filter).clone();
    new.uid = unused_uid(graph, &format!("{}/pushed", new.uid));
    new.operation = Operation::Filter(moved);
    new.output = output;
    new.hints = graph.vertex(first).hints.clone();
    new.hints.no_chain = false;
    graph.vertex_mut(filter).operation = Operation::Filter(rest);
    Some(graph.insert_on_inputs(before, |_, _, _, _| new.clone()))
}

fn move_into_union(graph: &mut JobGraph, filter: VertexId, union: VertexId, condition: Expr) -> Vec<VertexId> {
    let model = graph.vertex(filter).clone();
    let moved = graph.insert_on_inputs(union, |graph, number, producer, port| {
        let mut hints = graph.vertex(producer).hints.clone();
        hints.no_chain = false;
        JobVertex {
            uid: unused_uid(graph, &format!("{}/{number}", model.uid)),
            operation: Operation::Filter(condition.clone()),
            output: graph.output_type(producer, port).clone(),
            hints,
            ..model.clone()
        }
    });
    rewire::remove_identity(graph, filter);
    moved
}

/// Filters have no state, so that a new id loses none.
fn unused_uid(graph: &JobGraph, base: &str) -> String {
    let taken = |uid: &str| graph.vertices().any(|id| graph.vertex(id).uid == uid);
    let mut uid = base.to_owned();
    while taken(&uid) {
        uid.push('_');
    }
    uid
}
