//! Tier 1: cuts a file into items. Accepts any input; the pieces, put together, are the input.
//!
//! An item begins with one of [`ITEM_WORDS`] (behind its attributes and doc comments) and ends where the next begins.
//! Strings, comments and balanced brackets are units, so that a column called `stream` splits nothing. Where a bracket
//! stays open, the next line that looks like the head of an item ends the piece all the same.

use std::ops::Range;

use crate::tokens::{Token, TokenKind, tokens};

/// Words that begin an item, those of later editions included.
pub const ITEM_WORDS: &[&str] = &["job", "use", "param", "record", "enum", "fn", "source", "lookup", "stream", "sink", "test"];

/// Words that go on with an item at the beginning of a line, so that they never look like the head of an unknown item.
const CLAUSE_WORDS: &[&str] = &[
    "from",
    "into",
    "watermark",
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

/// A bracket without its partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BracketProblem {
    /// Byte offset.
    pub at: usize,
    /// The character.
    pub bracket: char,
    /// An opening one that is never closed (or closed by another kind, there), or a closing one too many.
    pub unclosed: bool,
    /// The token at which it was noticed.
    pub noticed: Option<usize>,
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
    let significant: Vec<usize> = (0..tokens.len()).filter(|index| !tokens[*index].is_trivia()).collect();
    let mut splitter = Splitter { text, tokens: &tokens, significant: &significant, pieces: Vec::new(), piece: None };
    let mut depth = Depth::default();
    for place in 0..significant.len() {
        if let Some(kind) = splitter.begins(place, depth.brackets.len()) {
            splitter.finish(splitter.head(place), std::mem::take(&mut depth));
            splitter.piece = Some(kind);
        }
        let token = &tokens[significant[place]];
        depth.step(token, token.text(text));
    }
    splitter.finish(significant.len(), depth);
    let pieces = splitter.pieces;
    Split { pieces: cover(text, &tokens, pieces), tokens }
}

struct Splitter<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// Indices of tokens that are not blanks or comments.
    significant: &'a [usize],
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
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let behind = self.piece.is_none() || self.behind_attributes(place);
        let first = behind || self.text[line..start].chars().all(crate::tokens::is_space);
        let column_zero = behind || line == start;
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

    /// Attributes before the place, if any: `@id("x")` and the like.
    fn behind_attributes(&self, place: usize) -> bool {
        self.head(place) < place && !matches!(self.word(self.head(place).wrapping_sub(1)), "|" | "{" | ",")
    }

    /// The place of the first attribute before an item's word, or the place itself.
    fn head(&self, mut place: usize) -> usize {
        loop {
            let mut at = place;
            if at > 0 && self.word(at - 1) == ")" {
                let mut open = 0;
                while at > 0 {
                    at -= 1;
                    match self.word(at) {
                        ")" => open += 1,
                        "(" => open -= 1,
                        _ => {}
                    }
                    if open == 0 {
                        break;
                    }
                }
            }
            if at >= 2 && self.is_name(at - 1) && self.word(at - 2) == "@" {
                place = at - 2;
            } else {
                return place;
            }
        }
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

/// Follows brackets and `if`s.
#[derive(Default)]
struct Depth {
    /// Open brackets (`<` of `list<` included): character, place, `if`s inside it on this side of the last comma.
    brackets: Vec<(char, usize, usize)>,
    /// The same `if`s outside of all brackets.
    outside: usize,
    /// Open brackets and `if`s.
    nested: usize,
    /// Signs in a row before an operand: `- - not x`.
    signs: usize,
    before: Before,
    deepest: (usize, usize),
    problems: Vec<BracketProblem>,
}

/// What the token before was, as far as it matters for depth.
#[derive(Clone, Copy, Default, PartialEq)]
enum Before {
    #[default]
    Other,
    Operand,
    /// `list` or `map`
    Generic,
}

impl Depth {
    fn step(&mut self, token: &Token, text: &str) {
        let at = token.range.start;
        let sign = matches!(text, "not" | "-" | "!") && self.before == Before::Other;
        self.signs = if sign { self.signs + 1 } else { 0 };
        match (token.kind, text) {
            (TokenKind::Open, _) => self.open(text.chars().next().unwrap_or('('), at),
            (TokenKind::Symbol, "<") if self.before == Before::Generic => self.open('<', at),
            (TokenKind::Symbol, ">") if self.brackets.last().is_some_and(|(open, ..)| *open == '<') => self.close('>', at),
            (TokenKind::Close, _) => self.close(text.chars().next().unwrap_or(')'), at),
            (TokenKind::Word, "if") => {
                *self.brackets.last_mut().map_or(&mut self.outside, |(_, _, inner)| inner) += 1;
                self.nested += 1;
            }
            (TokenKind::Symbol, "," | "|" | ";" | ":") => {
                let inner = self.brackets.last_mut().map_or(&mut self.outside, |(_, _, inner)| inner);
                self.nested -= std::mem::take(inner);
            }
            _ => {}
        }
        if self.nested + self.signs > self.deepest.0 {
            self.deepest = (self.nested + self.signs, at);
        }
        self.before = match (token.kind, text) {
            (TokenKind::Word, "list" | "map") => Before::Generic,
            (TokenKind::Word, "and" | "or" | "not" | "then" | "else" | "if" | "in" | "between" | "like" | "matches") => {
                Before::Other
            }
            (TokenKind::Symbol | TokenKind::Open | TokenKind::Strange, _) => Before::Other,
            _ => Before::Operand,
        };
    }

    fn open(&mut self, bracket: char, at: usize) {
        self.brackets.push((bracket, at, 0));
        self.nested += 1;
    }

    fn close(&mut self, bracket: char, at: usize) {
        let wanted = match bracket {
            ')' => '(',
            ']' => '[',
            '>' => '<',
            _ => '{',
        };
        let Some(partner) = self.brackets.iter().rposition(|(open, ..)| *open == wanted) else {
            self.problems.push(BracketProblem { at, bracket, unclosed: false, noticed: None });
            return;
        };
        // A closing parenthesis does not end the braces around it.
        if bracket != '}' && self.brackets[partner..].iter().any(|(open, ..)| *open == '{') {
            self.problems.push(BracketProblem { at, bracket, unclosed: false, noticed: None });
            return;
        }
        for (open, place, inner) in self.brackets.drain(partner..).rev() {
            self.nested -= 1 + inner;
            if open != wanted && open != '<' {
                self.problems.push(BracketProblem { at: place, bracket: open, unclosed: true, noticed: Some(at) });
            }
        }
    }

    fn finish(mut self) -> (Vec<BracketProblem>, (usize, usize)) {
        for (bracket, at, _) in self.brackets.drain(..).rev().filter(|(bracket, ..)| *bracket != '<') {
            self.problems.push(BracketProblem { at, bracket, unclosed: true, noticed: None });
        }
        (self.problems, self.deepest)
    }
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
