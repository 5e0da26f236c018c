//! Connects what operators cannot compute with the stream of `on error: into x`.

use std::collections::HashSet;

use millstream_runtime::graph::{ErrorPolicy, Exchange, JobEdge, JobGraph, Operation, Port, VertexId};

use super::Pass;
use crate::plan::analysis::failure::Failure;

/// Gives every operator that can fail an edge to the stream of errors. Operators behind that stream fail the job: there is
/// nowhere else to go. Without such a stream, or where nobody reads it, rows are skipped and counted.
///
/// Comes last, so that no other pass has to carry these edges along.
pub struct RouteErrors;

impl Pass for RouteErrors {
    const NAME: &'static str = "route_errors";

    fn run(&self, graph: &mut JobGraph) -> bool {
        if graph.settings.on_error != ErrorPolicy::Into {
            return false;
        }
        let Some(errors) = stream_of_errors(graph) else {
            graph.settings.on_error = ErrorPolicy::Skip;
            return true;
        };
        for vertex in fallible(graph, errors) {
            graph.connect(vertex, errors, JobEdge { exchange: Exchange::Forward, port: Port::Error, input: 0 });
        }
        true
    }
}

/// The vertex of `on error: into x`, if it is read.
pub fn stream_of_errors(graph: &JobGraph) -> Option<VertexId> {
    graph.vertices().find(|id| matches!(graph.vertex(*id).operation, Operation::Errors))
}

/// The operators whose errors go to the stream. At least one: a stream without any input has no watermark and no end.
fn fallible(graph: &JobGraph, errors: VertexId) -> Vec<VertexId> {
    let failure = Failure::new(graph);
    let mut behind = HashSet::from([errors]);
    let mut open = vec![errors];
    while let Some(id) = open.pop() {
        open.extend(graph.outputs(id).into_iter().map(|(consumer, _)| consumer).filter(|consumer| behind.insert(*consumer)));
    }
    let before = || graph.topological().into_iter().filter(|id| !behind.contains(id));
    let found: Vec<VertexId> = before().filter(|id| failure.operation_can_fail(&graph.vertex(*id).operation)).collect();
    let first = || before().find(|id| matches!(graph.vertex(*id).operation, Operation::Source(_))).into_iter().collect();
    if found.is_empty() { first() } else { found }
}
