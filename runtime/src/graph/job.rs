//! The logical graph of a job: one vertex per operator, edges say how rows travel.
//!
//! Comes out of `plan::build`, is rewritten by passes, and expands to an [`ExecutionGraph`](super::ExecutionGraph).
//! petgraph's indices never leave this file: everyone else names vertices by [`VertexId`].

use std::collections::HashMap;

use petgraph::Direction;
use petgraph::stable_graph::{NodeIndex, StableDiGraph};
use petgraph::visit::EdgeRef;

use super::expr::{Expr, Origin};
use super::kept_by::KeptBy;
use super::operation::{Operation, StreamType};
use super::rust::{ProcessOperation, RustModule, Waits, find_connector};
use super::ty::Ty;
use crate::connectors::ConnectorSpec;

/// Names a vertex for the life of the graph, across removals of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexId(u32);

/// One logical operator.
#[derive(Clone, Debug, PartialEq)]
pub struct JobVertex {
    /// Stable id derived from names in the text (`delays/aggregate/1`) or `@id`; keys the operator's state.
    pub uid: String,
    /// For people: `delays: aggregate`.
    pub name: String,
    pub operation: Operation,
    /// What its rows look like.
    pub output: StreamType,
    pub hints: Hints,
    pub origin: Origin,
}

/// What attributes and physical operators ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `@parallelism(n)`; None: the job's.
    pub parallelism: Option<u32>,
    /// `@slot_group("io")`; None: that of the inputs, else `default`.
    pub slot_group: Option<String>,
    /// `@no_chain`
    pub no_chain: bool,
    /// `@ttl(1d)`, or the job's: a key whose state has not changed for so many microseconds of the clock is forgotten.
    pub ttl: Option<i64>,
}

/// How rows go from one operator to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEdge {
    pub exchange: Exchange,
    /// Which output of the producer.
    pub port: Port,
    /// Which input of the consumer (0 for all but joins; a union takes all its inputs on 0).
    pub input: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Port {
    Main,
    /// Late rows of a windowed aggregate, as they came in.
    Late,
    /// A side output of an operator in Rust: which of [`ProcessOperation::sides`].
    Side(usize),
    /// What could not be read or computed: see [`errors`](super::errors).
    Error,
}

/// Which subtask of the consumer gets a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Exchange {
    /// The subtask of the same number; rebalanced where the parallelism differs.
    Forward,
    /// By key group of these key expressions over the producer's row. No keys: all rows to subtask 0.
    Hash(Vec<Expr>),
    Rebalance,
    Broadcast,
}

/// Settings of `job { .. }`. Times in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSettings {
    pub name: String,
    pub doc: Option<String>,
    pub parallelism: u32,
    pub max_parallelism: u32,
    pub checkpoint: Option<CheckpointSettings>,
    /// A batch between tasks waits at most this long; 0: every row at once.
    pub buffer_timeout: i64,
    /// For rows whose expressions fail (overflow, division by zero): `on error: fail | skip | into x`.
    pub on_error: super::operation::ErrorPolicy,
    pub restart: super::restart::RestartSettings,
    pub state: StateSettings,
    /// `ttl: 1d`: what operators that keep state for ever take as their own.
    pub ttl: Option<i64>,
}

impl JobSettings {
    /// Those of a job that says nothing but its name.
    pub fn new(name: impl Into<String>) -> Self {
        JobSettings {
            name: name.into(),
            doc: None,
            parallelism: 1,
            max_parallelism: 128,
            checkpoint: None,
            buffer_timeout: 100_000,
            on_error: super::operation::ErrorPolicy::Fail,
            restart: super::restart::RestartSettings::Default,
            state: StateSettings::Memory,
            ttl: None,
        }
    }
}

/// `state: memory | disk { path: "./state", memory: 256MB }`
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StateSettings {
    /// All keyed state is in memory.
    #[default]
    Memory,
    Disk {
        /// The folder for what is not in memory.
        path: Expr,
        /// How much memory keyed state may take, in bytes.
        memory: u64,
    },
}

/// `checkpoint: every 10s to "./checkpoints" { timeout: 10m }`. Times in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointSettings {
    pub interval: i64,
    pub directory: Expr,
    /// A checkpoint that takes longer is given up.
    pub timeout: i64,
    /// The least time from the end of a checkpoint to the beginning of the next.
    pub pause: i64,
    /// So many checkpoints in a row may fail before the job does.
    pub tolerate: u32,
    /// So many may be on their way at once.
    pub concurrent: u32,
    /// How many completed checkpoints are kept.
    pub keep: u32,
    pub mode: CheckpointMode,
    /// Barriers overtake rows that wait when they have waited so long themselves; 0: at once. None: never.
    pub unaligned: Option<i64>,
}

impl CheckpointSettings {
    /// What holds where the block says nothing else.
    pub fn new(interval: i64, directory: Expr) -> Self {
        CheckpointSettings {
            interval,
            directory,
            timeout: 600_000_000,
            pause: 0,
            tolerate: 0,
            concurrent: 1,
            keep: 1,
            mode: CheckpointMode::ExactlyOnce,
            unaligned: None,
        }
    }
}

/// `mode: at_least_once`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckpointMode {
    /// A task that has several inputs holds back those whose barrier has come until it has come through all.
    #[default]
    ExactlyOnce,
    /// It goes on reading them: after a failure some rows count again.
    AtLeastOnce,
}

/// `param since: timestamp = @2026-01-01`
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: String,
    pub ty: Ty,
    /// None: must be given.
    pub default: Option<Expr>,
    pub doc: Option<String>,
    pub origin: Origin,
}

/// `fn euros(usd: decimal(23, 3)) = usd * 0.908`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    pub params: Vec<(String, Ty)>,
    pub body: Expr,
    pub doc: Option<String>,
    /// How it is called, if it is an `async fn` in a Rust file of the user, or calls one.
    pub waits: Option<Waits>,
    pub origin: Origin,
}

/// The logical graph of one job.
#[derive(Clone, Debug)]
pub struct JobGraph {
    pub settings: JobSettings,
    pub params: Vec<Param>,
    pub functions: Vec<Function>,
    /// Rust files of the user.
    pub rust: Vec<RustModule>,
    /// What state is kept by, as the graph had it before any pass.
    pub kept_by: Vec<KeptBy>,
    graph: StableDiGraph<JobVertex, JobEdge, u32>,
}

impl JobGraph {
    /// A graph without vertices.
    pub fn new(settings: JobSettings, params: Vec<Param>, functions: Vec<Function>) -> Self {
        JobGraph { settings, params, functions, rust: Vec::new(), kept_by: Vec::new(), graph: StableDiGraph::default() }
    }

    /// The connector of this name: one of the user's own, or a built-in one.
    pub fn connector(&self, name: &str) -> Option<&'static ConnectorSpec> {
        find_connector(&self.rust, name)
    }

    pub fn add(&mut self, vertex: JobVertex) -> VertexId {
        VertexId(self.graph.add_node(vertex).index() as u32)
    }

    pub fn connect(&mut self, from: VertexId, to: VertexId, edge: JobEdge) {
        self.graph.add_edge(index(from), index(to), edge);
    }

    /// Removes a vertex and its edges.
    pub fn remove(&mut self, vertex: VertexId) -> Option<JobVertex> {
        self.graph.remove_node(index(vertex))
    }

    pub fn vertex(&self, vertex: VertexId) -> &JobVertex {
        &self.graph[index(vertex)]
    }

    pub fn vertex_mut(&mut self, vertex: VertexId) -> &mut JobVertex {
        &mut self.graph[index(vertex)]
    }

    /// What the rows of one output look like: late rows look like the input's, errors are the same everywhere.
    pub fn output_type(&self, vertex: VertexId, port: Port) -> &StreamType {
        match (port, self.inputs(vertex).first()) {
            (Port::Error, _) => super::errors::error_stream(),
            (Port::Side(number), _) => match &self.vertex(vertex).operation {
                Operation::Process(ProcessOperation { sides, .. }) => {
                    sides.get(number).map_or(&self.vertex(vertex).output, |side| &side.rows)
                }
                _ => &self.vertex(vertex).output,
            },
            (Port::Late, Some((producer, edge))) => self.output_type(*producer, edge.port),
            _ => &self.vertex(vertex).output,
        }
    }

    /// All vertices, in the order in which they were added.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.graph.node_indices().map(|node| VertexId(node.index() as u32))
    }

    /// Producers before consumers; among the ready ones the first added comes first, so the order is stable.
    pub fn topological(&self) -> Vec<VertexId> {
        let mut missing: HashMap<NodeIndex<u32>, usize> =
            self.graph.node_indices().map(|node| (node, self.graph.edges_directed(node, Direction::Incoming).count())).collect();
        let mut ready: std::collections::BTreeSet<NodeIndex<u32>> =
            missing.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
        let mut order = Vec::with_capacity(missing.len());
        while let Some(node) = ready.pop_first() {
            order.push(VertexId(node.index() as u32));
            for edge in self.graph.edges_directed(node, Direction::Outgoing) {
                if let Some(count) = missing.get_mut(&edge.target()) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(edge.target());
                    }
                }
            }
        }
        order
    }

    /// Edges into a vertex, input by input, each in the order in which they were added.
    pub fn inputs(&self, vertex: VertexId) -> Vec<(VertexId, &JobEdge)> {
        let mut edges: Vec<_> = self.graph.edges_directed(index(vertex), Direction::Incoming).collect();
        edges.sort_by_key(|edge| (edge.weight().input, edge.id()));
        edges.into_iter().map(|edge| (VertexId(edge.source().index() as u32), edge.weight())).collect()
    }

    /// Edges out of a vertex, in the order in which they were added.
    pub fn outputs(&self, vertex: VertexId) -> Vec<(VertexId, &JobEdge)> {
        let mut edges: Vec<_> = self.graph.edges_directed(index(vertex), Direction::Outgoing).collect();
        edges.sort_by_key(|edge| edge.id());
        edges.into_iter().map(|edge| (VertexId(edge.target().index() as u32), edge.weight())).collect()
    }

    /// Calls `change` on every edge, with its ends.
    pub fn for_each_edge_mut(&mut self, mut change: impl FnMut(VertexId, VertexId, &mut JobEdge)) {
        for edge in self.graph.edge_indices().collect::<Vec<_>>() {
            if let Some((from, to)) = self.graph.edge_endpoints(edge) {
                let (from, to) = (VertexId(from.index() as u32), VertexId(to.index() as u32));
                change(from, to, &mut self.graph[edge]);
            }
        }
    }

    /// Puts a new vertex on every input edge, on the producer's side: rows reach it forward, and the edge's own exchange
    /// comes behind it. `make` gets the number of the edge, its producer and the port. Gives the new vertices.
    pub fn insert_on_inputs(
        &mut self,
        vertex: VertexId,
        mut make: impl FnMut(&JobGraph, usize, VertexId, Port) -> JobVertex,
    ) -> Vec<VertexId> {
        let mut edges: Vec<_> =
            self.graph.edges_directed(index(vertex), Direction::Incoming).map(|edge| (edge.id(), edge.source())).collect();
        edges.sort_unstable();
        let mut inserted = Vec::new();
        for (number, (edge, producer)) in edges.into_iter().enumerate() {
            let producer = VertexId(producer.index() as u32);
            let Some(behind) = self.graph.edge_weight(edge).cloned() else { continue };
            let new = make(self, number, producer, behind.port);
            let new = self.add(new);
            self.graph.remove_edge(edge);
            self.connect(producer, new, JobEdge { exchange: Exchange::Forward, port: behind.port, input: 0 });
            self.connect(new, vertex, JobEdge { port: Port::Main, ..behind });
            inserted.push(new);
        }
        inserted
    }
}

fn index(vertex: VertexId) -> NodeIndex<u32> {
    NodeIndex::new(vertex.0 as usize)
}
