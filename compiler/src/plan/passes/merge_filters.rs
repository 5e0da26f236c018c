//! Two filters in a row become one.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, JobGraph, Operation, Ty, VertexId};

use super::{Pass, rewire};
use crate::plan::analysis::columns::{DEEPEST, depth};
use crate::plan::analysis::failure::Failure;

/// `where a | where b` becomes `where a and b`. If `a` may be null, `and` also evaluates `b` where `a` is null, rows that
/// the second filter did not see: then only if `b` cannot fail.
pub struct MergeFilters;

impl Pass for MergeFilters {
    const NAME: &'static str = "merge_filters";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut changed = false;
        for id in graph.topological() {
            changed |= merge(graph, &failure, id);
        }
        changed
    }
}

/// Merges a filter with the one before it.
fn merge(graph: &mut JobGraph, failure: &Failure, id: VertexId) -> bool {
    let Some((before, edge)) = rewire::only_producer(graph, id) else { return false };
    let alone = rewire::only_consumer(graph, before).is_some() && rewire::same_task(graph, before, &edge, id);
    let (Operation::Filter(first), Operation::Filter(second)) = (&graph.vertex(before).operation, &graph.vertex(id).operation)
    else {
        return false;
    };
    if !alone || (first.ty.is_optional() && failure.can_fail(second)) {
        return false;
    }
    let merged = and(first.clone(), second.clone());
    if depth(&merged) > DEEPEST {
        return false;
    }
    // The later vertex stays, under the name of the first.
    let mut vertex = graph.vertex(before).clone();
    vertex.operation = Operation::Filter(merged);
    *graph.vertex_mut(id) = vertex;
    rewire::remove_identity(graph, before);
    true
}

/// `a and b`
pub(super) fn and(a: Expr, b: Expr) -> Expr {
    let ty = if a.ty.is_optional() || b.ty.is_optional() { Ty::Bool.optional() } else { Ty::Bool };
    let origin = a.origin.clone();
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(a), Box::new(b)), ty, origin }
}
