//! Closures over rows: what most operators take.

use millstream_runtime::graph::{Expr, ExprKind, Origin, Schema, Ty};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::context::Context;
use super::expr::{Bindings, Lowering, Value};
use super::names::ident;
use super::tokens::{mentions, unless_used};

/// The rows that a closure takes.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) schema: &'a Schema,
    /// Whether they come wrapped in `Change`.
    pub(super) table: bool,
    /// The key columns of the table, where they are known.
    pub(super) key: Option<&'a [String]>,
}

impl Rows<'_> {
    /// The Rust type of a row as it travels.
    pub(super) fn rust(&self, cx: &Context<'_>) -> TokenStream {
        let row = cx.row(self.schema);
        if self.table { quote!(Change<#row>) } else { row }
    }
}

/// Lowers expressions over `row`.
pub(super) fn over_row<'a>(cx: &'a Context<'a>, schema: &'a Schema, origin: &'a Origin) -> Lowering<'a> {
    Lowering::new(cx, origin, Bindings { row: Some((quote!(row), schema)), ..Bindings::default() })
}

/// `|row: &Flight| Ok(..)`, made of one expression. Also for rows of tables.
pub(super) fn by_reference<'a>(
    cx: &'a Context<'a>,
    rows: Rows<'a>,
    origin: &'a Origin,
    body: impl FnOnce(&mut Lowering<'a>) -> TokenStream,
) -> TokenStream {
    let mut lowering = over_row(cx, rows.schema, origin);
    let value = body(&mut lowering);
    let statements = lowering.take_statements();
    let uses_params = lowering.uses_params;
    let used = quote!(#statements #value);
    let rust = rows.rust(cx);
    let closure = if rows.table {
        let take = mentions(&used, "row").then(|| quote!(let row = &change.row;));
        let change = unless_used(&quote!(#take), ident("change"));
        closure(&change, &quote!(&#rust), &quote!(#take #statements), &value, uses_params)
    } else {
        let row = unless_used(&used, ident("row"));
        closure(&row, &quote!(&#rust), &statements, &value, uses_params)
    };
    with_params(closure, uses_params)
}

/// A closure of one parameter. Statements make its body a block.
pub(super) fn closure(
    parameter: &Ident,
    ty: &TokenStream,
    statements: &TokenStream,
    value: &TokenStream,
    moves: bool,
) -> TokenStream {
    let moves = moves.then(|| quote!(move));
    if statements.is_empty() {
        quote!(#moves |#parameter: #ty| Ok(#value))
    } else {
        quote!(#moves |#parameter: #ty| { #statements Ok(#value) })
    }
}

/// Gives a closure params of its own.
pub(super) fn with_params(closure: TokenStream, uses_params: bool) -> TokenStream {
    if uses_params { quote!({ let params = params.clone(); #closure }) } else { closure }
}

/// `let bid = required(row.bid)..?;` for each optional record that is known to be there, so that its columns can be moved out
/// of it one by one. Says so to the lowering, and returns the columns.
pub(super) fn unwrap_records<'a>(lowering: &mut Lowering<'a>, values: &[&'a Expr]) -> Vec<&'a str> {
    let mut found: Vec<(&str, &Ty, bool)> = Vec::new();
    for value in values {
        let mut unconditional = Vec::new();
        unconditionally(value, &mut unconditional);
        value.walk(&mut |expr| {
            let ExprKind::Cast(millstream_runtime::graph::CastMode::NotNull, inner) = &expr.kind else { return };
            if let ExprKind::Field(base, _) = &inner.kind
                && let ExprKind::Column(column) = &base.kind
                && matches!(base.ty.required(), Ty::Record(_))
            {
                let certain = unconditional.iter().any(|known| std::ptr::eq(*known, expr));
                match found.iter_mut().find(|(known, _, _)| known == column) {
                    Some((_, _, known)) => *known |= certain,
                    None => found.push((column, &base.ty, certain)),
                }
            }
        });
    }
    let mut columns = Vec::new();
    for (column, _, certain) in found {
        // Any other use of the whole column would meet a record that has moved.
        let whole = values.iter().any(|value| uses_whole(value, column));
        if certain && !whole {
            lowering.unwrap_record(column);
            columns.push(column);
        }
    }
    columns
}

/// The nodes that are evaluated in any case.
fn unconditionally<'a>(expr: &'a Expr, into: &mut Vec<&'a Expr>) {
    use millstream_runtime::graph::BinaryOp;
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        into.push(expr);
        match &expr.kind {
            ExprKind::If(condition, ..) => open.push(condition),
            ExprKind::Match { subject, .. } => open.push(subject),
            ExprKind::Coalesce(first, _) => open.push(first),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, _) => open.push(left),
            _ => expr.for_each_child(&mut |child| open.push(child)),
        }
    }
}

/// Whether a column is used in another way than field by field behind a not-null check.
fn uses_whole(expr: &Expr, column: &str) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Column(name) if name == column => return true,
            ExprKind::Cast(millstream_runtime::graph::CastMode::NotNull, inner) => match &inner.kind {
                ExprKind::Field(base, _) if matches!(&base.kind, ExprKind::Column(name) if name == column) => {}
                _ => open.push(inner),
            },
            _ => expr.for_each_child(&mut |child| open.push(child)),
        }
    }
    false
}

/// The value of a column as it is moved out of a row that is not needed any more, if the expression is nothing else.
pub(super) fn column_path(expr: &Expr) -> Option<Vec<&str>> {
    let mut path = Vec::new();
    let mut expr = expr;
    loop {
        match &expr.kind {
            ExprKind::Column(name) => {
                path.push(name.as_str());
                path.reverse();
                return Some(path);
            }
            ExprKind::Field(base, name) => {
                path.push(name.as_str());
                expr = base;
            }
            ExprKind::Cast(_, inner) if inner.ty.required() == expr.ty.required() => expr = inner,
            _ => return None,
        }
    }
}

/// Lowered expressions of an output row, in the order in which they must be evaluated: what is computed comes first, while
/// the row is whole; then columns are moved out of it. A column that is needed again later is cloned.
pub(super) fn moved<'a>(lowering: &mut Lowering<'a>, values: &[&'a Expr]) -> Vec<(usize, Value)> {
    let mut computed = Vec::new();
    let mut columns = Vec::new();
    for (index, value) in values.iter().enumerate() {
        match column_path(value) {
            Some(path) if !value.ty.is_copy() => columns.push((index, path)),
            _ => computed.push(index),
        }
    }
    let mut result: Vec<(usize, Value)> =
        computed.into_iter().map(|index| (index, lowering.lower_owned(values[index]))).collect();
    for (position, (index, path)) in columns.iter().enumerate() {
        let again = columns[position + 1..].iter().any(|(_, later)| later.starts_with(path) || path.starts_with(later));
        let value = if again { lowering.lower_owned(values[*index]) } else { lowering.lower_moved(values[*index]) };
        result.push((*index, value));
    }
    result
}
