//! From a typed program to a job graph: one vertex per operator, and an exchange on every edge.
//!
//! In comes a [`Program`] without errors; out goes a [`JobGraph`] that holds only what reaches a sink. `rebalance`,
//! `broadcast` and `partition by` are no vertices: they dissolve into the exchange of the edges behind them.
//! Invariant: all changes of one row of a table travel the same way, so that they stay in order.

use std::collections::{HashMap, HashSet};

use millstream_runtime::graph::{
    Changelog, Exchange, Expr, Hints, JobEdge, JobGraph, JobVertex, JoinHow, Operation, Port, StreamType, VertexId,
};

use crate::hir::{Node, NodeId, Program};

/// Plans a program. A node whose input is missing (which only a bug can cause) is left out with everything behind it.
pub fn build(program: &Program) -> JobGraph {
    let mut graph = JobGraph::new(program.settings.clone(), program.params.clone(), program.functions.clone());
    graph.rust.clone_from(&program.rust);
    let nodes = program.nodes.iter().map(|node| (node.id, node)).collect();
    let mut builder = Builder { nodes, graph, vertices: HashMap::new() };
    let needed = builder.reaching_a_sink(program);
    for node in &program.nodes {
        if needed.contains(&node.id) && hint_exchange(&node.operation).is_none() {
            builder.add(node);
        }
    }
    builder.graph.name_accumulators();
    builder.graph.kept_by = builder.graph.follow_keys();
    builder.graph
}

struct Builder<'a> {
    nodes: HashMap<NodeId, &'a Node>,
    graph: JobGraph,
    vertices: HashMap<NodeId, VertexId>,
}

/// A producer as an operator sees it, physical operators taken away.
struct Input {
    producer: VertexId,
    port: Port,
    /// What the last physical operator on the way asks for.
    hint: Option<Exchange>,
}

impl Builder<'_> {
    fn reaching_a_sink(&self, program: &Program) -> HashSet<NodeId> {
        let mut needed = HashSet::new();
        let mut open: Vec<NodeId> =
            program.nodes.iter().filter(|node| matches!(node.operation, Operation::Sink(_))).map(|node| node.id).collect();
        while let Some(id) = open.pop() {
            if needed.insert(id)
                && let Some(node) = self.nodes.get(&id)
            {
                open.extend(node.inputs.iter().map(|(producer, _)| *producer));
            }
        }
        needed
    }

    fn add(&mut self, node: &Node) {
        let Some(inputs) = node.inputs.iter().map(|(producer, port)| self.input(*producer, *port)).collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let hints = self.hints(node, &inputs);
        let parallelism = hints.parallelism;
        let vertex = self.graph.add(JobVertex {
            uid: node.uid.clone(),
            name: node.name.clone(),
            operation: node.operation.clone(),
            output: node.output.clone(),
            hints,
            origin: node.origin.clone(),
        });
        self.vertices.insert(node.id, vertex);
        for (number, input) in inputs.into_iter().enumerate() {
            // Others take all their inputs as one.
            let number = if matches!(node.operation, Operation::Join(_) | Operation::Process(_)) { number } else { 0 };
            let exchange = self.exchange(&node.operation, parallelism, number, &input);
            self.graph.connect(input.producer, vertex, JobEdge { exchange, port: input.port, input: number });
        }
    }

    /// Walks back over physical operators; the one nearest to the consumer decides.
    fn input(&self, mut producer: NodeId, mut port: Port) -> Option<Input> {
        let mut hint = None;
        loop {
            if let Some(vertex) = self.vertices.get(&producer) {
                return Some(Input { producer: *vertex, port, hint });
            }
            let node = self.nodes.get(&producer)?;
            let exchange = hint_exchange(&node.operation)?;
            hint.get_or_insert(exchange);
            (producer, port) = *node.inputs.first()?;
        }
    }

    /// What the text asks for; an operator without a key runs once, and so does what follows it until rows are dealt out
    /// again. What reads a table at its maker's side runs as often as the maker.
    fn hints(&self, node: &Node, inputs: &[Input]) -> Hints {
        let mut hints = node.hints.clone();
        if hints.parallelism.is_none() {
            hints.parallelism = match node.operation.required_keys(0) {
                Some(keys) => keys.is_empty().then_some(1),
                None if matches!(node.operation, Operation::Final) && self.has_no_key(inputs) => Some(1),
                None if matches!(node.operation, Operation::KeyBy(_)) => None,
                None => self.inherited_parallelism(&node.operation, inputs),
            };
        }
        hints
    }

    /// Nothing tells the rows of these tables apart that an exchange could go by.
    fn has_no_key(&self, inputs: &[Input]) -> bool {
        inputs.iter().any(|input| row_key(self.graph.output_type(input.producer, input.port)).is_empty())
    }

    fn inherited_parallelism(&self, operation: &Operation, inputs: &[Input]) -> Option<u32> {
        // To a broadcast join its left rows count.
        let counts = if is_broadcast(operation) { 1 } else { inputs.len() };
        let mut of_inputs = inputs.iter().take(counts).map(|input| {
            let parallelism = self.graph.vertex(input.producer).hints.parallelism;
            let follows = self.runs_once(input.producer) || matches!(operation, Operation::Final | Operation::Changes);
            parallelism.filter(|_| input.hint.is_none() && follows)
        });
        let first = of_inputs.next()?;
        of_inputs.all(|other| other == first).then_some(first).flatten()
    }

    /// Whether a vertex runs once because it, or what is before it on forward edges, has no key.
    fn runs_once(&self, vertex: VertexId) -> bool {
        let mut vertex = vertex;
        loop {
            if self.graph.vertex(vertex).hints.parallelism != Some(1) {
                return false;
            }
            match self.graph.inputs(vertex).first() {
                Some((_, edge)) if edge.exchange == Exchange::Hash(Vec::new()) => return true,
                Some((producer, edge)) if edge.exchange == Exchange::Forward => vertex = *producer,
                _ => return false,
            }
        }
    }

    /// Whether rows of this table are where its maker put them, by the key that the table still has.
    fn comes_by_key(&self, mut vertex: VertexId, rows: &StreamType) -> bool {
        let Changelog::Table { key: Some(key) } = &rows.changelog else { return false };
        loop {
            let operation = &self.graph.vertex(vertex).operation;
            // Only the one row of `top 1` is told apart by what the ranking is per.
            if let Operation::Top(top) = operation
                && (top.count != 1 || top.ties || top.rank.is_some())
            {
                return false;
            }
            if let Some(keys) = operation.required_keys(0) {
                return !matches!(operation, Operation::Join(_)) && keys.len() == key.len();
            }
            match self.graph.inputs(vertex).as_slice() {
                [(producer, edge)] if edge.exchange == Exchange::Forward => vertex = *producer,
                _ => return false,
            }
        }
    }

    fn exchange(&self, operation: &Operation, parallelism: Option<u32>, number: usize, input: &Input) -> Exchange {
        if let Some(keys) = operation.required_keys(number) {
            return Exchange::Hash(keys);
        }
        if matches!(operation, Operation::Process(process) if !process.takes_rows_anywhere()) {
            return Exchange::Broadcast;
        }
        let producer = self.graph.vertex(input.producer);
        let rows = self.graph.output_type(input.producer, input.port);
        if let Operation::Join(join) = operation
            && join.broadcast
        {
            if number == 1 {
                return Exchange::Broadcast;
            }
            // Tasks must come to the ends of windows at the same moment, so that their rows can be dealt out anew.
            let windows = matches!(join.how, JoinHow::Over { .. });
            return input.hint.clone().unwrap_or(if windows { Exchange::Rebalance } else { Exchange::Forward });
        }
        if let Operation::KeyBy(key) = operation {
            return Exchange::Hash(columns(key, rows));
        }
        if matches!(rows.changelog, Changelog::Append) {
            return input.hint.clone().unwrap_or(Exchange::Forward);
        }
        if matches!(operation, Operation::Final) {
            // It keeps state by the key of the table, so rows must come by exactly that key.
            let is_beside = input.hint.is_none() && producer.hints.parallelism == parallelism;
            let comes_by_key = is_beside && self.comes_by_key(input.producer, rows);
            return if comes_by_key { Exchange::Forward } else { Exchange::Hash(row_key(rows)) };
        }
        // A table: its changes may go forward only side by side with those of the same key.
        match &input.hint {
            None if producer.hints.parallelism == parallelism => Exchange::Forward,
            Some(Exchange::Broadcast) => Exchange::Broadcast,
            Some(Exchange::Hash(keys)) if within_key(keys, rows) => Exchange::Hash(keys.clone()),
            _ => Exchange::Hash(row_key(rows)),
        }
    }
}

/// Whether one side of a join goes to all tasks.
fn is_broadcast(operation: &Operation) -> bool {
    matches!(operation, Operation::Join(join) if join.broadcast)
}

/// The exchange that a physical operator stands for.
fn hint_exchange(operation: &Operation) -> Option<Exchange> {
    match operation {
        Operation::Rebalance => Some(Exchange::Rebalance),
        Operation::Broadcast => Some(Exchange::Broadcast),
        Operation::PartitionBy(keys) => Some(Exchange::Hash(keys.clone())),
        _ => None,
    }
}

/// What tells the rows of a table apart: its key, or else the whole row.
fn row_key(rows: &StreamType) -> Vec<Expr> {
    let fields = rows.schema.fields.iter();
    match &rows.changelog {
        Changelog::Table { key: Some(key) } => columns(key, rows),
        _ => {
            fields.filter(|field| field.ty.is_ordered()).map(|field| Expr::column(field.name.clone(), field.ty.clone())).collect()
        }
    }
}

/// Columns by their names.
fn columns(names: &[String], rows: &StreamType) -> Vec<Expr> {
    let fields = names.iter().filter_map(|column| rows.schema.field(column));
    fields.map(|field| Expr::column(field.name.clone(), field.ty.clone())).collect()
}

/// Whether changes of one row always have equal values of these expressions: they read only columns of the key.
fn within_key(exprs: &[Expr], rows: &StreamType) -> bool {
    let Changelog::Table { key: Some(key) } = &rows.changelog else { return false };
    let mut within = true;
    for expr in exprs {
        expr.walk(&mut |node| {
            if let millstream_runtime::graph::ExprKind::Column(name) = &node.kind {
                within &= key.contains(name);
            }
        });
    }
    within
}
