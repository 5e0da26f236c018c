//! From the pairs that pest gives to syntax trees: one file per part of the language.
//!
//! Builders walk the pairs of a rule and match on what they find, so that no shape of input can make them panic.
//! Parts taken by a catch-all are parsed again on their own, to say what is wrong with them ([`super::recover`]).

mod climb;
mod expr;
mod item;
mod join;
pub mod literal;
mod lookup;
mod options;
mod over;
mod pipeline;
mod ranking;
mod select;
mod stage;
mod ty;

use std::ops::Range;

use millstream_grammar::{Pair, Rule};

use super::ast::Name;
use super::errors;
use super::recover::MAX_REPORTED;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};

/// Builds the tree of one item.
pub(super) struct Builder<'a> {
    pub file: FileId,
    /// The whole file.
    pub text: &'a str,
    /// Where the parsed text stands in the file; it may be longer than its place (closing brackets added).
    pub place: Range<usize>,
    pub diagnostics: &'a mut Diagnostics,
    /// Depth of the deepest expression built since this was last zero.
    pub depth: usize,
    /// Mistakes already reported: what does not parse around them is not reported again.
    pub noticed: Vec<usize>,
}

impl<'a> Builder<'a> {
    pub fn new(file: FileId, text: &'a str, place: Range<usize>, diagnostics: &'a mut Diagnostics) -> Self {
        Builder { file, text, place, diagnostics, depth: 0, noticed: Vec::new() }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_REPORTED {
            self.diagnostics.push(diagnostic);
        }
    }

    /// A place in the parsed text as a place in the file.
    pub fn at(&self, start: usize, end: usize) -> Span {
        let start = (self.place.start + start).min(self.place.end);
        let end = (self.place.start + end).min(self.place.end);
        Span::new(self.file, start, end)
    }

    /// The place of a pair, without blanks and comments behind it.
    pub fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        self.at(span.start(), span.start() + trimmed_length(span.as_str()))
    }

    /// Calls `build` with a builder for a part of the parsed text.
    pub fn within<T>(&mut self, start: usize, end: usize, build: impl FnOnce(&mut Builder<'_>) -> T) -> T {
        let place = (self.place.start + start).min(self.place.end)..(self.place.start + end).min(self.place.end);
        let mut inner = Builder {
            file: self.file,
            text: self.text,
            place,
            diagnostics: self.diagnostics,
            depth: 0,
            noticed: self.noticed.clone(),
        };
        build(&mut inner)
    }

    /// Whether a mistake in this part of the parsed text has been reported already.
    pub fn is_noticed(&self, start: usize, end: usize) -> bool {
        let range = self.place.start + start..=self.place.start + end;
        self.noticed.iter().any(|at| range.contains(at))
    }

    /// The name that a `name`, `any_word` or `def_name` pair gives; reserved words are reported.
    pub fn name(&mut self, pair: &Pair<'_, Rule>) -> Name {
        let span = self.span(pair);
        let reserved =
            pair.as_rule() == Rule::def_name && pair.clone().into_inner().any(|inner| inner.as_rule() == Rule::reserved);
        if reserved {
            self.report(errors::reserved_name(span, pair.as_str()));
        }
        let text = pair.as_str();
        let text = text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text);
        Name { text: text.to_string(), span }
    }

    /// Reports `=` where `:` belongs.
    pub fn colon(&mut self, pair: &Pair<'_, Rule>) {
        if pair.clone().into_inner().any(|inner| inner.as_rule() == Rule::wrong_equals) {
            let span = self.span(pair);
            self.report(errors::equals_for_colon(span));
        }
    }
}

/// The name of nothing, where one is missing.
pub(super) fn no_name(span: Span) -> Name {
    Name { text: String::new(), span }
}

/// Bytes of a text without blanks and whole-line comments at its end.
fn trimmed_length(text: &str) -> usize {
    let mut rest = text.trim_end();
    loop {
        let line = rest.rfind('\n').map_or(0, |at| at + 1);
        if line == 0 || !rest[line..].trim_start().starts_with("//") {
            return rest.len();
        }
        rest = rest[..line].trim_end();
    }
}
