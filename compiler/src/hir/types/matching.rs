//! `match x { "a" | "b" => 1, 10..20 if late => 2, _ => 0 }`
//!
//! Arms of plain values stay one operation; an arm with a range or a condition becomes an `if` between them.

use std::cmp::Ordering;

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Literal, Ty};

use super::casts;
use super::gaps::Covered;
use super::typer::Typer;
use crate::hir::errors::types;
use crate::source::Span;
use crate::syntax::ast::{self, MatchArm, MatchPattern, MatchRange};

/// A pattern, typed.
enum Pattern {
    Value(Expr),
    Range(Range),
}

struct Range {
    from: Option<Expr>,
    to: Option<Expr>,
    inclusive: bool,
}

/// What an arm takes.
struct Arm {
    patterns: Vec<Pattern>,
    guard: Option<Expr>,
}

impl<'a> Typer<'_, 'a> {
    /// The whole of it.
    pub fn matching(&mut self, subject: &'a ast::Expr, arms: &'a [MatchArm], span: Span) -> Expr {
        let subject_typed = self.expr(subject);
        let mut typed: Vec<Arm> = Vec::with_capacity(arms.len());
        for arm in arms {
            let patterns = arm.patterns.iter().map(|pattern| self.pattern(pattern, &subject_typed, subject.span)).collect();
            let guard = arm.guard.as_ref().map(|guard| self.condition(guard, "`if` of an arm"));
            typed.push(Arm { patterns, guard });
        }
        let covered = self.coverage(&subject_typed.ty, subject.span, arms, &typed);
        let results: Vec<Expr> = arms.iter().map(|arm| self.expr(&arm.result)).collect();
        let spans: Vec<Span> = arms.iter().map(|arm| arm.result.span).collect();
        let Some((mut results, result)) = self.unified(results, &spans, "the results of `match`") else {
            return self.error(span);
        };
        // Where the values are all there, the last arm without a condition takes what the others leave.
        let rest = arms.iter().position(is_rest).or_else(|| arms.iter().rposition(|arm| arm.guard.is_none()));
        let Some(rest) = rest.filter(|rest| covered && *rest < results.len()) else { return self.error(span) };
        results.truncate(rest + 1);
        let otherwise = results.remove(rest);
        typed.truncate(rest);
        self.choose(&subject_typed, typed.into_iter().zip(results).collect(), otherwise, &result, span)
    }

    /// From the last arm to the first: runs of values as one `match`, conditions as `if`.
    fn choose(&mut self, subject: &Expr, arms: Vec<(Arm, Expr)>, otherwise: Expr, ty: &Ty, span: Span) -> Expr {
        // Also without any arm: the subject is computed all the same.
        let one_run = arms.iter().all(|(arm, _)| arm.values().is_some());
        let mut rest = otherwise;
        let mut run: Vec<(Vec<Expr>, Expr)> = Vec::new();
        for (arm, result) in arms.into_iter().rev() {
            if let Some(values) = arm.values() {
                run.push((values, result));
                continue;
            }
            if !run.is_empty() {
                rest = self.run(subject, std::mem::take(&mut run), rest, ty, span);
            }
            let condition = self.test(subject, arm, span);
            rest = self.make(ExprKind::If(Box::new(condition), Box::new(result), Box::new(rest)), ty.clone(), span);
        }
        if run.is_empty() && !one_run { rest } else { self.run(subject, run, rest, ty, span) }
    }

    /// Arms of values, the last of them first.
    fn run(&mut self, subject: &Expr, mut arms: Vec<(Vec<Expr>, Expr)>, rest: Expr, ty: &Ty, span: Span) -> Expr {
        arms.reverse();
        let kind = ExprKind::Match { subject: Box::new(subject.clone()), arms, otherwise: Box::new(rest) };
        self.make(kind, ty.clone(), span)
    }

    /// Whether an arm takes the subject.
    fn test(&mut self, subject: &Expr, arm: Arm, span: Span) -> Expr {
        let mut any: Option<Expr> = None;
        for pattern in arm.patterns {
            let test = match pattern {
                Pattern::Value(value) if matches!(value.kind, ExprKind::Literal(Literal::Null)) => {
                    self.make(ExprKind::IsNull(Box::new(subject.clone())), Ty::Bool, span)
                }
                Pattern::Value(value) => self.compare(BinaryOp::Equal, subject, value, span),
                Pattern::Range(range) => {
                    let from = range.from.map(|from| self.compare(BinaryOp::GreaterOrEqual, subject, from, span));
                    let less = if range.inclusive { BinaryOp::LessOrEqual } else { BinaryOp::Less };
                    let to = range.to.map(|to| self.compare(less, subject, to, span));
                    match self.both(from, to, BinaryOp::And, span) {
                        Some(test) => test,
                        None => continue,
                    }
                }
            };
            any = self.both(any, Some(test), BinaryOp::Or, span);
        }
        let test = self.both(any, arm.guard, BinaryOp::And, span);
        test.unwrap_or_else(|| self.make(ExprKind::Literal(Literal::Bool(true)), Ty::Bool, span))
    }

    fn compare(&self, op: BinaryOp, subject: &Expr, value: Expr, span: Span) -> Expr {
        let ty = if subject.ty.is_optional() { Ty::Bool.optional() } else { Ty::Bool };
        self.make(ExprKind::Binary(op, Box::new(subject.clone()), Box::new(value)), ty, span)
    }

    fn both(&self, left: Option<Expr>, right: Option<Expr>, op: BinaryOp, span: Span) -> Option<Expr> {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (one, None) | (None, one) => return one,
        };
        let optional = left.ty.is_optional() || right.ty.is_optional();
        let ty = if optional { Ty::Bool.optional() } else { Ty::Bool };
        Some(self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span))
    }

    /// Whether the arms take every value. Reports values that none takes, and arms and patterns that take none.
    fn coverage(&mut self, subject: &Ty, at: Span, arms: &'a [MatchArm], typed: &[Arm]) -> bool {
        let mut values = Covered::new(subject);
        let mut seen: Vec<(&Pattern, Span)> = Vec::new();
        let mut rest: Option<Span> = None;
        for (arm, typed) in arms.iter().zip(typed) {
            if let Some(rest) = rest {
                self.cx.report(types::arm_never_reached(arm.span, rest));
                continue;
            }
            if is_rest(arm) {
                rest = Some(arm.span);
                if values.is_all() {
                    self.cx.report(types::arm_takes_nothing(arm.span, None));
                }
            }
            for (written, pattern) in arm.patterns.iter().zip(&typed.patterns) {
                let span = span_of(written);
                if pattern.is_empty() {
                    self.cx.report(types::empty_range(span));
                    continue;
                }
                match seen.iter().find(|(known, _)| known.takes(pattern)) {
                    Some((_, first)) => self.cx.report(types::arm_takes_nothing(span, Some(*first))),
                    None if typed.guard.is_none() => seen.push((pattern, span)),
                    None => {}
                }
                if typed.guard.is_none() {
                    match pattern {
                        Pattern::Value(value) => values.take_value(value),
                        Pattern::Range(range) => values.take_range(range.from.as_ref(), range.to.as_ref(), range.inclusive),
                    }
                }
            }
        }
        let broken = typed.iter().any(Arm::is_broken) || *subject == Ty::Error;
        let covered = rest.is_some() || values.is_all();
        if !covered && !broken {
            self.cx.report(types::match_without_rest(at, &values.left()));
        }
        covered
    }

    fn pattern(&mut self, pattern: &'a MatchPattern, subject: &Expr, subject_span: Span) -> Pattern {
        match pattern {
            MatchPattern::Value(value) => Pattern::Value(self.value(value, subject, subject_span)),
            MatchPattern::Range(range) => self.range(range, subject, subject_span),
        }
    }

    fn range(&mut self, range: &'a MatchRange, subject: &Expr, subject_span: Span) -> Pattern {
        if subject.ty != Ty::Error && !subject.ty.required().is_ordered() {
            return Pattern::Value(self.reject(types::not_ordered("..", range.span, &subject.ty), range.span));
        }
        let mut end = |end: &'a Option<ast::Expr>| {
            let written = end.as_ref()?;
            let typed = self.value(written, subject, subject_span);
            match typed.kind {
                ExprKind::Literal(Literal::Null) => Some(self.reject(types::null_in_range(written.span), written.span)),
                _ => Some(typed),
            }
        };
        let (from, to) = (end(&range.from), end(&range.to));
        Pattern::Range(Range { from, to, inclusive: range.inclusive })
    }

    /// A literal that can be equal to the subject, or be an end of a range it lies in.
    fn value(&mut self, pattern: &'a ast::Expr, subject: &Expr, subject_span: Span) -> Expr {
        let typed = self.expr(pattern);
        match &typed.kind {
            ExprKind::Literal(Literal::Null) => {
                if !subject.ty.is_optional() && subject.ty != Ty::Error {
                    self.cx.report(types::never_null(pattern.span, &subject.ty, "this arm is never taken"));
                }
                Expr { ty: subject.ty.clone().optional(), ..typed }
            }
            ExprKind::Literal(_) => match casts::adapt(typed, subject.ty.required()) {
                Ok(typed) => typed,
                Err(typed) => {
                    let help = super::typer::help(&typed, &subject.ty);
                    let diagnostic = types::different(
                        "the value of `match` and this pattern",
                        (&subject.ty, subject_span),
                        (&typed.ty, pattern.span),
                        help,
                    );
                    self.reject(diagnostic, pattern.span)
                }
            },
            ExprKind::Error => typed,
            _ => self.reject(types::pattern_not_literal(pattern.span), pattern.span),
        }
    }
}

/// `_ => ..`
fn is_rest(arm: &MatchArm) -> bool {
    arm.patterns.is_empty() && arm.guard.is_none()
}

fn span_of(pattern: &MatchPattern) -> Span {
    match pattern {
        MatchPattern::Value(value) => value.span,
        MatchPattern::Range(range) => range.span,
    }
}

impl Arm {
    /// Its values, if it has nothing else.
    fn values(&self) -> Option<Vec<Expr>> {
        if self.guard.is_some() || self.patterns.is_empty() {
            return None;
        }
        self.patterns.iter().map(|pattern| if let Pattern::Value(value) = pattern { Some(value.clone()) } else { None }).collect()
    }

    fn is_broken(&self) -> bool {
        let broken = |expr: &Expr| expr.ty == Ty::Error;
        self.guard.iter().any(broken) || self.patterns.iter().any(|pattern| pattern.ends().into_iter().flatten().any(broken))
    }
}

impl Pattern {
    fn ends(&self) -> [Option<&Expr>; 2] {
        match self {
            Pattern::Value(value) => [Some(value), None],
            Pattern::Range(range) => [range.from.as_ref(), range.to.as_ref()],
        }
    }

    /// Whether it is a range that no value lies in.
    fn is_empty(&self) -> bool {
        let Pattern::Range(Range { from: Some(from), to: Some(to), inclusive }) = self else { return false };
        match order(from, to) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => !inclusive,
            _ => false,
        }
    }

    /// Whether it takes all that the other takes, as far as is known.
    fn takes(&self, other: &Pattern) -> bool {
        match (self, other) {
            (Pattern::Value(value), Pattern::Value(other)) => {
                matches!(value.kind, ExprKind::Literal(_)) && value.kind == other.kind
            }
            (Pattern::Value(_), Pattern::Range(_)) => false,
            (Pattern::Range(range), Pattern::Value(value)) => {
                range.begins_before(Some(value)) && range.ends_behind(Some(value), true)
            }
            (Pattern::Range(range), Pattern::Range(other)) => {
                range.begins_before(other.from.as_ref()) && range.ends_behind(other.to.as_ref(), other.inclusive)
            }
        }
    }
}

impl Range {
    /// Whether it begins at or before a place.
    fn begins_before(&self, other: Option<&Expr>) -> bool {
        let Some(from) = &self.from else { return true };
        other.is_some_and(|other| matches!(order(from, other), Some(Ordering::Less | Ordering::Equal)))
    }

    /// Whether it ends at or behind a place, which counts itself or not.
    fn ends_behind(&self, other: Option<&Expr>, counts: bool) -> bool {
        let Some(to) = &self.to else { return true };
        match other.and_then(|other| order(other, to)) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => self.inclusive || !counts,
            _ => false,
        }
    }
}

/// The order of two literals of one type, where it is known here.
pub(super) fn order(a: &Expr, b: &Expr) -> Option<Ordering> {
    let (ExprKind::Literal(literal), ExprKind::Literal(other)) = (&a.kind, &b.kind) else { return None };
    let Ty::Enum(of) = a.ty.required() else { return literal.order(other) };
    let place = |literal: &Literal| of.values.iter().position(|value| *literal == Literal::String(value.clone()));
    Some(place(literal)?.cmp(&place(other)?))
}
