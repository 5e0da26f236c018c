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
    for column in not_null(condition) {
        if flow.ty.schema.field(column).is_some_and(|field| field.ty.is_optional()) {
            flow.not_null.insert(column.to_owned());
        }
    }
    flow
}

/// Columns that are not null where the condition is true: `a is not null and ..`.
fn not_null(condition: &Expr) -> Vec<&str> {
    let mut columns = Vec::new();
    let mut parts = vec![condition];
    while let Some(part) = parts.pop() {
        match &part.kind {
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => parts.extend([&**left, &**right]),
            ExprKind::IsNull { operand, negated: true } => {
                if let ExprKind::Name(name) = &operand.kind {
                    columns.push(name.as_str());
                }
            }
            _ => {}
        }
    }
    columns
}
