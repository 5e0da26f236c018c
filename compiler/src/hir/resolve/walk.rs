//! Visits every expression below one, parents first, without recursion.

use crate::syntax::ast::{ArgumentValue, BinaryOp, Expr, ExprKind, FormatPart, MatchPattern};

/// Calls `visit` on `expr` and everything below it.
pub fn walk<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        visit(expr);
        let from = stack.len();
        children(expr, &mut stack);
        stack[from..].reverse();
    }
}

/// The same for what is evaluated whatever the values are: no branches, and nothing behind `and`, `or` and `??`.
pub fn always<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        visit(expr);
        let from = stack.len();
        match &expr.kind {
            ExprKind::If { condition, .. } => stack.push(condition),
            ExprKind::Match { subject, .. } => stack.push(subject),
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Coalesce, left, .. } => stack.push(left),
            // Its arguments are those of other rows, too.
            ExprKind::Over(_) => {}
            _ => children(expr, &mut stack),
        }
        stack[from..].reverse();
    }
}

fn children<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Decimal { .. }
        | ExprKind::String(_)
        | ExprKind::Duration(_)
        | ExprKind::Timestamp(_)
        | ExprKind::Date(_)
        | ExprKind::Size(_)
        | ExprKind::Name(_)
        | ExprKind::Env(_)
        | ExprKind::Error => {}
        ExprKind::Format(parts) => out.extend(parts.iter().filter_map(|part| match part {
            FormatPart::Text(_) => None,
            FormatPart::Value(value) => Some(value),
        })),
        ExprKind::Field { base, .. } => out.push(base),
        ExprKind::Unary { operand, .. } | ExprKind::IsNull { operand, .. } => out.push(operand),
        ExprKind::Method { base, args, .. } => {
            out.push(base);
            out.extend(args);
        }
        ExprKind::Index { base, index } => out.extend([&**base, &**index]),
        ExprKind::Binary { left, right, .. } => out.extend([&**left, &**right]),
        ExprKind::In { operand, list, .. } => out.extend([&**operand, &**list]),
        ExprKind::Between { operand, low, high, .. } => out.extend([&**operand, &**low, &**high]),
        ExprKind::If { condition, then, otherwise } => out.extend([&**condition, &**then, &**otherwise]),
        ExprKind::Match { subject, arms } => {
            out.push(subject);
            for arm in arms {
                out.extend(arm.patterns.iter().flat_map(MatchPattern::exprs));
                out.extend(&arm.guard);
                out.push(&arm.result);
            }
        }
        ExprKind::Call(call) => {
            out.extend(call.args.iter().filter_map(|argument| match &argument.value {
                ArgumentValue::Expr(value) => Some(value),
                ArgumentValue::Type(_) => None,
            }));
            out.extend(call.filter.as_deref());
        }
        ExprKind::Over(over) => {
            out.extend(over.call.args.iter().filter_map(|argument| match &argument.value {
                ArgumentValue::Expr(value) => Some(value),
                ArgumentValue::Type(_) => None,
            }));
            out.extend(over.call.filter.as_deref());
            out.extend(&over.by);
            out.extend(&over.order);
            out.extend(over.last.iter().map(|last| &last.length));
        }
        ExprKind::List(items) => out.extend(items),
        ExprKind::Record(fields) => out.extend(fields.iter().map(|(_, value)| value)),
    }
}
