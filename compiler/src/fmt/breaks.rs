//! Where the lines of an item break.

use std::collections::HashSet;

use millstream_grammar::tokens::TokenKind;

use super::stream::Stream;

/// What stands before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// A space, or nothing.
    None,
    Line,
    /// A blank line.
    Blank,
}

/// Breaks that the author has not made, so that lines fit.
#[derive(Clone, Debug, Default)]
pub(super) struct Forced {
    pub pipes: bool,
    pub groups: HashSet<usize>,
    pub before: HashSet<usize>,
}

/// The layout of an item.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub breaks: Vec<Break>,
    /// Opening brackets whose contents stand on lines of their own.
    pub multi: HashSet<usize>,
    /// Opening brackets of blocks whose entries are separated by line breaks: settings, columns, options.
    pub blocks: HashSet<usize>,
    /// Tokens that begin an entry of the bracket around them.
    pub entries: HashSet<usize>,
    /// Every operator of the pipeline stands on a line of its own.
    pub pipes: bool,
}

/// Where the lines break: as the author has it, in the canonical places, and where they must.
pub(super) fn layout(stream: &Stream<'_>, forced: &Forced) -> Layout {
    let words = &stream.words;
    let head = item_word(stream);
    let blocks = blocks(stream, head);
    let entries = entries(stream, &blocks);
    let multi = multi(stream, &blocks, &entries, forced);
    let is_pipe = |index: usize| words[index].inside.is_none() && words[index].is("|");
    let breaks_line = |index: usize| words[index].before.newline || !words[index].before.comments.is_empty();
    let pipes = forced.pipes || (0..words.len()).any(|index| is_pipe(index) && breaks_line(index));
    let is_sink = words[head].is("sink");
    let mut breaks = vec![Break::None; words.len()];
    for index in 1..words.len() {
        let word = &words[index];
        let inside_multi = word.inside.filter(|group| multi.contains(group));
        let first = word.inside.is_some_and(|group| group + 1 == index);
        let entry = entries.contains(&index);
        let commented = !word.before.comments.is_empty();
        let line = if let (TokenKind::Close, Some(open)) = (word.kind, word.partner) {
            multi.contains(&open)
        } else if first {
            inside_multi.is_some()
        } else if commented || forced.before.contains(&index) {
            true
        } else if entry && let Some(group) = inside_multi {
            word.before.newline || forced.groups.contains(&group) || blocks.contains(&group)
        } else if is_pipe(index) {
            pipes
        } else if pipes
            && word.inside.is_none()
            && match is_sink {
                false => words[index - 1].is("="),
                true => word.is("into") && !words[index - 1].is("late"),
            }
        {
            true
        } else {
            word.before.newline && may_break(stream, index, head)
        };
        let blank = word.before.blank && !first && entry && inside_multi.is_some();
        breaks[index] = match (line, blank) {
            (false, _) => Break::None,
            (true, false) => Break::Line,
            (true, true) => Break::Blank,
        };
    }
    Layout { breaks, multi, blocks, entries, pipes }
}

/// The item's own word, behind its attributes.
pub(super) fn item_word(stream: &Stream<'_>) -> usize {
    let mut at = 0;
    while stream.words.get(at).is_some_and(|word| word.is("@")) {
        at += 2;
        if let Some(word) = stream.words.get(at)
            && word.is("(")
        {
            at = word.partner.map_or(at, |close| close + 1);
        }
    }
    at.min(stream.words.len().saturating_sub(1))
}

/// Blocks of settings, columns and options.
fn blocks(stream: &Stream<'_>, head: usize) -> HashSet<usize> {
    let words = &stream.words;
    let connectors = match words[head].text {
        "source" | "lookup" => Some("from"),
        "sink" => Some("into"),
        _ => None,
    };
    let plain = matches!(words[head].text, "job" | "record" | "enum");
    let mut seen = plain;
    let mut blocks = HashSet::new();
    for index in head + 1..words.len() {
        let word = &words[index];
        let is_connector = connectors.is_some_and(|connector| word.is(connector));
        if word.inside.is_none() && is_connector && !matches!(words[index - 1].text, "late" | "error") {
            seen = true;
        }
        if !seen || !word.is("{") {
            continue;
        }
        let of_block = word.inside.is_none_or(|group| blocks.contains(&group));
        // In a record or an enum only the outermost braces are a block: those inside are types.
        let opens = match plain {
            true => word.inside.is_none() || words[head].is("job"),
            false => words[index - 1].kind == TokenKind::Word,
        };
        if of_block && opens {
            blocks.insert(index);
        }
    }
    blocks
}

/// Tokens that begin an entry of a bracket: behind the bracket, behind a comma, and in blocks behind a line break.
fn entries(stream: &Stream<'_>, blocks: &HashSet<usize>) -> HashSet<usize> {
    let words = &stream.words;
    let mut entries = HashSet::new();
    for index in 1..words.len() {
        let Some(group) = words[index].inside else { continue };
        if words[index].kind == TokenKind::Close || words[index].separates {
            continue;
        }
        let first = group + 1 == index || words[index - 1].separates && words[index - 1].inside == Some(group);
        if first || blocks.contains(&group) && begins_entry(stream, index, group) {
            entries.insert(index);
        }
    }
    entries
}

/// `name:`, `name =`, `on error:` or attributes before them, at the beginning of a line.
fn begins_entry(stream: &Stream<'_>, index: usize, group: usize) -> bool {
    let words = &stream.words;
    let text = |index: usize| words.get(index).filter(|word| word.inside == Some(group)).map_or("", |word| word.text);
    // What belongs to attributes has begun with the first of them.
    if text(index - 1) == "@"
        || words[index - 1].is(")") && words[index - 1].partner.is_some_and(|open| open > 1 && text(open - 2) == "@")
    {
        return false;
    }
    if !words[index].before.newline || (index > 1 && text(index - 2) == "@") {
        return false;
    }
    if words[item_word(stream)].is("enum") {
        return true;
    }
    let named = |index: usize| matches!(text(index + 1), ":" | "=");
    text(index) == "@" || named(index) || text(index) == "on" && text(index + 1) == "error" && named(index + 1)
}

/// Brackets whose contents stand on lines of their own.
fn multi(stream: &Stream<'_>, blocks: &HashSet<usize>, entries: &HashSet<usize>, forced: &Forced) -> HashSet<usize> {
    let words = &stream.words;
    let mut multi = forced.groups.clone();
    for index in 1..words.len() {
        let word = &words[index];
        let closes = if word.kind == TokenKind::Close { word.partner } else { None };
        let Some(group) = closes.or(word.inside) else { continue };
        let brace = words[group].is("{");
        let empty = group + 1 == index && closes.is_some();
        let breaks = word.before.newline && !empty && (entries.contains(&index) || closes.is_some() || blocks.contains(&group));
        if breaks || (!word.before.comments.is_empty() && (brace || entries.contains(&index) || closes.is_some())) {
            multi.insert(group);
        }
    }
    // Braces around lines of their own.
    for index in (0..words.len()).rev() {
        if multi.contains(&index)
            && let Some(outer) = words[index].inside
            && words[outer].is("{")
        {
            multi.insert(outer);
        }
    }
    multi
}

/// Whether a break of the author's stays.
fn may_break(stream: &Stream<'_>, index: usize, head: usize) -> bool {
    let (before, word) = (&stream.words[index - 1], &stream.words[index]);
    if index <= head {
        // Between attributes, and before the item's word.
        return word.is("@") || index == head;
    }
    if index == head + 1
        || matches!(
            word.text,
            "," | ":" | ";" | "=" | "." | "?." | "?" | "(" | "[" | "{" | ".." | "..=" | "|" | ")" | "]" | "}" | "=>"
        )
    {
        // A bracket that begins an operand may stand at the beginning of a line.
        return matches!(word.text, "(" | "[" | "{" | "|")
            && before.kind == TokenKind::Symbol
            && !matches!(before.text, "." | "?." | "@");
    }
    !(matches!(before.text, "." | "?." | "@" | "|" | "<") || before.kind == TokenKind::Open)
}
