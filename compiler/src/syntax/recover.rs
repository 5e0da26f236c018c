//! Why a piece of text does not parse, in the user's words; and what of it can be saved.
//!
//! The piece is parsed again with details on (`grammar::detailed_error`): the furthest place reached and what could have
//! stood there. [`super::hints`] knows the commonest mistakes; everything else becomes "expected X, found Y".

use millstream_grammar::tokens::{Token, TokenKind, iter, tokens};
use millstream_grammar::{FlowParser, Pair, Parser, Rule, detailed_error};

use super::build::Builder;
use super::{errors, expected, hints};
use crate::source::Span;

/// A piece of text that does not parse, and where that shows.
pub(super) struct Trouble<'a> {
    pub rule: Rule,
    /// The piece's text.
    pub text: &'a str,
    /// Its tokens without blanks and comments.
    pub tokens: &'a [Token],
    /// Index of the token at which parsing failed; the number of tokens: at the end.
    pub at: usize,
    /// What could have stood there: tokens and nouns.
    pub expected: &'a expected::Expected,
    /// All tokens that could have, those too that `expected` sums up.
    pub words: &'a std::collections::BTreeSet<String>,
}

impl Trouble<'_> {
    /// The text of a token, counted from the place of the failure.
    pub fn word(&self, offset: isize) -> &str {
        let index = self.at.checked_add_signed(offset);
        index.and_then(|index| self.tokens.get(index)).map_or("", |token| token.text(self.text))
    }

    pub fn kind(&self, offset: isize) -> Option<TokenKind> {
        self.tokens.get(self.at.checked_add_signed(offset)?).map(|token| token.kind)
    }

    /// The text of a token, counted from the piece's beginning.
    pub fn nth(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text(self.text))
    }
}

/// Mistakes of one file that are looked into; a file with more of them is probably no Flow at all.
pub(super) const MAX_REPORTED: usize = 100;

/// Reports why the builder's text does not parse by a rule.
pub(super) fn report(builder: &mut Builder<'_>, rule: Rule, text: &str) {
    if builder.is_noticed(0, text.len()) || builder.diagnostics.len() >= MAX_REPORTED {
        return;
    }
    let Some(failure) = detailed_error(rule, text) else { return };
    let list: Vec<Token> = tokens(text).into_iter().filter(|token| !token.is_trivia()).collect();
    let at = list.partition_point(|token| token.range.end <= failure.at);
    let expected = expected::Expected::new(rule, &failure);
    let trouble = Trouble { rule, text, tokens: &list, at, expected: &expected, words: &failure.tokens };
    if failure.gave_up {
        let span = place(builder, &trouble, 0);
        builder.report(errors::too_deep(span, super::check::MAX_DEPTH));
        return;
    }
    // In a string with values the mistake is a character of it.
    let inside = list.get(at).filter(|token| token.kind == TokenKind::String && token.range.start < failure.at);
    if let Some(c) = inside.and_then(|_| text.get(failure.at..)).and_then(|rest| rest.chars().next()) {
        let span = builder.at(failure.at, failure.at + c.len_utf8());
        builder.report(errors::in_format_string(span, c, &expected.text()));
        return;
    }
    let diagnostic = hints::find(builder, &trouble).unwrap_or_else(|| {
        let span = place(builder, &trouble, 0);
        errors::unexpected(span, &found(builder, &trouble), &expected.text())
    });
    builder.report(diagnostic);
}

/// The place of a token, counted from the place of the failure; the end of the piece where there is none.
pub(super) fn place(builder: &Builder<'_>, trouble: &Trouble<'_>, offset: isize) -> Span {
    match trouble.at.checked_add_signed(offset).and_then(|index| trouble.tokens.get(index)) {
        Some(token) => builder.at(token.range.start, token.range.end),
        None => {
            let end = trouble.tokens.last().map_or(0, |token| token.range.end);
            builder.at(end, end)
        }
    }
}

/// What stands at the place of the failure, in words.
pub(super) fn found(builder: &Builder<'_>, trouble: &Trouble<'_>) -> String {
    match trouble.tokens.get(trouble.at) {
        None => {
            let behind = builder.text.get(builder.place.end..).unwrap_or("").trim_start();
            match behind.chars().next() {
                Some(c @ ('|' | ',' | '}' | ';')) => format!("`{c}`"),
                _ => expected::end_of(trouble.rule).to_string(),
            }
        }
        Some(token) => {
            let text: String = token.text(trouble.text).chars().take(30).collect();
            format!("`{text}`")
        }
    }
}

/// A part taken by a catch-all: reported, and what of it parses is handed to `save`.
pub(super) fn part(builder: &mut Builder<'_>, rule: Rule, text: &str, save: &mut dyn FnMut(&mut Builder<'_>, Pair<'_, Rule>)) {
    if let Ok(pairs) = FlowParser::parse(rule, text) {
        return each(builder, pairs, save);
    }
    if builder.diagnostics.len() >= MAX_REPORTED {
        return;
    }
    report(builder, rule, text);
    if rule == Rule::stage_only
        && let Ok(pairs) = FlowParser::parse(Rule::stage_head, text)
    {
        each(builder, pairs, save);
    }
}

fn each(
    builder: &mut Builder<'_>,
    pairs: millstream_grammar::Pairs<'_, Rule>,
    save: &mut dyn FnMut(&mut Builder<'_>, Pair<'_, Rule>),
) {
    for pair in pairs.flat_map(|outer| outer.into_inner()).filter(|pair| pair.as_rule() != Rule::EOI) {
        save(builder, pair);
    }
}

/// A stretch between two commas that is no single item: most often items without a comma between them.
pub(super) fn select_items(builder: &mut Builder<'_>, text: &str, save: &mut dyn FnMut(&mut Builder<'_>, Pair<'_, Rule>)) {
    let mut start = 0;
    while start < text.len() && builder.diagnostics.len() < MAX_REPORTED {
        let rest = &text[start..];
        let whole = FlowParser::parse(Rule::select_item_only, rest).is_ok();
        let rule = if whole { Rule::select_item_only } else { Rule::select_item_head };
        let head = FlowParser::parse(rule, rest).ok().and_then(|mut pairs| pairs.next());
        let length = head.as_ref().map_or(0, |pair| pair.as_str().trim_end().len());
        let next = iter(&rest[length..]).find(|token| !token.is_trivia());
        let begins_entry = next.as_ref().is_some_and(|token| {
            matches!(token.kind, TokenKind::Word | TokenKind::Quoted) || token.text(&rest[length..]) == ".."
        });
        let Some(head) = head.filter(|_| length > 0 && (whole || begins_entry)) else {
            return builder.within(start, text.len(), |builder| report(builder, Rule::select_item_only, rest));
        };
        let next = next.filter(|_| !whole).map(|token| start + length + token.range.start..start + length + token.range.end);
        if let Some(next) = &next {
            // Only where the rest is an item too; otherwise the mistake is another one.
            if FlowParser::parse(Rule::select_item_head, &text[next.start..]).is_err()
                || !on_new_line(&text[..next.start]) && !is_item(&text[next.start..])
            {
                return builder.within(start, text.len(), |builder| report(builder, Rule::select_item_only, rest));
            }
            let at = builder.at(start + length, start + length);
            let span = builder.at(next.start, next.end);
            builder.report(errors::missing_comma(at, span));
        }
        builder.within(start, text.len(), |builder| {
            for pair in head.into_inner().filter(|pair| pair.as_rule() == Rule::select_item) {
                save(builder, pair);
            }
        });
        match next {
            Some(next) => start = next.start,
            None => return,
        }
    }
}

/// Whether only blanks stand between the place and the beginning of its line.
fn on_new_line(before: &str) -> bool {
    before.rfind('\n').is_some_and(|at| before[at..].trim().is_empty())
}

fn is_item(text: &str) -> bool {
    FlowParser::parse(Rule::select_item_only, text).is_ok()
}
