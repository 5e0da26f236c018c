//! Blocks of columns: of `select` and of `aggregate`.

use millstream_grammar::{Pair, Rule};

use super::Builder;
use crate::syntax::ast::*;
use crate::syntax::{errors, hints, recover};

impl Builder<'_> {
    /// `select { .. }`, or what people write instead.
    pub fn select_stage(&mut self, pair: Pair<'_, Rule>) -> StageKind {
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::select_block => return StageKind::Select(self.select_block(inner)),
                Rule::wrong_bare_select => {
                    let span = self.span(&inner);
                    let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("").to_string();
                    self.report(errors::bare_select(span, &text));
                    return StageKind::Select(self.select_items(inner));
                }
                _ => {}
            }
        }
        StageKind::Error
    }

    /// `{ carrier, day: window.start, .. }`
    pub fn select_block(&mut self, pair: Pair<'_, Rule>) -> Vec<SelectItem> {
        self.select_items(pair)
    }

    fn select_items(&mut self, pair: Pair<'_, Rule>) -> Vec<SelectItem> {
        let mut items = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::select_item => items.push(self.select_item(inner)),
                Rule::separator => self.separator(&inner),
                Rule::bad_select_item => self.bad_select_item(inner, &mut items),
                _ => {}
            }
        }
        items
    }

    /// A stretch up to the next comma that is no item: most often two items without a comma between them.
    fn bad_select_item(&mut self, pair: Pair<'_, Rule>, items: &mut Vec<SelectItem>) {
        let span = pair.as_span();
        let (before, place) = (items.len(), self.span(&pair));
        self.within(span.start(), span.end(), |builder| {
            recover::select_items(builder, span.as_str(), &mut |builder, pair| items.push(builder.select_item(pair)));
        });
        if items.len() == before {
            items.push(SelectItem::Error(place));
        }
    }

    /// One item of a block.
    pub fn select_item(&mut self, pair: Pair<'_, Rule>) -> SelectItem {
        let span = self.span(&pair);
        let mut item = SelectItem::Error(span);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::except => item = SelectItem::Except(self.names(inner)),
                Rule::rest => item = SelectItem::Rest { of: self.rest_of(inner), span },
                Rule::named_item => item = self.named_item(inner).unwrap_or(item),
                Rule::expr => item = SelectItem::Column { name: None, value: self.expr(inner) },
                Rule::wrong_alias => item = self.alias(inner, item),
                _ => {}
            }
        }
        item
    }

    fn named_item(&mut self, pair: Pair<'_, Rule>) -> Option<SelectItem> {
        let (mut name, mut value) = (None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::def_name => name = Some(self.name(&inner)),
                Rule::colon => self.colon(&inner),
                Rule::expr => value = Some(self.expr(inner)),
                _ => {}
            }
        }
        Some(SelectItem::Column { name, value: value? })
    }

    /// `price as total`: meant is `total: price`.
    fn alias(&mut self, pair: Pair<'_, Rule>, item: SelectItem) -> SelectItem {
        let SelectItem::Column { value, .. } = item else { return item };
        let whole = value.span.to(self.span(&pair));
        let name = pair.into_inner().find(|inner| inner.as_rule() == Rule::def_name).map(|inner| self.name(&inner));
        if let Some(name) = &name {
            let text = |span: crate::source::Span| self.text.get(span.start as usize..span.end as usize).unwrap_or("");
            match hints::type_meant(text(name.span)) {
                Some(ty) => self.report(errors::as_type(whole, text(value.span), ty)),
                None => {
                    let replacement = format!("{}: {}", text(name.span), text(value.span));
                    self.report(errors::alias(whole, replacement));
                }
            }
        }
        SelectItem::Column { name, value }
    }

    /// The record before `..`: `bid` of `bid..`.
    fn rest_of(&mut self, pair: Pair<'_, Rule>) -> Option<Expr> {
        let mut of: Option<Expr> = None;
        for inner in pair.into_inner() {
            let name = match inner.as_rule() {
                Rule::name | Rule::any_word => self.name(&inner),
                _ => continue,
            };
            let span = name.span;
            of = Some(match of {
                None => Expr { kind: ExprKind::Name(name.text), span },
                Some(base) => {
                    let span = base.span.to(span);
                    Expr { kind: ExprKind::Field { base: Box::new(base), field: name, safe: false }, span }
                }
            });
        }
        of
    }
}
