//! Tier 1: cuts a file into items. Accepts any input; the pieces, put together, are the input.
//!
//! An item begins with one of [`ITEM_WORDS`] (behind its attributes and doc comments) and ends where the next begins.
//! Strings, comments and balanced brackets are units, so that a column called `stream` splits nothing. Where a bracket
//! stays open, the next line that looks like the head of an item ends the piece all the same.

use std::ops::Range;

use crate::attributes::AttributeRun;
pub use crate::brackets::BracketProblem;
use crate::brackets::Depth;
use crate::tokens::{Token, TokenKind, tokens};

/// Words that begin an item, those of later editions included.
pub const ITEM_WORDS: &[&str] = &["job", "use", "param", "record", "enum", "fn", "source", "lookup", "stream", "sink", "test"];

/// Words that go on with an item at the beginning of a line, so that they never look like the head of an unknown item.
const CLAUSE_WORDS: &[&str] = &[
    "from",
    "into",
    "watermark",
    "idle",
    "align",
    "on",
    "key",
    "by",
    "over",
    "allow",
    "late",
    "every",
    "and",
    "or",
    "not",
    "where",
    "as",
    "then",
    "else",
    "if",
    "match",
    "in",
    "is",
    "like",
    "matches",
    "between",
    "cache",
    "unordered",
    "keep",
    "within",
];

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// An item; its word.
    Item(&'static str),
    /// Something that begins with no item's word.
    Junk,
    /// Only blanks and comments.
    Trivia,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// All of it, blanks and comments around included: pieces cover the file.
    pub range: Range<usize>,
    /// From the first attribute or word to the last token.
    pub body: Range<usize>,
    /// Indices of its tokens.
    pub tokens: Range<usize>,
    /// Brackets without partners.
    pub brackets: Vec<BracketProblem>,
    /// Deepest nesting of brackets and of `if` in it, and where.
    pub depth: (usize, usize),
}

/// The tokens of a file and its pieces.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// All tokens, without gaps.
    pub tokens: Vec<Token>,
    /// All pieces, without gaps.
    pub pieces: Vec<Piece>,
}

/// Cuts a file into items.
pub fn split_items(text: &str) -> Split {
    let tokens = tokens(text);
    let (significant, lines) = lines(text, &tokens);
    let mut splitter = Splitter {
        text,
        tokens: &tokens,
        significant: &significant,
        lines: &lines,
        indent: indent(&tokens, &significant, &lines),
        attributes: AttributeRun::default(),
        pieces: Vec::new(),
        piece: None,
    };
    let mut depth = Depth::default();
    for place in 0..significant.len() {
        let token = &tokens[significant[place]];
        if let Some(kind) = splitter.begins(place, depth.open_brackets()) {
            let head = splitter.attributes.before().unwrap_or(place);
            splitter.finish(head, std::mem::take(&mut depth));
            splitter.piece = Some(kind);
            splitter.attributes = AttributeRun::default();
        }
        splitter.attributes.step(place, token.kind, token.text(text));
        depth.step(token, token.text(text));
    }
    splitter.finish(significant.len(), depth);
    let pieces = splitter.pieces;
    Split { pieces: cover(text, &tokens, pieces), tokens }
}

/// Indices of the tokens that are not blanks or comments, and the start of each one's line.
fn lines(text: &str, tokens: &[Token]) -> (Vec<usize>, Vec<usize>) {
    let (mut significant, mut lines, mut line) = (Vec::new(), Vec::new(), 0);
    for (index, token) in tokens.iter().enumerate() {
        if !token.is_trivia() {
            significant.push(index);
            lines.push(line);
        }
        if let Some(at) = token.text(text).rfind('\n') {
            line = token.range.start + at + 1;
        }
    }
    (significant, lines)
}

/// The least that is before the first token of a line.
fn indent(tokens: &[Token], significant: &[usize], lines: &[usize]) -> usize {
    let mut before = 0;
    let mut least = usize::MAX;
    for (index, line) in significant.iter().zip(lines) {
        let range = &tokens[*index].range;
        if before <= *line {
            least = least.min(range.start - line);
        }
        before = range.end;
    }
    if least == usize::MAX { 0 } else { least }
}

struct Splitter<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// Indices of tokens that are not blanks or comments.
    significant: &'a [usize],
    /// Where the line of each of them starts.
    lines: &'a [usize],
    /// How far in the whole text stands: a pipeline in a macro is indented.
    indent: usize,
    attributes: AttributeRun,
    pieces: Vec<(PieceKind, Range<usize>, Depth)>,
    /// The piece being read; None: nothing but what stands before the first item.
    piece: Option<PieceKind>,
}

impl Splitter<'_> {
    fn word(&self, place: usize) -> &str {
        self.significant.get(place).map_or("", |index| self.tokens[*index].text(self.text))
    }

    fn kind(&self, place: usize) -> Option<TokenKind> {
        self.significant.get(place).map(|index| self.tokens[*index].kind)
    }

    fn is_name(&self, place: usize) -> bool {
        matches!(self.kind(place), Some(TokenKind::Word | TokenKind::Quoted))
    }

    /// Whether an item or junk begins at this place.
    fn begins(&self, place: usize, open: usize) -> Option<PieceKind> {
        if self.kind(place) != Some(TokenKind::Word) {
            return (place == 0 && self.piece.is_none() && self.word(0) != "@").then_some(PieceKind::Junk);
        }
        let word = self.word(place);
        let start = self.tokens[self.significant[place]].range.start;
        let line = self.lines[place];
        let behind = self.piece.is_none() || self.behind_attributes(place);
        let before = place.checked_sub(1).map_or(0, |before| self.tokens[self.significant[before]].range.end);
        let first = behind || before <= line;
        let column_zero = behind || line + self.indent == start;
        if let Some(item) = ITEM_WORDS.iter().find(|item| **item == word) {
            let whole = self.looks_like_head(item, place);
            let begins = (whole && (first || open == 0)) || (column_zero && open == 0 && !self.goes_on(place));
            return begins.then_some(PieceKind::Item(item));
        }
        // A paragraph of its own, or one more line where nothing makes sense anyway.
        let before = self.text[..line].trim_end_matches([' ', '\t', '\r']);
        let apart = before.ends_with("\n\n") || before.ends_with("\n\r\n") || self.piece == Some(PieceKind::Junk);
        let unknown = column_zero
            && open == 0
            && !CLAUSE_WORDS.contains(&word)
            && !self.goes_on(place)
            && (apart || self.looks_unknown(place));
        (unknown || (place == 0 && self.piece.is_none())).then_some(PieceKind::Junk)
    }

    /// The item's word is followed by what belongs there.
    fn looks_like_head(&self, item: &str, place: usize) -> bool {
        let second = self.word(place + 1);
        let third = self.word(place + 2);
        let named = self.is_name(place + 1);
        match item {
            "job" | "record" | "enum" => named && third == "{",
            "fn" => named && third == "(",
            "source" | "lookup" | "param" => named && third == ":",
            "stream" => named && third == "=",
            "sink" => named && (third == "into" || third == "|"),
            "use" => self.kind(place + 1) == Some(TokenKind::String) || matches!(second, "rust" | "crate"),
            "test" => self.kind(place + 1) == Some(TokenKind::String),
            _ => false,
        }
    }

    /// `streem delays =`, `let x =`, `create table x (`: two names and a sign, at the beginning of a line.
    fn looks_unknown(&self, place: usize) -> bool {
        let sign = |place| matches!(self.word(place), "=" | ":" | "{" | "(" | "into" | "from" | "|" | ";");
        (self.is_name(place + 1) || self.kind(place + 1) == Some(TokenKind::String))
            && (sign(place + 2) || (self.is_name(place + 2) && sign(place + 3)))
            || (matches!(self.word(place), "import" | "include") && self.kind(place + 1) == Some(TokenKind::String))
    }

    /// The token before asks for more, so that the word here is a name.
    fn goes_on(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1) else { return false };
        let word = self.word(before);
        match self.kind(before) {
            Some(TokenKind::Symbol) => !matches!(word, ";" | "?" | "*" | "."),
            Some(TokenKind::Word) => {
                matches!(word, "union" | "by" | "into" | "as" | "from" | "and" | "or" | "not" | "in" | "stream" | "sink")
            }
            _ => false,
        }
    }

    /// Attributes stand before the place that are not those of an operator or a column.
    fn behind_attributes(&self, place: usize) -> bool {
        self.attributes.before().is_some_and(|head| head < place && !matches!(self.word(head.wrapping_sub(1)), "|" | "{" | ","))
    }

    /// Ends the piece before `place`.
    fn finish(&mut self, place: usize, depth: Depth) {
        let from = self.pieces.last().map_or(0, |(_, places, _)| places.end);
        if from < place {
            let kind = self.piece.unwrap_or(PieceKind::Junk);
            self.pieces.push((kind, from..place, depth));
        }
    }
}

/// Adds blanks, comments and doc comments: a piece begins with the docs before it.
fn cover(text: &str, tokens: &[Token], pieces: Vec<(PieceKind, Range<usize>, Depth)>) -> Vec<Piece> {
    let significant: Vec<usize> = (0..tokens.len()).filter(|index| !tokens[*index].is_trivia()).collect();
    let mut list: Vec<Piece> = Vec::new();
    for (kind, places, depth) in pieces {
        let (first, last) = (significant[places.start], significant[places.end - 1]);
        let mut start = first;
        while start > 0 && tokens[start - 1].is_trivia() {
            start -= 1;
        }
        if list.is_empty() {
            start = 0;
        }
        // What stands on the last line of the item before belongs to it.
        while start < first && !list.is_empty() && !tokens[start].text(text).contains('\n') {
            start += 1;
        }
        let at = tokens[start].range.start;
        if let Some(before) = list.last_mut() {
            before.range.end = at;
            before.tokens.end = start;
        }
        let body = tokens[first].range.start..tokens[last].range.end;
        let (brackets, depth) = depth.finish();
        list.push(Piece { kind, range: at..text.len(), body, tokens: start..tokens.len(), brackets, depth });
    }
    if list.is_empty() && !text.is_empty() {
        let (range, body) = (0..text.len(), 0..0);
        list.push(Piece { kind: PieceKind::Trivia, range, body, tokens: 0..tokens.len(), brackets: Vec::new(), depth: (0, 0) });
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &str) -> Vec<(PieceKind, &str)> {
        let split = split_items(text);
        let whole: String = split.pieces.iter().map(|piece| &text[piece.range.clone()]).collect();
        assert_eq!(whole, text);
        split.pieces.iter().map(|piece| (piece.kind, text[piece.body.clone()].lines().next().unwrap_or(""))).collect()
    }

    #[test]
    fn columns_called_like_items_split_nothing() {
        let text = "record A {\n  stream: string\n  record: int32\n}\nstream b = a | where source > 3\n  and sink == 2\n";
        assert_eq!(
            heads(text),
            [(PieceKind::Item("record"), "record A {"), (PieceKind::Item("stream"), "stream b = a | where source > 3")]
        );
    }

    #[test]
    fn an_open_brace_ends_at_the_next_item() {
        let text = "record A {\n  x: int64\n\n/// Doc.\n@id(\"x\")\nstream b = a\n";
        let split = split_items(text);
        assert_eq!(split.pieces.len(), 2);
        assert_eq!(split.pieces[0].brackets.len(), 1);
        assert!(text[split.pieces[1].range.clone()].trim_start().starts_with("/// Doc."));
        assert_eq!(&text[split.pieces[1].body.clone()], "@id(\"x\")\nstream b = a");
    }

    #[test]
    fn unknown_words_are_junk() {
        let text = "streem a = b\nparam x: int64\nimport \"x\"\n";
        let junk = PieceKind::Junk;
        assert_eq!(heads(text), [(junk, "streem a = b"), (PieceKind::Item("param"), "param x: int64"), (junk, "import \"x\"")]);
    }

    #[test]
    fn the_depth_is_known_before_parsing() {
        let text = format!("stream a = b | where {}x{}", "(".repeat(500), ")".repeat(500));
        assert_eq!(split_items(&text).pieces[0].depth.0, 500);
    }
}
