//! Expressions: operands, calls, conditions. Operators between operands are sorted in `climb`.

use millstream_grammar::{Pair, Rule};

use super::{Builder, no_name};
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    /// An expression; one that cannot be built is an error node.
    pub fn expr(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        self.climb(pair).unwrap_or(Expr { kind: ExprKind::Error, span })
    }

    /// An operand without signs before it and without fields behind it.
    pub fn primary(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::number => self.number(&pair, span),
            Rule::timestamp => self.timestamp(&pair, span),
            Rule::string => ExprKind::String(self.string_text(&pair)),
            Rule::raw_string => ExprKind::String(raw_text(pair.as_str())),
            Rule::f_string => self.f_string(pair),
            Rule::env => ExprKind::Env(pair.as_str().trim_start_matches('$').to_string()),
            Rule::boolean => ExprKind::Bool(pair.as_str() == "true"),
            Rule::null => ExprKind::Null,
            Rule::name => ExprKind::Name(self.name(&pair).text),
            Rule::call => ExprKind::Call(self.call(pair)),
            Rule::cast => self.cast(pair),
            Rule::if_expr => self.if_expr(pair),
            Rule::match_expr => self.match_expr(pair),
            Rule::parens => return self.parens(pair, span),
            Rule::list => ExprKind::List(self.exprs(pair)),
            Rule::record_value => ExprKind::Record(self.record_value(pair)),
            _ => ExprKind::Error,
        };
        Expr { kind, span }
    }

    /// Puts what stands behind an operand around it.
    pub fn postfix(&mut self, base: Expr, pair: Pair<'_, Rule>) -> Expr {
        let span = base.span.to(self.span(&pair));
        let Some(inner) = pair.into_inner().next() else { return base };
        let kind = match inner.as_rule() {
            Rule::field | Rule::safe_field => {
                let safe = inner.as_rule() == Rule::safe_field;
                let Some(word) = inner.into_inner().find(|part| part.as_rule() == Rule::any_word) else { return base };
                ExprKind::Field { base: Box::new(base), field: self.name(&word), safe }
            }
            Rule::method => {
                let Some(word) = inner.clone().into_inner().find(|part| part.as_rule() == Rule::any_word) else { return base };
                ExprKind::Method { base: Box::new(base), method: self.name(&word), args: self.exprs(inner) }
            }
            Rule::index => match self.only_expr(inner) {
                Some(index) => ExprKind::Index { base: Box::new(base), index: Box::new(index) },
                None => return base,
            },
            Rule::over_frame => self.over_frame(base, inner),
            _ => return base,
        };
        Expr { kind, span }
    }

    fn exprs(&mut self, pair: Pair<'_, Rule>) -> Vec<Expr> {
        pair.into_inner().filter(|inner| inner.as_rule() == Rule::expr).map(|inner| self.expr(inner)).collect()
    }

    fn parens(&mut self, pair: Pair<'_, Rule>, span: Span) -> Expr {
        let text = pair.as_str();
        let mut exprs = self.exprs(pair);
        match exprs.pop() {
            Some(only) if exprs.is_empty() => Expr { kind: only.kind, span },
            Some(last) => {
                exprs.push(last);
                self.report(errors::list_in_parens(span, text));
                Expr { kind: ExprKind::List(exprs), span }
            }
            None => Expr { kind: ExprKind::Error, span },
        }
    }

    fn record_value(&mut self, pair: Pair<'_, Rule>) -> Vec<(Name, Expr)> {
        let mut fields = Vec::new();
        for field in pair.into_inner().filter(|inner| inner.as_rule() == Rule::record_field) {
            let (mut name, mut value) = (None, None);
            for inner in field.into_inner() {
                match inner.as_rule() {
                    Rule::def_name => name = Some(self.name(&inner)),
                    Rule::colon => self.colon(&inner),
                    Rule::expr => value = Some(self.expr(inner)),
                    _ => {}
                }
            }
            if let Some(name) = name {
                let value = value.unwrap_or(Expr { kind: ExprKind::Name(name.text.clone()), span: name.span });
                fields.push((name, value));
            }
        }
        fields
    }

    /// `name(args)`
    pub fn call(&mut self, pair: Pair<'_, Rule>) -> Call {
        let mut call = Call { function: no_name(self.span(&pair)), distinct: None, args: Vec::new(), filter: None };
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::call_name => {
                    if let Some(name) = inner.into_inner().find(|part| part.as_rule() == Rule::name) {
                        call.function = self.name(&name);
                    }
                }
                Rule::distinct => call.distinct = Some(self.span(&inner)),
                Rule::star => {
                    let span = self.span(&inner);
                    self.report(errors::star(span));
                }
                Rule::argument => call.args.extend(self.argument(inner)),
                Rule::call_where => call.filter = self.only_expr(inner).map(Box::new),
                _ => {}
            }
        }
        call
    }

    fn argument(&mut self, pair: Pair<'_, Rule>) -> Option<Argument> {
        let span = self.span(&pair);
        let (mut name, mut value) = (None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => name = Some(self.name(&inner)),
                Rule::expr => value = Some(self.expr(inner)),
                _ => {}
            }
        }
        Some(Argument { name, value: ArgumentValue::Expr(value?), span })
    }

    /// `cast(x, int64)`
    fn cast(&mut self, pair: Pair<'_, Rule>) -> ExprKind {
        let mut call = Call { function: no_name(self.span(&pair)), distinct: None, args: Vec::new(), filter: None };
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::cast_name => call.function = Name { text: inner.as_str().to_string(), span },
                Rule::expr => {
                    let value = ArgumentValue::Expr(self.expr(inner));
                    call.args.push(Argument { name: None, value, span });
                }
                Rule::r#type => {
                    let value = ArgumentValue::Type(self.ty(inner));
                    call.args.push(Argument { name: None, value, span });
                }
                _ => {}
            }
        }
        ExprKind::Call(call)
    }

    fn if_expr(&mut self, pair: Pair<'_, Rule>) -> ExprKind {
        let mut parts = self.exprs(pair).into_iter();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(condition), Some(then), Some(otherwise)) => {
                ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) }
            }
            _ => ExprKind::Error,
        }
    }

    fn match_expr(&mut self, pair: Pair<'_, Rule>) -> ExprKind {
        let mut subject = None;
        let mut arms = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => subject = Some(self.expr(inner)),
                Rule::match_arm => arms.extend(self.match_arm(inner)),
                _ => {}
            }
        }
        // They become `if`s one within the other.
        let mut conditions = arms.iter().filter(|arm: &&MatchArm| arm.has_conditions());
        if let Some(arm) = conditions.nth(super::super::check::MAX_DEPTH) {
            self.report(errors::too_many_conditions(arm.span, super::super::check::MAX_DEPTH));
            return ExprKind::Error;
        }
        subject.map_or(ExprKind::Error, |subject| ExprKind::Match { subject: Box::new(subject), arms })
    }

    fn match_arm(&mut self, pair: Pair<'_, Rule>) -> Option<MatchArm> {
        let span = self.span(&pair);
        let (mut patterns, mut otherwise, mut guard, mut result) = (Vec::new(), None, None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::pattern => match self.pattern(inner) {
                    Ok(pattern) => patterns.extend(pattern),
                    Err(span) => otherwise = Some(span),
                },
                Rule::guard => guard = self.only_expr(inner),
                Rule::arrow if inner.clone().into_inner().next().is_some() => {
                    let span = self.span(&inner);
                    self.report(errors::thin_arrow(span));
                }
                Rule::expr => result = Some(self.expr(inner)),
                _ => {}
            }
        }
        if let (Some(at), false) = (otherwise, patterns.is_empty()) {
            self.report(errors::otherwise_among_values(at));
            patterns.clear();
        }
        Some(MatchArm { patterns, guard, result: result?, span })
    }

    /// Err: where `_` stands.
    fn pattern(&mut self, pair: Pair<'_, Rule>) -> Result<Option<MatchPattern>, Span> {
        let span = self.span(&pair);
        let (mut value, mut end, mut is_range, mut inclusive) = (None, None, false, false);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::otherwise => return Err(span),
                Rule::expr => value = Some(self.expr(inner)),
                Rule::range_to | Rule::range_end => {
                    is_range = true;
                    for part in inner.into_inner() {
                        match part.as_rule() {
                            Rule::range_sign => inclusive = part.as_str() == "..=",
                            Rule::expr => end = Some(self.expr(part)),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(match is_range {
            true => Some(MatchPattern::Range(MatchRange { from: value, to: end, inclusive, span })),
            false => value.map(MatchPattern::Value),
        })
    }
}

/// The text of `r".."` or `r#".."#`.
fn raw_text(literal: &str) -> String {
    let inner = literal.trim_start_matches('r').trim_start_matches('#').strip_prefix('"').unwrap_or("");
    let inner = if literal.starts_with("r#") { inner.strip_suffix('#').unwrap_or(inner) } else { inner };
    inner.strip_suffix('"').unwrap_or(inner).to_string()
}
