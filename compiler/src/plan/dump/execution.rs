//! An execution graph as text.

use std::fmt::Write;

use millstream_runtime::graph::{Chain, ExecutionGraph, JobGraph, Port};

/// Chains in order, each with its inputs and members, and why it is not part of its producers' chains.
pub fn execution(job: &JobGraph, graph: &ExecutionGraph) -> String {
    let mut out = String::new();
    for (number, chain) in graph.chains.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let parallelism =
            chain.parallelism.map_or_else(|| format!("{} (the job's)", job.settings.parallelism), |own| own.to_string());
        let _ = writeln!(out, "chain {} x {parallelism}, slot group {}", chain.name, chain.slot_group);
        for (edge_number, edge) in graph.inputs(chain.id) {
            let from = &graph.chain(edge.from).name;
            let port = if edge.port == Port::Main { String::new() } else { format!(" ({} rows)", edge.port) };
            let _ = writeln!(
                out,
                "  input {edge_number} <- {from}: {}{port}, {} because {}",
                job.vertex(edge.producer).uid,
                edge.exchange,
                edge.reason
            );
        }
        members(&mut out, job, graph, chain);
    }
    out
}

fn members(out: &mut String, job: &JobGraph, graph: &ExecutionGraph, chain: &Chain) {
    for member in &chain.members {
        let vertex = job.vertex(*member);
        let _ = write!(out, "  {}", vertex.uid);
        if let Some((producer, port, _)) = chain.links.iter().find(|(_, _, consumer)| consumer == member) {
            let port = if *port == Port::Main { String::new() } else { format!(" ({port} rows)") };
            let _ = write!(out, " <- {}{port}", job.vertex(*producer).uid);
        }
        out.push('\n');
        for (edge_number, edge) in graph.outputs(chain.id).filter(|(_, edge)| edge.producer == *member) {
            let _ = writeln!(out, "    output {edge_number} -> {}: {}", graph.chain(edge.to).name, edge.exchange);
        }
    }
}
