//! `union others`: the rows of all, which have the same columns. With a table among them a table of all their rows.

use millstream_runtime::graph::{Changelog, Expr, ExprKind, Field, Operation, Port, StreamType};

use super::At;
use crate::hir::NodeId;
use crate::hir::attributes::Attributes;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::hir::lower::NewNode;
use crate::hir::types::casts::{adapt, same_shape};
use crate::syntax::ast::Name;

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, others: &'a [Name], input: Flow) -> Flow {
    let mut flows = Vec::with_capacity(others.len());
    let mut known = input.clone();
    for name in others {
        let Some(other) = same_columns(at, name, &mut known) else { continue };
        known.at_end &= other.at_end;
        if known.ty.time != other.ty.time {
            known.ty.time = None;
        }
        known.not_null = known.not_null.intersection(&other.not_null).cloned().collect();
        flows.push(other);
    }
    let table = input.is_table() || flows.iter().any(Flow::is_table);
    let mut inputs = vec![(input.node, input.port)];
    if table {
        inputs = vec![as_table(at, (input.node, input.port), input.ty.clone())];
        let cause = flows.iter().find_map(|flow| flow.table_cause.clone());
        known.table_cause = known.table_cause.or(cause);
    }
    for other in flows {
        let mut ty = other.ty.clone();
        ty.schema = known.ty.schema.clone();
        let rows = same_rows(at, &known, other);
        inputs.push(if table { as_table(at, rows, ty) } else { rows });
    }
    // Rows of two tables can have the same key.
    let changelog = if table { Changelog::Table { key: None } } else { Changelog::Append };
    let output = StreamType { changelog, ..known.ty.clone() };
    at.add_over("union", Operation::Union, inputs, known, output)
}

/// The rows of a stream as changes; those of a table are.
pub fn as_table(at: &mut At<'_, '_, '_>, rows: (NodeId, Port), ty: StreamType) -> (NodeId, Port) {
    if ty.changelog != Changelog::Append {
        return rows;
    }
    let node = at.lowering.add(NewNode {
        place: at.place,
        word: "inserts",
        attributes: Attributes::default(),
        operation: Operation::Inserts,
        inputs: vec![rows],
        output: StreamType { changelog: Changelog::Table { key: None }, ..ty },
        span: at.stage.span,
    });
    (node, Port::Main)
}

/// The rows of another stream, where it has the same columns. If it has not, that is reported; what is not known of one is
/// not known of both.
pub fn same_columns(at: &mut At<'_, '_, '_>, name: &Name, known: &mut Flow) -> Option<Flow> {
    let other = at.lowering.named(name);
    if known.unknown || other.unknown {
        known.unknown = true;
        return None;
    }
    if let Some(label) = difference(known, &other) {
        at.report(tables::union_differs(name, &known.name, label));
        return None;
    }
    Some(other)
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

/// The columns of a stream in the order and of the types of the first's.
pub fn in_form_of(at: &At<'_, '_, '_>, first: &Flow, flow: &Flow) -> Vec<(String, Expr)> {
    let origin = at.lowering.cx.origin(at.stage.span);
    let value = |field: &Field| {
        let own = flow.ty.schema.field(&field.name).map_or_else(|| field.ty.clone(), |found| found.ty.clone());
        let column = Expr { kind: ExprKind::Column(field.name.clone()), ty: own, origin: origin.clone() };
        (field.name.clone(), adapt(column, &field.ty).unwrap_or_else(|column| column))
    };
    first.fields().iter().map(value).collect()
}

/// An input in exactly the form of the first: columns in its order, under its record's name.
fn same_rows(at: &mut At<'_, '_, '_>, first: &Flow, other: Flow) -> (NodeId, Port) {
    if other.ty.schema == first.ty.schema {
        return (other.node, other.port);
    }
    let columns = in_form_of(at, first, &other);
    let node = at.lowering.add(NewNode {
        place: at.place,
        word: "union_input",
        attributes: Attributes::default(),
        operation: Operation::Project(columns),
        inputs: vec![(other.node, other.port)],
        output: StreamType { schema: first.ty.schema.clone(), ..other.ty },
        span: at.stage.span,
    });
    (node, Port::Main)
}
