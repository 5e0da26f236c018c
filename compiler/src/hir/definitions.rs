//! Records, params and functions: what streams are built with.

use std::collections::HashMap;

use millstream_runtime::aggregates;
use millstream_runtime::flags::FLAGS;
use millstream_runtime::graph::signature::scalar;
use millstream_runtime::graph::{EnumType, Expr, ExprKind, Function, Literal, Param, Schema, Ty};

use super::attributes;
use super::context::{Context, FunctionType};
use super::errors::{names, types};
use super::resolve::order::order;
use super::resolve::scope::Scope;
use super::resolve::walk::walk;
use super::types::Typer;
use super::types::constant::evaluate;
use super::types::written::BUILT_IN;
use crate::source::Span;
use crate::syntax::ast::{self, Name, Type, TypeKind};

/// Resolves all enums.
pub fn enums(cx: &mut Context<'_>) {
    let nodes: Vec<(&ast::Item, &ast::Enum)> = cx.items.enums.iter().map(|entry| (entry.item, entry.node)).collect();
    for (item, node) in nodes {
        attributes::none(cx, &item.attributes, "an enum");
        if scalar(&node.name.text).is_some() || BUILT_IN.contains(&node.name.text.as_str()) {
            cx.report(names::name_taken("enum", &node.name, "a built-in type"));
        }
        let mut first: HashMap<&str, Span> = HashMap::new();
        let mut values = Vec::with_capacity(node.values.len());
        for value in &node.values {
            match first.insert(&value.text, value.span) {
                Some(span) => cx.report(names::column_twice(&value.text, value.span, Some(span), "this enum")),
                None => values.push(value.text.clone()),
            }
        }
        let ty = if values.is_empty() {
            let help = "list them: `enum Status { open, shipped }`";
            cx.report(types::bad_type(node.name.span, "an enum has at least one value", help));
            Ty::Error
        } else {
            Ty::Enum(EnumType { name: node.name.text.clone(), values })
        };
        cx.records.insert(&node.name.text, ty);
    }
}

/// Resolves all records, those that others contain first.
pub fn records(cx: &mut Context<'_>) {
    let nodes: Vec<(&ast::Item, &ast::Record)> = cx.items.records.iter().map(|entry| (entry.item, entry.node)).collect();
    let index: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(index, (_, record))| (record.name.text.as_str(), index)).collect();
    let needs: Vec<Vec<usize>> = nodes
        .iter()
        .map(|(_, record)| {
            let mut named = Vec::new();
            record.columns.iter().for_each(|column| type_names(&column.ty, &mut named));
            named.into_iter().filter_map(|name| index.get(name).copied()).collect()
        })
        .collect();
    let (sorted, circles) = order(&needs);
    for circle in &circles {
        report_circle(cx, "record", circle, |index| &nodes[index].1.name);
        // Members stand for the error type, so that nothing follows from this.
        circle.iter().for_each(|index| {
            cx.records.insert(&nodes[*index].1.name.text, Ty::Error);
        });
    }
    for index in sorted {
        let (item, record) = nodes[index];
        attributes::none(cx, &item.attributes, "a record");
        if scalar(&record.name.text).is_some() || BUILT_IN.contains(&record.name.text.as_str()) {
            cx.report(names::name_taken("record", &record.name, "a built-in type"));
        }
        let fields = cx.columns(&record.columns, "this record");
        let schema = Schema { name: Some(record.name.text.clone()), fields };
        cx.records.entry(&record.name.text).or_insert(Ty::Record(schema));
    }
}

fn type_names<'a>(ty: &'a Type, out: &mut Vec<&'a str>) {
    match &ty.kind {
        TypeKind::Named { name, .. } => out.push(&name.text),
        TypeKind::List(item) => type_names(item, out),
        TypeKind::Map(key, value) => {
            type_names(key, out);
            type_names(value, out);
        }
        TypeKind::Record(columns) => columns.iter().for_each(|column| type_names(&column.ty, out)),
        TypeKind::Error => {}
    }
}

/// Types all params and their defaults.
pub fn params(cx: &mut Context<'_>) -> Vec<Param> {
    let nodes: Vec<(&ast::Item, &ast::Param)> = cx.items.params.iter().map(|entry| (entry.item, entry.node)).collect();
    let mut params = Vec::with_capacity(nodes.len());
    let mut types = Vec::with_capacity(nodes.len());
    for (item, param) in nodes {
        attributes::none(cx, &item.attributes, "a param");
        let mut ty = cx.ty(&param.ty);
        if !can_be_given(ty.required()) {
            let title = format!("a param cannot be {ty}");
            cx.report(types::bad_type(
                param.ty.span,
                &title,
                "params come from the command line: use a number, text, time, bool, enum or json, or a list or map of them",
            ));
            ty = Ty::Error;
        }
        let flag = param.name.text.replace('_', "-");
        if let Some((_, _, doc)) = FLAGS.iter().find(|(name, ..)| *name == flag) {
            cx.report(names::flag_taken(&param.name, &flag, doc));
        }
        let default = param.default.as_ref().and_then(|default| param_default(cx, default, &ty));
        let origin = cx.origin(item.span);
        types.push((param.name.text.as_str(), ty.clone()));
        params.push(Param { name: param.name.text.clone(), ty, default, doc: item.doc.clone(), origin });
    }
    // Only now, so that a default cannot name another param.
    cx.params.extend(types);
    params
}

/// Whether a flag can give it.
fn can_be_given(ty: &Ty) -> bool {
    match ty {
        Ty::List(item) => !item.is_optional() && !matches!(**item, Ty::List(_) | Ty::Map(..)) && can_be_given(item),
        Ty::Map(key, value) => {
            let plain = |ty: &Ty| !ty.is_optional() && !matches!(ty, Ty::List(_) | Ty::Map(..)) && can_be_given(ty);
            plain(key) && plain(value)
        }
        Ty::Record(_) | Ty::Bytes => false,
        _ => true,
    }
}

fn param_default<'a>(cx: &mut Context<'a>, default: &'a ast::Expr, ty: &Ty) -> Option<Expr> {
    const WHAT: &str = "the default of a param";
    // Nothing else has a literal of json: its text stands for it.
    if let (Ty::Json, ast::ExprKind::String(text)) = (ty.required(), &default.kind) {
        if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
            cx.report(types::bad_json(default.span, &error.to_string()));
            return None;
        }
        let literal = ExprKind::Literal(Literal::String(text.clone()));
        return Some(Expr { kind: literal, ty: ty.required().clone(), origin: cx.origin(default.span) });
    }
    let mut typer = Typer::new(cx, Scope::Constant(WHAT));
    let to = if matches!(default.kind, ast::ExprKind::Null) { ty } else { ty.required() };
    let typed = typer.expect(default, to, WHAT);
    if typed.ty == Ty::Error {
        return None;
    }
    match constant(typed) {
        Some(value) => Some(value),
        None => {
            cx.report(types::not_constant(WHAT, default.span));
            None
        }
    }
}

/// A literal, or a list of literals. None: it is computed when the job runs.
fn constant(typed: Expr) -> Option<Expr> {
    if let ExprKind::List(items) = typed.kind {
        let items = items.into_iter().map(constant).collect::<Option<Vec<_>>>()?;
        return Some(Expr { kind: ExprKind::List(items), ..typed });
    }
    let literal = evaluate(&typed)?;
    Some(Expr { kind: ExprKind::Literal(literal), ..typed })
}

/// Types all functions of the user, those that others call first.
pub fn functions(cx: &mut Context<'_>) -> Vec<Function> {
    let nodes: Vec<(&ast::Item, &ast::Function)> = cx.items.functions.iter().map(|entry| (entry.item, entry.node)).collect();
    let index: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(index, (_, function))| (function.name.text.as_str(), index)).collect();
    let needs: Vec<Vec<usize>> = nodes
        .iter()
        .map(|(_, function)| {
            let mut called = Vec::new();
            walk(&function.body, &mut |expr| {
                if let ast::ExprKind::Call(call) = &expr.kind {
                    called.extend(index.get(call.function.text.as_str()).copied());
                }
            });
            called
        })
        .collect();
    let (sorted, circles) = order(&needs);
    for circle in &circles {
        report_circle(cx, "function", circle, |index| &nodes[index].1.name);
    }
    let mut functions = Vec::with_capacity(nodes.len());
    for index in sorted {
        let (item, function) = nodes[index];
        attributes::none(cx, &item.attributes, "a function");
        functions.extend(lower_function(cx, item, function));
    }
    functions
}

fn lower_function<'a>(cx: &mut Context<'a>, item: &'a ast::Item, function: &'a ast::Function) -> Option<Function> {
    let name = &function.name;
    if aggregates::find(&name.text).is_some() || matches!(name.text.as_str(), "cast" | "try_cast") {
        cx.report(names::name_taken("function", name, "part of the language"));
        return None;
    }
    let mut params: Vec<(String, Ty)> = Vec::with_capacity(function.params.len());
    let mut first: HashMap<&str, Span> = HashMap::new();
    for (param, ty) in &function.params {
        let ty = cx.ty(ty);
        match first.get(param.text.as_str()) {
            Some(span) => cx.report(names::column_twice(&param.text, param.span, Some(*span), "this function")),
            None => {
                first.insert(&param.text, param.span);
                params.push((param.text.clone(), ty));
            }
        }
    }
    let returns = function.returns.as_ref().map(|returns| cx.ty(returns));
    let waits = super::stages::waits_of(cx, &function.body);
    let mut typer = Typer::new(cx, Scope::Function(&params));
    typer.may_wait = true;
    let body = typer.expr(&function.body);
    let body = match &returns {
        Some(returns) => typer.fit(body, returns, "the result of this function", function.body.span),
        None => typer.typed(body, function.body.span),
    };
    let result = returns.unwrap_or_else(|| body.ty.clone());
    cx.functions.insert(&name.text, FunctionType { params: params.clone(), result, waits });
    let origin = cx.origin(item.span);
    Some(Function { name: name.text.clone(), params, body, doc: item.doc.clone(), waits, origin })
}

/// Reports things that need themselves.
pub fn report_circle<'a>(cx: &mut Context<'a>, what: &str, circle: &[usize], name: impl Fn(usize) -> &'a Name) {
    let round: Vec<(&str, Span)> = circle.iter().map(|index| (name(*index).text.as_str(), name(*index).span)).collect();
    cx.report(names::cycle(what, &round));
}
