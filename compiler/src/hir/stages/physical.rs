//! `rebalance`, `broadcast`, `partition by`: how rows travel.

use millstream_runtime::graph::Operation;

use super::At;
use super::dedup::group_key;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::syntax::ast::Expr;

pub fn rebalance(at: &mut At<'_, '_, '_>, input: Flow) -> Flow {
    check(at, "`rebalance`", &input);
    let output = input.ty.clone();
    at.add("rebalance", Operation::Rebalance, input, output)
}

pub fn broadcast(at: &mut At<'_, '_, '_>, input: Flow) -> Flow {
    check(at, "`broadcast`", &input);
    let output = input.ty.clone();
    at.add("broadcast", Operation::Broadcast, input, output)
}

pub fn partition<'a>(at: &mut At<'_, '_, 'a>, keys: &'a [Expr], input: Flow) -> Flow {
    check(at, "`partition by`", &input);
    let keys = keys.iter().map(|key| group_key(at, key, &input)).collect();
    let output = input.ty.clone();
    at.add("partition", Operation::PartitionBy(keys), input, output)
}

fn check(at: &mut At<'_, '_, '_>, what: &str, input: &Flow) {
    if input.is_table() {
        at.report(tables::not_over_table(what, at.stage.span, "changes of one row would overtake each other"));
    }
}
