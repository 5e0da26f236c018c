//! Calls of `async fn`s in `select`, `where` and `explode`: operators before it ask for the values.
//!
//! A call that is always made is an operator of its own. Where it hangs on something (in a branch, behind `??`, `and` or `or`), the operator has
//! the whole of that expression, and calls as it is evaluated: `known ?? ask(id)` asks only where `known` is null. As with `over (..)`, the
//! new columns have no names in the language: expressions find them by the places where the calls stand.

use millstream_runtime::graph::{CallAsyncOperation, Expr, ExprKind as Typed, Field, Operation, Schema, StreamType, Ty, Waits};

use super::At;
use super::columns::fresh;
use crate::hir::context::Context;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::resolve::walk::{always, walk};
use crate::hir::types::Typer;
use crate::syntax::ast::{self, BinaryOp, ExprKind};

/// An expression that is waited for.
struct Asked<'a> {
    expr: &'a ast::Expr,
    /// The first function that is called in it.
    function: &'a str,
    waits: Waits,
}

/// Asks for the values of the async calls of some expressions. The flow that comes back has columns more, and knows which are whose.
pub fn answers<'a>(at: &mut At<'_, '_, 'a>, values: impl Iterator<Item = &'a ast::Expr>, mut input: Flow) -> Flow {
    let mut found: Vec<Asked<'a>> = Vec::new();
    for value in values {
        always(value, &mut |expr| found.extend(asked(&at.lowering.cx, expr)));
    }
    // What is asked with the answer of another comes behind it.
    for Asked { expr, function, waits } in found.into_iter().rev() {
        if input.is_table() {
            let why = "a row that is taken back would be asked for again, and the answer may be another by then";
            at.report(tables::not_over_table(&format!("`{function}`, an async function,"), expr.span, why));
            input.answers.push((expr.span, String::new(), Ty::Error));
            continue;
        }
        let mut typer = Typer::new(&mut at.lowering.cx, Scope::Row(&input));
        typer.may_wait = true;
        let typed = typer.expr(expr);
        let typed = typer.typed(typed, expr.span);
        if typed.ty == Ty::Error || holds_error(&typed) {
            input.answers.push((expr.span, String::new(), Ty::Error));
            continue;
        }
        let mut schema = input.ty.schema.clone();
        schema.name = None;
        let (name, ty) = (fresh(&schema, &format!("{function} answer")), typed.ty.clone());
        schema.fields.push(Field::new(name.clone(), ty.clone()));
        let output = StreamType { schema, ..input.ty.clone() };
        let operation = CallAsyncOperation { call: typed, name: name.clone(), function: function.to_owned(), waits };
        input = at.add_plain("async", Operation::CallAsync(operation), input, output);
        input.answers.push((expr.span, name, ty));
    }
    input
}

/// What an operator has to wait for at this node, if it is evaluated: a call, or a choice in which some are made.
fn asked<'a>(cx: &Context<'_>, expr: &'a ast::Expr) -> Option<Asked<'a>> {
    let chosen: Vec<&ast::Expr> = match &expr.kind {
        ExprKind::Call(call) => {
            let function = call.function.text.as_str();
            return cx.waits(function).map(|waits| Asked { expr, function, waits });
        }
        ExprKind::If { then, otherwise, .. } => vec![then, otherwise],
        ExprKind::Match { arms, .. } => arms.iter().flat_map(|arm| arm.guard.iter().chain([&arm.result])).collect(),
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Coalesce, right, .. } => vec![right],
        _ => return None,
    };
    let (mut first, mut all) = (None, None::<Waits>);
    for part in chosen {
        calls(cx, part, &mut |function, waits| {
            first.get_or_insert(function);
            all = Some(all.map_or(waits, |all| all.and(waits)));
        });
    }
    Some(Asked { expr, function: first?, waits: all? })
}

/// The async calls in an expression.
fn calls<'a>(cx: &Context<'_>, value: &'a ast::Expr, visit: &mut dyn FnMut(&'a str, Waits)) {
    walk(value, &mut |expr| {
        if let ExprKind::Call(call) = &expr.kind
            && let Some(waits) = cx.waits(&call.function.text)
        {
            visit(&call.function.text, waits);
        }
    });
}

/// How the body of a function is waited for; None: no async function is called in it.
pub fn waits_of(cx: &Context<'_>, body: &ast::Expr) -> Option<Waits> {
    let mut all = None::<Waits>;
    calls(cx, body, &mut |_, waits| all = Some(all.map_or(waits, |all| all.and(waits))));
    all
}

fn holds_error(typed: &Expr) -> bool {
    let mut found = false;
    typed.walk(&mut |expr| found |= matches!(expr.kind, Typed::Error));
    found
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
    waits_of(&at.lowering.cx, value).is_some()
}
