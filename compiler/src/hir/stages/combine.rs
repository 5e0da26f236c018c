//! `intersect`, `except`, `distinct`: rows as sets. Both sides become one stream with a column that says which side a row
//! is of, and equal rows meet in one place.

use millstream_runtime::graph::{
    Changelog, Combine, CombineOperation, Expr, ExprKind, Field, Literal, Operation, Port, Schema, StreamType, Ty,
};

use super::At;
use super::union::{as_table, in_form_of, same_columns};
use crate::hir::NodeId;
use crate::hir::attributes::Attributes;
use crate::hir::errors::tables;
use crate::hir::flow::Flow;
use crate::hir::lower::NewNode;
use crate::syntax::ast::{self, Name};

/// `intersect a, b` and `except a, b`: one after the other.
pub fn lower<'a>(at: &mut At<'_, '_, 'a>, how: ast::Combine, all: bool, others: &'a [Name], input: Flow) -> Flow {
    let (how, word) = match how {
        ast::Combine::Intersect => (Combine::Intersect, "intersect"),
        ast::Combine::Except => (Combine::Except, "except"),
    };
    let mut known = input;
    for name in others {
        let Some(other) = same_columns(at, name, &mut known) else { continue };
        known = pair(at, how, word, all, known, other);
    }
    known
}

/// `distinct`: each row once.
pub fn distinct(at: &mut At<'_, '_, '_>, input: Flow) -> Flow {
    if input.unknown {
        return input;
    }
    let keys = keys(at, &input);
    let operation = CombineOperation { how: Combine::Distinct, keys, all: false, side: None };
    let changelog = match input.is_table() {
        true => Changelog::Table { key: Some(columns(&input)) },
        false => Changelog::Append,
    };
    let output = StreamType { changelog, ..input.ty.clone() };
    at.add("distinct", Operation::Combine(operation), input, output)
}

fn columns(input: &Flow) -> Vec<String> {
    input.fields().iter().map(|field| field.name.clone()).collect()
}

/// All columns, which can be compared.
fn keys(at: &mut At<'_, '_, '_>, input: &Flow) -> Vec<Expr> {
    for field in input.fields() {
        if !field.ty.is_ordered() {
            at.report(tables::not_a_key(&format!("the column `{}`", field.name), at.stage.span, &field.ty));
        }
    }
    input.fields().iter().map(|field| Expr::column(field.name.clone(), field.ty.clone())).collect()
}

fn pair(at: &mut At<'_, '_, '_>, how: Combine, word: &'static str, all: bool, left: Flow, right: Flow) -> Flow {
    let side = side_column(&left);
    let keys = keys(at, &left);
    let table = left.is_table() || right.is_table();
    let time = left.ty.time.clone().filter(|time| right.ty.time.as_ref() == Some(time));
    let changelog = match table || how == Combine::Except {
        true => Changelog::Table { key: (!all).then(|| columns(&left)) },
        false => Changelog::Append,
    };
    let inputs = [(&left, false), (&right, true)].map(|(flow, second)| tagged(at, &left, flow, &side, second, table));
    let mut schema = left.ty.schema.clone();
    schema.name = None;
    let output = StreamType { schema: schema.clone(), changelog, time: time.clone() };
    schema.fields.push(Field::new(&side, Ty::Bool));
    let sides = if table { Changelog::Table { key: None } } else { Changelog::Append };
    let both = at.lowering.add(NewNode {
        place: at.place,
        word: if how == Combine::Except { "except_sides" } else { "intersect_sides" },
        attributes: Attributes::default(),
        operation: Operation::Union,
        inputs: inputs.to_vec(),
        output: StreamType { schema, changelog: sides, time },
        span: at.stage.span,
    });
    let operation = CombineOperation { how, keys, all, side: Some(side) };
    let at_end = left.at_end && right.at_end;
    let makes_table = !left.is_table() && output.changelog != Changelog::Append;
    let mut flow = at.add_over(word, Operation::Combine(operation), vec![(both, Port::Main)], left, output);
    flow.at_end = at_end;
    if makes_table {
        let why = "a row goes when the other side changes, which makes a table".to_owned();
        flow.table_cause = Some((at.stage.span, why));
    }
    flow
}

/// A name that no column has.
fn side_column(input: &Flow) -> String {
    let mut name = "second".to_owned();
    while input.ty.schema.field(&name).is_some() {
        name.push('_');
    }
    name
}

/// A side with its tag, in the form of the first.
fn tagged(at: &mut At<'_, '_, '_>, first: &Flow, flow: &Flow, side: &str, second: bool, table: bool) -> (NodeId, Port) {
    let origin = at.lowering.cx.origin(at.stage.span);
    let mut columns = in_form_of(at, first, flow);
    let literal = Expr { kind: ExprKind::Literal(Literal::Bool(second)), ty: Ty::Bool, origin };
    columns.push((side.to_owned(), literal));
    let mut fields: Vec<Field> = first.fields().to_vec();
    fields.push(Field::new(side, Ty::Bool));
    let changelog = if flow.is_table() { Changelog::Table { key: None } } else { Changelog::Append };
    let output = StreamType { schema: Schema::anonymous(fields), changelog, time: flow.ty.time.clone() };
    let node = at.lowering.add(NewNode {
        place: at.place,
        word: "side",
        attributes: Attributes::default(),
        operation: Operation::Project(columns),
        inputs: vec![(flow.node, flow.port)],
        output: output.clone(),
        span: at.stage.span,
    });
    if table { as_table(at, (node, Port::Main), output) } else { (node, Port::Main) }
}
