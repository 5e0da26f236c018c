//! Operators of a pipeline.

use millstream_grammar::{Pair, Rule};

use super::{Builder, no_name};
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    /// One operator.
    pub fn stage(&mut self, pair: Pair<'_, Rule>) -> StageKind {
        let Some(inner) = pair.into_inner().next() else { return StageKind::Error };
        let span = self.span(&inner);
        match inner.as_rule() {
            Rule::where_stage => self.only_expr(inner).map_or(StageKind::Error, StageKind::Where),
            Rule::watermark_stage => self.only_expr(inner).map_or(StageKind::Error, StageKind::Watermark),
            Rule::select_stage => self.select_stage(inner),
            Rule::explode_stage => self.explode(inner, span),
            Rule::union_stage => StageKind::Union(self.names(inner)),
            Rule::process_stage => self.process(inner, span),
            Rule::dedup_stage => self.dedup(inner),
            Rule::aggregate_stage => self.aggregate(inner, span),
            Rule::top_stage => self.top(inner, span),
            Rule::sort_stage => self.sort(inner),
            Rule::intersect_stage => self.combine(inner, Combine::Intersect),
            Rule::except_stage => self.combine(inner, Combine::Except),
            Rule::distinct_stage => StageKind::Distinct,
            Rule::join_stage => self.join(inner, span),
            Rule::final_stage => StageKind::Final,
            Rule::changes_stage => StageKind::Changes,
            Rule::rebalance_stage => StageKind::Rebalance,
            Rule::broadcast_stage => StageKind::Broadcast,
            Rule::partition_stage => {
                let keys = inner.into_inner().find(|part| part.as_rule() == Rule::by_keys);
                StageKind::PartitionBy(keys.map_or(Vec::new(), |keys| self.plain_keys(keys)))
            }
            Rule::later_stage => {
                self.later_stage(inner);
                StageKind::Error
            }
            _ => StageKind::Error,
        }
    }

    fn later_stage(&mut self, pair: Pair<'_, Rule>) {
        let text = pair.as_str();
        let word = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        let start = pair.as_span().start();
        let at = self.at(start, start + word.len());
        self.report(errors::later(at, &format!("`{word}`")));
    }

    fn explode(&mut self, pair: Pair<'_, Rule>, span: Span) -> StageKind {
        let (mut list, mut name) = (Expr { kind: ExprKind::Error, span }, no_name(span));
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => list = self.expr(inner),
                Rule::def_name => name = self.name(&inner),
                _ => {}
            }
        }
        StageKind::Explode { list, name }
    }

    fn process(&mut self, pair: Pair<'_, Rule>, span: Span) -> StageKind {
        let mut process =
            Process { by: Vec::new(), name: no_name(span), options: Vec::new(), with: Vec::new(), sides: Vec::new() };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::second_clause => {
                    let with = self.with_input(inner);
                    process.with.push(with);
                }
                Rule::by_clause => process.by = self.by_clause(inner),
                Rule::name => process.name = self.name(&inner),
                Rule::option_block => process.options = self.options(inner),
                Rule::side_clause => {
                    let side = self.side_into(inner);
                    process.sides.push(side);
                }
                _ => {}
            }
        }
        StageKind::Process(process)
    }

    /// `by card`
    fn by_clause(&mut self, pair: Pair<'_, Rule>) -> Vec<Expr> {
        let keys = pair.into_inner().find(|part| part.as_rule() == Rule::by_keys);
        keys.map_or(Vec::new(), |keys| self.plain_keys(keys))
    }

    /// `side Calm into calm`
    fn side_into(&mut self, pair: Pair<'_, Rule>) -> SideInto {
        let span = self.span(&pair);
        let mut side = SideInto { output: None, into: no_name(span), span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::side_name => side.output = inner.into_inner().next().map(|part| self.name(&part)),
                Rule::def_name => side.into = self.name(&inner),
                _ => {}
            }
        }
        side
    }

    fn with_input(&mut self, pair: Pair<'_, Rule>) -> WithInput {
        let span = self.span(&pair);
        let mut second = WithInput { stream: no_name(span), by: Vec::new(), broadcast: false, span };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::to_all => second.broadcast = true,
                Rule::name => second.stream = self.name(&inner),
                Rule::by_clause => second.by = self.by_clause(inner),
                _ => {}
            }
        }
        second
    }

    fn dedup(&mut self, pair: Pair<'_, Rule>) -> StageKind {
        let (mut by, mut keep, mut within): (Vec<Expr>, Option<(Keep, Span)>, Option<Expr>) = (Vec::new(), None, None);
        let mut late_into: Option<Name> = None;
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::by_keys => by = self.plain_keys(inner),
                Rule::late_clause => self.late_into(inner, &mut late_into),
                Rule::keep_clause => {
                    let last = inner.into_inner().any(|part| part.as_rule() == Rule::keep_last);
                    match keep {
                        Some((_, first)) => self.report(errors::repeated(span, "keep", first)),
                        None => keep = Some((if last { Keep::Last } else { Keep::First }, span)),
                    }
                }
                Rule::within_clause => match &within {
                    Some(first) => self.report(errors::repeated(span, "within", first.span)),
                    None => within = self.only_expr(inner),
                },
                _ => {}
            }
        }
        StageKind::Dedup { by, keep, within, late_into }
    }

    fn aggregate(&mut self, pair: Pair<'_, Rule>, span: Span) -> StageKind {
        let mut aggregate = Aggregate {
            by: Vec::new(),
            over: None,
            allow_late: None,
            every: None,
            late_into: None,
            columns: Vec::new(),
            block_span: span,
        };
        let mut by_span = None;
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::by_clause => match by_span {
                    Some(first) => self.report(errors::repeated(span, "by", first)),
                    None => {
                        by_span = Some(span);
                        let keys = inner.into_inner().find(|part| part.as_rule() == Rule::by_keys);
                        aggregate.by = keys.map_or(Vec::new(), |keys| self.by_keys(keys));
                    }
                },
                Rule::over_clause => match &aggregate.over {
                    Some(first) => self.report(errors::repeated(span, "over", first.span)),
                    None => aggregate.over = self.over(inner, span),
                },
                Rule::allow_clause => match &aggregate.allow_late {
                    Some(first) => self.report(errors::repeated(span, "allow", first.span)),
                    None => aggregate.allow_late = self.only_expr(inner),
                },
                Rule::late_clause => self.late_into(inner, &mut aggregate.late_into),
                Rule::early_clause => match &aggregate.every {
                    Some(first) => self.report(errors::repeated(span, "every", first.span)),
                    None => aggregate.every = self.only_expr(inner),
                },
                Rule::select_block => {
                    aggregate.block_span = span;
                    aggregate.columns = self.select_block(inner);
                }
                _ => {}
            }
        }
        StageKind::Aggregate(aggregate)
    }

    /// `over tumbling(1d) processing_time`
    pub fn over(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Over> {
        let (mut window, mut processing_time) = (None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::call => window = Some(self.call(inner)),
                Rule::name => {
                    let function = self.name(&inner);
                    window = Some(Call { function, distinct: None, args: Vec::new(), filter: None });
                }
                Rule::processing_time => processing_time = Some(self.span(&inner)),
                _ => {}
            }
        }
        Some(Over { window: window?, processing_time, span })
    }

    /// `(a, day: date(b))`
    fn by_keys(&mut self, pair: Pair<'_, Rule>) -> Vec<(Option<Name>, Expr)> {
        let mut keys = Vec::new();
        for key in pair.into_inner().filter(|inner| inner.as_rule() == Rule::by_key) {
            let mut name = None;
            for inner in key.into_inner() {
                match inner.as_rule() {
                    Rule::def_name => name = Some(self.name(&inner)),
                    Rule::colon => self.colon(&inner),
                    Rule::expr => keys.push((name.take(), self.expr(inner))),
                    _ => {}
                }
            }
        }
        keys
    }

    /// Keys without names.
    pub fn plain_keys(&mut self, pair: Pair<'_, Rule>) -> Vec<Expr> {
        let keys = self.by_keys(pair);
        for name in keys.iter().filter_map(|(name, _)| name.as_ref()) {
            self.report(errors::named_key(name.span));
        }
        keys.into_iter().map(|(_, key)| key).collect()
    }
}
