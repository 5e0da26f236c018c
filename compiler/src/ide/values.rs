//! What can be written in an expression: columns, params, functions, fields.

use millstream_grammar::tokens::{Token, tokens};
use millstream_runtime::aggregates::{AGGREGATES, ANALYTIC};
use millstream_runtime::functions::FUNCTIONS;
use millstream_runtime::graph::Ty;

use super::complete::{CompletionKind, Offers};
use super::mentions::{self, Mention};
use super::{describe, words};
use crate::syntax::ast::{Expr, ExprKind};

impl Offers<'_> {
    /// An expression in an operator or an item.
    pub(super) fn value(&mut self, stage: &str, behind: bool, inside: bool) {
        if behind {
            self.keywords(words::OPERATORS);
        } else {
            self.operands(stage);
        }
        if !inside {
            self.keywords(words::clauses(stage));
            if behind && matches!(self.item().map(|item| &item.kind), Some(crate::syntax::ast::ItemKind::Sink(_))) {
                self.keywords(&["into"]);
            }
        }
    }

    fn operands(&mut self, stage: &str) {
        let seen = self.analysis.facts.seen.clone();
        let (columns, sides) = match (&seen, self.input()) {
            (Some(seen), _) => (seen.columns.clone(), seen.sides.clone()),
            (None, Some(rows)) => (rows.columns.clone(), rows.sides.clone()),
            (None, None) => (Vec::new(), Vec::new()),
        };
        for (name, ty) in &columns {
            self.add(name, CompletionKind::Column, ty.to_string(), "");
        }
        // Where there is one side, its columns say it all.
        if sides.len() > 1 {
            sides.iter().for_each(|(name, _)| self.add(name, CompletionKind::Stream, "columns of this side", ""));
        }
        if seen.as_ref().is_none_or(|seen| seen.params) && !matches!(stage, "fn" | "param") {
            self.params();
        }
        let block = seen.as_ref().map_or(stage == "aggregate", |seen| seen.block);
        if block {
            self.add("window", CompletionKind::Value, "`window.start`, `window.end`", "");
        }
        self.functions(block, stage == "select");
        for word in words::OPERANDS {
            self.add(word.word, CompletionKind::Keyword, "", describe::word(word));
        }
    }

    pub(super) fn params(&mut self) {
        let params: Vec<(String, Ty)> = self.analysis.facts.params.iter().map(|(name, ty)| (name.clone(), ty.clone())).collect();
        for (name, ty) in params {
            let doc = self.analysis.describe_param(&name).unwrap_or_default();
            self.add(&name, CompletionKind::Param, ty.to_string(), doc);
        }
    }

    fn functions(&mut self, aggregates: bool, analytic: bool) {
        let facts = &self.analysis.facts;
        let own: Vec<(String, String)> =
            facts.functions.iter().map(|(name, own)| (name.clone(), describe::signature(name, own))).collect();
        for (name, signature) in own {
            let doc = self.analysis.describe_function(&name).unwrap_or_default();
            self.add(&name, CompletionKind::Function, signature, doc);
        }
        if aggregates || analytic {
            let own = facts.aggregates.iter().map(|(spec, _)| *spec);
            let analytic = ANALYTIC.iter().copied().filter(|_| analytic);
            for spec in own.chain(AGGREGATES.iter().copied()).chain(analytic).collect::<Vec<_>>() {
                self.add(spec.name, CompletionKind::Function, spec.signature, describe::aggregate(spec));
            }
        }
        for spec in FUNCTIONS.iter() {
            self.add(spec.name, CompletionKind::Function, spec.signature, describe::function(spec));
        }
    }

    /// Behind a point: fields of a record, columns of a side, bounds of a window, how a stage ended.
    pub(super) fn fields(&mut self) {
        let found = self.analysis.file().and_then(|file| mentions::at(file, self.cursor));
        if let Some(Mention::Value(Expr { kind: ExprKind::Field { base, .. }, .. })) = found.map(|found| found.what) {
            if let Some(Ty::Record(schema)) = self.analysis.value(base.span).map(|value| value.ty.required()) {
                let fields: Vec<(String, String)> =
                    schema.fields.iter().map(|field| (field.name.clone(), field.ty.to_string())).collect();
                return fields.iter().for_each(|(name, ty)| self.add(name, CompletionKind::Column, ty.clone(), ""));
            }
            if let ExprKind::Name(name) = &base.kind {
                return self.of_name(name);
            }
        }
        // What does not parse: the word before the point.
        let before: Vec<Token> =
            tokens(&self.text[..self.cursor as usize - 1]).into_iter().filter(|token| !token.is_trivia()).collect();
        let named = before.iter().rev().nth(1).map(|token| token.text(self.text).trim_matches('`').to_owned());
        if let Some(name) = named {
            self.of_name(&name);
        }
    }

    fn of_name(&mut self, name: &str) {
        let facts = &self.analysis.facts;
        let (columns, sides, stages) = match (&facts.seen, self.input()) {
            (Some(seen), _) => (seen.columns.clone(), seen.sides.clone(), seen.stages.clone()),
            (None, Some(rows)) => (rows.columns.clone(), rows.sides.clone(), Vec::new()),
            (None, None) => return,
        };
        if let Some((_, Ty::Record(schema))) =
            columns.iter().map(|(name, ty)| (name, ty.required())).find(|(own, _)| *own == name)
        {
            schema.fields.iter().for_each(|field| self.add(&field.name, CompletionKind::Column, field.ty.to_string(), ""));
        } else if let Some((_, columns)) = sides.iter().find(|(side, _)| side == name) {
            columns.iter().for_each(|(name, ty)| self.add(name, CompletionKind::Column, ty.to_string(), ""));
        } else if name == "window" {
            ["start", "end"].iter().for_each(|name| self.add(name, CompletionKind::Column, "timestamp", ""));
        } else if stages.iter().any(|stage| stage == name) {
            self.keywords(&["max", "start_time", "end_time"]);
        }
    }
}
