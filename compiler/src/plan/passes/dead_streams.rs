//! Removes what reaches no sink.

use millstream_runtime::graph::{ErrorPolicy, Exchange, JobGraph, Operation, Port, VertexId};

use super::{Pass, rewire};

/// Operators whose rows reach no sink; late rows and errors that nobody takes (they are counted again); unions of one input.
pub struct DeadStreams;

impl Pass for DeadStreams {
    const NAME: &'static str = "dead_streams";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let mut changed = false;
        let mut order = graph.topological();
        order.reverse();
        for vertex in order {
            changed |= visit(graph, vertex);
        }
        changed
    }
}

/// Consumers were visited before.
fn visit(graph: &mut JobGraph, vertex: VertexId) -> bool {
    let consumed = graph.outputs(vertex);
    if consumed.is_empty() && !matches!(graph.vertex(vertex).operation, Operation::Sink(_)) {
        graph.remove(vertex);
        return true;
    }
    let late = consumed.iter().any(|(_, edge)| edge.port == Port::Late);
    let errors = consumed.iter().any(|(_, edge)| edge.port == Port::Error);
    match &mut graph.vertex_mut(vertex).operation {
        Operation::Aggregate(aggregate) if aggregate.late_output && !late => {
            aggregate.late_output = false;
            true
        }
        Operation::Dedup(dedup) if !late => std::mem::take(&mut dedup.late_output),
        Operation::Top(top) if !late => std::mem::take(&mut top.late_output),
        Operation::Sort(sort) if !late => std::mem::take(&mut sort.late_output),
        Operation::Source(source) if source.on_error == ErrorPolicy::Into && !errors => {
            source.on_error = ErrorPolicy::Skip;
            true
        }
        Operation::Join(join) if !late => match join.times_mut() {
            Some(times) => std::mem::take(&mut times.late_output),
            None => false,
        },
        Operation::Union => {
            let simple = matches!(graph.inputs(vertex).as_slice(), [(_, edge)] if edge.exchange == Exchange::Forward);
            if simple {
                rewire::remove_identity(graph, vertex);
            }
            simple
        }
        _ => false,
    }
}
