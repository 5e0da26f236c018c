//! The one style of `.flow` files: `millstream fmt`.
//!
//! In comes the text of a file, out goes the same text in the canonical style. It works on the tokens of each item: spaces,
//! indentation and separators are made anew, where the author has broken a line it stays broken, and what does not fit is
//! broken at the best place. So a new operator needs nothing here.
//!
//! Invariants: the tree of what comes out is that of what came in (each item is parsed again, and left as it was if not),
//! no comment is lost, an item with a mistake stays as it is, and formatting twice changes nothing more.

mod breaks;
mod spacing;
mod stream;
mod write;

use millstream_grammar::split::{PieceKind, split_items};
use millstream_grammar::tokens::TokenKind;

use self::stream::{Comment, Gap, Stream};
use crate::source::FileId;
use crate::syntax;

/// Lines are broken where they would be longer than this many characters.
pub const WIDTH: usize = 100;

/// Formats a file.
pub fn format(text: &str) -> String {
    format_and_count(text).0
}

/// The same, and how many good items were left as they are because the formatter would have changed their meaning: none,
/// or it has a bug.
pub fn format_and_count(text: &str) -> (String, usize) {
    let mut kept = 0;
    let split = split_items(text);
    let mut out = String::with_capacity(text.len());
    let mut trivia = Gap::default();
    for piece in &split.pieces {
        let tokens = &split.tokens[piece.tokens.clone()];
        let body = tokens.iter().position(|token| token.range.start >= piece.body.start && !token.is_trivia());
        let (before, rest) = match (piece.kind, body) {
            (PieceKind::Trivia, _) | (_, None) => (tokens, &tokens[..0]),
            (_, Some(body)) => tokens.split_at(body),
        };
        trivia.take(text, before);
        if rest.is_empty() {
            continue;
        }
        gap(&mut out, &std::mem::take(&mut trivia));
        let end = rest.iter().rposition(|token| !token.is_trivia()).map_or(0, |last| last + 1);
        let (inside, after) = rest.split_at(end);
        let source = &text[piece.body.start..inside.last().map_or(piece.body.start, |token| token.range.end)];
        let parsed = syntax::parse(FileId(0), source);
        let broken = !parsed.diagnostics.is_empty();
        let strange = |kind| matches!(kind, TokenKind::BlockComment | TokenKind::SingleQuoted | TokenKind::Strange);
        let plain = matches!(piece.kind, PieceKind::Item(_)) && !broken && !inside.iter().any(|token| strange(token.kind));
        let formatted = plain.then(|| write::item(&Stream::new(text, inside)));
        let tree = syntax::dump(&parsed.file);
        let formatted = formatted.filter(|done| {
            let again = syntax::parse(FileId(0), done);
            let same = !again.diagnostics.has_errors() && syntax::dump(&again.file) == tree;
            kept += usize::from(!same);
            same
        });
        out.push_str(formatted.as_deref().unwrap_or(source));
        trivia.take(text, after);
    }
    gap(&mut out, &trivia);
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    (out, kept)
}

/// What stands between two items: comments, and at most one blank line between any two things.
fn gap(out: &mut String, gap: &Gap<'_>) {
    for Comment { text, own_line, blank } in &gap.comments {
        match (*own_line, out.is_empty()) {
            (true, false) => out.push_str(if *blank { "\n\n" } else { "\n" }),
            (false, false) => out.push(' '),
            (_, true) => {}
        }
        out.push_str(text);
    }
    if !out.is_empty() {
        out.push_str(if gap.blank { "\n\n" } else { "\n" });
    }
}
