//! Types an expression: every node gets its type, casts are inserted, mistakes are reported once.
//!
//! A mistake leaves an expression of the error type behind, with which everything goes together.

use millstream_runtime::graph::{Expr, ExprKind, Literal, Ty};

use super::casts::adapt;
use crate::hir::context::Context;
use crate::hir::errors::types;
use crate::hir::resolve::scope::Scope;
use crate::source::Span;
use crate::syntax::ast;

/// Types expressions in one scope.
pub struct Typer<'t, 'a> {
    pub cx: &'t mut Context<'a>,
    pub scope: Scope<'t, 'a>,
    /// Inside an aggregate's argument or `where`.
    pub in_aggregate: bool,
    /// Async functions may be called here: in the expression of an operator that waits, and in the body of a function.
    pub may_wait: bool,
}

impl<'t, 'a> Typer<'t, 'a> {
    pub fn new(cx: &'t mut Context<'a>, scope: Scope<'t, 'a>) -> Self {
        Typer { cx, scope, in_aggregate: false, may_wait: false }
    }

    /// The typed expression.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Expr {
        let typed = self.typed_expr(expr);
        if self.cx.facts.is_some() {
            self.note(expr, &typed);
        }
        typed
    }

    fn typed_expr(&mut self, expr: &'a ast::Expr) -> Expr {
        use ast::ExprKind::*;
        if let Scope::Output(output) = &self.scope
            && let Some(index) = output.key(expr)
        {
            let ty = output.keys[index].value.ty.clone();
            return self.make(ExprKind::Key(index), ty, expr.span);
        }
        let span = expr.span;
        // A branch in which async functions are called: an operator before has its value.
        if matches!(expr.kind, If { .. } | Match { .. } | Binary { .. })
            && let Some(answer) = self.answer(span)
        {
            return answer;
        }
        match &expr.kind {
            Null | Bool(_) | Int(_) | Float(_) | Decimal { .. } | String(_) | Duration(_) | Timestamp(_) | Date(_) | Size(_) => {
                self.literal(expr)
            }
            Format(parts) => self.format(parts, span),
            Name(name) => self.name(name, span),
            Env(name) => match self.scope {
                Scope::Constant(what) => self.reject(types::not_constant(what, span), span),
                Scope::Function(_) => {
                    let diagnostic = crate::hir::errors::names::param_in_function(&format!("${name}"), span);
                    self.reject(diagnostic, span)
                }
                _ => self.make(ExprKind::Env(name.clone()), Ty::String, span),
            },
            Field { base, field, safe } => self.field(base, field, *safe, span),
            Method { base, method, args } => self.method(base, method, args, span),
            Index { base, index } => self.index(base, index, span),
            Unary { op, operand } => self.unary(*op, operand, span),
            Binary { .. } => self.binary(expr),
            IsNull { operand, negated } => self.is_null(operand, *negated, span),
            In { operand, list, negated } => self.in_list(operand, list, *negated, span),
            Between { operand, low, high, negated } => self.between([operand, low, high], *negated, span),
            If { condition, then, otherwise } => self.choice(condition, then, otherwise, span),
            Match { subject, arms } => self.matching(subject, arms, span),
            Call(call) => self.call(expr, call),
            Over(_) => self.over(span),
            List(items) => self.list(items, span),
            Record(fields) => self.record(fields, span),
            Error => self.error(span),
        }
    }

    /// A condition: true, false or null.
    pub fn condition(&mut self, expr: &'a ast::Expr, place: &str) -> Expr {
        let typed = self.expr(expr);
        match typed.ty.required() {
            Ty::Bool | Ty::Error => typed,
            Ty::Null => typed,
            _ => {
                let ty = typed.ty.clone();
                self.reject(types::condition(place, expr.span, &ty), expr.span)
            }
        }
    }

    /// An expression brought to a type; reports where that cannot be.
    pub fn expect(&mut self, expr: &'a ast::Expr, ty: &Ty, what: &str) -> Expr {
        let typed = self.expr(expr);
        self.fit(typed, ty, what, expr.span)
    }

    /// A typed expression brought to a type; reports where that cannot be.
    pub fn fit(&mut self, typed: Expr, ty: &Ty, what: &str, span: Span) -> Expr {
        match adapt(typed, ty) {
            Ok(typed) => typed,
            Err(typed) => {
                let diagnostic = match &typed.kind {
                    ExprKind::Literal(Literal::Int(value)) if ty.required().is_integer() => {
                        types::out_of_range(&value.to_string(), span, ty.required())
                    }
                    _ if typed.ty.is_optional() && !ty.is_optional() && adapts_when_required(&typed, ty) => {
                        types::may_be_null(what, span, &typed.ty)
                    }
                    _ => types::mismatch(what, span, &ty.to_string(), &typed.ty, help(&typed, ty)),
                };
                self.reject(diagnostic, span)
            }
        }
    }

    /// Builds a node with its place.
    pub fn make(&self, kind: ExprKind, ty: Ty, span: Span) -> Expr {
        Expr { kind, ty, origin: self.cx.origin(span) }
    }

    /// What a mistake leaves behind.
    pub fn error(&self, span: Span) -> Expr {
        self.make(ExprKind::Error, Ty::Error, span)
    }

    /// Reports, and leaves the error expression behind.
    pub fn reject(&mut self, diagnostic: crate::diagnostics::Diagnostic, span: Span) -> Expr {
        self.cx.report(diagnostic);
        self.error(span)
    }
}

fn adapts_when_required(typed: &Expr, ty: &Ty) -> bool {
    typed.ty == Ty::Null || super::casts::widens(typed.ty.required(), ty)
}

/// How a value of one type becomes one of another.
pub fn help(typed: &Expr, to: &Ty) -> Option<String> {
    let to = to.required();
    let text = typed.origin.text.trim_matches('"');
    match (&typed.kind, to) {
        (ExprKind::Literal(Literal::String(_)), Ty::Timestamp | Ty::Date) => Some(format!("write it without quotes: `@{text}`")),
        (ExprKind::Literal(Literal::Int(_)), Ty::Timestamp) => Some("write a time: `@2026-01-01T00:00:00Z`".to_owned()),
        (ExprKind::Literal(Literal::String(_)), Ty::Duration) => {
            Some("write a duration without quotes: `10s`, `1h30m`".to_owned())
        }
        (ExprKind::Literal(Literal::Int(_)), Ty::Duration) => Some(format!("say the unit: `{text}s`, `{text}ms`, `{text}m`")),
        (ExprKind::Literal(Literal::String(text)), Ty::Enum(of)) => {
            let near = crate::diagnostics::did_you_mean(text, of.values.iter().map(String::as_str));
            let near = near.map(|near| format!("did you mean \"{near}\"? ")).unwrap_or_default();
            let values: Vec<String> = of.values.iter().take(20).map(|value| format!("\"{value}\"")).collect();
            Some(format!("{near}values of {}: {}", of.name, values.join(", ")))
        }
        (ExprKind::Literal(_), Ty::String) => Some(format!("write it in quotes: `\"{text}\"`")),
        (ExprKind::Literal(Literal::String(_)), to) if to.is_numeric() || *to == Ty::Bool => {
            let plain = text.parse::<f64>().is_ok() || matches!(text, "true" | "false");
            plain.then(|| format!("write it without quotes: `{text}`"))
        }
        _ if super::casts::castable(typed.ty.required(), to).is_ok() => Some(format!("write `cast({text}, {to})`")),
        _ => super::casts::castable(typed.ty.required(), to).err().flatten().map(str::to_owned),
    }
}
