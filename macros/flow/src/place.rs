//! Where something stands: the tokens from a first to a last, which rustc underlines.

use proc_macro::{Span, TokenStream, TokenTree};

/// From the start of one token to the end of another.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub first: Span,
    pub last: Span,
}

impl Place {
    /// The macro call.
    pub fn call_site() -> Self {
        Place { first: Span::call_site(), last: Span::call_site() }
    }
}

/// A token that something can be said about: a delimiter counts as one.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Line and column of its first character, both from 1.
    pub start: (usize, usize),
    /// The column behind its last character.
    pub end: (usize, usize),
    pub span: Span,
}

impl Token {
    fn new(span: Span) -> Self {
        let position = |span: Span| (span.line(), span.column());
        Token { start: position(span.start()), end: position(span.end()), span }
    }
}

/// All tokens in order, delimiters among them.
pub fn tokens(stream: TokenStream, into: &mut Vec<Token>) {
    for token in stream {
        match token {
            TokenTree::Group(group) => {
                into.push(Token::new(group.span_open()));
                tokens(group.stream(), into);
                into.push(Token::new(group.span_close()));
            }
            other => into.push(Token::new(other.span())),
        }
    }
}

/// The tokens that stand between two positions; where there are none (in a comment, at the end) the next, or the last.
pub fn between(tokens: &[Token], start: (usize, usize), end: (usize, usize)) -> Place {
    let inside = |token: &&Token| token.start < end.max((start.0, start.1 + 1)) && token.end > start;
    let first = tokens.iter().find(inside).or_else(|| tokens.iter().find(|token| token.start >= start)).or(tokens.last());
    let Some(first) = first else { return Place::call_site() };
    let last = tokens.iter().rfind(inside).unwrap_or(first);
    Place { first: first.span, last: last.span }
}
