//! The page of the grammar, made from `flow.pest`: what people may write, without what the parser needs for its messages.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A part of a rule.
enum Part {
    Choice(Vec<Part>),
    Sequence(Vec<Part>),
    /// `?`, `*` or `+` behind a part.
    Repeated(Box<Part>, char),
    Name(String),
    Text(String),
    /// A look ahead.
    Look,
}

struct Parser<'t> {
    tokens: Vec<&'t str>,
    at: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn next(&mut self) -> &'t str {
        self.at += 1;
        self.tokens.get(self.at - 1).copied().unwrap_or("")
    }

    fn choice(&mut self) -> Part {
        let mut parts = Vec::new();
        loop {
            if self.peek() == "|" {
                self.next();
            }
            parts.push(self.sequence());
            if self.peek() != "|" {
                return if parts.len() == 1 { parts.remove(0) } else { Part::Choice(parts) };
            }
        }
    }

    fn sequence(&mut self) -> Part {
        let mut parts = Vec::new();
        loop {
            parts.push(self.repeated());
            if self.peek() != "~" {
                return if parts.len() == 1 { parts.remove(0) } else { Part::Sequence(parts) };
            }
            self.next();
        }
    }

    fn repeated(&mut self) -> Part {
        let mut part = match self.next() {
            "!" | "&" => {
                self.repeated();
                return Part::Look;
            }
            "(" => {
                let inner = self.choice();
                self.next();
                inner
            }
            text if text.starts_with('"') => Part::Text(text[1..text.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\")),
            name => Part::Name(name.to_owned()),
        };
        while let sign @ ("?" | "*" | "+") = self.peek() {
            self.next();
            part = Part::Repeated(Box::new(part), sign.chars().next().unwrap_or('?'));
        }
        part
    }
}

/// Names, texts in quotes, and signs.
fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                    at += 1;
                }
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ => at += 1,
        }
        found.push(&text[start..at]);
    }
    found
}

/// Whether a rule is there for people: not for messages, words or the start of a parse.
fn is_shown(name: &str) -> bool {
    let parser = ["kw_", "wrong_", "bad_", "later_", "missing_"].iter().any(|start| name.starts_with(start))
        || ["_item", "_head", "_only"].iter().any(|end| name.ends_with(end) && name != "select_item" && name != "named_item");
    let inner = [
        "WHITESPACE",
        "COMMENT",
        "equals_before_block",
        "SOI",
        "EOI",
        "stage_end",
        "stage_word",
        "end_of_sink",
        "blanks",
        "rubbish",
        "unit",
        "group",
    ];
    !parser && !inner.contains(&name)
}

/// The part without what is not shown; None: nothing is left.
fn shown(part: Part, words: &BTreeMap<&str, String>) -> Option<Part> {
    match part {
        Part::Look => None,
        Part::Text(text) => Some(Part::Text(text)),
        Part::Name(name) => match words.get(name.as_str()) {
            Some(word) => Some(Part::Text(word.clone())),
            None => is_shown(&name).then_some(Part::Name(name)),
        },
        Part::Repeated(inner, sign) => Some(Part::Repeated(Box::new(shown(*inner, words)?), sign)),
        Part::Sequence(parts) => match parts.into_iter().filter_map(|part| shown(part, words)).collect::<Vec<_>>() {
            parts if parts.is_empty() => None,
            mut parts if parts.len() == 1 => parts.pop(),
            parts => Some(Part::Sequence(parts)),
        },
        Part::Choice(parts) => match parts.into_iter().filter_map(|part| shown(part, words)).collect::<Vec<_>>() {
            parts if parts.is_empty() => None,
            mut parts if parts.len() == 1 => parts.pop(),
            parts => Some(Part::Choice(parts)),
        },
    }
}

fn print(part: &Part, inside: bool) -> String {
    let join = |parts: &[Part], sign: &str| parts.iter().map(|part| print(part, true)).collect::<Vec<_>>().join(sign);
    match part {
        Part::Name(name) => name.clone(),
        Part::Text(text) if text.contains('"') => format!("'{text}'"),
        Part::Text(text) => format!("\"{}\"", text.replace('\n', "\\n")),
        Part::Look => String::new(),
        Part::Repeated(inner, sign) => match &**inner {
            Part::Name(_) | Part::Text(_) => format!("{}{sign}", print(inner, true)),
            inner => format!("({}){sign}", print(inner, false)),
        },
        Part::Sequence(parts) => join(parts, " "),
        Part::Choice(parts) => {
            let text = parts.iter().map(|part| print(part, false)).collect::<Vec<_>>().join(" | ");
            if inside { format!("({text})") } else { text }
        }
    }
}

/// A rule's text on lines that are not too long.
fn wrapped(name: &str, text: &str) -> String {
    const LONGEST: usize = 110;
    let head = format!("{name} = ");
    let (mut out, mut width) = (head.clone(), head.len());
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 && width + word.len() > LONGEST {
            out.push_str("\n    ");
            width = 4;
        } else if number > 0 {
            out.push(' ');
        }
        out.push_str(word);
        width += word.len() + 1;
    }
    out
}

/// The page.
pub fn grammar(pest: &str) -> String {
    let mut out = String::from(
        "# Grammar\n\nMade from [flow.pest](../../grammar/src/flow.pest), without the rules that are there for messages alone. `x?` may be left out, `x*` comes any \
         number of times, `x+` at least once, `a | b` is one of both, the first that fits. Blanks and comments (`//` to the end of the line) may stand between \
         any two parts. Words are whole words: `whereabouts` is not `where`.\n",
    );
    let mut rules: Vec<(&str, String)> = Vec::new();
    let (mut sections, mut body) = (Vec::new(), String::new());
    for line in pest.lines() {
        if let Some(title) = line.strip_prefix("// ---- ") {
            sections.push((rules.len(), title.trim_end_matches([' ', '-'])));
        } else if !line.starts_with("//") {
            if body.is_empty() && !line.contains('=') {
                continue;
            }
            body.push_str(line);
            body.push('\n');
            let open = tokens(&body).iter().filter(|token| **token == "{").count();
            if open > 0 && open == tokens(&body).iter().filter(|token| **token == "}").count() {
                let name = line_name(&body, pest);
                let inner = body.split_once('{').map_or("", |(_, inner)| inner);
                let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
                rules.push((name, inner.to_owned()));
                body.clear();
            }
        }
    }
    let words: BTreeMap<&str, String> = rules
        .iter()
        .filter(|(name, _)| name.starts_with("kw_"))
        .filter_map(|(name, body)| Some((*name, tokens(body).first()?.trim_matches('"').to_owned())))
        .collect();
    for (number, (start, title)) in sections.iter().enumerate() {
        let end = sections.get(number + 1).map_or(rules.len(), |(end, _)| *end);
        let mut block = String::new();
        for (name, body) in rules[*start..end].iter().filter(|(name, _)| is_shown(name)) {
            let part = Parser { tokens: tokens(body), at: 0 }.choice();
            if let Some(part) = shown(part, &words) {
                let _ = writeln!(block, "{}", wrapped(name, &print(&part, false)));
            }
        }
        if !block.is_empty() {
            let _ = write!(out, "\n## {title}\n\n```text\n{block}```\n");
        }
    }
    out
}

/// The name at the start of a rule, as a part of the whole text.
fn line_name<'t>(body: &str, pest: &'t str) -> &'t str {
    let name = body.split('=').next().unwrap_or_default().trim();
    pest.find(&format!("\n{name} ")).map_or("", |at| &pest[at + 1..at + 1 + name.len()])
}
