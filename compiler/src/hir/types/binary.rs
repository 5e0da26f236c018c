//! Operators: arithmetic, comparisons, logic, text patterns.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Literal, Ty, UnaryOp};

use super::casts::{adapt, castable};
use super::common::unify;
use super::typer::{self, Typer};
use super::{calls, decimals};
use crate::diagnostics::Diagnostic;
use crate::hir::errors::types;
use crate::hir::resolve::scope::Scope;
use crate::source::Span;
use crate::syntax::ast;

/// An operator as written, and where it and its operands stand.
struct Place<'a> {
    op: ast::BinaryOp,
    word: &'static str,
    left: &'a ast::Expr,
    right: &'a ast::Expr,
    span: Span,
    op_span: Span,
}

impl<'a> Typer<'_, 'a> {
    /// `not x`, `-x`
    pub fn unary(&mut self, op: ast::UnaryOp, operand: &'a ast::Expr, span: Span) -> Expr {
        match op {
            ast::UnaryOp::Not => {
                let typed = self.condition(operand, "`not`");
                let ty = typed.ty.clone();
                self.make(ExprKind::Unary(UnaryOp::Not, Box::new(typed)), ty, span)
            }
            ast::UnaryOp::Negate => {
                if let ast::ExprKind::Int(value) = &operand.kind {
                    return self.integer(i128::try_from(*value).ok().map(|value| -value), span);
                }
                let typed = self.expr(operand);
                let literal = match &typed.kind {
                    ExprKind::Literal(Literal::Float(value)) => Some(Literal::Float(-value)),
                    ExprKind::Literal(Literal::Decimal(value)) => Some(Literal::Decimal(-value)),
                    ExprKind::Literal(Literal::Duration(value)) => value.checked_neg().map(Literal::Duration),
                    _ => None,
                };
                let ty = typed.ty.clone();
                if let Some(literal) = literal {
                    return self.make(ExprKind::Literal(literal), ty, span);
                }
                let required = ty.required();
                let unsigned = required.integer_bits().is_some_and(|(signed, _)| !signed);
                match required {
                    Ty::Error => typed,
                    Ty::Duration => self.make(ExprKind::Unary(UnaryOp::Negate, Box::new(typed)), ty, span),
                    _ if required.is_numeric() && !unsigned => {
                        self.make(ExprKind::Unary(UnaryOp::Negate, Box::new(typed)), ty, span)
                    }
                    _ => self.reject(types::operand("-", operand.span, &ty, "a signed number or a duration"), span),
                }
            }
        }
    }

    /// A binary operator. Chains such as `a + b + c + ..` are taken apart in a loop: their length is no danger.
    pub fn binary(&mut self, expr: &'a ast::Expr) -> Expr {
        let mut spine = Vec::new();
        let mut first = expr;
        while let ast::ExprKind::Binary { op, op_span, left, right } = &first.kind {
            if first.span != expr.span
                && let Scope::Output(output) = &self.scope
                && output.key(first).is_some()
            {
                break;
            }
            spine.push(Place { op: *op, word: word(*op), left, right, span: first.span, op_span: *op_span });
            first = left;
        }
        let mut typed = self.expr(first);
        for place in spine.into_iter().rev() {
            let right = match place.op {
                ast::BinaryOp::Matches | ast::BinaryOp::NotMatches => self.regex(place.right),
                _ => self.expr(place.right),
            };
            typed = self.operator(place, typed, right);
        }
        typed
    }

    fn operator(&mut self, place: Place<'a>, left: Expr, right: Expr) -> Expr {
        use ast::BinaryOp as Op;
        let span = place.span;
        match place.op {
            Op::Coalesce => return self.coalesce(left, right, [place.left.span, place.right.span], span),
            Op::Equal | Op::NotEqual if left.ty == Ty::Null || right.ty == Ty::Null => {
                let operand = if left.ty == Ty::Null { place.right } else { place.left };
                let operand = self.cx.text(operand.span);
                return self.reject(types::compared_with_null(span, &operand, place.op == Op::Equal), span);
            }
            _ => {}
        }
        if left.ty == Ty::Error || right.ty == Ty::Error {
            return self.error(span);
        }
        match place.op {
            Op::And | Op::Or => self.logic(place, left, right),
            Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => {
                self.comparison(place, left, right)
            }
            Op::Like | Op::NotLike | Op::Matches | Op::NotMatches => self.pattern_test(place, left, right),
            _ => self.arithmetic(place, left, right),
        }
    }

    fn logic(&mut self, place: Place<'a>, left: Expr, right: Expr) -> Expr {
        for (operand, written) in [(&left, place.left), (&right, place.right)] {
            if !matches!(operand.ty.required(), Ty::Bool | Ty::Null) {
                let name = format!("`{}`", place.word);
                return self.reject(types::condition(&name, written.span, &operand.ty), place.span);
            }
        }
        let op = if place.op == ast::BinaryOp::And { BinaryOp::And } else { BinaryOp::Or };
        let ty = lifted(Ty::Bool, &left, &right);
        let optional = ty.is_optional();
        let null = |expr: Expr| match expr.ty == Ty::Null && optional {
            true => Expr { ty: Ty::Bool.optional(), ..expr },
            false => expr,
        };
        self.make(ExprKind::Binary(op, Box::new(null(left)), Box::new(null(right))), ty, place.span)
    }

    fn comparison(&mut self, place: Place<'a>, left: Expr, right: Expr) -> Expr {
        let (left, right) = match unify(vec![left, right]).map(|(pair, ty)| (<[Expr; 2]>::try_from(pair), ty)) {
            Ok((Ok([left, right]), ty)) => {
                if !matches!(place.op, ast::BinaryOp::Equal | ast::BinaryOp::NotEqual) && !ty.is_ordered() {
                    return self.reject(types::not_ordered(place.word, place.left.span, &ty), place.span);
                }
                (left, right)
            }
            Err((_, _, mut pair)) if pair.len() == 2 => {
                let right = pair.remove(1);
                let left = pair.remove(0);
                let diagnostic = mismatch(&place, &left, &right);
                return self.reject(diagnostic, place.span);
            }
            _ => return self.error(place.span),
        };
        let op = match place.op {
            ast::BinaryOp::Equal => BinaryOp::Equal,
            ast::BinaryOp::NotEqual => BinaryOp::NotEqual,
            ast::BinaryOp::Less => BinaryOp::Less,
            ast::BinaryOp::LessOrEqual => BinaryOp::LessOrEqual,
            ast::BinaryOp::Greater => BinaryOp::Greater,
            _ => BinaryOp::GreaterOrEqual,
        };
        let ty = lifted(Ty::Bool, &left, &right);
        self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, place.span)
    }

    /// `like`, `matches` and their negations.
    fn pattern_test(&mut self, place: Place<'a>, left: Expr, right: Expr) -> Expr {
        for (operand, written) in [(&left, place.left), (&right, place.right)] {
            if *operand.ty.required() != Ty::String {
                return self.reject(types::operand(place.word, written.span, &operand.ty, "a string"), place.span);
            }
        }
        let (op, negated) = match place.op {
            ast::BinaryOp::Like => (BinaryOp::Like, false),
            ast::BinaryOp::NotLike => (BinaryOp::Like, true),
            ast::BinaryOp::Matches => (BinaryOp::Matches, false),
            _ => (BinaryOp::Matches, true),
        };
        let ty = lifted(Ty::Bool, &left, &right);
        let test = self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty.clone(), place.span);
        match negated {
            true => self.make(ExprKind::Unary(UnaryOp::Not, Box::new(test)), ty, place.span),
            false => test,
        }
    }

    /// A pattern: a literal is checked at once.
    pub fn regex(&mut self, written: &'a ast::Expr) -> Expr {
        let typed = self.expr(written);
        if let ExprKind::Literal(Literal::String(pattern)) = &typed.kind
            && let Err(message) = calls::check_regex(pattern)
        {
            return self.reject(types::bad_regex(written.span, &message), written.span);
        }
        typed
    }

    fn arithmetic(&mut self, place: Place<'a>, left: Expr, right: Expr) -> Expr {
        let op = match place.op {
            ast::BinaryOp::Add => BinaryOp::Add,
            ast::BinaryOp::Subtract => BinaryOp::Subtract,
            ast::BinaryOp::Multiply => BinaryOp::Multiply,
            ast::BinaryOp::Divide => BinaryOp::Divide,
            _ => BinaryOp::Remainder,
        };
        if matches!(op, BinaryOp::Divide | BinaryOp::Remainder)
            && matches!(right.kind, ExprKind::Literal(Literal::Int(0) | Literal::Decimal(0)))
            && !left.ty.required().is_float()
        {
            return self.reject(types::division_by_zero(place.right.span, place.word), place.span);
        }
        let (a, b) = (left.ty.required().clone(), right.ty.required().clone());
        let done = if a.is_numeric() && b.is_numeric() { numbers(op, left, right) } else { times_and_text(op, left, right) };
        match done {
            Ok((left, right, ty)) => {
                let ty = lifted(ty, &left, &right);
                self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, place.span)
            }
            Err(pair) => {
                let diagnostic = mismatch(&place, &pair.0, &pair.1);
                self.reject(diagnostic, place.span)
            }
        }
    }
}

/// Operands as the operator takes them, and its result, not yet lifted. Err: they do not go together.
type Operands = Result<(Expr, Expr, Ty), Box<(Expr, Expr)>>;

fn numbers(op: BinaryOp, left: Expr, right: Expr) -> Operands {
    if left.ty.required().is_decimal() || right.ty.required().is_decimal() {
        let left = match decimals::exact(left) {
            Ok(left) => left,
            Err(left) => return Err(Box::new((left, right))),
        };
        let right = match decimals::exact(right) {
            Ok(right) => right,
            Err(right) => return Err(Box::new((left, right))),
        };
        let parts = decimals::parts(left.ty.required()).zip(decimals::parts(right.ty.required()));
        return match parts.and_then(|(a, b)| decimals::arithmetic(op, a, b)) {
            Some(ty) => Ok((left, right, ty)),
            None => Err(Box::new((left, right))),
        };
    }
    let required = |expr: &Expr| expr.ty.required().clone();
    match unify(vec![left, right]) {
        Ok((pair, ty)) => match <[Expr; 2]>::try_from(pair) {
            Ok([left, right]) => Ok((left, right, ty.required().clone())),
            Err(mut pair) => Err(Box::new((pair.swap_remove(0), pair.swap_remove(0)))),
        },
        Err((_, _, mut pair)) => {
            let right = pair.pop();
            match (pair.pop(), right) {
                (Some(left), Some(right)) => Err(Box::new((left, right))),
                (left, right) => {
                    let any = left.or(right).unwrap_or_else(|| Expr::new(ExprKind::Error, Ty::Error));
                    let ty = required(&any);
                    Ok((any.clone(), any, ty))
                }
            }
        }
    }
}

fn times_and_text(op: BinaryOp, left: Expr, right: Expr) -> Operands {
    use BinaryOp::*;
    let (a, b) = (left.ty.required().clone(), right.ty.required().clone());
    let whole = |expr: Expr| {
        let to = if expr.ty.is_optional() { Ty::Int64.optional() } else { Ty::Int64 };
        adapt(expr, &to)
    };
    match (op, &a, &b) {
        (Add, Ty::String, Ty::String) => Ok((left, right, Ty::String)),
        (Add, Ty::Duration, Ty::Timestamp | Ty::Date) => Ok((right, left, Ty::Timestamp)),
        (Add | Subtract, Ty::Timestamp | Ty::Date, Ty::Duration) => Ok((left, right, Ty::Timestamp)),
        (Add | Subtract, Ty::Duration, Ty::Duration) => Ok((left, right, Ty::Duration)),
        (Subtract, Ty::Timestamp, Ty::Timestamp) => Ok((left, right, Ty::Duration)),
        (Subtract, Ty::Timestamp, Ty::Date) => match adapt(right, &Ty::Timestamp) {
            Ok(right) => Ok((left, right, Ty::Duration)),
            Err(right) => Err(Box::new((left, right))),
        },
        (Subtract, Ty::Date, Ty::Timestamp) => match adapt(left, &Ty::Timestamp) {
            Ok(left) => Ok((left, right, Ty::Duration)),
            Err(left) => Err(Box::new((left, right))),
        },
        (Multiply | Divide, Ty::Duration, ty) if ty.is_integer() => match whole(right) {
            Ok(right) => Ok((left, right, Ty::Duration)),
            Err(right) => Err(Box::new((left, right))),
        },
        (Multiply, ty, Ty::Duration) if ty.is_integer() => match whole(left) {
            Ok(left) => Ok((right, left, Ty::Duration)),
            Err(left) => Err(Box::new((left, right))),
        },
        _ => Err(Box::new((left, right))),
    }
}

/// The result's type: optional if an operand is.
fn lifted(ty: Ty, left: &Expr, right: &Expr) -> Ty {
    if left.ty.is_optional() || right.ty.is_optional() { ty.optional() } else { ty }
}

fn mismatch(place: &Place<'_>, left: &Expr, right: &Expr) -> Diagnostic {
    let (a, b) = (left.ty.required(), right.ty.required());
    let is_comparison = is_test(place.op);
    let help = if place.op == ast::BinaryOp::Add && (*a == Ty::String || *b == Ty::String) {
        let text = |expr: &Expr| match &expr.kind {
            ExprKind::Literal(Literal::String(text)) => text.clone(),
            _ => format!("{{{}}}", expr.origin.text),
        };
        Some(format!("join text and values with a format string: `f\"{}{}\"`", text(left), text(right)))
    } else if let (ExprKind::Literal(Literal::Int(value)), true) = (&right.kind, a.is_integer()) {
        Some(format!("{value} does not fit {a}"))
    } else if a.is_numeric() && b.is_numeric() {
        let float = if a.is_float() { b } else { a };
        Some(match a.is_float() || b.is_float() {
            true => format!("a decimal is exact and a float is not: write `cast(.., float64)` or `cast(.., {float})`"),
            false => {
                format!("bring both to one type: `cast(.., {})`", if a.is_integer() && b.is_integer() { &Ty::Int64 } else { a })
            }
        })
    } else if is_comparison || place.op == ast::BinaryOp::Coalesce {
        typer::help(right, a).or_else(|| typer::help(left, b))
    } else if *a == Ty::Null || *b == Ty::Null {
        Some("null with anything is null; give a value".to_owned())
    } else if a.is_numeric() && castable(b, a).is_ok() || (*a == Ty::Timestamp && b.is_numeric()) {
        typer::help(right, if *a == Ty::Timestamp { &Ty::Duration } else { a })
    } else {
        None
    };
    types::operands(place.word, place.op_span, (&left.ty, place.left.span), (&right.ty, place.right.span), help)
}

fn is_test(op: ast::BinaryOp) -> bool {
    use ast::BinaryOp::*;
    matches!(op, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
}

fn word(op: ast::BinaryOp) -> &'static str {
    use ast::BinaryOp::*;
    match op {
        Or => "or",
        And => "and",
        Equal => "==",
        NotEqual => "!=",
        Less => "<",
        LessOrEqual => "<=",
        Greater => ">",
        GreaterOrEqual => ">=",
        Like => "like",
        NotLike => "not like",
        Matches => "matches",
        NotMatches => "not matches",
        Coalesce => "??",
        Add => "+",
        Subtract => "-",
        Multiply => "*",
        Divide => "/",
        Remainder => "%",
    }
}
