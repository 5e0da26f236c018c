//! Values known when the job is compiled: sizes of windows, settings, defaults of params.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Literal, Ty, UnaryOp};

use super::typer::Typer;
use crate::hir::errors::types;
use crate::hir::resolve::scope::Scope;
use crate::syntax::ast;

impl<'a> Typer<'_, 'a> {
    /// A constant of this type; reports what is none.
    pub fn constant(&mut self, expr: &'a ast::Expr, ty: &Ty, what: &'static str) -> Option<Literal> {
        let mut typer = Typer { cx: self.cx, scope: Scope::Constant(what), in_aggregate: false, may_wait: false };
        let typed = typer.expect(expr, ty, what);
        if typed.ty == Ty::Error {
            return None;
        }
        let value = evaluate(&typed);
        if value.is_none() {
            typer.cx.report(types::not_constant(what, expr.span));
        }
        value
    }
}

/// The value of an expression of literals; None: it is not constant, or does not fit.
pub fn evaluate(expr: &Expr) -> Option<Literal> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(literal.clone()),
        ExprKind::Cast(millstream_runtime::graph::CastMode::Implicit, inner) => {
            let value = evaluate(inner)?;
            let inner = Expr { kind: ExprKind::Literal(value), ty: inner.ty.clone(), origin: inner.origin.clone() };
            match super::casts::adapt(inner, expr.ty.required()).ok()?.kind {
                ExprKind::Literal(literal) => Some(literal),
                _ => None,
            }
        }
        ExprKind::Unary(UnaryOp::Negate, inner) => match evaluate(inner)? {
            Literal::Int(value) => value.checked_neg().map(Literal::Int),
            Literal::Float(value) => Some(Literal::Float(-value)),
            Literal::Decimal(value) => value.checked_neg().map(Literal::Decimal),
            Literal::Duration(value) => value.checked_neg().map(Literal::Duration),
            _ => None,
        },
        ExprKind::Unary(UnaryOp::Not, inner) => match evaluate(inner)? {
            Literal::Bool(value) => Some(Literal::Bool(!value)),
            _ => None,
        },
        ExprKind::Binary(op, left, right) => binary(*op, evaluate(left)?, evaluate(right)?),
        ExprKind::Format(parts) => {
            let mut text = String::new();
            for part in parts {
                match evaluate(part)? {
                    Literal::String(part) => text.push_str(&part),
                    Literal::Int(part) => text.push_str(&part.to_string()),
                    _ => return None,
                }
            }
            Some(Literal::String(text))
        }
        _ => None,
    }
}

fn binary(op: BinaryOp, left: Literal, right: Literal) -> Option<Literal> {
    use Literal::*;
    let time = |a: i64, b: i64| match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        _ => None,
    };
    match (left, right) {
        (Int(a), Int(b)) => match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide => a.checked_div(b),
            BinaryOp::Remainder => a.checked_rem(b),
            _ => None,
        }
        .map(Int),
        (Float(a), Float(b)) => Some(Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            BinaryOp::Divide => a / b,
            _ => return None,
        })),
        (Duration(a), Duration(b)) => time(a, b).map(Duration),
        (Timestamp(a), Duration(b)) => time(a, b).map(Timestamp),
        (Timestamp(a), Timestamp(b)) if op == BinaryOp::Subtract => a.checked_sub(b).map(Duration),
        (Date(a), Duration(b)) => time(i64::from(a).checked_mul(86_400_000_000)?, b).map(Timestamp),
        (Duration(a), Int(b)) => {
            let b = i64::try_from(b).ok()?;
            match op {
                BinaryOp::Multiply => a.checked_mul(b),
                BinaryOp::Divide => a.checked_div(b),
                _ => None,
            }
            .map(Duration)
        }
        (String(a), String(b)) if op == BinaryOp::Add => Some(String(a + &b)),
        _ => None,
    }
}
