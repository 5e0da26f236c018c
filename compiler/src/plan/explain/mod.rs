//! A plan for people (and for tools): what `millstream explain` shows.
//!
//! In comes the job graph as built, as optimised, and its execution graph; out goes text, JSON, Graphviz or Mermaid. All
//! are stable: the same job gives the same text.

mod delivery;
mod diff;
mod dot;
mod json;
mod mermaid;
mod state;
mod text;
mod ways_out;

pub use delivery::{Delivery, Guarantee, deliveries};
pub use diff::passes;
pub use dot::dot;
pub use json::json;
pub use mermaid::mermaid;
pub use text::text;
pub use ways_out::ways_out;

use millstream_runtime::graph::{ExchangeEdge, ExecutionGraph, JobGraph, Operation, Port, VertexId};

/// A job in its three forms.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Before the passes.
    pub built: &'a JobGraph,
    /// After the passes.
    pub job: &'a JobGraph,
    pub execution: &'a ExecutionGraph,
}

impl Plan<'_> {
    /// How often a chain runs, as far as it is known: the job's setting may be overruled when it starts.
    fn parallelism(&self, chain: &millstream_runtime::graph::Chain) -> u32 {
        chain.parallelism.unwrap_or(self.job.settings.parallelism)
    }

    /// The vertex of this id as it was before the passes.
    fn as_built(&self, vertex: VertexId) -> Option<&millstream_runtime::graph::JobVertex> {
        let uid = &self.job.vertex(vertex).uid;
        self.built.vertices().map(|id| self.built.vertex(id)).find(|vertex| vertex.uid == *uid)
    }
}

/// `by hash of carrier`, `late rows, round-robin`
fn travels(job: &JobGraph, edge: &ExchangeEdge) -> String {
    let how = edge.exchange.to_string();
    match edge.port {
        Port::Main => how,
        Port::Side(number) => match &job.vertex(edge.producer).operation {
            Operation::Process(process) => {
                process.sides.get(number).map_or(how.clone(), |side| format!("{}, {how}", side.text()))
            }
            _ => how,
        },
        Port::Late => format!("late rows, {how}"),
        Port::Error => format!("errors, {how}"),
    }
}
