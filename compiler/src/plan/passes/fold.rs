//! Folding one expression: what is known becomes a literal, and what cannot matter goes.
//!
//! Follows the rules of the language: null is lifted, `and` and `or` are three-valued and lazy, arithmetic is checked. A
//! computation that would fail is left as it is. An operand is left out only if it cannot fail or would not be evaluated.

mod values;

use millstream_runtime::graph::{BinaryOp, CastMode, Expr, ExprKind, Literal, UnaryOp};

use crate::plan::analysis::failure::Failure;
use values::{binary, convert, equal, negate};

/// Folds an expression in place, operands first. Says whether it changed.
pub fn fold(expr: &mut Expr, failure: &Failure) -> bool {
    let mut changed = false;
    expr.for_each_child_mut(&mut |child| changed |= fold(child, failure));
    if let Some(new) = simplify(expr, failure) {
        debug_assert_eq!(new.ty, expr.ty, "folding keeps types: {expr} to {new}");
        *expr = Expr { origin: expr.origin.clone(), ..new };
        changed = true;
    }
    changed
}

fn simplify(expr: &Expr, failure: &Failure) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Unary(op, operand) => {
            let value = match (op, constant(operand)?) {
                (_, Literal::Null) => Literal::Null,
                (UnaryOp::Not, Literal::Bool(value)) => Literal::Bool(!value),
                (UnaryOp::Negate, value) => negate(value, &expr.ty)?,
                _ => return None,
            };
            literal(value, expr)
        }
        ExprKind::Binary(op, left, right) if op.is_lazy() => logic(expr, *op, left, right, failure),
        ExprKind::Binary(op, left, right) => {
            let null = |operand: &Expr| matches!(constant(operand), Some(Literal::Null));
            if (null(left) && !failure.can_fail(right)) || (null(right) && !failure.can_fail(left)) {
                return literal(Literal::Null, expr);
            }
            literal(binary(*op, (constant(left)?, &left.ty), (constant(right)?, &right.ty), &expr.ty)?, expr)
        }
        ExprKind::Coalesce(first, second) => match constant(first) {
            Some(Literal::Null) => as_type_of((**second).clone(), expr),
            Some(value) => literal(value.clone(), expr),
            None if !first.ty.is_optional() => as_type_of((**first).clone(), expr),
            None => None,
        },
        ExprKind::IsNull(operand) => match constant(operand) {
            Some(value) => literal(Literal::Bool(*value == Literal::Null), expr),
            None if !operand.ty.is_optional() && !failure.can_fail(operand) => literal(Literal::Bool(false), expr),
            None => None,
        },
        ExprKind::In(operand, list) => contained(expr, operand, list),
        ExprKind::If(condition, then, otherwise) => match constant(condition)? {
            Literal::Bool(true) => as_type_of((**then).clone(), expr),
            Literal::Bool(false) | Literal::Null => as_type_of((**otherwise).clone(), expr),
            _ => None,
        },
        ExprKind::Match { subject, arms, otherwise } => {
            let subject = constant(subject)?;
            for (patterns, result) in arms {
                for pattern in patterns {
                    if equal(subject, constant(pattern)?)? {
                        return as_type_of(result.clone(), expr);
                    }
                }
            }
            as_type_of((**otherwise).clone(), expr)
        }
        ExprKind::Cast(mode, inner) => cast(expr, *mode, inner),
        ExprKind::Format(parts) => format(expr, parts),
        _ => None,
    }
}

/// The value of a literal, also of one that is made optional.
fn constant(expr: &Expr) -> Option<&Literal> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(literal),
        ExprKind::Cast(CastMode::Implicit, inner) if inner.ty.required() == expr.ty.required() => constant(inner),
        _ => None,
    }
}

/// A literal in place of an expression. One that is not null has a required type, with a cast around where needed.
fn literal(value: Literal, instead_of: &Expr) -> Option<Expr> {
    let ty = &instead_of.ty;
    match (&value, ty.is_optional()) {
        (Literal::Null, true) => Some(Expr::new(ExprKind::Literal(value), ty.clone())),
        (Literal::Null, false) => None,
        _ => as_type_of(Expr::new(ExprKind::Literal(value), ty.required().clone()), instead_of),
    }
}

/// An operand in place of an expression: of the same type, or made optional.
fn as_type_of(operand: Expr, instead_of: &Expr) -> Option<Expr> {
    if operand.ty == instead_of.ty {
        return Some(operand);
    }
    let optional = operand.ty.clone().optional() == instead_of.ty;
    optional.then(|| Expr::new(ExprKind::Cast(CastMode::Implicit, Box::new(operand)), instead_of.ty.clone()))
}

fn logic(expr: &Expr, op: BinaryOp, left: &Expr, right: &Expr, failure: &Failure) -> Option<Expr> {
    // `false` decides an `and`, `true` an `or`; the other value leaves the answer to the other operand.
    let decides = op == BinaryOp::Or;
    match (constant(left), constant(right)) {
        (Some(Literal::Bool(value)), _) if *value == decides => literal(Literal::Bool(decides), expr),
        (Some(Literal::Bool(_)), _) => as_type_of(right.clone(), expr),
        (Some(Literal::Null), Some(Literal::Bool(value))) if *value == decides => literal(Literal::Bool(decides), expr),
        (Some(Literal::Null), Some(_)) => literal(Literal::Null, expr),
        (None, Some(Literal::Bool(value))) if *value != decides => as_type_of(left.clone(), expr),
        (None, Some(Literal::Bool(_))) if !failure.can_fail(left) => literal(Literal::Bool(decides), expr),
        _ => None,
    }
}

fn contained(expr: &Expr, operand: &Expr, list: &[Expr]) -> Option<Expr> {
    let operand = constant(operand)?;
    let items = list.iter().map(constant).collect::<Option<Vec<_>>>()?;
    if *operand == Literal::Null {
        return if items.is_empty() { None } else { literal(Literal::Null, expr) };
    }
    let mut null = false;
    for item in items {
        match item {
            Literal::Null => null = true,
            item if equal(operand, item)? => return literal(Literal::Bool(true), expr),
            _ => {}
        }
    }
    literal(if null { Literal::Null } else { Literal::Bool(false) }, expr)
}

fn cast(expr: &Expr, mode: CastMode, inner: &Expr) -> Option<Expr> {
    let value = constant(inner)?;
    let same = inner.ty.required() == expr.ty.required();
    match (mode, value) {
        // The form of an optional literal: done already, unless it stands in another one.
        (CastMode::Implicit, value) if same && *value != Literal::Null => match &inner.kind {
            ExprKind::Cast(..) => literal(value.clone(), expr),
            _ => None,
        },
        (_, Literal::Null) => literal(Literal::Null, expr),
        (_, value) if same => literal(value.clone(), expr),
        (_, value) => literal(convert(value, &inner.ty, &expr.ty)?, expr),
    }
}

/// Texts beside each other become one.
fn format(expr: &Expr, parts: &[Expr]) -> Option<Expr> {
    let text = |part: &Expr| match &part.kind {
        ExprKind::Literal(Literal::String(text)) => Some(text.clone()),
        _ => None,
    };
    if let Some(texts) = parts.iter().map(text).collect::<Option<Vec<_>>>() {
        return literal(Literal::String(texts.concat()), expr);
    }
    let mut merged: Vec<Expr> = Vec::new();
    for part in parts {
        match (merged.last_mut().map(|last| &mut last.kind), text(part)) {
            (Some(ExprKind::Literal(Literal::String(last))), Some(text)) => last.push_str(&text),
            _ => merged.push(part.clone()),
        }
    }
    (merged.len() < parts.len()).then(|| Expr::new(ExprKind::Format(merged), expr.ty.clone()))
}
