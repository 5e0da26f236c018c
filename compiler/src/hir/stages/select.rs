//! `select { .. }`: one output row per input row.

use std::collections::{HashMap, HashSet};

use millstream_runtime::graph::{Changelog, Expr, Field, Operation, Schema, StreamType, TimeColumn, Ty};

use super::At;
use crate::hir::errors::{joins, names, tables, types};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::plain_column;
use crate::source::Span;
use crate::syntax::ast::{self, Name, SelectItem};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, items: &'a [SelectItem], input: Flow) -> Flow {
    let broken = items.iter().any(|item| matches!(item, SelectItem::Error(_)));
    let visible = input.ty.schema.clone();
    let input = super::over::analytic(at, items, input);
    let values = items.iter().filter_map(|item| match item {
        SelectItem::Column { value, .. } => Some(value),
        _ => None,
    });
    let mut input = super::call_async::answers(at, values, input);
    // What was computed before has no names here.
    input.ty.schema = visible;
    let columns = columns(at, items, &input);
    if columns.is_empty() && !broken && !input.unknown {
        at.report(tables::no_columns(at.stage.span, "select"));
    }
    let fields = columns.iter().map(|(name, value)| field(name, value, &input)).collect();
    let output = StreamType {
        schema: Schema::anonymous(fields),
        changelog: changelog(&input, &columns),
        time: input.ty.time.as_ref().and_then(|time| {
            let column = renamed(&time.column, &columns)?;
            Some(TimeColumn { column, offset: time.offset })
        }),
    };
    let time_dropped = input.time_dropped || (input.ty.time.is_some() && output.time.is_none());
    // Without all of its columns the output is not known.
    let unknown = broken || (input.unknown && items.iter().any(|item| matches!(item, SelectItem::Rest { .. })));
    let mut flow = at.add("select", Operation::Project(columns), input, output);
    flow.new_rows();
    flow.answers.clear();
    flow.time_dropped = time_dropped;
    flow.unknown = unknown;
    flow
}

/// The name that an expression has by itself: a column's or a field's.
pub fn own_name(expr: &ast::Expr) -> Option<(&str, Span)> {
    match &expr.kind {
        ast::ExprKind::Name(name) => Some((name, expr.span)),
        ast::ExprKind::Field { field, .. } => Some((&field.text, field.span)),
        _ => None,
    }
}

fn columns<'a>(at: &mut At<'_, '_, 'a>, items: &'a [SelectItem], input: &Flow) -> Vec<(String, Expr)> {
    let named: HashSet<&str> = items
        .iter()
        .filter_map(|item| match item {
            SelectItem::Column { name: Some(name), .. } => Some(name.text.as_str()),
            SelectItem::Column { name: None, value } => own_name(value).map(|(name, _)| name),
            _ => None,
        })
        .collect();
    let except: Vec<&Name> = items
        .iter()
        .flat_map(|item| match item {
            SelectItem::Except(names) => names.as_slice(),
            _ => &[],
        })
        .collect();
    let left_out = |name: &str| named.contains(name) || except.iter().any(|left_out| left_out.text == name);
    let mut list = Columns::default();
    let mut rest_has: Vec<String> = Vec::new();
    for item in items {
        let mut typer = Typer::new(&mut at.lowering.cx, Scope::Row(input));
        match item {
            SelectItem::Column { name, value } => {
                let typed = typer.expr(value);
                let typed = typer.typed(typed, value.span);
                let name = name.as_ref().map(|name| (name.text.as_str(), name.span)).or_else(|| own_name(value));
                match name {
                    Some((name, span)) => list.push(at, name, typed, span),
                    None => at.report(names::column_without_name(value.span)),
                }
            }
            SelectItem::Rest { of: None, span } => {
                for column in input.fields() {
                    if let Some(hidden) = input.hidden.iter().find(|hidden| hidden.column == column.name) {
                        if !hidden.spare && !hidden.twin.as_deref().is_some_and(left_out) {
                            at.report(joins::two_of_a_name(*span, hidden));
                        }
                        continue;
                    }
                    rest_has.push(column.name.clone());
                    if !left_out(&column.name) {
                        let value = Typer::new(&mut at.lowering.cx, Scope::Row(input)).column(input, column, *span);
                        list.push(at, &column.name, value, *span);
                    }
                }
            }
            SelectItem::Rest { of: Some(ast::Expr { kind: ast::ExprKind::Name(name), .. }), span }
                if input.alias(name).is_some() =>
            {
                for (own, column) in input.alias(name).map(|alias| &alias.columns[..]).unwrap_or_default() {
                    rest_has.push(own.clone());
                    if !left_out(own)
                        && let Some(field) = input.ty.schema.field(column)
                    {
                        let value = Typer::new(&mut at.lowering.cx, Scope::Row(input)).column(input, field, *span);
                        list.push(at, own, value, *span);
                    }
                }
            }
            SelectItem::Rest { of: Some(of), span } => {
                let base = typer.expr(of);
                let Ty::Record(schema) = base.ty.required().clone() else {
                    if base.ty != Ty::Error {
                        at.report(types::no_fields(".", of.span, &base.ty));
                    }
                    continue;
                };
                for field in &schema.fields {
                    rest_has.push(field.name.clone());
                    if !left_out(&field.name) {
                        let value = Typer::new(&mut at.lowering.cx, Scope::Row(input)).field_of(base.clone(), field, *span);
                        list.push(at, &field.name, value, *span);
                    }
                }
            }
            SelectItem::Except(_) | SelectItem::Error(_) => {}
        }
    }
    let has_rest = items.iter().any(|item| matches!(item, SelectItem::Rest { .. }));
    let candidates: Vec<&str> = rest_has.iter().map(String::as_str).collect();
    for name in except {
        if !has_rest || (!candidates.contains(&name.text.as_str()) && !input.unknown) {
            at.report(names::except_nothing(name, has_rest, &candidates));
        }
    }
    list.columns
}

/// Output columns so far, and where each was named.
#[derive(Default)]
struct Columns {
    columns: Vec<(String, Expr)>,
    first: HashMap<String, Span>,
}

impl Columns {
    fn push(&mut self, at: &mut At<'_, '_, '_>, name: &str, value: Expr, span: Span) {
        match self.first.get(name) {
            Some(first) => {
                let first = *first;
                at.report(names::column_twice(name, span, Some(first), "`select`"));
            }
            None => {
                self.first.insert(name.to_owned(), span);
                self.columns.push((name.to_owned(), value));
            }
        }
    }
}

/// The output's field; a column taken over as it is keeps what it is called outside.
fn field(name: &str, value: &Expr, input: &Flow) -> Field {
    let mut field = Field::new(name, value.ty.clone());
    if plain_column(value) == Some(name)
        && let Some(column) = input.ty.schema.field(name)
    {
        field.external = column.external.clone();
        field.unit = column.unit;
    }
    field
}

/// What an input column is called in the output.
fn renamed(column: &str, columns: &[(String, Expr)]) -> Option<String> {
    let same = columns.iter().find(|(name, value)| name == column && plain_column(value) == Some(column));
    same.or_else(|| columns.iter().find(|(_, value)| plain_column(value) == Some(column))).map(|(name, _)| name.clone())
}

fn changelog(input: &Flow, columns: &[(String, Expr)]) -> Changelog {
    match &input.ty.changelog {
        Changelog::Append => Changelog::Append,
        Changelog::Table { key } => {
            Changelog::Table { key: key.as_ref().and_then(|key| key.iter().map(|column| renamed(column, columns)).collect()) }
        }
    }
}
