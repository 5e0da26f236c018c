//! `watermark placed_at - 5s`: event time and how late rows may come. Also behind a source.

use std::collections::BTreeSet;

use millstream_runtime::graph::{ExprKind, Operation, StreamType, TimeColumn, Ty, WatermarkOperation};

use super::At;
use crate::hir::context::Context;
use crate::hir::errors::{tables, time};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::syntax::ast;

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, expr: &'a ast::Expr, mut input: Flow) -> Flow {
    if input.is_table() {
        at.report(tables::not_over_table("`watermark`", at.stage.span, "rows that are taken back have no time of their own"));
    }
    let Some(operation) = watermark(&mut at.lowering.cx, expr, &input) else {
        // Whatever needs event time behind this has it, as far as messages are concerned.
        input.unknown = true;
        return input;
    };
    let time = Some(TimeColumn { column: operation.column.clone(), offset: 0 });
    let output = StreamType { time, ..input.ty.clone() };
    let mut flow = at.add("watermark", Operation::Watermark(operation), input, output);
    flow.time_dropped = false;
    flow
}

/// The time column is the one timestamp column in the expression. None: reported.
pub fn watermark<'a>(cx: &mut Context<'a>, expr: &'a ast::Expr, input: &Flow) -> Option<WatermarkOperation> {
    let typed = Typer::new(cx, Scope::Row(input)).expr(expr);
    if typed.ty == Ty::Error {
        return None;
    }
    if *typed.ty.required() != Ty::Timestamp {
        let label = match typed.ty.required() {
            ty if ty.is_numeric() => format!("this is {ty}; a number becomes a timestamp by `@unit(\"ms\")` at its column"),
            ty => format!("this is {ty}, not a timestamp"),
        };
        cx.report(time::watermark_expression(expr.span, &label));
        return None;
    }
    let mut columns = BTreeSet::new();
    typed.walk(&mut |node| {
        if let ExprKind::Column(name) = &node.kind
            && *node.ty.required() == Ty::Timestamp
        {
            columns.insert(name.clone());
        }
    });
    let column = match columns.len() {
        1 => columns.pop_first()?,
        0 => {
            cx.report(time::watermark_expression(expr.span, "no timestamp column in it"));
            return None;
        }
        _ => {
            let all: Vec<&str> = columns.iter().map(String::as_str).collect();
            let label = format!("which of these is the time of a row: {}?", crate::hir::errors::listed(&all));
            cx.report(time::watermark_expression(expr.span, &label));
            return None;
        }
    };
    let ty = input.column_type(&column)?;
    if ty.is_optional() || typed.ty.is_optional() {
        cx.report(time::nullable_time(expr.span, &column, &typed.ty));
        return None;
    }
    Some(WatermarkOperation { column, watermark: typed })
}
