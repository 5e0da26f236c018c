//! What runs: chains of operators, their subtasks, and the exchanges between them.
//!
//! [`ExecutionGraph::expand`] is a pure function of the job graph: operators joined by an edge that
//! [`chaining::decide`](super::chaining) accepts become one chain, which one task per subtask runs.

use super::job::{Exchange, Port, VertexId};

/// Names a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(pub u32);

/// Operators that run as one task per subtask, calling each other directly.
#[derive(Clone, Debug)]
pub struct Chain {
    pub id: ChainId,
    /// From the text, unique, a valid Rust identifier: `delays`, `delays_2`.
    pub name: String,
    /// Members, producers before consumers. The first is the head: a source, or what the inputs feed.
    pub members: Vec<VertexId>,
    /// None: the job's.
    pub parallelism: Option<u32>,
    pub slot_group: String,
    /// Edges inside the chain: producer, port, consumer.
    pub links: Vec<(VertexId, Port, VertexId)>,
}

/// A connection between two chains.
#[derive(Clone, Debug)]
pub struct ExchangeEdge {
    pub from: ChainId,
    pub to: ChainId,
    /// The vertex of the producing chain whose output this is, and which of its ports.
    pub producer: VertexId,
    pub port: Port,
    /// The vertex of the consuming chain, and which of its inputs.
    pub consumer: VertexId,
    pub input: usize,
    pub exchange: Exchange,
    /// Why the two are not one chain.
    pub reason: ChainBreak,
}

/// Why an edge does not chain; shown by `millstream explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainBreak {
    /// Rows are redistributed (by key, round-robin, to all).
    Redistributes,
    /// The consumer has several inputs.
    ManyInputs,
    ParallelismDiffers,
    SlotGroupDiffers,
    /// `@no_chain`
    Disabled,
}

/// The graph of what runs.
#[derive(Clone, Debug)]
pub struct ExecutionGraph {
    /// Producers before consumers.
    pub chains: Vec<Chain>,
    pub exchanges: Vec<ExchangeEdge>,
}
