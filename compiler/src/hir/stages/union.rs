//! `union others`: the rows of all, which have the same columns.

use millstream_runtime::graph::{Changelog, Expr, ExprKind, Operation, StreamType};

use super::At;
use crate::hir::attributes::Attributes;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::hir::lower::NewNode;
use crate::hir::types::casts::same_shape;
use crate::syntax::ast::Name;

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, others: &'a [Name], input: Flow) -> Flow {
    const WHY: &str = "rows of two tables could stand for the same key";
    if input.is_table() {
        at.report(tables::not_over_table("`union`", at.stage.span, WHY));
    }
    let mut inputs = vec![(input.node, input.port)];
    let mut known = input;
    known.unknown |= known.is_table();
    for name in others {
        let other = at.lowering.named(name);
        if other.is_table() {
            at.report(tables::not_over_table("`union`", name.span, WHY));
            continue;
        }
        if known.unknown || other.unknown {
            known.unknown = true;
            continue;
        }
        if let Some(label) = difference(&known, &other) {
            at.report(tables::union_differs(name, &known.name, label));
            continue;
        }
        if known.ty.time != other.ty.time {
            known.ty.time = None;
        }
        known.not_null = known.not_null.intersection(&other.not_null).cloned().collect();
        inputs.push(same_rows(at, &known, other));
    }
    let output = StreamType { changelog: Changelog::Append, ..known.ty.clone() };
    at.add_over("union", Operation::Union, inputs, known, output)
}

/// What is different, if anything but the order of columns is.
fn difference(first: &Flow, other: &Flow) -> Option<String> {
    for field in first.fields() {
        match other.ty.schema.field(&field.name) {
            None => return Some(format!("it has no column `{}`", field.name)),
            Some(found) if !same_shape(&field.ty, &found.ty) => {
                return Some(format!("its column `{}` is {}, not {}", field.name, found.ty, field.ty));
            }
            Some(_) => {}
        }
    }
    let extra = other.fields().iter().find(|field| first.ty.schema.field(&field.name).is_none())?;
    Some(format!("it has a column `{}` more", extra.name))
}

/// An input in exactly the form of the first: columns in its order, under its record's name.
fn same_rows(at: &mut At<'_, '_, '_>, first: &Flow, other: Flow) -> (crate::hir::NodeId, millstream_runtime::graph::Port) {
    if other.ty.schema == first.ty.schema {
        return (other.node, other.port);
    }
    let value = |field: &millstream_runtime::graph::Field| {
        let own = other.ty.schema.field(&field.name).map_or_else(|| field.ty.clone(), |found| found.ty.clone());
        let origin = at.lowering.cx.origin(at.stage.span);
        let column = Expr { kind: ExprKind::Column(field.name.clone()), ty: own, origin };
        (field.name.clone(), crate::hir::types::casts::adapt(column, &field.ty).unwrap_or_else(|column| column))
    };
    let columns = first.fields().iter().map(value).collect();
    let node = at.lowering.add(NewNode {
        place: at.place,
        word: "union_input",
        attributes: Attributes::default(),
        operation: Operation::Project(columns),
        inputs: vec![(other.node, other.port)],
        output: StreamType { schema: first.ty.schema.clone(), ..other.ty },
        span: at.stage.span,
    });
    (node, millstream_runtime::graph::Port::Main)
}
