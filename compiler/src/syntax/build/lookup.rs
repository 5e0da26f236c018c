//! `lookup`.

use millstream_grammar::{Pair, Rule};

use super::{Builder, no_name};
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

impl Builder<'_> {
    /// `lookup rates: Rate from file { .. } key (currency) cache 10m up to 50_000 rows unordered`
    pub(super) fn lookup(&mut self, pair: Pair<'_, Rule>, span: Span) -> ItemKind {
        let mut lookup = Lookup {
            name: no_name(span),
            ty: Type { kind: TypeKind::Error, optional: false, span },
            connector: Connector { name: no_name(span), options: Vec::new(), stages: None, span },
            key: Vec::new(),
            cache: None,
            unordered: None,
        };
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::def_name => lookup.name = self.name(&inner),
                Rule::r#type => lookup.ty = self.ty(inner),
                Rule::connector => lookup.connector = self.connector(inner),
                Rule::key_clause => match lookup.key.first() {
                    Some(first) => self.report(errors::repeated(span, "key", first.span)),
                    None => lookup.key = self.key(inner),
                },
                Rule::cache_clause => match &lookup.cache {
                    Some(first) => self.report(errors::repeated(span, "cache", first.span)),
                    None => lookup.cache = self.cache(inner, span),
                },
                Rule::unordered_clause => match lookup.unordered {
                    Some(first) => self.report(errors::repeated(span, "unordered", first)),
                    None => lookup.unordered = Some(span),
                },
                _ => {}
            }
        }
        ItemKind::Lookup(lookup)
    }

    fn cache(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Cache> {
        let (mut time, mut limit) = (None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expr => time = Some(self.expr(inner)),
                Rule::cache_limit => limit = self.only_expr(inner),
                _ => {}
            }
        }
        Some(Cache { time: time?, limit, span })
    }
}
