//! `top`, `sort`, `intersect`, `except`.

use millstream_grammar::{Pair, Rule};

use super::Builder;
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    pub(super) fn top(&mut self, pair: Pair<'_, Rule>, span: Span) -> StageKind {
        let count = Expr { kind: ExprKind::Error, span };
        let mut top = Top { count, by: Vec::new(), per: Vec::new(), over: None, ties: None, rank: None, late_into: None };
        let mut per_span = None;
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::expr => top.count = self.expr(inner),
                Rule::order_keys => top.by = self.order_keys(inner),
                Rule::per_clause => match per_span {
                    Some(first) => self.report(errors::repeated(span, "per", first)),
                    None => {
                        per_span = Some(span);
                        let keys = inner.into_inner().find(|part| part.as_rule() == Rule::by_keys);
                        top.per = keys.map_or(Vec::new(), |keys| self.plain_keys(keys));
                    }
                },
                Rule::over_clause => match &top.over {
                    Some(first) => self.report(errors::repeated(span, "over", first.span)),
                    None => top.over = self.over(inner, span),
                },
                Rule::ties_clause => match top.ties {
                    Some(first) => self.report(errors::repeated(span, "with ties", first)),
                    None => top.ties = Some(span),
                },
                Rule::rank_clause => match &top.rank {
                    Some(first) => self.report(errors::repeated(span, "with rank", first.span)),
                    None => {
                        let name = inner.into_inner().find(|part| part.as_rule() == Rule::def_name);
                        top.rank = name.map(|name| self.name(&name));
                    }
                },
                Rule::late_clause => self.late_into(inner, &mut top.late_into),
                _ => {}
            }
        }
        StageKind::Top(top)
    }

    pub(super) fn sort(&mut self, pair: Pair<'_, Rule>) -> StageKind {
        let mut sort = Sort { by: Vec::new(), late_into: None };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::order_keys => sort.by = self.order_keys(inner),
                Rule::late_clause => self.late_into(inner, &mut sort.late_into),
                _ => {}
            }
        }
        StageKind::Sort(sort)
    }

    /// `late into x`, unless it stands there already.
    pub(super) fn late_into(&mut self, pair: Pair<'_, Rule>, into: &mut Option<Name>) {
        if let Some(first) = into {
            let span = self.span(&pair);
            return self.report(errors::repeated(span, "late into", first.span));
        }
        let name = pair.into_inner().find(|part| part.as_rule() == Rule::def_name);
        *into = name.map(|name| self.name(&name));
    }

    fn order_keys(&mut self, pair: Pair<'_, Rule>) -> Vec<OrderKey> {
        let mut keys: Vec<OrderKey> = Vec::new();
        for key in pair.into_inner() {
            for inner in key.into_inner() {
                match inner.as_rule() {
                    Rule::expr => keys.push(OrderKey { value: self.expr(inner), descending: false }),
                    Rule::descending => {
                        if let Some(key) = keys.last_mut() {
                            key.descending = true;
                        }
                    }
                    _ => {}
                }
            }
        }
        keys
    }

    pub(super) fn combine(&mut self, pair: Pair<'_, Rule>, how: Combine) -> StageKind {
        let all = pair.clone().into_inner().find(|part| part.as_rule() == Rule::all_rows).map(|all| self.span(&all));
        StageKind::Combine { how, all, others: self.names(pair) }
    }
}
