//! `join`.

use millstream_grammar::{Pair, Rule};
use millstream_runtime::graph::JoinKind;

use super::{Builder, no_name};
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    /// `left join payments as p on id == p.order_id within 10m`
    pub(super) fn join(&mut self, pair: Pair<'_, Rule>, span: Span) -> StageKind {
        let mut join = Join {
            kind: JoinKind::Inner,
            right: no_name(span),
            alias: None,
            on: None,
            within: None,
            over: None,
            as_of: None,
            allow_late: None,
            late_into: None,
            broadcast: None,
        };
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::join_kind => {
                    join.kind = match inner.as_str() {
                        "left" => JoinKind::Left,
                        "right" => JoinKind::Right,
                        "full" => JoinKind::Full,
                        "semi" => JoinKind::Semi,
                        "anti" => JoinKind::Anti,
                        _ => JoinKind::Inner,
                    }
                }
                Rule::name => join.right = self.name(&inner),
                Rule::alias => join.alias = self.row_alias(inner),
                Rule::on_clause => match &join.on {
                    Some(first) => self.report(errors::repeated(span, "on", first.span)),
                    None => join.on = self.only_expr(inner),
                },
                Rule::join_within => match &join.within {
                    Some(first) => self.report(errors::repeated(span, "within", first.span)),
                    None => join.within = self.join_within(inner, span),
                },
                Rule::over_clause => match &join.over {
                    Some(first) => self.report(errors::repeated(span, "over", first.span)),
                    None => join.over = self.over(inner, span),
                },
                Rule::as_of_clause => match &join.as_of {
                    Some(first) => self.report(errors::repeated(span, "as of", first.span)),
                    None => join.as_of = self.only_expr(inner),
                },
                Rule::allow_clause => match &join.allow_late {
                    Some(first) => self.report(errors::repeated(span, "allow", first.span)),
                    None => join.allow_late = self.only_expr(inner),
                },
                Rule::late_clause => self.late_into(inner, &mut join.late_into),
                Rule::broadcast_clause => match join.broadcast {
                    Some(first) => self.report(errors::repeated(span, "broadcast", first)),
                    None => join.broadcast = Some(span),
                },
                _ => {}
            }
        }
        StageKind::Join(join)
    }

    /// `as p`
    pub(super) fn row_alias(&mut self, pair: Pair<'_, Rule>) -> Option<Name> {
        let name = pair.into_inner().find(|part| part.as_rule() == Rule::def_name)?;
        Some(self.name(&name))
    }

    fn join_within(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<JoinWithin> {
        let mut bounds = pair.into_inner().filter(|part| part.as_rule() == Rule::expr);
        let (from, to) = (bounds.next()?, bounds.next());
        Some(JoinWithin { from: self.expr(from), to: to.map(|to| self.expr(to)), span })
    }
}
