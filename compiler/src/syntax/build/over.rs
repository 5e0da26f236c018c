//! `call over (by .., order by .., last ..)`: the analytic form.

use millstream_grammar::{Pair, Rule};

use super::Builder;
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    /// What stands behind a call, around it.
    pub(super) fn over_frame(&mut self, base: Expr, pair: Pair<'_, Rule>) -> ExprKind {
        let over_span = self.span(&pair);
        let (mut by, mut order, mut last): (Option<(Vec<Expr>, Span)>, Option<Expr>, Option<Last>) = (None, None, None);
        let mut broken = false;
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::over_by => match &by {
                    Some((_, first)) => self.report(errors::repeated(span, "by", *first)),
                    None => {
                        let keys = inner.into_inner().find(|part| part.as_rule() == Rule::by_keys);
                        by = Some((keys.map_or(Vec::new(), |keys| self.plain_keys(keys)), span));
                    }
                },
                Rule::over_order => match &order {
                    Some(first) => self.report(errors::repeated(span, "order by", first.span)),
                    None => order = self.order(inner),
                },
                Rule::over_last => match &last {
                    Some(first) => self.report(errors::repeated(span, "last", first.span)),
                    None => last = self.last(inner, span),
                },
                Rule::bad_over => {
                    self.report(errors::bad_over(span));
                    broken = true;
                }
                _ => {}
            }
        }
        match base.kind {
            ExprKind::Call(call) if !broken => {
                let by = by.map(|(by, _)| by).unwrap_or_default();
                ExprKind::Over(Box::new(OverExpr { call, call_span: base.span, by, order, last, over_span }))
            }
            ExprKind::Call(_) | ExprKind::Error => ExprKind::Error,
            _ => {
                self.report(errors::over_behind_no_call(base.span, over_span));
                ExprKind::Error
            }
        }
    }

    fn order(&mut self, pair: Pair<'_, Rule>) -> Option<Expr> {
        let mut order = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => order = Some(self.expr(inner)),
                Rule::wrong_direction => {
                    let span = self.span(&inner);
                    self.report(errors::over_direction(span, inner.as_str()));
                }
                _ => {}
            }
        }
        order
    }

    fn last(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Last> {
        let (mut length, mut rows) = (None, false);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => length = Some(self.expr(inner)),
                Rule::rows_word => rows = true,
                _ => {}
            }
        }
        Some(Last { length: length?, rows, span })
    }
}
