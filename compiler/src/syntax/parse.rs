//! The entry of the syntax phase: a file's text to its tree.

use millstream_grammar::split::{Piece, PieceKind, Split, split_items};
use millstream_grammar::tokens::{Token, TokenKind};
use millstream_grammar::{FlowParser, Parser, Rule};

use super::ast::{self, File, Item, ItemKind, Name};
use super::build::Builder;
use super::check::{self, Checked};
use super::remembered::Remembered;
use super::{errors, hints, recover};
use crate::diagnostics::Diagnostics;
use crate::source::{FileId, Span};

/// A file's tree, and what is wrong with the file.
#[derive(Clone, Debug, Default)]
pub struct Parse {
    /// The items, broken ones included (as [`ItemKind::Error`]).
    pub file: File,
    /// What is wrong with them.
    pub diagnostics: Diagnostics,
}

/// Parses a file. Never fails and never panics; the work is linear in the text's length.
pub fn parse(file: FileId, text: &str) -> Parse {
    parse_again(file, text, None)
}

/// The same; items that were parsed before are taken from there.
pub fn parse_again(file: FileId, text: &str, before: Option<&Remembered>) -> Parse {
    let mut diagnostics = Diagnostics::default();
    let mut items = Vec::new();
    if text.len() > u32::MAX as usize {
        diagnostics.push(errors::file_too_long(Span::new(file, 0, 0)));
        return Parse { file: File { items }, diagnostics };
    }
    let split = split_items(text);
    for piece in &split.pieces {
        match piece.kind {
            PieceKind::Trivia => {
                check::check(file, text, &split, piece, &mut diagnostics);
            }
            PieceKind::Junk => junk(file, text, &split, piece, &mut diagnostics),
            PieceKind::Item(word) => {
                let checked = check::check(file, text, &split, piece, &mut diagnostics);
                // What is mended has other places.
                let before = before.filter(|_| checked.patched == text[piece.body.clone()]);
                let known = before.and_then(|before| before.find(&checked.patched, file, piece.body.start));
                items.push(match known {
                    Some(item) => Item { doc: doc_before(text, piece.body.start), ..item },
                    None => {
                        let found = diagnostics.len();
                        let patched = before.map(|_| checked.patched.clone());
                        let item = item(file, text, word, &split, (piece, checked), &mut diagnostics);
                        if let (Some(before), Some(patched)) = (before, patched)
                            && diagnostics.len() == found
                            // Beyond, nothing is said of mistakes any more.
                            && found < recover::MAX_REPORTED
                            && !item.partial
                        {
                            before.keep(&patched, piece.body.start, &item);
                        }
                        item
                    }
                });
            }
        }
    }
    Parse { file: File { items }, diagnostics }
}

/// Something at the top level that begins with no item's word.
fn junk(file: FileId, text: &str, split: &Split, piece: &Piece, diagnostics: &mut Diagnostics) {
    let checked = check::check(file, text, split, piece, diagnostics);
    if checked.hopeless {
        return;
    }
    let tokens: Vec<&Token> = split.tokens[piece.tokens.clone()].iter().filter(|token| !token.is_trivia()).collect();
    if let Some(first) = tokens.first() {
        let span = Span::new(file, first.range.start, first.range.end);
        diagnostics.push(hints::unknown_item(text, span, &tokens));
    }
}

fn item(
    file: FileId,
    text: &str,
    word: &'static str,
    split: &Split,
    (piece, checked): (&Piece, Checked),
    diagnostics: &mut Diagnostics,
) -> Item {
    let span = Span::new(file, piece.body.start, piece.body.end);
    let tokens: Vec<&Token> = split.tokens[piece.tokens.clone()].iter().filter(|token| !token.is_trivia()).collect();
    let doc = doc_before(text, piece.body.start);
    let name = item_name(file, text, word, &tokens);
    let broken = |name| Item { kind: ItemKind::Error(name), doc: doc.clone(), attributes: Vec::new(), partial: true, span };
    let Checked { patched, hopeless, noticed } = checked;
    if hopeless {
        return broken(name);
    }
    let Some((whole, head)) = rules(word) else {
        let at = tokens.iter().find(|token| token.text(text) == word).map_or(span, |token| token_span(file, token));
        diagnostics.push(errors::later_item(at, word));
        return broken(name);
    };
    let mut builder = Builder::new(file, text, piece.body.clone(), diagnostics);
    builder.noticed = noticed;
    let whole_item = FlowParser::parse(whole, &patched);
    let partial = whole_item.is_err();
    let built = match whole_item {
        Ok(pairs) => builder.item(pairs),
        Err(_) => {
            recover::report(&mut builder, whole, &patched);
            // What can be saved: the beginning of the item, where something follows that should not.
            FlowParser::parse(head, &patched).ok().and_then(|pairs| builder.item(pairs))
        }
    };
    match built {
        Some((kind, attributes)) => Item { kind, doc, attributes, partial, span },
        None => broken(name),
    }
}

/// The rule of a whole item and that of its beginning; None: an item of a later edition.
fn rules(word: &str) -> Option<(Rule, Rule)> {
    Some(match word {
        "job" => (Rule::job_item, Rule::job_head),
        "use" => (Rule::use_item, Rule::use_head),
        "param" => (Rule::param_item, Rule::param_head),
        "record" => (Rule::record_item, Rule::record_head),
        "enum" => (Rule::enum_item, Rule::enum_head),
        "fn" => (Rule::fn_item, Rule::fn_head),
        "source" => (Rule::source_item, Rule::source_head),
        "lookup" => (Rule::lookup_item, Rule::lookup_head),
        "stream" => (Rule::stream_item, Rule::stream_head),
        "sink" => (Rule::sink_item, Rule::sink_head),
        _ => return None,
    })
}

/// The name behind an item's word, read from its tokens.
fn item_name(file: FileId, text: &str, word: &str, tokens: &[&Token]) -> Option<Name> {
    let at = tokens.iter().position(|token| token.kind == TokenKind::Word && token.text(text) == word)?;
    let token = tokens.get(at + 1)?;
    let span = token_span(file, token);
    match token.kind {
        TokenKind::Word => Some(Name { text: token.text(text).to_string(), span }),
        TokenKind::Quoted => Some(Name { text: token.text(text).trim_matches('`').to_string(), span }),
        _ => None,
    }
}

pub(super) fn token_span(file: FileId, token: &Token) -> Span {
    Span::new(file, token.range.start, token.range.end)
}

/// The `///` lines right above a place, joined by newlines. Attribute and comment lines between are passed over.
pub(super) fn doc_before(text: &str, start: usize) -> Option<String> {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = text.get(..start)?;
    // Only blanks may stand before the place on its own line.
    rest = rest.trim_end_matches([' ', '\t']);
    if !rest.is_empty() && !rest.ends_with('\n') {
        return None;
    }
    while let Some(before) = rest.strip_suffix('\n') {
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let content = before[line..].trim();
        match content.strip_prefix("///") {
            Some(doc) => lines.push(doc.strip_prefix(' ').unwrap_or(doc)),
            None if content.starts_with('@') || (content.starts_with("//") && lines.is_empty()) => {}
            None => break,
        }
        rest = &before[..line];
    }
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether an item is broken.
impl ast::Item {
    /// Whether it did not parse.
    pub fn is_broken(&self) -> bool {
        matches!(self.kind, ItemKind::Error(_))
    }
}
