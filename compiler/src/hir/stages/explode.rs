//! `explode list as name`: one row per element of a list, or per entry of a map.

use millstream_runtime::graph::{Changelog, Expr, ExprKind, Field, Operation, Schema, StreamType, Ty};

use super::At;
use crate::hir::errors::{names, tables};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::syntax::ast::{self, Name};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, list: &'a ast::Expr, name: &'a Name, input: Flow) -> Flow {
    let visible = input.ty.schema.clone();
    let mut input = super::call_async::answers(at, std::iter::once(list), input);
    let full = std::mem::replace(&mut input.ty.schema, visible);
    let typed = Typer::new(&mut at.lowering.cx, Scope::Row(&input)).expr(list);
    let item = match typed.ty.required() {
        Ty::List(item) if **item != Ty::Null => (**item).clone(),
        Ty::Map(key, value) => {
            Ty::Record(Schema::anonymous(vec![Field::new("key", (**key).clone()), Field::new("value", (**value).clone())]))
        }
        Ty::Error => Ty::Error,
        ty => {
            let ty = ty.clone();
            at.report(tables::not_a_list(list.span, &ty));
            Ty::Error
        }
    };
    if input.ty.schema.field(&name.text).is_some() {
        at.report(names::column_twice(&name.text, name.span, None, "this stream"));
    }
    let mut schema = full;
    schema.name = None;
    schema.fields.retain(|field| field.name != name.text);
    schema.fields.push(Field::new(&name.text, item));
    let changelog = match &input.ty.changelog {
        Changelog::Append => Changelog::Append,
        // One row of the table became many.
        Changelog::Table { .. } => Changelog::Table { key: None },
    };
    let output = StreamType { schema, changelog, time: input.ty.time.clone() };
    let flow = at.add("explode", Operation::Explode { list: never_null(typed), name: name.text.clone() }, input, output);
    super::call_async::forget(at, flow)
}

/// A null list has no elements.
fn never_null(list: Expr) -> Expr {
    if !list.ty.is_optional() || list.ty == Ty::Null || matches!(list.ty.required(), Ty::Map(..)) {
        return list;
    }
    let (ty, origin) = (list.ty.required().clone(), list.origin.clone());
    let empty = Expr { kind: ExprKind::List(Vec::new()), ty: ty.clone(), origin: origin.clone() };
    Expr { kind: ExprKind::Coalesce(Box::new(list), Box::new(empty)), ty, origin }
}
