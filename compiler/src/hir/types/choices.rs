//! Conditions that look at null, at lists and ranges, and the expressions that choose.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Ty, UnaryOp};

use super::casts;
use super::typer::Typer;
use crate::hir::errors::{tables, types};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Typer<'_, 'a> {
    /// `x is null`, `x is not null`
    pub fn is_null(&mut self, operand: &'a ast::Expr, negated: bool, span: Span) -> Expr {
        let typed = self.expr(operand);
        if !typed.ty.is_optional() && typed.ty != Ty::Error {
            let what = if negated { "the test is always true" } else { "the test is always false" };
            self.cx.report(types::never_null(operand.span, &typed.ty, what));
        }
        let test = self.make(ExprKind::IsNull(Box::new(typed)), Ty::Bool, span);
        self.negated(test, negated)
    }

    fn negated(&mut self, test: Expr, negated: bool) -> Expr {
        if !negated {
            return test;
        }
        let (ty, origin) = (test.ty.clone(), test.origin.clone());
        Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(test)), ty, origin }
    }

    /// `a ?? b`
    pub fn coalesce(&mut self, left: Expr, right: Expr, spans: [Span; 2], span: Span) -> Expr {
        if !left.ty.is_optional() && left.ty != Ty::Error {
            self.cx.report(types::never_null(spans[0], &left.ty, "what stands behind `??` is never used"));
        }
        let optional = right.ty.is_optional();
        // What is behind `??` decides about null, so the left side is taken as if it were required.
        let left_required = Expr { ty: left.ty.required().clone(), ..left.clone() };
        let Some((_, ty)) = self.unified(vec![left_required, right.clone()], &spans, "the sides of `??`") else {
            return self.error(span);
        };
        let ty = if left.ty == Ty::Null { right.ty.clone() } else { ty };
        let result = if optional { ty.optional() } else { ty };
        let left = casts::adapt(left, &result.clone().optional()).unwrap_or_else(|expr| expr);
        let right = casts::adapt(right, &result).unwrap_or_else(|expr| expr);
        self.make(ExprKind::Coalesce(Box::new(left), Box::new(right)), result, span)
    }

    /// `x between low and high`: both ends included.
    pub fn between(&mut self, parts: [&'a ast::Expr; 3], negated: bool, span: Span) -> Expr {
        let spans = parts.map(|part| part.span);
        let typed: Vec<Expr> = parts.into_iter().map(|part| self.expr(part)).collect();
        let Some((typed, ty)) = self.unified(typed, &spans, "the value and the ends of `between`") else {
            return self.error(span);
        };
        if !ty.is_ordered() {
            return self.reject(types::not_ordered("between", spans[0], &ty), span);
        }
        let Ok([value, low, high]) = <[Expr; 3]>::try_from(typed) else { return self.error(span) };
        let result = |optional: bool| if optional { Ty::Bool.optional() } else { Ty::Bool };
        let (from, to) =
            (result(value.ty.is_optional() || low.ty.is_optional()), result(value.ty.is_optional() || high.ty.is_optional()));
        let both = result(from.is_optional() || to.is_optional());
        let kind = ExprKind::Binary(BinaryOp::GreaterOrEqual, Box::new(value.clone()), Box::new(low));
        let from = self.make(kind, from, span);
        let to = self.make(ExprKind::Binary(BinaryOp::LessOrEqual, Box::new(value), Box::new(high)), to, span);
        let test = self.make(ExprKind::Binary(BinaryOp::And, Box::new(from), Box::new(to)), both, span);
        self.negated(test, negated)
    }

    /// `x in [a, b]`
    pub fn in_list(&mut self, operand: &'a ast::Expr, list: &'a ast::Expr, negated: bool, span: Span) -> Expr {
        let value = self.expr(operand);
        let ast::ExprKind::List(items) = &list.kind else {
            return self.in_value(value, operand, list, negated, span);
        };
        let spans: Vec<Span> = [operand.span].into_iter().chain(items.iter().map(|item| item.span)).collect();
        let typed: Vec<Expr> = [value].into_iter().chain(items.iter().map(|item| self.expr(item))).collect();
        let Some((mut typed, ty)) = self.unified(typed, &spans, "the value and the items of `in`") else {
            return self.error(span);
        };
        let value = typed.remove(0);
        let result = if ty.is_optional() { Ty::Bool.optional() } else { Ty::Bool };
        let test = self.make(ExprKind::In(Box::new(value), typed), result, span);
        self.negated(test, negated)
    }

    /// `x in list_column`: the library's `contains`.
    fn in_value(&mut self, value: Expr, operand: &'a ast::Expr, list: &'a ast::Expr, negated: bool, span: Span) -> Expr {
        let list_typed = self.expr(list);
        let item = match list_typed.ty.required() {
            Ty::List(item) => (**item).clone(),
            Ty::Error => return self.error(span),
            ty => {
                let help = Some("write a list: `x in [1, 2, 3]`".to_owned());
                let diagnostic = types::mismatch("`in`", list.span, "a list", ty, help);
                return self.reject(diagnostic, span);
            }
        };
        let target = if value.ty.is_optional() { item.clone().optional() } else { item.clone() };
        let value = self.fit(value, &target, "this value of `in`", operand.span);
        let Some(function) = millstream_runtime::functions::find("list_contains") else {
            return self.reject(tables::not_a_list(list.span, &list_typed.ty), span);
        };
        let optional = value.ty.is_optional() || list_typed.ty.is_optional();
        let result = if optional { Ty::Bool.optional() } else { Ty::Bool };
        let test = self.make(ExprKind::Call { function: function.name, args: vec![list_typed, value] }, result, span);
        self.negated(test, negated)
    }

    /// `if c then a else b`
    pub fn choice(&mut self, condition: &'a ast::Expr, then: &'a ast::Expr, otherwise: &'a ast::Expr, span: Span) -> Expr {
        let condition = self.condition(condition, "`if`");
        let branches = vec![self.expr(then), self.expr(otherwise)];
        match self.unified(branches, &[then.span, otherwise.span], "the branches of `if`") {
            Some((branches, ty)) => match <[Expr; 2]>::try_from(branches) {
                Ok([a, b]) => self.make(ExprKind::If(Box::new(condition), Box::new(a), Box::new(b)), ty, span),
                Err(_) => self.error(span),
            },
            None => self.error(span),
        }
    }
}
