//! Calls of `async fn`s in a `select`: operators before the select ask for the values, one per call.
//!
//! As with `over (..)`, the new columns have no names in the language: the select finds them by the places where the calls stand. A call that
//! is not always made (in a branch, behind `??` or `and`) is left where it is, and reported when it is typed.

use millstream_runtime::graph::{CallAsyncOperation, ExprKind as Typed, Field, Operation, StreamType, Ty, Waits};

use super::At;
use super::columns::fresh;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::resolve::walk::always;
use crate::hir::types::Typer;
use crate::syntax::ast::{self, ExprKind, SelectItem};

/// Asks for the values of the async calls of a select. The flow that comes back has columns more, and knows which are whose.
pub fn answers<'a>(at: &mut At<'_, '_, 'a>, items: &'a [SelectItem], mut input: Flow) -> Flow {
    let mut found: Vec<(&'a ast::Expr, &'a ast::Call, Waits)> = Vec::new();
    for item in items {
        if let SelectItem::Column { value, .. } = item {
            always(value, &mut |expr| {
                if let ExprKind::Call(call) = &expr.kind
                    && let Some(waits) = at.lowering.cx.waits(&call.function.text)
                {
                    found.push((expr, call, waits));
                }
            });
        }
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
