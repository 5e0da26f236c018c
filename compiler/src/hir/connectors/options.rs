//! Options of connectors and formats: known, of the right type, given once, and all that are needed.

use std::collections::HashMap;

use millstream_runtime::connectors::{OptionSpec, OptionTy};
use millstream_runtime::graph::{ConnectorOption, Expr, ExprKind, Literal, OptionValue, Ty};
use millstream_runtime::places;

use crate::hir::context::Context;
use crate::hir::errors::{connectors, hybrid};
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::adapt;
use crate::source::Span;
use crate::syntax::ast::{self, Name};

/// Whose options these are, and over which columns.
pub struct Owner<'o> {
    /// `file`, `csv`
    pub name: &'o str,
    pub span: Span,
    pub specs: &'static [OptionSpec],
    /// Columns of the stream; None: not known, because of a mistake.
    pub columns: Option<Vec<&'o str>>,
    /// Words that are no options of its own, but known beside them (`format`).
    pub beside: &'static [&'static str],
}

/// Checks options; those in `beside` are left to the caller.
pub fn lower<'a>(cx: &mut Context<'a>, owner: &Owner<'_>, given: &'a [ast::ConnectorOption]) -> Vec<ConnectorOption> {
    let mut first: HashMap<&str, Span> = HashMap::new();
    let mut options = Vec::with_capacity(given.len());
    for option in given {
        let name = option.name.text.as_str();
        if let Some(span) = first.get(name) {
            cx.report(connectors::option_twice(&option.name, *span));
            continue;
        }
        first.insert(name, option.name.span);
        if owner.beside.contains(&name) {
            continue;
        }
        let Some(spec) = owner.specs.iter().find(|spec| spec.name == name) else {
            let known: Vec<&str> = owner.specs.iter().map(|spec| spec.name).chain(owner.beside.iter().copied()).collect();
            cx.report(connectors::unknown_option(owner.name, &option.name, &known));
            continue;
        };
        if let Some(value) = value(cx, owner, spec, option) {
            let origin = cx.origin(option.span);
            options.push(ConnectorOption { name: name.to_owned(), value, origin });
        }
    }
    for spec in owner.specs.iter().filter(|spec| spec.required && !first.contains_key(spec.name)) {
        cx.report(connectors::missing_option(owner.name, spec.name, owner.span, first_sentence(spec.doc)));
    }
    options
}

fn first_sentence(doc: &str) -> &str {
    doc.split_inclusive(". ").next().unwrap_or(doc).trim().trim_end_matches('.')
}

fn value<'a>(
    cx: &mut Context<'a>,
    owner: &Owner<'_>,
    spec: &OptionSpec,
    option: &'a ast::ConnectorOption,
) -> Option<OptionValue> {
    let expr = match &option.value {
        ast::OptionValue::Every(expr) if spec.ty == OptionTy::Every => {
            return scalar(cx, owner, spec, expr, &Ty::Duration);
        }
        ast::OptionValue::Every(expr) => {
            wrong(cx, owner, spec, expr.span, "a time that comes again and again");
            return None;
        }
        ast::OptionValue::After(expr) => {
            wrong(cx, owner, spec, expr.span, "a time after which something happens");
            return None;
        }
        ast::OptionValue::Expr(expr) => expr,
        ast::OptionValue::Block(name, _) => {
            wrong(cx, owner, spec, name.span, "a block");
            return None;
        }
        ast::OptionValue::Error => return None,
    };
    match spec.ty {
        OptionTy::String => scalar(cx, owner, spec, expr, &Ty::String),
        OptionTy::Place => place(cx, owner, spec, expr),
        OptionTy::Secret => secret(cx, owner, spec, expr),
        OptionTy::Int => scalar(cx, owner, spec, expr, &Ty::Int64),
        OptionTy::Count => count(cx, owner, spec, expr),
        OptionTy::Float => scalar(cx, owner, spec, expr, &Ty::Float64),
        OptionTy::Bool => scalar(cx, owner, spec, expr, &Ty::Bool),
        OptionTy::Duration => scalar(cx, owner, spec, expr, &Ty::Duration),
        OptionTy::Timestamp => scalar(cx, owner, spec, expr, &Ty::Timestamp),
        OptionTy::Every => {
            wrong(cx, owner, spec, expr.span, "not behind `every`");
            None
        }
        OptionTy::Size => size(cx, owner, spec, expr),
        OptionTy::Word(words) => word(cx, owner, spec, expr, words),
        OptionTy::Columns => columns(cx, owner, spec, expr),
    }
}

/// A value made of literals, params and environment variables.
fn scalar<'a>(cx: &mut Context<'a>, owner: &Owner<'_>, spec: &OptionSpec, expr: &'a ast::Expr, ty: &Ty) -> Option<OptionValue> {
    let typed = Typer::new(cx, Scope::Job).expr(expr);
    if typed.ty == Ty::Error {
        return None;
    }
    match adapt(typed, ty) {
        Ok(typed) => Some(OptionValue::Value(typed)),
        // What an earlier stage without rows knows nothing of counts as not given.
        Err(typed) if cx.stages.is_some() && typed.ty.is_optional() => match adapt(typed, &ty.clone().optional()) {
            Ok(typed) if !spec.required => Some(OptionValue::Value(typed)),
            Ok(typed) => {
                let text = cx.text(expr.span);
                cx.report(hybrid::may_be_absent(spec.name, expr.span, &typed.ty, &text));
                None
            }
            Err(typed) => {
                wrong(cx, owner, spec, expr.span, &typed.ty.to_string());
                None
            }
        },
        Err(typed) => {
            wrong(cx, owner, spec, expr.span, &typed.ty.to_string());
            None
        }
    }
}

/// A path, or several with commas between. What is computed is looked at when the job starts.
fn place<'a>(cx: &mut Context<'a>, owner: &Owner<'_>, spec: &OptionSpec, expr: &'a ast::Expr) -> Option<OptionValue> {
    let value = scalar(cx, owner, spec, expr, &Ty::String)?;
    if let OptionValue::Value(value) = &value {
        known_place(cx, value, expr.span);
    }
    Some(value)
}

/// Reports a place that is known to be none.
pub fn known_place(cx: &mut Context<'_>, value: &Expr, span: Span) {
    if let ExprKind::Literal(Literal::String(text)) = &value.kind
        && let Some(place) = text.split(',').map(str::trim).find(|place| !places::is_known(place))
    {
        cx.report(connectors::unknown_place(place, span, places::meant(place)));
    }
}

/// A string that should come from outside: text is read by many, and ends up in the binary.
fn secret<'a>(cx: &mut Context<'a>, owner: &Owner<'_>, spec: &OptionSpec, expr: &'a ast::Expr) -> Option<OptionValue> {
    if matches!(expr.kind, ast::ExprKind::String(_)) {
        cx.report(connectors::secret_in_text(owner.name, spec.name, expr.span));
    }
    scalar(cx, owner, spec, expr, &Ty::String)
}

/// A number that is needed before the job starts.
fn count<'a>(cx: &mut Context<'a>, owner: &Owner<'_>, spec: &OptionSpec, expr: &'a ast::Expr) -> Option<OptionValue> {
    match scalar(cx, owner, spec, expr, &Ty::Int64)? {
        OptionValue::Value(Expr { kind: ExprKind::Literal(Literal::Int(count)), .. }) if count < 1 => {
            wrong(cx, owner, spec, expr.span, "less");
            None
        }
        value @ OptionValue::Value(Expr { kind: ExprKind::Literal(Literal::Int(_)), .. }) => Some(value),
        _ => {
            wrong(cx, owner, spec, expr.span, "computed");
            None
        }
    }
}

fn size<'a>(cx: &mut Context<'a>, owner: &Owner<'_>, spec: &OptionSpec, expr: &'a ast::Expr) -> Option<OptionValue> {
    if let ast::ExprKind::Size(bytes) = expr.kind {
        return Some(OptionValue::Size(bytes));
    }
    let typed = Typer::new(cx, Scope::Job).expr(expr);
    match (&typed.kind, &typed.ty) {
        (ExprKind::Literal(Literal::Int(bytes)), _) if *bytes >= 0 => u64::try_from(*bytes).ok().map(OptionValue::Size),
        (_, Ty::Error) => None,
        (_, ty) => {
            wrong(cx, owner, spec, expr.span, &ty.to_string());
            None
        }
    }
}

fn word(cx: &mut Context<'_>, owner: &Owner<'_>, spec: &OptionSpec, expr: &ast::Expr, words: &[&str]) -> Option<OptionValue> {
    let found = match &expr.kind {
        ast::ExprKind::Name(word) if words.contains(&word.as_str()) => return Some(OptionValue::Word(word.clone())),
        ast::ExprKind::Name(word) => {
            cx.report(connectors::unknown_word(owner.name, spec.name, word, expr.span, words));
            return None;
        }
        ast::ExprKind::Error => return None,
        ast::ExprKind::String(_) => "a string in quotes",
        _ => "an expression",
    };
    wrong(cx, owner, spec, expr.span, found);
    None
}

fn columns(cx: &mut Context<'_>, owner: &Owner<'_>, spec: &OptionSpec, expr: &ast::Expr) -> Option<OptionValue> {
    let items = match &expr.kind {
        ast::ExprKind::List(items) => items.as_slice(),
        ast::ExprKind::Name(_) => std::slice::from_ref(expr),
        ast::ExprKind::Error => return None,
        _ => &[],
    };
    let mut names = Vec::with_capacity(items.len());
    for item in items {
        let ast::ExprKind::Name(name) = &item.kind else {
            wrong(cx, owner, spec, item.span, "no column");
            return None;
        };
        if let Some(columns) = &owner.columns
            && !columns.contains(&name.as_str())
        {
            cx.report(connectors::unknown_column(spec.name, name, item.span, columns));
            return None;
        }
        if names.contains(name) {
            cx.report(connectors::option_twice(&Name { text: name.clone(), span: item.span }, item.span));
            return None;
        }
        names.push(name.clone());
    }
    if names.is_empty() {
        wrong(cx, owner, spec, expr.span, "no list of columns");
        return None;
    }
    Some(OptionValue::Columns(names))
}

fn wrong(cx: &mut Context<'_>, owner: &Owner<'_>, spec: &OptionSpec, span: Span, found: &str) {
    let expected = match spec.ty {
        OptionTy::String | OptionTy::Place | OptionTy::Secret => "a string".to_owned(),
        OptionTy::Int => "an integer".to_owned(),
        OptionTy::Count => "a whole number from 1 on, written as such".to_owned(),
        OptionTy::Float => "a number".to_owned(),
        OptionTy::Bool => "`true` or `false`".to_owned(),
        OptionTy::Duration => "a duration such as `10s`".to_owned(),
        OptionTy::Every => "how often, such as `every 5s`".to_owned(),
        OptionTy::Timestamp => "a timestamp such as `@2026-01-01T00:00:00Z`".to_owned(),
        OptionTy::Size => "a size such as `64MB`".to_owned(),
        OptionTy::Word(words) => format!("one of the words {}", crate::hir::errors::listed(words)),
        OptionTy::Columns => "columns such as `[day, hour]`".to_owned(),
    };
    cx.report(connectors::option_type(owner.name, spec.name, span, &expected, found));
}
