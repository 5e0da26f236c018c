//! The typed program: every name resolved, every expression typed, every stream known as stream or table.

use millstream_runtime::graph::{Function, Hints, JobSettings, Operation, Origin, Param, Port, RustModule, StreamType};

/// Names a node of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A job as the text says it, typed. Nodes stand in an order in which producers come before consumers.
#[derive(Clone, Debug)]
pub struct Program {
    pub settings: JobSettings,
    pub params: Vec<Param>,
    pub functions: Vec<Function>,
    /// Rust files of the user.
    pub rust: Vec<RustModule>,
    pub nodes: Vec<Node>,
}

/// One operator of a pipeline, or a source or sink.
#[derive(Clone, Debug)]
pub struct Node {
    pub id: NodeId,
    /// Stable id: the item's name, the operator's word and its ordinal among equal words in the item
    /// (`delays/where/0`), or what `@id` says.
    pub uid: String,
    /// For people: `delays: where`.
    pub name: String,
    pub operation: Operation,
    /// Producers, each with the port it comes from; the input number is always 0 (joins will differ).
    pub inputs: Vec<(NodeId, Port)>,
    pub output: StreamType,
    pub hints: Hints,
    pub origin: Origin,
}
