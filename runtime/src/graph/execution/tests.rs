//! Small graphs and the chains they become.

use super::*;
use crate::graph::expr::{Expr, ExprKind, Literal, Origin};
use crate::graph::job::{Hints, JobSettings, JobVertex};
use crate::graph::operation::{Changelog, Operation, StreamType};
use crate::graph::ty::{Field, Schema, Ty};

fn graph() -> JobGraph {
    let settings = JobSettings { parallelism: 2, buffer_timeout: 0, ..JobSettings::new("job") };
    JobGraph::new(settings, Vec::new(), Vec::new())
}

/// A vertex that only passes on: chaining looks at edges and hints alone.
fn add(graph: &mut JobGraph, name: &str, hints: Hints) -> VertexId {
    let schema = Schema::anonymous(vec![Field::new("a", Ty::Int64)]);
    let number = graph.vertices().count();
    graph.add(JobVertex {
        uid: format!("{name}/{number}"),
        name: format!("{name}: where"),
        operation: Operation::Filter(Expr::new(ExprKind::Literal(Literal::Bool(true)), Ty::Bool)),
        output: StreamType { schema, changelog: Changelog::Append, time: None },
        hints,
        origin: Origin::default(),
    })
}

fn connect(graph: &mut JobGraph, from: VertexId, to: VertexId, exchange: Exchange) {
    graph.connect(from, to, JobEdge { exchange, port: Port::Main, input: 0 });
}

fn shape(graph: &ExecutionGraph) -> Vec<(String, usize)> {
    graph.chains.iter().map(|chain| (chain.name.clone(), chain.members.len())).collect()
}

#[test]
fn forward_edges_chain_and_hash_edges_break() {
    let mut job = graph();
    let names = ["flights", "delays", "delays", "delays"];
    let ids: Vec<_> = names.iter().map(|name| add(&mut job, name, Hints::default())).collect();
    connect(&mut job, ids[0], ids[1], Exchange::Forward);
    connect(&mut job, ids[1], ids[2], Exchange::Hash(vec![Expr::column("a", Ty::Int64)]));
    connect(&mut job, ids[2], ids[3], Exchange::Forward);
    let execution = ExecutionGraph::expand(&job).unwrap();
    assert_eq!(shape(&execution), [("flights".to_owned(), 2), ("delays".to_owned(), 2)]);
    assert_eq!(execution.exchanges.len(), 1);
    assert_eq!(execution.exchanges[0].reason, ChainBreak::Redistributes);
    assert_eq!((execution.exchanges[0].producer, execution.exchanges[0].consumer), (ids[1], ids[2]));
}

#[test]
fn a_producer_chains_with_all_its_consumers() {
    let mut job = graph();
    let ids: Vec<_> = ["a", "b", "c"].iter().map(|name| add(&mut job, name, Hints::default())).collect();
    connect(&mut job, ids[0], ids[1], Exchange::Forward);
    connect(&mut job, ids[0], ids[2], Exchange::Forward);
    let execution = ExecutionGraph::expand(&job).unwrap();
    assert_eq!(shape(&execution), [("a".to_owned(), 3)]);
    assert_eq!(execution.chains[0].links, [(ids[0], Port::Main, ids[1]), (ids[0], Port::Main, ids[2])]);
}

#[test]
fn a_union_starts_a_chain_even_over_one_producer_twice() {
    let mut job = graph();
    let ids: Vec<_> = ["a", "u"].iter().map(|name| add(&mut job, name, Hints::default())).collect();
    connect(&mut job, ids[0], ids[1], Exchange::Forward);
    connect(&mut job, ids[0], ids[1], Exchange::Forward);
    let execution = ExecutionGraph::expand(&job).unwrap();
    assert_eq!(shape(&execution), [("a".to_owned(), 1), ("u".to_owned(), 1)]);
    assert_eq!(execution.exchanges.len(), 2);
    assert!(execution.exchanges.iter().all(|edge| edge.reason == ChainBreak::ManyInputs && edge.exchange == Exchange::Forward));
}

#[test]
fn different_parallelism_rebalances_and_names_stay_unique() {
    let mut job = graph();
    let one = Hints { parallelism: Some(1), ..Hints::default() };
    let ids = [add(&mut job, "a", Hints::default()), add(&mut job, "a", one), add(&mut job, "a_2", Hints::default())];
    connect(&mut job, ids[0], ids[1], Exchange::Forward);
    connect(&mut job, ids[1], ids[2], Exchange::Forward);
    let execution = ExecutionGraph::expand(&job).unwrap();
    assert_eq!(shape(&execution), [("a".to_owned(), 1), ("a_2".to_owned(), 1), ("a_2_2".to_owned(), 1)]);
    assert!(execution.exchanges.iter().all(|edge| edge.exchange == Exchange::Rebalance));
}

#[test]
fn slot_groups_are_inherited() {
    let mut job = graph();
    let io = Hints { slot_group: Some("io".to_owned()), ..Hints::default() };
    let ids = [add(&mut job, "a", io), add(&mut job, "b", Hints::default()), add(&mut job, "c", Hints::default())];
    connect(&mut job, ids[0], ids[1], Exchange::Rebalance);
    connect(&mut job, ids[1], ids[2], Exchange::Forward);
    let execution = ExecutionGraph::expand(&job).unwrap();
    assert_eq!(execution.chains.iter().map(|chain| chain.slot_group.as_str()).collect::<Vec<_>>(), ["io", "io"]);
}

#[test]
fn impossible_layouts_are_refused_together() {
    let mut job = graph();
    let many = Hints { parallelism: Some(4), ..Hints::default() };
    let most = Hints { parallelism: Some(500), ..Hints::default() };
    let ids = [add(&mut job, "a", Hints::default()), add(&mut job, "b", many), add(&mut job, "c", most)];
    connect(&mut job, ids[0], ids[1], Exchange::Hash(Vec::new()));
    connect(&mut job, ids[1], ids[2], Exchange::Forward);
    let codes: Vec<_> = ExecutionGraph::expand(&job).unwrap_err().iter().map(|error| error.code).collect();
    assert_eq!(codes, ["E0702", "E0701"]);
    let codes: Vec<_> = ExecutionGraph::expand(&graph()).unwrap_err().iter().map(|error| error.code).collect();
    assert_eq!(codes, ["E0703"]);
}
