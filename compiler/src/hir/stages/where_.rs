//! `where condition`: keeps the rows for which it is true. Behind `x is not null`, `x` is required.

use millstream_runtime::graph::Operation;

use super::At;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, condition: &'a Expr, input: Flow) -> Flow {
    let typed = Typer::new(&mut at.lowering.cx, Scope::Row(&input)).condition(condition, "`where`");
    let output = input.ty.clone();
    let mut flow = at.add("where", Operation::Filter(typed), input, output);
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
    let mut columns = Vec::new();
    let mut parts = vec![condition];
    while let Some(part) = parts.pop() {
        match &part.kind {
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => parts.extend([&**left, &**right]),
            ExprKind::IsNull { operand, negated: true } => {
                columns.push(&**operand);
            }
            _ => {}
        }
    }
    columns
}
