//! The tokens of an item with what stands between them.

use millstream_grammar::tokens::{Token, TokenKind};

use super::spacing::is_angle;

/// A comment, doc comments included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'a> {
    pub text: &'a str,
    /// Nothing stands before it on its line.
    pub own_line: bool,
    /// A blank line stands before it.
    pub blank: bool,
}

/// What stands before a token.
#[derive(Clone, Debug, Default)]
pub(super) struct Gap<'a> {
    pub comments: Vec<Comment<'a>>,
    /// The token begins a line.
    pub newline: bool,
    /// A blank line stands right before the token.
    pub blank: bool,
}

impl<'a> Gap<'a> {
    /// Adds blanks and comments.
    pub(super) fn take(&mut self, text: &'a str, trivia: &[Token]) {
        for token in trivia {
            match token.kind {
                TokenKind::Space => {
                    let lines = token.text(text).matches('\n').count();
                    // The line of a comment ends in the blanks behind it.
                    self.newline |= lines > 0;
                    self.blank |= lines > 1;
                }
                _ => {
                    let own_line = self.newline || !self.comments.is_empty() || token.range.start == 0;
                    self.comments.push(Comment { text: token.text(text).trim_end(), own_line, blank: self.blank });
                    self.blank = false;
                }
            }
        }
    }
}

/// One token, not a blank or comment.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub before: Gap<'a>,
    /// The bracket that belongs to it.
    pub partner: Option<usize>,
    /// The bracket around it.
    pub inside: Option<usize>,
    /// Written right behind the one before it.
    pub adjacent: bool,
    /// A comma between entries, so not one of `map<K, V>`.
    pub separates: bool,
}

impl Word<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != TokenKind::String
    }
}

/// The tokens of an item.
#[derive(Clone, Debug)]
pub(super) struct Stream<'a> {
    pub words: Vec<Word<'a>>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(text: &'a str, tokens: &[Token]) -> Self {
        let mut words: Vec<Word<'a>> = Vec::new();
        let mut from = 0;
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.is_trivia() {
                continue;
            }
            let mut before = Gap::default();
            before.take(text, &tokens[from..index]);
            let adjacent = from == index && index > 0;
            from = index + 1;
            let number = words.len();
            let mut partner = None;
            if token.kind == TokenKind::Close {
                partner = open.pop();
                if let Some(partner) = partner {
                    words[partner].partner = Some(number);
                }
            }
            let inside = open.last().copied();
            if token.kind == TokenKind::Open {
                open.push(number);
            }
            words.push(Word { kind: token.kind, text: token.text(text), before, partner, inside, adjacent, separates: false });
        }
        let mut stream = Stream { words };
        stream.find_separators();
        stream.comments_behind_commas();
        stream
    }

    fn find_separators(&mut self) {
        let mut angles = 0;
        for index in 0..self.words.len() {
            match self.words[index].text {
                "<" if is_angle(self, index) => angles += 1,
                ">" if is_angle(self, index) => angles -= 1,
                "," => self.words[index].separates = angles == 0,
                _ => {}
            }
        }
    }

    /// A comment between a value and its comma goes behind the comma.
    fn comments_behind_commas(&mut self) {
        for index in 1..self.words.len() {
            if !self.words[index].is(",") || self.words[index].before.comments.is_empty() {
                continue;
            }
            let moved = std::mem::take(&mut self.words[index].before.comments);
            if let Some(next) = self.words.get_mut(index + 1) {
                next.before.comments.splice(0..0, moved);
                next.before.newline = true;
            }
        }
    }
}
