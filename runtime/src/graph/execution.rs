//! What runs: chains of operators, their subtasks, and the exchanges between them.
//!
//! [`ExecutionGraph::expand`] is a pure function of the job graph: operators joined by an edge that
//! [`chaining::decide`](super::chaining) accepts become one chain, which one task per subtask runs.

use std::collections::HashMap;

use super::chain_names::ChainNames;
use super::chaining::{self, ChainBreak, End};
use super::job::{Exchange, JobEdge, JobGraph, Port, VertexId};
use super::layout::{self, LayoutError};
use super::operation::Changelog;

/// Names a chain: its index in [`ExecutionGraph::chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(pub u32);

/// Operators that run as one task per subtask, calling each other directly.
#[derive(Clone, Debug)]
pub struct Chain {
    pub id: ChainId,
    /// From the text, unique, a valid Rust identifier in ASCII snake case: `delays`, `delays_2`.
    pub name: String,
    /// Members, producers before consumers. The first is the head: a source, or what the inputs feed.
    pub members: Vec<VertexId>,
    /// None: the job's.
    pub parallelism: Option<u32>,
    pub slot_group: String,
    /// Edges inside the chain: producer, port, consumer. A member may feed several others: the members form a tree.
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
    /// Forward only where both chains have the same parallelism.
    pub exchange: Exchange,
    /// Why the two are not one chain.
    pub reason: ChainBreak,
}

/// The graph of what runs.
#[derive(Clone, Debug)]
pub struct ExecutionGraph {
    /// Producers before consumers.
    pub chains: Vec<Chain>,
    /// In the order of their consumers; the index is the number of the edge in the whole job.
    pub exchanges: Vec<ExchangeEdge>,
}

impl ExecutionGraph {
    /// Joins operators into chains. Refuses layouts that cannot run, with every reason at once.
    pub fn expand(job: &JobGraph) -> Result<ExecutionGraph, Vec<LayoutError>> {
        let errors = layout::check(job);
        if errors.is_empty() { Ok(Expansion::default().run(job)) } else { Err(errors) }
    }

    /// The chain that this vertex runs in.
    pub fn chain_of(&self, vertex: VertexId) -> Option<&Chain> {
        self.chains.iter().find(|chain| chain.members.contains(&vertex))
    }

    /// The chain of this id.
    pub fn chain(&self, id: ChainId) -> &Chain {
        &self.chains[id.0 as usize]
    }

    /// The exchanges into a chain, with their numbers.
    pub fn inputs(&self, chain: ChainId) -> impl Iterator<Item = (usize, &ExchangeEdge)> {
        self.exchanges.iter().enumerate().filter(move |(_, edge)| edge.to == chain)
    }

    /// The plan's shape: which operators there are, what their rows look like, and how rows travel. The same in every build, and after
    /// changes of the text that leave the shape alone.
    pub fn plan_text(&self, job: &JobGraph) -> String {
        let mut text = String::new();
        for id in job.topological() {
            let vertex = job.vertex(id);
            let kind = if matches!(vertex.output.changelog, Changelog::Append) { "stream" } else { "table" };
            text.push_str(&format!("{} {kind} {}\n", vertex.uid, vertex.output.schema));
            for (producer, edge) in job.inputs(id) {
                text.push_str(&format!("  {} {:?} {}\n", job.vertex(producer).uid, edge.port, edge.exchange));
            }
        }
        for chain in &self.chains {
            text.push_str(&format!("{} {:?}\n", chain.name, chain.parallelism));
        }
        text
    }

    /// The exchanges out of a chain, with their numbers.
    pub fn outputs(&self, chain: ChainId) -> impl Iterator<Item = (usize, &ExchangeEdge)> {
        self.exchanges.iter().enumerate().filter(move |(_, edge)| edge.from == chain)
    }
}

/// The state of one expansion.
#[derive(Default)]
struct Expansion {
    chains: Vec<Chain>,
    exchanges: Vec<ExchangeEdge>,
    chain_of: HashMap<VertexId, ChainId>,
    slot_groups: HashMap<VertexId, String>,
    names: ChainNames,
}

impl Expansion {
    fn run(mut self, job: &JobGraph) -> ExecutionGraph {
        for id in job.topological() {
            let inputs = job.inputs(id);
            let slot_group = self.slot_group(job, id, &inputs);
            self.slot_groups.insert(id, slot_group);
            let decisions: Vec<_> =
                inputs.iter().map(|(producer, edge)| self.decide(job, *producer, edge, id, inputs.len())).collect();
            if let ([(producer, edge)], [Ok(())]) = (inputs.as_slice(), decisions.as_slice()) {
                self.join(*producer, edge.port, id);
                continue;
            }
            self.start_chain(job, id);
            for ((producer, edge), decision) in inputs.iter().zip(decisions) {
                self.exchange(job, *producer, edge, id, decision.err().unwrap_or(ChainBreak::ManyInputs));
            }
        }
        ExecutionGraph { chains: self.chains, exchanges: self.exchanges }
    }

    /// The vertex's own, else that of its inputs if they agree, else `default`.
    fn slot_group(&self, job: &JobGraph, id: VertexId, inputs: &[(VertexId, &JobEdge)]) -> String {
        if let Some(own) = &job.vertex(id).hints.slot_group {
            return own.clone();
        }
        let mut groups = inputs.iter().map(|(producer, _)| &self.slot_groups[producer]);
        match groups.next() {
            Some(first) if groups.all(|group| group == first) => first.clone(),
            _ => "default".to_owned(),
        }
    }

    fn decide(
        &self,
        job: &JobGraph,
        producer: VertexId,
        edge: &JobEdge,
        consumer: VertexId,
        inputs: usize,
    ) -> Result<(), ChainBreak> {
        let end = |id: VertexId| {
            let hints = &job.vertex(id).hints;
            End { parallelism: hints.parallelism, slot_group: &self.slot_groups[&id], no_chain: hints.no_chain }
        };
        chaining::decide(&end(producer), edge, &end(consumer), inputs)
    }

    /// Puts a vertex behind its producer, in the same chain.
    fn join(&mut self, producer: VertexId, port: Port, id: VertexId) {
        let chain = self.chain_of[&producer];
        self.chain_of.insert(id, chain);
        let chain = &mut self.chains[chain.0 as usize];
        chain.members.push(id);
        chain.links.push((producer, port, id));
    }

    fn start_chain(&mut self, job: &JobGraph, head: VertexId) {
        let id = ChainId(self.chains.len() as u32);
        let vertex = job.vertex(head);
        self.chain_of.insert(head, id);
        self.chains.push(Chain {
            id,
            name: self.names.name(vertex),
            members: vec![head],
            parallelism: vertex.hints.parallelism,
            slot_group: self.slot_groups[&head].clone(),
            links: Vec::new(),
        });
    }

    fn exchange(&mut self, job: &JobGraph, producer: VertexId, edge: &JobEdge, consumer: VertexId, reason: ChainBreak) {
        let same_parallelism = job.vertex(producer).hints.parallelism == job.vertex(consumer).hints.parallelism;
        let exchange = match &edge.exchange {
            Exchange::Forward if !same_parallelism => Exchange::Rebalance,
            other => other.clone(),
        };
        self.exchanges.push(ExchangeEdge {
            from: self.chain_of[&producer],
            to: self.chain_of[&consumer],
            producer,
            port: edge.port,
            consumer,
            input: edge.input,
            exchange,
            reason,
        });
    }
}

#[cfg(test)]
mod tests;
