//! Calls of `async fn`s in `select`, `where` and `explode`: operators before it ask for the values, one per call.
//!
//! As with `over (..)`, the new columns have no names in the language: expressions find them by the places where the calls stand. A call that
//! is not always made (in a branch, behind `??` or `and`) is left where it is, and reported when it is typed.

use millstream_runtime::graph::{CallAsyncOperation, Expr, ExprKind as Typed, Field, Operation, Schema, StreamType, Ty, Waits};

use super::At;
use super::columns::fresh;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::resolve::walk::{always, walk};
use crate::hir::types::Typer;
use crate::syntax::ast::{self, ExprKind};

/// Asks for the values of the async calls of some expressions. The flow that comes back has columns more, and knows which are whose.
pub fn answers<'a>(at: &mut At<'_, '_, 'a>, values: impl Iterator<Item = &'a ast::Expr>, mut input: Flow) -> Flow {
    let mut found: Vec<(&'a ast::Expr, &'a ast::Call, Waits)> = Vec::new();
    for value in values {
        always(value, &mut |expr| {
            if let ExprKind::Call(call) = &expr.kind
                && let Some(waits) = at.lowering.cx.waits(&call.function.text)
            {
                found.push((expr, call, waits));
            }
        });
    }
    // What is asked with the answer of another comes behind it.
    for (expr, call, waits) in found.into_iter().rev() {
        let function = call.function.text.clone();
        if input.is_table() {
            let why = "a row that is taken back would be asked for again, and the answer may be another by then";
            at.report(tables::not_over_table(&format!("`{function}`, an async function,"), expr.span, why));
            input.answers.push((expr.span, String::new(), Ty::Error));
            continue;
        }
        let typed = Typer::new(&mut at.lowering.cx, Scope::Row(&input)).async_call(call, expr.span);
        if !matches!(typed.kind, Typed::CallUser { .. }) {
            input.answers.push((expr.span, String::new(), Ty::Error));
            continue;
        }
        let mut schema = input.ty.schema.clone();
        schema.name = None;
        let (name, ty) = (fresh(&schema, &format!("{function} answer")), typed.ty.clone());
        schema.fields.push(Field::new(name.clone(), ty.clone()));
        let output = StreamType { schema, ..input.ty.clone() };
        let operation = CallAsyncOperation { call: typed, name: name.clone(), function, waits };
        input = at.add_plain("async", Operation::CallAsync(operation), input, output);
        input.answers.push((expr.span, name, ty));
    }
    input
}

/// Leaves the answers out again, behind an operator that hands its rows on.
pub fn forget(at: &mut At<'_, '_, '_>, mut flow: Flow) -> Flow {
    let answers = std::mem::take(&mut flow.answers);
    let (gone, kept): (Vec<Field>, Vec<Field>) =
        flow.ty.schema.fields.iter().cloned().partition(|field| answers.iter().any(|(_, name, _)| *name == field.name));
    if gone.is_empty() {
        return flow;
    }
    let columns = kept.iter().map(|field| (field.name.clone(), Expr::new(Typed::Column(field.name.clone()), field.ty.clone())));
    let operation = Operation::Project(columns.collect());
    let output = StreamType { schema: Schema::anonymous(kept), ..flow.ty.clone() };
    at.add_plain("answered", operation, flow, output)
}

/// Whether an async function is called anywhere in an expression.
pub fn any<'a>(at: &At<'_, '_, 'a>, value: &'a ast::Expr) -> bool {
    let mut found = false;
    walk(value, &mut |expr| found = found || is_async(at, expr));
    found
}

fn is_async(at: &At<'_, '_, '_>, expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(call) if at.lowering.cx.waits(&call.function.text).is_some())
}
