//! What can be wrong with an item's characters and brackets, found before it is parsed.
//!
//! Each such mistake is reported here and mended in a copy of the item's text of the same length (closing brackets are added
//! at its end), so that the strict rules see a text without it and one mistake hides nothing else.

use std::ops::Range;

use millstream_grammar::split::{Piece, PieceKind, Split, split_items};
use millstream_grammar::tokens::{Token, TokenKind, is_space};

use super::errors;
use super::parse::token_span;
use super::recover::MAX_REPORTED;
use crate::diagnostics::Diagnostics;
use crate::source::{FileId, Span};

/// Deepest nesting of brackets and of `if` within one item.
pub(super) const MAX_DEPTH: usize = 200;

/// Brackets without partners reported for one item.
const MAX_BRACKETS: usize = 10;

/// The outcome of the check.
pub(super) struct Checked {
    /// The item's text from its first to its last token, mended.
    pub patched: String,
    /// Not fit to be parsed.
    pub hopeless: bool,
    /// Places of mended mistakes: what does not parse around them is no further mistake.
    pub noticed: Vec<usize>,
}

/// Checks one piece.
pub(super) fn check(file: FileId, text: &str, split: &Split, piece: &Piece, diagnostics: &mut Diagnostics) -> Checked {
    let mut patched = text[piece.body.clone()].as_bytes().to_vec();
    let mut say = |diagnostic| {
        if diagnostics.len() < MAX_REPORTED {
            diagnostics.push(diagnostic);
        }
    };
    let mut noticed = Vec::new();
    let mut unclosed = false;
    let patch = |patched: &mut Vec<u8>, range: Range<usize>, with: &[u8]| {
        if let Some(place) = patched.get_mut(range.start - piece.body.start..range.end - piece.body.start) {
            place.fill(b' ');
            if let Some(start) = place.get_mut(..with.len()) {
                start.copy_from_slice(with);
            }
        }
    };
    let around = split.tokens[piece.tokens.clone()].iter().filter(|token| token.kind == TokenKind::BlockComment);
    for token in around.filter(|token| token.range.start < piece.body.start || token.range.end > piece.body.end) {
        say(errors::block_comment(token_span(file, token), token.text(text), token.closed));
    }
    let inside = |token: &&Token| piece.body.start <= token.range.start && token.range.end <= piece.body.end;
    for token in split.tokens[piece.tokens.clone()].iter().filter(inside) {
        let span = token_span(file, token);
        let own = token.text(text);
        match token.kind {
            TokenKind::String if !token.closed => {
                let end = guess_end(text, token);
                say(errors::unclosed_string(span, end));
                patch(&mut patched, token.range.clone(), &closed_string(own, end - token.range.start));
                let rest = &text[end..token.range.end];
                patch(&mut patched, end..token.range.end, rest.as_bytes());
                noticed.push(token.range.start);
                unclosed = true;
            }
            TokenKind::SingleQuoted => {
                say(errors::single_quotes(span, own));
                let inner: String =
                    own[1..own.len() - 1].chars().map(|c| if matches!(c, '"' | '\\') { ' ' } else { c }).collect();
                patch(&mut patched, token.range.clone(), format!("\"{inner}\"").as_bytes());
            }
            TokenKind::Quoted if !token.closed => {
                say(errors::unclosed_backtick(span));
                let name: String = own.trim_matches('`').to_string();
                patch(&mut patched, token.range.clone(), if name.is_empty() { b"__" } else { name.as_bytes() });
                noticed.push(token.range.start);
            }
            TokenKind::BlockComment => {
                say(errors::block_comment(span, own, token.closed));
                patch(&mut patched, token.range.clone(), b"");
                noticed.push(token.range.start);
            }
            TokenKind::Strange if own == "'" => {
                say(errors::lone_single_quote(span));
                patch(&mut patched, token.range.clone(), b"");
                noticed.push(token.range.start);
            }
            TokenKind::Strange => {
                say(errors::strange_character(span, own));
                patch(&mut patched, token.range.clone(), b"");
                noticed.push(token.range.start);
            }
            _ => {}
        }
    }
    for (range, found, meant) in turned_comparisons(text, split, piece) {
        say(errors::wrong_operator(Span::new(file, range.start, range.end), found, meant));
        patch(&mut patched, range, meant.as_bytes());
    }
    let mut closers = String::new();
    if unclosed {
        // The open strings took brackets with them: look again. What is missing now is most likely the same mistake.
        let again = split_items(&String::from_utf8_lossy(&patched));
        let missing = again.pieces.iter().flat_map(|piece| &piece.brackets);
        closers.extend(
            missing
                .filter(|problem| problem.unclosed && problem.noticed.is_none())
                .map(|problem| errors::partner(problem.bracket)),
        );
    }
    let too_deep = piece.depth.0 > MAX_DEPTH;
    for problem in piece.brackets.iter().filter(|_| !unclosed && !too_deep).take(MAX_BRACKETS) {
        let span = Span::new(file, problem.at, problem.at + 1);
        noticed.push(problem.at);
        if problem.unclosed {
            let end = problem.noticed.unwrap_or(piece.body.end);
            let end = Span::new(file, end, end + usize::from(problem.noticed.is_some()));
            say(errors::unclosed_bracket(span, problem.bracket, end));
            match problem.noticed {
                Some(_) => return Checked { patched: String::new(), hopeless: true, noticed },
                None => closers.push(errors::partner(problem.bracket)),
            }
        } else {
            say(errors::stray_bracket(span, problem.bracket));
            blank(&mut patched, problem.at - piece.body.start);
        }
    }
    let (depth, at) = piece.depth;
    if depth > MAX_DEPTH {
        say(errors::too_deep(Span::new(file, at, at + 1), MAX_DEPTH));
        return Checked { patched: String::new(), hopeless: true, noticed };
    }
    let mut patched = String::from_utf8_lossy(&patched).into_owned();
    patched.push_str(&closers);
    Checked { patched, hopeless: false, noticed }
}

/// `=>` and `=<` in the conditions of a stream: not in braces, where arms of `match` and columns stand.
fn turned_comparisons(text: &str, split: &Split, piece: &Piece) -> Vec<(Range<usize>, &'static str, &'static str)> {
    let mut found = Vec::new();
    if piece.kind != PieceKind::Item("stream") {
        return found;
    }
    let (mut braces, mut operators) = (0_usize, false);
    let mut tokens = split.tokens[piece.tokens.clone()].iter().filter(|token| !token.is_trivia()).peekable();
    while let Some(token) = tokens.next() {
        match token.text(text) {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            "|" => operators = true,
            "=>" if braces == 0 && operators => found.push((token.range.clone(), "=>", ">=")),
            "=" if braces == 0 && operators => {
                let next = tokens.peek().filter(|next| next.range.start == token.range.end && next.text(text) == "<");
                found.extend(next.map(|next| (token.range.start..next.range.end, "=<", "<=")));
            }
            _ => {}
        }
    }
    found
}

fn blank(text: &mut [u8], at: usize) {
    if let Some(byte) = text.get_mut(at) {
        *byte = b' ';
    }
}

/// Where an unclosed string was probably meant to end: before what closes the line.
fn guess_end(text: &str, token: &Token) -> usize {
    let own = token.text(text);
    let kept = own.trim_end_matches(|c: char| is_space(c) || matches!(c, ',' | ')' | '}' | ']' | ';'));
    let quote = own.find('"').map_or(1, |at| at + 1);
    token.range.start + kept.len().max(quote)
}

/// A closed string literal of the same length (a number where there is no room for two quotes).
fn closed_string(own: &str, length: usize) -> Vec<u8> {
    if own.len() < 2 {
        return b"0".to_vec();
    }
    let mut string = b"\"".to_vec();
    string.resize(length.max(2).min(own.len()), b' ');
    if let Some(last) = string.last_mut() {
        *last = b'"';
    }
    string
}
