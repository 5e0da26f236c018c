//! An item, written in its layout.

use millstream_grammar::tokens::TokenKind;

use super::WIDTH;
use super::breaks::{Break, Forced, Layout, item_word, layout};
use super::spacing::space_before;
use super::stream::Stream;

const STEP: usize = 4;

/// Words before which a line may be broken when it is too long, besides those that the author has broken.
const CLAUSES: &[&str] = &["watermark", "on", "key", "idle", "cache"];

/// The text of an item, without a line break at its end.
pub(super) fn item(stream: &Stream<'_>) -> String {
    let mut forced = Forced::default();
    loop {
        let layout = layout(stream, &forced);
        let written = Writer::new(stream, &layout).write();
        // Every round breaks at a place that was not broken before.
        if !written.lines.iter().any(|line| line.too_long && break_line(stream, &layout, line, &mut forced)) {
            return written.text;
        }
    }
}

/// A line that was written.
struct Line {
    first: usize,
    last: usize,
    too_long: bool,
}

struct Written {
    text: String,
    lines: Vec<Line>,
}

/// Finds the best place to break a long line.
fn break_line(stream: &Stream<'_>, layout: &Layout, line: &Line, forced: &mut Forced) -> bool {
    let words = &stream.words;
    let range = || line.first + 1..=line.last;
    let pipe = |index: usize| words[index].inside.is_none() && words[index].is("|");
    if !layout.pipes && (line.first..=line.last).any(pipe) {
        forced.pipes = true;
        return true;
    }
    let source = words[item_word(stream)].is("source");
    let clauses: Vec<usize> = range()
        .filter(|index| {
            source && words[*index].inside.is_none() && CLAUSES.contains(&words[*index].text) && !words[*index - 1].is(":")
        })
        .collect();
    if !clauses.is_empty() {
        forced.before.extend(clauses);
        return true;
    }
    let closed_here = |index: usize| words[index].partner.is_some_and(|close| close > index + 1 && close <= line.last);
    let group = |open: &'static str| {
        (line.first..=line.last).find(|index| words[*index].is(open) && !layout.multi.contains(index) && closed_here(*index))
    };
    if let Some(open) = group("{") {
        return forced.groups.insert(open);
    }
    // The loosest operators of the outermost level.
    let depth = |index: usize| {
        let (mut depth, mut at) = (0, words[index].inside);
        while let Some(open) = at {
            depth += 1;
            at = words[open].inside;
        }
        depth
    };
    for operators in [&["or"][..], &["and"], &["else"], &["??"], &["+", "-"]] {
        let found: Vec<usize> = range()
            .filter(|index| operators.contains(&words[*index].text) && words[*index].kind != TokenKind::String)
            .filter(|index| operators[0] != "+" || space_before_both(stream, *index))
            .filter(|index| !(words[*index].is("and") && is_between(stream, *index)))
            .collect();
        let Some(least) = found.iter().map(|index| depth(*index)).min() else { continue };
        let found: Vec<usize> = found.into_iter().filter(|index| depth(*index) == least).collect();
        if operators[0] == "else" {
            // The conditions stand below each other.
            let before = |index: &usize| words[*index].is("if") && matches!(words[*index - 1].text, "=" | ":");
            forced.before.extend((line.first + 1..found[0]).rev().find(before));
        }
        forced.before.extend(found);
        return true;
    }
    match group("(").or_else(|| group("[")) {
        // One argument gains nothing by a line of its own.
        Some(open) => forced.groups.insert(open),
        None => false,
    }
}

/// An operator between two operands, not a sign.
fn space_before_both(stream: &Stream<'_>, index: usize) -> bool {
    index + 1 < stream.words.len() && space_before(stream, index) && space_before(stream, index + 1)
}

/// The `and` of `between a and b`.
fn is_between(stream: &Stream<'_>, index: usize) -> bool {
    let inside = stream.words[index].inside;
    let mut before = stream.words[..index].iter().rev().filter(|word| word.inside == inside);
    before.find_map(|word| match word.text {
        "between" => Some(true),
        "and" | "or" | "," | "|" | "where" => Some(false),
        _ => None,
    }) == Some(true)
}

struct Writer<'s, 'a> {
    stream: &'s Stream<'a>,
    layout: &'s Layout,
    out: String,
    lines: Vec<Line>,
    /// Characters of the current line so far, and where its indentation ends.
    column: usize,
    indent: usize,
    /// The current line begins with an operator of the pipeline.
    pipe_line: bool,
    /// Open brackets on lines of their own: what is in them and their end are indented so far.
    open: Vec<(usize, usize, usize)>,
}

impl<'s, 'a> Writer<'s, 'a> {
    fn new(stream: &'s Stream<'a>, layout: &'s Layout) -> Self {
        let lines = vec![Line { first: 0, last: 0, too_long: false }];
        Writer { stream, layout, out: String::new(), lines, column: 0, indent: 0, pipe_line: false, open: Vec::new() }
    }

    fn write(mut self) -> Written {
        for index in 0..self.stream.words.len() {
            self.word(index);
        }
        self.end_line();
        Written { text: self.out, lines: self.lines }
    }

    fn word(&mut self, index: usize) {
        let word = &self.stream.words[index];
        let closes_lines =
            word.kind == TokenKind::Close && self.open.last().is_some_and(|(open, ..)| word.partner == Some(*open));
        let text = if self.is_dropped(index) { "" } else { word.text };
        let broken = index > 0 && self.layout.breaks[index] != Break::None;
        if closes_lines && self.wants_comma(index) {
            self.push(",");
        }
        if broken {
            self.before(index, closes_lines);
        } else if index > 0 && !text.is_empty() && space_before(self.stream, index) {
            self.push(" ");
        }
        if closes_lines {
            self.open.pop();
        }
        self.push(text);
        if let Some(line) = self.lines.last_mut() {
            line.last = index;
        }
        if self.layout.multi.contains(&index) {
            let end = self.indent + if self.pipe_line { STEP / 2 } else { 0 };
            self.open.push((index, self.indent + STEP, end));
        }
    }

    /// Comments and line breaks before a word that begins a line.
    fn before(&mut self, index: usize, closes: bool) {
        let word = &self.stream.words[index];
        let indent = self.indent_of(index, closes);
        let inner = self.open.last().map_or(indent, |(_, inner, _)| if closes { *inner } else { indent });
        let first = self.open.last().is_some_and(|(open, ..)| open + 1 == index);
        for (number, comment) in word.before.comments.iter().enumerate() {
            if comment.own_line {
                let blank = comment.blank && !(first && number == 0);
                self.new_line(index, inner, blank);
            } else {
                self.push(" ");
            }
            self.push(comment.text);
        }
        let blank = match word.before.comments.is_empty() {
            true => self.layout.breaks[index] == Break::Blank,
            false => word.before.blank && self.layout.breaks[index] == Break::Blank,
        };
        self.new_line(index, indent, blank);
        self.pipe_line = word.is("|") && word.inside.is_none();
    }

    fn new_line(&mut self, index: usize, indent: usize, blank: bool) {
        self.end_line();
        self.out.push_str(if blank { "\n\n" } else { "\n" });
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.indent = indent;
        self.column = indent;
        self.lines.push(Line { first: index, last: index, too_long: false });
    }

    fn end_line(&mut self) {
        let too_long = self.column > WIDTH;
        if let Some(line) = self.lines.last_mut() {
            line.too_long = too_long;
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn indent_of(&self, index: usize, closes: bool) -> usize {
        let word = &self.stream.words[index];
        if let Some((_, inner, end)) = self.open.last() {
            let entry = self.layout.entries.contains(&index) && word.inside == self.open.last().map(|(open, ..)| *open);
            return match (closes, entry) {
                (true, _) => *end,
                (false, true) => *inner,
                (false, false) => inner + STEP,
            };
        }
        if index <= item_word(self.stream) {
            return 0;
        }
        let of_pipeline = word.inside.is_none() && (word.is("|") || word.is("into") || self.stream.words[index - 1].is("="));
        if self.layout.pipes && !of_pipeline { 2 * STEP } else { STEP }
    }

    /// A comma that the line break behind it, or the bracket, makes needless.
    fn is_dropped(&self, index: usize) -> bool {
        let words = &self.stream.words;
        let (true, Some(group)) = (words[index].separates, words[index].inside) else { return false };
        let last = words.get(index + 1).is_some_and(|next| next.partner == Some(group));
        let multi = self.layout.multi.contains(&group);
        (multi && self.layout.blocks.contains(&group)) || (!multi && last)
    }

    /// Whether the last entry of a bracket gets a comma.
    fn wants_comma(&self, close: usize) -> bool {
        let words = &self.stream.words;
        let Some(open) = words[close].partner else { return false };
        words[open].is("{")
            && !self.layout.blocks.contains(&open)
            && !words[close - 1].is(",")
            && open + 1 < close
            && !words[open + 1].is("|")
    }
}
