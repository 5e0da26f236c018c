//! Brackets, `if`s and signs of a piece: their depth, and those without partners.
//!
//! Known before parsing, so that no text can drive the parser into the depth. Linear in the number of tokens.

use crate::tokens::{Token, TokenKind};

/// Beyond so many open brackets or brackets without partners the rest of a piece is not followed.
const MAX_FOLLOWED: usize = 1_000;

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

/// Follows brackets and `if`s.
#[derive(Default)]
pub(crate) struct Depth {
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
    /// Far too deep: brackets are no longer followed.
    lost: bool,
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
    pub fn step(&mut self, token: &Token, text: &str) {
        let at = token.range.start;
        self.lost |= self.brackets.len() > MAX_FOLLOWED || self.problems.len() > MAX_FOLLOWED;
        if self.lost {
            return;
        }
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

    /// Brackets open at this moment.
    pub fn open_brackets(&self) -> usize {
        self.brackets.len()
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

    pub fn finish(mut self) -> (Vec<BracketProblem>, (usize, usize)) {
        for (bracket, at, _) in self.brackets.drain(..).rev().filter(|(bracket, ..)| *bracket != '<') {
            self.problems.push(BracketProblem { at, bracket, unclosed: true, noticed: None });
        }
        (self.problems, self.deepest)
    }
}
