//! Whether a space stands between two tokens of one line.

use millstream_grammar::tokens::TokenKind;

use super::stream::Stream;

/// Words with a space before a bracket: what follows is no list of arguments.
const WORDS: &[&str] = &[
    "after",
    "and",
    "as",
    "between",
    "by",
    "distinct",
    "else",
    "every",
    "except",
    "explode",
    "from",
    "global",
    "if",
    "in",
    "intersect",
    "into",
    "is",
    "key",
    "like",
    "match",
    "matches",
    "not",
    "of",
    "on",
    "or",
    "over",
    "per",
    "select",
    "sort",
    "then",
    "to",
    "union",
    "watermark",
    "when",
    "where",
    "with",
    "within",
];

/// Whether a minus behind this word is the sign of what follows.
fn takes_operand(word: &str) -> bool {
    WORDS.contains(&word)
}

/// Whether there is a space before the word at `index`, which is not the first of its line.
pub(super) fn space_before(stream: &Stream<'_>, index: usize) -> bool {
    let (before, word) = (&stream.words[index - 1], &stream.words[index]);
    let (a, b) = (before.text, word.text);
    if word.kind == TokenKind::Close {
        return b == "}" && before.kind != TokenKind::Open;
    }
    if before.kind == TokenKind::Open {
        return a == "{";
    }
    if b == "," || b == ":" || b == ";" || b == "?" || is_dot(b) || is_dot(a) {
        return false;
    }
    if a == "@" || is_sign(stream, index - 1) {
        return false;
    }
    if b == ".." || b == "..=" {
        let value = matches!(before.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Close) || is_value(before.kind);
        return !value || matches!(a, "if" | "and" | "or" | "not");
    }
    if is_range(stream, index - 1) {
        return false;
    }
    if is_angle(stream, index) {
        return false;
    }
    if is_angle(stream, index - 1) {
        return a == ">" && word.kind != TokenKind::Open;
    }
    match b {
        "(" => match before.kind {
            TokenKind::Word => WORDS.contains(&a) && !is_called(stream, index - 1),
            TokenKind::Quoted => false,
            _ => before.kind != TokenKind::Close,
        },
        "[" => match before.kind {
            TokenKind::Word => WORDS.contains(&a) && !after_dot(stream, index - 1),
            TokenKind::Quoted | TokenKind::Close | TokenKind::String => false,
            _ => true,
        },
        _ => true,
    }
}

/// The `..` of `within -5m..10m` and of `match x { ..10 => a, 10..=20 => b }`.
fn is_range(stream: &Stream<'_>, index: usize) -> bool {
    let value = |at: usize| stream.words.get(at).is_some_and(|word| is_value(word.kind));
    let before = index.checked_sub(1).is_some_and(value);
    let behind = value(index + 1) || (stream.words.get(index + 1).is_some_and(|word| word.is("-")) && value(index + 2));
    stream.words[index].is("..=") || (stream.words[index].is("..") && (behind || before && !ends_range(stream, index)))
}

/// `1.. => x`, `1.. if y => x`: nothing stands behind its `..`.
fn ends_range(stream: &Stream<'_>, index: usize) -> bool {
    stream.words.get(index + 1).is_none_or(|word| matches!(word.text, "=>" | "->" | "," | "|" | "if" | "}"))
}

fn is_value(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Number | TokenKind::String | TokenKind::Timestamp)
}

/// A word of the language that is a function's name here: `key(x)` where an operand is expected.
fn is_called(stream: &Stream<'_>, index: usize) -> bool {
    let word = &stream.words[index];
    let adjacent = stream.words.get(index + 1).is_some_and(|next| next.adjacent);
    let reserved =
        matches!(word.text, "and" | "or" | "not" | "in" | "is" | "like" | "matches" | "between" | "if" | "then" | "else");
    if reserved || !adjacent {
        return after_dot(stream, index);
    }
    let Some(before) = index.checked_sub(1).map(|before| &stream.words[before]) else { return false };
    match before.kind {
        TokenKind::Open => true,
        TokenKind::Symbol => !before.is("|"),
        _ => false,
    }
}

fn is_dot(text: &str) -> bool {
    matches!(text, "." | "?.")
}

fn after_dot(stream: &Stream<'_>, index: usize) -> bool {
    index > 0 && is_dot(stream.words[index - 1].text)
}

/// A minus that is a sign, not an operator.
fn is_sign(stream: &Stream<'_>, index: usize) -> bool {
    if !stream.words[index].is("-") {
        return false;
    }
    let Some(before) = index.checked_sub(1).map(|before| &stream.words[before]) else { return true };
    match before.kind {
        TokenKind::Open => true,
        TokenKind::Symbol => !matches!(before.text, "?" | ".." | "..=") || is_range(stream, index - 1),
        TokenKind::Word => takes_operand(before.text) && !after_dot(stream, index - 1),
        _ => false,
    }
}

/// `<` and `>` of `list<T>` and `map<K, V>`.
pub(super) fn is_angle(stream: &Stream<'_>, index: usize) -> bool {
    let opens = |index: usize| {
        index > 0
            && stream.words[index].is("<")
            && stream.words[index].adjacent
            && matches!(stream.words[index - 1].text, "list" | "map")
    };
    if opens(index) {
        return true;
    }
    if !stream.words[index].is(">") {
        return false;
    }
    // Backwards over what a type is made of, to the one that it closes.
    let mut open = 1;
    for at in (0..index).rev() {
        let word = &stream.words[at];
        match word.text {
            ">" => open += 1,
            "<" => {
                open -= 1;
                if open == 0 {
                    return opens(at);
                }
            }
            "," | "?" | ":" => {}
            _ if matches!(
                word.kind,
                TokenKind::Word | TokenKind::Quoted | TokenKind::Number | TokenKind::Open | TokenKind::Close
            ) => {}
            _ => return false,
        }
    }
    false
}
