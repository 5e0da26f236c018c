//! Taking vertices out and putting them elsewhere.

use millstream_runtime::graph::{Exchange, JobEdge, JobGraph, VertexId};

/// The only consumer of a vertex, with the edge to it; None if there are none or several.
pub fn only_consumer(graph: &JobGraph, vertex: VertexId) -> Option<(VertexId, JobEdge)> {
    match graph.outputs(vertex).as_slice() {
        [(consumer, edge)] => Some((*consumer, (*edge).clone())),
        _ => None,
    }
}

/// The only producer of a vertex, with the edge from it.
pub fn only_producer(graph: &JobGraph, vertex: VertexId) -> Option<(VertexId, JobEdge)> {
    match graph.inputs(vertex).as_slice() {
        [(producer, edge)] => Some((*producer, (*edge).clone())),
        _ => None,
    }
}

/// Whether two neighbours run in one task whatever the job's settings, so that they may be merged or swapped.
pub fn same_task(graph: &JobGraph, producer: VertexId, edge: &JobEdge, consumer: VertexId) -> bool {
    let (before, after) = (&graph.vertex(producer).hints, &graph.vertex(consumer).hints);
    let free = |no_chain: bool| !no_chain;
    edge.exchange == Exchange::Forward
        && before.parallelism == after.parallelism
        && (after.slot_group.is_none() || before.slot_group == after.slot_group)
        && free(before.no_chain)
        && free(after.no_chain)
}

/// Removes a vertex that passes on its one input's rows; an exchange before it moves behind it.
pub fn remove_identity(graph: &mut JobGraph, vertex: VertexId) {
    let Some((producer, before)) = only_producer(graph, vertex) else { return };
    let consumers: Vec<_> = graph.outputs(vertex).into_iter().map(|(consumer, edge)| (consumer, edge.clone())).collect();
    graph.remove(vertex);
    for (consumer, after) in consumers {
        let exchange = if after.exchange == Exchange::Forward { before.exchange.clone() } else { after.exchange };
        graph.connect(producer, consumer, JobEdge { exchange, port: before.port, input: after.input });
    }
}

/// Swaps a vertex with its producer. Both have one input, and the edge between them keeps rows in one task.
pub fn swap_with_producer(graph: &mut JobGraph, vertex: VertexId) {
    let Some((producer, _)) = only_producer(graph, vertex) else { return };
    let moved = graph.vertex(vertex).clone();
    let kept = std::mem::replace(graph.vertex_mut(producer), moved);
    *graph.vertex_mut(vertex) = kept;
}
