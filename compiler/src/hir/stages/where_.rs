//! `where condition`: keeps the rows for which it is true. Behind `x is not null`, `x` is required.
//!
//! Where an async function is asked, each operand of `and` is an operator of its own: only rows that fit so far are asked for.

use millstream_runtime::graph::{Operation, Schema, StreamType};

use super::At;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, condition: &'a Expr, input: Flow) -> Flow {
    if !super::call_async::any(at, condition) {
        let full = input.ty.schema.clone();
        return keep(at, condition, input, full, true);
    }
    let mut flow = input;
    let parts = operands(condition);
    for (number, operand) in parts.iter().enumerate() {
        let visible = flow.ty.schema.clone();
        let mut asked = super::call_async::answers(at, std::iter::once(*operand), flow);
        let full = std::mem::replace(&mut asked.ty.schema, visible);
        flow = keep(at, operand, asked, full, number + 1 == parts.len());
        flow = super::call_async::forget(at, flow);
    }
    flow
}

/// `full`: the columns that rows really have; the condition sees those of `input`. `last`: the operator that was written.
fn keep<'a>(at: &mut At<'_, '_, 'a>, condition: &'a Expr, input: Flow, full: Schema, last: bool) -> Flow {
    let typed = Typer::new(&mut at.lowering.cx, Scope::Row(&input)).condition(condition, "`where`");
    let output = StreamType { schema: full, ..input.ty.clone() };
    let operation = Operation::Filter(typed);
    let mut flow = match last {
        true => at.add("where", operation, input, output),
        false => at.add_plain("where", operation, input, output),
    };
    for operand in not_null(condition) {
        let Some(column) = flow.column_of(operand).map(str::to_owned) else { continue };
        if flow.ty.schema.field(&column).is_some_and(|field| field.ty.is_optional()) {
            flow.not_null.insert(column);
        }
    }
    flow
}

/// What is not null where the condition is true: `a is not null and ..`.
fn not_null(condition: &Expr) -> Vec<&Expr> {
    let parts = operands(condition).into_iter();
    parts
        .filter_map(|part| match &part.kind {
            ExprKind::IsNull { operand, negated: true } => Some(&**operand),
            _ => None,
        })
        .collect()
}

/// The operands of `and`, in order.
fn operands(condition: &Expr) -> Vec<&Expr> {
    let (mut operands, mut parts) = (Vec::new(), vec![condition]);
    while let Some(part) = parts.pop() {
        match &part.kind {
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => parts.extend([&**right, &**left]),
            _ => operands.push(part),
        }
    }
    operands
}
