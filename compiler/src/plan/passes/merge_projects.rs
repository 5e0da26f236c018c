//! Two projections in a row become one.

use std::collections::{HashMap, HashSet};

use millstream_runtime::graph::{Expr, JobGraph, Operation, VertexId};

use super::{Pass, rewire};
use crate::plan::analysis::columns::{DEEPEST, depth, is_free, reads, reads_always, substitute};
use crate::plan::analysis::failure::Failure;

/// `select { a: .. } | select { b: a + 1 }` becomes one `select`. A column that costs something must be read at most once;
/// one that can fail must be read exactly where it is always evaluated (or not at all: what nobody reads is not computed).
pub struct MergeProjects;

impl Pass for MergeProjects {
    const NAME: &'static str = "merge_projects";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut changed = false;
        for id in graph.topological() {
            changed |= merge(graph, &failure, id);
        }
        changed
    }
}

/// Merges a projection with the one before it.
fn merge(graph: &mut JobGraph, failure: &Failure, id: VertexId) -> bool {
    let Some((before, edge)) = rewire::only_producer(graph, id) else { return false };
    let (Operation::Project(inner), Operation::Project(outer)) = (&graph.vertex(before).operation, &graph.vertex(id).operation)
    else {
        return false;
    };
    let alone = rewire::only_consumer(graph, before).is_some() && rewire::same_task(graph, before, &edge, id);
    if !alone || !mergeable(inner, outer, failure) {
        return false;
    }
    let columns: HashMap<&str, &Expr> = inner.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let mut merged = outer.clone();
    merged.iter_mut().for_each(|(_, value)| substitute(value, &columns));
    if merged.iter().any(|(_, value)| depth(value) > DEEPEST) {
        return false;
    }
    graph.vertex_mut(id).operation = Operation::Project(merged);
    rewire::remove_identity(graph, before);
    true
}

fn mergeable(inner: &[(String, Expr)], outer: &[(String, Expr)], failure: &Failure) -> bool {
    let mut counts = HashMap::new();
    let mut always = HashSet::new();
    for (_, value) in outer {
        reads(value, &mut counts);
        reads_always(value, &mut |name| {
            always.insert(name);
        });
    }
    inner.iter().all(|(name, value)| match counts.get(name.as_str()) {
        None => true,
        Some(_) if is_free(value) => true,
        Some(1) => always.contains(name.as_str()) || !failure.can_fail(value),
        Some(_) => false,
    })
}
