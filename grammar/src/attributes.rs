//! Attributes before an item's word: where the run of them begins that ends at the present token.

use crate::tokens::TokenKind;

/// Follows `@name(args) @name ..`, token by token.
#[derive(Default)]
pub(crate) struct AttributeRun {
    start: usize,
    state: State,
}

#[derive(Default, PartialEq)]
enum State {
    #[default]
    Outside,
    /// Behind `@`.
    At,
    /// Behind the name: an attribute, unless arguments follow.
    Named,
    /// Within arguments, so many parentheses deep.
    Args(usize),
    /// Behind the arguments.
    Done,
}

impl AttributeRun {
    /// Takes the next token.
    pub fn step(&mut self, place: usize, kind: TokenKind, text: &str) {
        self.state = match (&self.state, text) {
            (State::Args(open), "(") => State::Args(open + 1),
            (State::Args(1), ")") => State::Done,
            (State::Args(open), ")") => State::Args(open - 1),
            (State::Args(open), _) => State::Args(*open),
            (State::Named, "(") => State::Args(1),
            (State::Named | State::Done, "@") => State::At,
            (_, "@") => {
                self.start = place;
                State::At
            }
            (State::At, _) if matches!(kind, TokenKind::Word | TokenKind::Quoted) => State::Named,
            _ => State::Outside,
        };
    }

    /// The place of the first `@` of the attributes that end right before the next token.
    pub fn before(&self) -> Option<usize> {
        matches!(self.state, State::Named | State::Done).then_some(self.start)
    }
}
