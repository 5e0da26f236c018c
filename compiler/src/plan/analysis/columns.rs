//! Replacing columns by what computes them, and what that costs.

use std::collections::HashMap;

use millstream_runtime::graph::{CastMode, Expr, ExprKind, Ty};

/// Whether an expression may be evaluated any number of times: a column, a path of fields, a constant.
pub fn is_free(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Env(_) => true,
        ExprKind::Field(base, _) => is_free(base),
        ExprKind::Cast(CastMode::NotNull, inner) => is_free(inner),
        ExprKind::Cast(CastMode::Implicit, inner) => is_free(inner) && inner.ty.required() == expr.ty.required(),
        _ => false,
    }
}

/// Expressions do not grow deeper than this by merging: later phases recurse.
pub const DEEPEST: usize = 200;

/// The number of nested operands. Iterative, since it is there to keep recursion safe.
pub fn depth(expr: &Expr) -> usize {
    let mut deepest = 0;
    let mut stack = vec![(expr, 1)];
    while let Some((expr, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        expr.for_each_child(&mut |child| stack.push((child, depth + 1)));
    }
    deepest
}

/// How often each column is read.
pub fn reads<'a>(expr: &'a Expr, counts: &mut HashMap<&'a str, usize>) {
    expr.walk(&mut |node| {
        if let ExprKind::Column(name) = &node.kind {
            *counts.entry(name).or_default() += 1;
        }
    });
}

/// The columns that are read whenever the expression is evaluated: not those in a branch that may be left out.
pub fn reads_always<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a str)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            ExprKind::Column(name) => visit(name),
            ExprKind::Binary(op, left, _) if op.is_lazy() => stack.push(left),
            ExprKind::Coalesce(first, _) | ExprKind::If(first, _, _) | ExprKind::In(first, _) => stack.push(first),
            ExprKind::Match { subject, .. } => stack.push(subject),
            _ => expr.for_each_child(&mut |child| stack.push(child)),
        }
    }
}

/// Replaces columns by the expressions that compute them.
pub fn substitute(expr: &mut Expr, columns: &HashMap<&str, &Expr>) {
    if let ExprKind::Column(name) = &expr.kind {
        if let Some(value) = columns.get(name.as_str()) {
            *expr = (*value).clone();
        }
        return;
    }
    expr.for_each_child_mut(&mut |child| substitute(child, columns));
    shorten_path(expr);
}

/// A field of a record that is known to be there: the field first, then the check, so that no record is copied.
fn shorten_path(expr: &mut Expr) {
    let ExprKind::Field(base, field) = &mut expr.kind else { return };
    let ExprKind::Cast(CastMode::NotNull, inner) = &mut base.kind else { return };
    let inner = std::mem::replace(&mut **inner, Expr::new(ExprKind::Error, Ty::Error));
    let field = std::mem::take(field);
    let origin = expr.origin.clone();
    let ty = expr.ty.clone();
    let path = Expr { kind: ExprKind::Field(Box::new(inner), field), ty: ty.clone().optional(), origin: origin.clone() };
    *expr = if ty.is_optional() { path } else { Expr { kind: ExprKind::Cast(CastMode::NotNull, Box::new(path)), ty, origin } };
}
