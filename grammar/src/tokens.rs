//! A scanner that accepts any text: tokens cover the input without gaps.
//!
//! It serves tier 1 (where items begin), the checks before parsing (closed strings, balanced brackets, depth) and
//! messages ("found `|`"). It knows no keywords. It never fails, never recurses, and runs in linear time.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Blanks and line ends.
    Space,
    /// `// ..`
    Comment,
    /// `/// ..`
    Doc,
    /// `/* .. */`, which Flow does not have.
    BlockComment,
    /// `abc`
    Word,
    /// `` `order` ``
    Quoted,
    /// `12`, `1.5`, `1h30m`, `64MB`
    Number,
    /// `@2026-01-01`
    Timestamp,
    /// `$NAME`
    Env,
    /// `"text"`, `r"raw"`, `f"{x}"`
    String,
    /// `'text'`, which Flow does not have.
    SingleQuoted,
    /// `(`, `[`, `{`
    Open,
    /// `)`, `]`, `}`
    Close,
    /// Operators, commas and so on, one or more characters.
    Symbol,
    /// A character that is nothing in Flow.
    Strange,
}

/// A stretch of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub range: Range<usize>,
    /// False for a string, backtick name or block comment that does not end.
    pub closed: bool,
}

impl Token {
    /// Blanks and comments.
    pub fn is_trivia(&self) -> bool {
        matches!(self.kind, TokenKind::Space | TokenKind::Comment | TokenKind::Doc | TokenKind::BlockComment)
    }

    /// The token's own text.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range.clone()).unwrap_or("")
    }
}

/// All tokens of a text, without gaps.
pub fn tokens(text: &str) -> Vec<Token> {
    iter(text).collect()
}

/// The same, one after the other.
pub fn iter(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = text[at..].chars().next()?;
        let (kind, length, closed) = scan(&text[at..], first);
        let range = at..at + length;
        at += length;
        Some(Token { kind, range, closed })
    })
}

const SYMBOLS: &[&str] = &[
    "===", "!==", "..=", "..", "==", "!=", "<=", ">=", "<>", "??", "?.", "=>", "->", "&&", "||", ":=", "::", "|", "<", ">", "=",
    "+", "-", "*", "/", "%", ",", ":", ";", ".", "?", "!", "&", "^", "~", "#", "@", "\\",
];

fn scan(text: &str, first: char) -> (TokenKind, usize, bool) {
    let rest = |kind, length| (kind, length, true);
    match first {
        _ if is_space(first) => rest(TokenKind::Space, prefix(text, is_space)),
        '/' if text.starts_with("///") => rest(TokenKind::Doc, prefix(text, |c| c != '\n')),
        '/' if text.starts_with("//") => rest(TokenKind::Comment, prefix(text, |c| c != '\n')),
        '/' if text.starts_with("/*") => match text.find("*/") {
            Some(end) => rest(TokenKind::BlockComment, end + 2),
            None => (TokenKind::BlockComment, text.len(), false),
        },
        '"' => string(text, 1, false),
        'r' if text.starts_with("r\"") => raw_string(text, 2, "\""),
        'r' if text.starts_with("r#\"") => raw_string(text, 3, "\"#"),
        'f' if text.starts_with("f\"") => string(text, 2, true),
        '\'' => single_quoted(text),
        '`' => quoted_name(text),
        '@' if text[1..].starts_with(|c: char| c.is_ascii_digit()) => rest(TokenKind::Timestamp, timestamp(text)),
        '$' if text[1..].starts_with(is_word_start) => rest(TokenKind::Env, 1 + prefix(&text[1..], is_word)),
        '(' | '[' | '{' => rest(TokenKind::Open, 1),
        ')' | ']' | '}' => rest(TokenKind::Close, 1),
        _ if first.is_ascii_digit() => rest(TokenKind::Number, number(text)),
        _ if is_word_start(first) => rest(TokenKind::Word, prefix(text, is_word)),
        _ => match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
            Some(symbol) => rest(TokenKind::Symbol, symbol.len()),
            None => rest(TokenKind::Strange, first.len_utf8()),
        },
    }
}

/// Blanks as the grammar has them.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{A0}' | '\u{FEFF}')
}

/// Whether a word may begin with this character.
pub fn is_word_start(c: char) -> bool {
    c == '_' || pest::unicode::XID_START(c)
}

/// Whether a word may go on with this character.
pub fn is_word(c: char) -> bool {
    pest::unicode::XID_CONTINUE(c)
}

/// Bytes of the longest prefix of characters that pass.
fn prefix(text: &str, pass: impl Fn(char) -> bool) -> usize {
    text.find(|c| !pass(c)).unwrap_or(text.len())
}

/// A point belongs to it if a digit follows: `@2026-01-01..` begins a range.
fn timestamp(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_part = |at: usize| match bytes[at] {
        b'-' | b':' | b'+' => true,
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        other => other.is_ascii_alphanumeric(),
    };
    (1..bytes.len()).find(|at| !is_part(*at)).unwrap_or(bytes.len())
}

fn number(text: &str) -> usize {
    if let Some(digits) = text.strip_prefix("0x") {
        return 2 + prefix(digits, is_word);
    }
    let mut characters = text.char_indices().peekable();
    let mut end = 0;
    while let Some((at, c)) = characters.next() {
        let next = text[at + c.len_utf8()..].chars();
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        match c {
            '.' if digit(next.clone().next()) => {}
            'e' | 'E' if matches!(next.clone().next(), Some('+' | '-')) && digit(next.clone().nth(1)) => {
                characters.next();
            }
            _ if is_word(c) => {}
            _ => break,
        }
        end = characters.peek().map_or(text.len(), |(at, _)| *at);
    }
    end
}

/// From behind the opening quote. A string ends on its line. Holes of an f-string may hold strings, those again holes.
fn string(text: &str, from: usize, format: bool) -> (TokenKind, usize, bool) {
    /// Where the scanner stands: in a string's text, or in a hole with so many open braces.
    enum Place {
        Text { format: bool },
        Hole { braces: usize },
    }
    let mut stack = vec![Place::Text { format }];
    let mut characters = text.char_indices().skip_while(|(at, _)| *at < from).peekable();
    let mut before = ' ';
    while let Some((at, c)) = characters.next() {
        match (stack.last_mut(), c) {
            (_, '\n') => return (TokenKind::String, at, false),
            (Some(Place::Text { .. }), '\\') if characters.peek().is_some_and(|(_, c)| *c != '\n') => {
                characters.next();
            }
            (Some(Place::Text { .. }), '"') => {
                stack.pop();
                if stack.is_empty() {
                    return (TokenKind::String, at + 1, true);
                }
            }
            (Some(Place::Text { format: true }), '{') => {
                if characters.peek().is_some_and(|(_, c)| *c == '{') {
                    characters.next();
                } else {
                    stack.push(Place::Hole { braces: 0 });
                }
            }
            (Some(Place::Hole { .. }), '"') => stack.push(Place::Text { format: before == 'f' }),
            (Some(Place::Hole { braces }), '{') => *braces += 1,
            (Some(Place::Hole { braces: 0 }), '}') => {
                stack.pop();
            }
            (Some(Place::Hole { braces }), '}') => *braces -= 1,
            _ => {}
        }
        before = c;
    }
    (TokenKind::String, text.len(), false)
}

fn raw_string(text: &str, from: usize, quote: &str) -> (TokenKind, usize, bool) {
    let line = text.find('\n').unwrap_or(text.len());
    match text[from..line].find(quote) {
        Some(end) => (TokenKind::String, from + end + quote.len(), true),
        None => (TokenKind::String, line, false),
    }
}

fn single_quoted(text: &str) -> (TokenKind, usize, bool) {
    let line = text.find('\n').unwrap_or(text.len());
    match text[1..line].find('\'') {
        Some(end) => (TokenKind::SingleQuoted, end + 2, true),
        None => (TokenKind::Strange, 1, false),
    }
}

fn quoted_name(text: &str) -> (TokenKind, usize, bool) {
    let line = text.find('\n').unwrap_or(text.len());
    match text[1..line].find('`') {
        Some(end) if end > 0 => (TokenKind::Quoted, end + 2, true),
        Some(end) => (TokenKind::Quoted, end + 2, false),
        None => (TokenKind::Quoted, 1 + prefix(&text[1..line], is_word), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        tokens(text).iter().filter(|token| !token.is_trivia()).map(|token| (token.kind, &text[token.range.clone()])).collect()
    }

    #[test]
    fn tells_literals_apart() {
        use TokenKind::*;
        let text =
            r##"1h30m 1.50d 1e-9 0xff @2026-01-01T00:00:00Z $HOME "a\"b" r"\d" r#"a"b"# f"{f("x")}-{{" 'x' `order` a.. x"##;
        let wanted = [
            (Number, "1h30m"),
            (Number, "1.50d"),
            (Number, "1e-9"),
            (Number, "0xff"),
            (Timestamp, "@2026-01-01T00:00:00Z"),
            (Env, "$HOME"),
            (String, r#""a\"b""#),
            (String, r#"r"\d""#),
            (String, r##"r#"a"b"#"##),
            (String, r#"f"{f("x")}-{{""#),
            (SingleQuoted, "'x'"),
            (Quoted, "`order`"),
            (Word, "a"),
            (Symbol, ".."),
            (Word, "x"),
        ];
        assert_eq!(kinds(text), wanted);
    }

    #[test]
    fn strings_end_on_their_line() {
        let text = "\"open\nnext";
        let list = tokens(text);
        assert_eq!((list[0].kind, list[0].closed, list[0].range.clone()), (TokenKind::String, false, 0..5));
        assert_eq!(list[2].text(text), "next");
    }
}
