//! What can stand at a place in a text, also where it does not parse: read from the tokens before it, within its item.
//!
//! In comes a text in which a word stands at the place; out goes a [`Place`]. It never fails.

use millstream_grammar::split::{Piece, PieceKind, Split, split_items};
use millstream_grammar::tokens::{Token, TokenKind};

/// Which side of a connector is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Source,
    Lookup,
    Sink,
}

/// Whose options stand in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Connector(Side, String),
    /// `format: csv { .. }` of a connector.
    Format(String),
    /// An operator of a Rust file.
    Operator(String),
}

/// What can stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing that is known: a name that is being given, a text, a comment.
    Nothing,
    /// The beginning of an item.
    Item,
    /// One of these words.
    Words(&'static [&'static str]),
    /// What can be used: `rust`, `crate`, a file.
    Use,
    Connector(Side),
    /// The name of an option; those that are given already.
    Option(Owner, Vec<String>),
    /// The value of an option.
    OptionValue(Owner, String),
    /// Clauses behind the connector of a source, a lookup or a sink; an expression stands before it (`watermark x |`).
    Clause(Side, bool),
    Setting(Vec<String>),
    SettingValue(String),
    /// Of an operator or an item.
    Attribute,
    ColumnAttribute,
    Type,
    /// A stream or a lookup; words that may stand there, too.
    Stream(&'static [&'static str]),
    /// The beginning of an operator.
    Stage,
    /// The name of an operator of a Rust file, and where keys can stand before it, those.
    Operator,
    /// A column of the stream, by name.
    Column,
    Window,
    /// An expression, of this operator or item.
    Value {
        stage: String,
        /// Behind an operand.
        behind: bool,
        /// Within brackets, so that no clause can stand there.
        inside: bool,
    },
    /// Behind a point.
    Field,
}

/// The place, and whether an item can begin there as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub place: Place,
    /// It is the first word of a line that is not indented.
    pub line: bool,
}

/// What can stand where the word at `at` stands.
pub fn find(text: &str, at: usize) -> Found {
    let split = split_items(text);
    let nothing = Found { place: Place::Nothing, line: false };
    let Some(index) = split.tokens.iter().position(|token| token.range.contains(&at)) else { return nothing };
    if split.tokens[index].kind != TokenKind::Word {
        return nothing;
    }
    let Some(piece) = split.pieces.iter().find(|piece| piece.tokens.contains(&index)) else { return nothing };
    let context = Context::new(text, &split, piece, index);
    let first_of_line = text[..split.tokens[index].range.start].rsplit('\n').next().is_none_or(str::is_empty);
    let line = first_of_line && context.open.is_empty();
    let place = match piece.kind {
        PieceKind::Item(word) => context.item(word),
        _ if context.before.is_empty() => Place::Item,
        _ => Place::Nothing,
    };
    Found { place, line }
}

/// The tokens of an item before the place.
struct Context<'a> {
    text: &'a str,
    before: Vec<&'a Token>,
    /// Indices of brackets that are open.
    open: Vec<usize>,
    /// The place is on another line than the token before it.
    new_line: bool,
}

impl<'a> Context<'a> {
    fn new(text: &'a str, split: &'a Split, piece: &Piece, index: usize) -> Self {
        let before: Vec<&Token> = split.tokens[piece.tokens.start..index].iter().filter(|token| !token.is_trivia()).collect();
        let mut open = Vec::new();
        for (index, token) in before.iter().enumerate() {
            match token.kind {
                TokenKind::Open => open.push(index),
                TokenKind::Close => {
                    open.pop();
                }
                _ => {}
            }
        }
        let end = before.last().map_or(0, |token| token.range.end);
        let new_line = text[end..split.tokens[index].range.start].contains('\n');
        Context { text, before, open, new_line }
    }

    /// The text of a token before the place; empty where there is none.
    fn word(&self, index: usize) -> &'a str {
        self.before.get(index).map_or("", |token| token.text(self.text))
    }

    /// So many tokens before the place: 1 is the last.
    fn back(&self, count: usize) -> &'a str {
        self.before.len().checked_sub(count).map_or("", |index| self.word(index))
    }

    fn is_operand(&self, index: usize) -> bool {
        let Some(token) = self.before.get(index) else { return false };
        match token.kind {
            TokenKind::Word => !NO_OPERANDS.contains(&token.text(self.text)),
            TokenKind::Symbol => false,
            TokenKind::Open => false,
            _ => true,
        }
    }

    /// Tokens between two that stand in no bracket opened behind `from`.
    fn flat(&self, from: usize) -> Vec<usize> {
        let (mut depth, mut flat) = (0usize, Vec::new());
        for index in from..self.before.len() {
            match self.before[index].kind {
                TokenKind::Open => {
                    if depth == 0 {
                        flat.push(index);
                    }
                    depth += 1;
                }
                TokenKind::Close => depth = depth.saturating_sub(1),
                _ if depth == 0 => flat.push(index),
                _ => {}
            }
        }
        flat
    }

    fn item(&self, word: &str) -> Place {
        if self.back(1) == "@" {
            return if word == "record" && !self.open.is_empty() { Place::ColumnAttribute } else { Place::Attribute };
        }
        // Attributes may stand before it.
        let Some(start) = (0..self.before.len()).find(|index| self.word(*index) == word && self.before_item(*index)) else {
            return Place::Item;
        };
        let start = start + 1;
        match word {
            "source" => self.read(start, Side::Source),
            "lookup" => self.read(start, Side::Lookup),
            "sink" => self.sink(start),
            "stream" if self.word(start + 1) == "=" => self.pipeline(start + 2, "|"),
            "job" => self.job(),
            "record" => self.columns(),
            "param" => self.param(start),
            "fn" => self.function(start),
            "use" => match (self.before.len() - start, self.back(1)) {
                (0, _) => Place::Use,
                _ => Place::Nothing,
            },
            _ => Place::Nothing,
        }
    }

    fn before_item(&self, index: usize) -> bool {
        index == 0 || (self.word(0) == "@" && (self.word(index - 1) != "@"))
    }

    /// `source x: T from connector { .. } clauses`
    fn read(&self, start: usize, side: Side) -> Place {
        let flat = self.flat(start);
        let Some(from) = flat.iter().copied().find(|index| self.word(*index) == "from") else {
            return match self.word(start + 1) {
                ":" if self.back(1) == ":" || !self.open.is_empty() || self.in_angles(start + 1) => Place::Type,
                ":" => Place::Words(&["from"]),
                _ => Place::Nothing,
            };
        };
        self.connector(from, side)
    }

    /// Behind `from` or `into`.
    fn connector(&self, from: usize, side: Side) -> Place {
        if from + 1 == self.before.len() {
            return Place::Connector(side);
        }
        if let Some(open) = self.open.iter().copied().find(|open| *open > from)
            && open == from + 2
        {
            return self.block(side);
        }
        let flat = self.flat(from + 2);
        let clause = flat.iter().rev().map(|index| self.word(*index)).find(|word| CLAUSES.contains(word));
        match (self.back(1), clause) {
            ("on", _) => Place::Words(&["error"]),
            ("error", _) => Place::Words(&["fail", "skip", "into"]),
            ("idle", _) => Place::Words(&["after"]),
            ("up", _) => Place::Words(&["to"]),
            ("into" | "align", _) => Place::Nothing,
            ("key", _) => Place::Column,
            (_, Some("key")) if !self.open.is_empty() => Place::Column,
            ("watermark", _) => Place::Value { stage: "watermark".to_owned(), behind: false, inside: true },
            (_, Some("watermark")) if !self.is_operand(self.before.len() - 1) => {
                Place::Value { stage: "watermark".to_owned(), behind: false, inside: true }
            }
            ("after" | "within" | "every" | "cache" | "to", _) => Place::Nothing,
            (_, clause) => Place::Clause(side, clause == Some("watermark")),
        }
    }

    /// Within the braces of a connector, or of something in them.
    fn block(&self, side: Side) -> Place {
        let Some(brace) = self.open.iter().rev().copied().find(|open| self.word(*open) == "{") else { return Place::Nothing };
        let name = self.word(brace.wrapping_sub(1)).to_owned();
        let owner = match self.word(brace.wrapping_sub(2)) {
            _ if name == "hybrid" => {
                return if matches!(self.back(1), "=" | ":") { Place::Connector(side) } else { Place::Nothing };
            }
            "from" | "into" | "=" => Owner::Connector(side, name),
            ":" if self.word(brace.wrapping_sub(3)) == "format" => Owner::Format(name),
            // A stage of a hybrid source, with a sign that is wrong.
            ":" => Owner::Connector(side, name),
            _ => return Place::Nothing,
        };
        self.options(brace, owner)
    }

    /// Within a block of options.
    fn options(&self, brace: usize, owner: Owner) -> Place {
        let (given, open) = self.entries(brace);
        match open {
            Some(option) => Place::OptionValue(owner, option),
            None => Place::Option(owner, given),
        }
    }

    /// The names of `name: value` entries in a brace; and that of the one in whose value the place is.
    fn entries(&self, brace: usize) -> (Vec<String>, Option<String>) {
        let flat = self.flat(brace + 1);
        let mut given = Vec::new();
        let mut colon = None;
        for pair in flat.windows(2) {
            if matches!(self.word(pair[1]), ":" | "=") {
                given.push(match self.word(pair[0]) {
                    // `on error` is one name.
                    "error" => "on error".to_owned(),
                    name => name.to_owned(),
                });
                colon = Some(pair[1]);
            }
        }
        let comma = flat.iter().rev().copied().find(|index| matches!(self.word(*index), "," | ";"));
        let last = self.before.len() - 1;
        let open = colon.filter(|colon| {
            // Entries may also be parted by lines.
            let goes_on = !self.new_line || matches!(self.before[last].kind, TokenKind::Symbol | TokenKind::Open);
            comma.is_none_or(|comma| comma < *colon) && goes_on
        });
        let open = open.and_then(|_| given.last().cloned());
        (given, open)
    }

    fn sink(&self, start: usize) -> Place {
        let flat = self.flat(start);
        let into = flat
            .iter()
            .rposition(|index| self.word(*index) == "into")
            .filter(|at| *at == 0 || !matches!(self.word(flat[*at - 1]), "late" | "side" | "error"));
        match into {
            Some(at) => self.connector(flat[at], Side::Sink),
            None => self.pipeline(start, "into"),
        }
    }

    fn job(&self) -> Place {
        let Some(brace) = self.open.last().copied() else { return Place::Nothing };
        if self.word(brace) != "{" || self.open.len() > 1 {
            return match self.word(brace.wrapping_sub(1)) {
                "disk" => Place::Words(&["path", "memory"]),
                _ if self.word(brace) == "{" => Place::Words(crate::hir::CHECKPOINT_SETTINGS),
                _ => Place::Nothing,
            };
        }
        let (given, open) = self.entries(brace);
        match (open, self.back(1)) {
            (Some(name), _) => Place::SettingValue(name),
            (None, "on") => Place::Words(&["error"]),
            (None, _) => Place::Setting(given),
        }
    }

    fn columns(&self) -> Place {
        let Some(brace) = self.open.iter().rev().copied().find(|open| self.word(*open) == "{") else { return Place::Nothing };
        let colon = self.flat(brace + 1).into_iter().rev().find(|index| self.word(*index) == ":");
        self.ty(colon)
    }

    /// Behind a colon that stands before a type, if it is not behind the type.
    fn ty(&self, colon: Option<usize>) -> Place {
        match colon {
            Some(colon) if colon + 1 == self.before.len() || self.in_angles(colon) => Place::Type,
            _ => Place::Nothing,
        }
    }

    /// Whether `<` is open behind a token.
    fn in_angles(&self, from: usize) -> bool {
        let count = |sign| (from..self.before.len()).filter(|index| self.word(*index) == sign).count();
        count("<") > count(">")
    }

    fn param(&self, start: usize) -> Place {
        let flat = self.flat(start);
        match flat.iter().copied().find(|index| self.word(*index) == "=") {
            Some(_) => self.value("param"),
            None => self.ty(flat.into_iter().find(|index| self.word(*index) == ":")),
        }
    }

    fn function(&self, start: usize) -> Place {
        let flat = self.flat(start + 1);
        if flat.iter().any(|index| self.word(*index) == "=") {
            return self.value("fn");
        }
        match self.open.first() {
            Some(open) => {
                let colon = self.flat(open + 1).into_iter().rev().find(|index| self.word(*index) == ":");
                self.ty(colon)
            }
            None => self.ty(flat.into_iter().rev().find(|index| matches!(self.word(*index), ":" | "->"))),
        }
    }

    fn pipeline(&self, start: usize, after_name: &'static str) -> Place {
        let flat = self.flat(start);
        let Some(pipe) = flat.iter().copied().rev().find(|index| self.word(*index) == "|") else {
            return match (self.before.len() - start, self.back(1)) {
                (0, _) => Place::Stream(&[]),
                (_, "as") => Place::Nothing,
                _ if after_name == "into" => Place::Words(&["as", "into"]),
                _ => Place::Words(&["as"]),
            };
        };
        let mut from = pipe + 1;
        while self.word(from) == "@" {
            from += 2;
            if self.word(from) == "(" {
                let close = (from..self.before.len()).find(|index| self.word(*index) == ")");
                from = close.map_or(self.before.len(), |close| close + 1);
            }
        }
        if from >= self.before.len() {
            // Within the arguments of an attribute.
            return if self.open.iter().any(|open| *open > pipe) { Place::Nothing } else { Place::Stage };
        }
        self.stage(from)
    }

    fn stage(&self, from: usize) -> Place {
        let (word, last) = (self.word(from), self.back(1));
        let kind = matches!(word, "left" | "right" | "full" | "semi" | "anti");
        let word = if kind { "join" } else { word };
        let inside = self.open.iter().any(|open| *open > from);
        match (word, last) {
            (_, "." | "?.") => Place::Field,
            ("join", "left" | "right" | "full" | "semi" | "anti") => Place::Words(&["join"]),
            ("join", "join") => Place::Stream(&[]),
            ("union", "union" | ",") => Place::Stream(&[]),
            ("intersect" | "except", "intersect" | "except") => Place::Stream(&["all"]),
            ("intersect" | "except", "," | "all") => Place::Stream(&[]),
            ("process", "process") => Place::Operator,
            ("process", "with") => Place::Stream(&["broadcast"]),
            ("process", "broadcast") => Place::Stream(&[]),
            (_, "late" | "side") if !inside => Place::Words(&["into"]),
            (_, "into" | "as") if !inside => {
                if word == "join" {
                    Place::Words(&["of"])
                } else {
                    Place::Nothing
                }
            }
            (_, "keep") if !inside => Place::Words(&["first", "last"]),
            ("aggregate" | "top" | "join", "over") if !inside => Place::Window,
            ("partition", "partition") | ("dedup", "dedup") | ("sort", "sort") => Place::Words(&["by"]),
            ("process", _) => self.process(from),
            ("union" | "intersect" | "except" | "final" | "changes" | "distinct" | "rebalance" | "broadcast", _) => {
                Place::Words(&["into"])
            }
            (word, _) => self.value(word),
        }
    }

    /// `process by keys Name { options } with other by key side into x`
    fn process(&self, from: usize) -> Place {
        if let Some(brace) = self.open.iter().copied().find(|open| *open > from && self.word(*open) == "{") {
            let name = self.word(brace - 1).to_owned();
            return self.options(brace, Owner::Operator(name));
        }
        // Behind the keys, and before anything else.
        let flat = self.flat(from);
        let named = flat.iter().any(|index| matches!(self.word(*index), "{" | "with" | "side"));
        match !named && self.word(from + 1) == "by" && self.is_operand(self.before.len() - 1) && self.open.is_empty() {
            true => Place::Operator,
            false => self.value("process"),
        }
    }

    fn value(&self, stage: &str) -> Place {
        if matches!(self.back(1), "." | "?.") {
            return Place::Field;
        }
        let behind = self.before.len().checked_sub(1).is_some_and(|last| self.is_operand(last));
        Place::Value { stage: stage.to_owned(), behind, inside: !self.open.is_empty() }
    }
}

/// Words behind which an operand stands.
const NO_OPERANDS: &[&str] = &[
    "where",
    "and",
    "or",
    "not",
    "in",
    "is",
    "like",
    "matches",
    "between",
    "if",
    "then",
    "else",
    "match",
    "by",
    "per",
    "over",
    "on",
    "within",
    "of",
    "allow",
    "every",
    "watermark",
    "explode",
    "top",
    "select",
    "aggregate",
    "last",
    "order",
    "distinct",
    "dedup",
    "keep",
    "sort",
    "after",
    "cache",
    "process",
    "with",
];

/// Words that begin a clause behind a connector.
const CLAUSES: &[&str] = &["watermark", "on", "key", "idle", "align", "cache", "unordered"];
