//! `| final` behind an operator that makes a table: the operator itself emits what stands at the end.

use millstream_runtime::graph::{Changelog, Emit, Exchange, JobGraph, Operation, VertexId};

use super::{Pass, rewire};
use crate::plan::analysis::failure::Failure;

/// An aggregate, `dedup` or `top` followed by `final` emits only its final rows, and the `final` goes: no change is made, sent and
/// undone. Filters and projections between that cannot fail then see only final rows.
pub struct FuseFinal;

impl Pass for FuseFinal {
    const NAME: &'static str = "fuse_final";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut changed = false;
        for id in graph.topological() {
            if matches!(graph.vertex(id).operation, Operation::Final) {
                changed |= fuse(graph, &failure, id);
            }
        }
        changed
    }
}

fn fuse(graph: &mut JobGraph, failure: &Failure, id: VertexId) -> bool {
    let Some(path) = path_to_maker(graph, failure, id) else { return false };
    for vertex in path {
        let vertex = graph.vertex_mut(vertex);
        vertex.output.changelog = Changelog::Append;
        match &mut vertex.operation {
            Operation::Aggregate(aggregate) => aggregate.emit = Emit::Final,
            Operation::Dedup(dedup) => dedup.emit = Emit::Final,
            Operation::Top(top) => top.emit = Emit::Final,
            _ => {}
        }
    }
    graph.for_each_edge_mut(|_, to, edge| {
        if to == id {
            edge.exchange = Exchange::Forward;
        }
    });
    rewire::remove_identity(graph, id);
    true
}

/// From behind the `final` to the operator that makes the table, both ends of every edge alone with each other.
fn path_to_maker(graph: &JobGraph, failure: &Failure, id: VertexId) -> Option<Vec<VertexId>> {
    let mut path = Vec::new();
    let mut vertex = id;
    loop {
        let (producer, edge) = rewire::only_producer(graph, vertex)?;
        rewire::only_consumer(graph, producer)?;
        // Behind a fused `final` rows are no changes any more: where they go does not matter.
        if edge.exchange != Exchange::Forward && !(vertex == id && matches!(edge.exchange, Exchange::Hash(_))) {
            return None;
        }
        // What is forgotten stands for good: only the one that keeps all rows knows it at the end.
        if graph.vertex(producer).hints.ttl.is_some_and(|ttl| ttl != i64::MAX) {
            return None;
        }
        path.push(producer);
        match &graph.vertex(producer).operation {
            Operation::Aggregate(aggregate) => {
                return (aggregate.emit == Emit::Changes && aggregate.window.is_none()).then_some(path);
            }
            Operation::Dedup(dedup) => return (dedup.emit == Emit::Changes).then_some(path),
            Operation::Top(top) => return (top.emit == Emit::Changes).then_some(path),
            Operation::Filter(condition) if !failure.can_fail(condition) => {}
            Operation::Project(columns) if !columns.iter().any(|(_, value)| failure.can_fail(value)) => {}
            _ => return None,
        }
        vertex = producer;
    }
}
