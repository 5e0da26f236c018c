//! What can be written at the cursor.
//!
//! A word is put there first, so that a text that is only begun parses as if it were whole; then the file is analysed, and what is in
//! scope at that word is offered. Where it does not parse all the same, the tokens before it say what belongs there.

use millstream_grammar::tokens;
use millstream_runtime::connectors::{self as catalog, OptionSpec, OptionTy};
use millstream_runtime::formats;

use super::analysis::Analysis;
use super::describe;
use super::place::{self, Owner, Place, Side};
use super::words::{self, Word};
use crate::session::{Library, Loader};
use crate::source::FileId;
use crate::syntax::ast::ItemKind;
use crate::syntax::{RESERVED, Remembered};

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    Column,
    Param,
    Option,
    Value,
    Stream,
    Connector,
    Operator,
    Type,
    Function,
    Keyword,
}

/// Something that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    pub kind: CompletionKind,
    /// Its type, in a few words.
    pub detail: String,
    /// Markdown.
    pub doc: String,
    /// What takes the place of the word that is begun.
    pub insert: String,
}

/// What can be written, and where the word begins that it takes the place of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    pub start: u32,
    pub list: Vec<Completion>,
}

/// What stands at the cursor while it is looked at. Nobody has such a name.
const MARK: &str = "millstream0cursor";

/// What can be written at an offset of a file.
pub fn complete(path: &str, offset: u32, loader: &dyn Loader) -> Completions {
    let Some(text) = loader.load(path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Completions::default();
    };
    let at = offset as usize;
    let Some(before) = text.get(..at) else { return Completions::default() };
    let start =
        before.rfind(|c| !tokens::is_word(c)).map_or(0, |end| end + before[end..].chars().next().map_or(0, char::len_utf8));
    let marked = format!("{before}{MARK}{}", &text[at..]);
    let found = place::find(&marked, at);
    if found.place == Place::Nothing && !found.line {
        return Completions::default();
    }
    let cursor = offset + 1;
    let loader = Marked { loader, path, text: &marked };
    let Ok(analysis) = Analysis::at(path, &loader, cursor) else { return Completions::default() };
    let mut offers = Offers { analysis: &analysis, cursor, text: &marked, list: Vec::new() };
    offers.at(&found.place);
    if found.line && found.place != Place::Item {
        offers.at(&Place::Item);
    }
    let mut list = offers.list;
    list.retain(|offer| !offer.label.contains(MARK) && !offer.label.is_empty());
    Completions { start: start as u32, list }
}

/// The files, with a word at the cursor.
struct Marked<'a> {
    loader: &'a dyn Loader,
    path: &'a str,
    text: &'a str,
}

impl Loader for Marked<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match path == self.path {
            true => Ok(self.text.as_bytes().to_vec()),
            false => self.loader.load(path),
        }
    }

    fn remembered(&self) -> Option<&Remembered> {
        self.loader.remembered()
    }

    fn libraries(&self, file: &str) -> Result<Vec<Library>, String> {
        self.loader.libraries(file)
    }
}

pub(super) struct Offers<'a> {
    pub analysis: &'a Analysis,
    pub cursor: u32,
    pub text: &'a str,
    pub list: Vec<Completion>,
}

impl Offers<'_> {
    pub fn add(&mut self, label: &str, kind: CompletionKind, detail: impl Into<String>, doc: impl Into<String>) {
        let insert = match kind {
            CompletionKind::Column | CompletionKind::Stream | CompletionKind::Param if !is_plain(label) => format!("`{label}`"),
            _ => label.to_owned(),
        };
        self.list.push(Completion { label: label.to_owned(), kind, detail: detail.into(), doc: doc.into(), insert });
    }

    fn words(&mut self, words: &[Word]) {
        for word in words {
            self.add(word.word, CompletionKind::Keyword, "", describe::word(word));
        }
    }

    pub fn keywords(&mut self, words: &[&str]) {
        words.iter().for_each(|word| self.add(word, CompletionKind::Keyword, "", ""));
    }

    fn at(&mut self, place: &Place) {
        match place {
            Place::Nothing => {}
            Place::Item => self.words(words::ITEMS),
            Place::Words(words) => self.keywords(words),
            Place::Use => self.keywords(&["rust", "crate"]),
            Place::Connector(side) => self.connectors(*side),
            Place::Option(owner, given) => self.options(owner, given),
            Place::OptionValue(owner, option) => self.option_value(owner, option),
            Place::Clause(side, value) => {
                self.words(match side {
                    Side::Source => words::SOURCE_CLAUSES,
                    Side::Lookup => words::LOOKUP_CLAUSES,
                    Side::Sink => words::SINK_CLAUSES,
                });
                if *value {
                    self.keywords(words::OPERATORS);
                }
            }
            Place::Setting(given) => {
                for word in words::SETTINGS.iter().filter(|word| !given.iter().any(|given| given == word.word)) {
                    self.add(word.word, CompletionKind::Option, "", describe::word(word));
                    self.colon();
                }
            }
            Place::SettingValue(setting) => self.keywords(match setting.as_str() {
                "state" => &["memory", "disk"],
                "restart" => &["none", "fixed", "failure_rate", "exponential"],
                "on error" => &["fail", "skip", "into"],
                "checkpoint" => &["every"],
                _ => &[],
            }),
            Place::Attribute => self.words(words::ATTRIBUTES),
            Place::ColumnAttribute => self.words(words::COLUMN_ATTRIBUTES),
            Place::Type => self.types(),
            Place::Stream(words) => {
                self.streams();
                self.keywords(words);
            }
            Place::Stage => self.words(words::STAGES),
            Place::Operator => {
                self.operators();
                self.keywords(&["by"]);
            }
            Place::Column => {
                for (name, ty) in self.rows() {
                    self.add(&name, CompletionKind::Column, ty, "");
                }
            }
            Place::Window => self.words(words::WINDOWS),
            Place::Value { stage, behind, inside } => self.value(stage, *behind, *inside),
            Place::Field => self.fields(),
        }
    }

    /// What was added last is followed by its value.
    fn colon(&mut self) {
        if let Some(last) = self.list.last_mut() {
            last.insert.push_str(": ");
        }
    }

    fn connectors(&mut self, side: Side) {
        let own = self.analysis.facts.connectors.iter().map(|(spec, _)| *spec);
        let all: Vec<_> = own.chain(catalog::CONNECTORS.iter().copied()).collect();
        for spec in all.into_iter().filter(|spec| describe::side(spec, side).is_some()) {
            let first = spec.doc.split_inclusive(". ").next().unwrap_or_default().lines().next().unwrap_or_default();
            self.add(spec.name, CompletionKind::Connector, first.trim(), describe::connector(spec, side));
        }
        if side == Side::Source {
            let form = "hybrid { history = file { .. }  live = file { .. } }";
            let doc = describe::page(form, "Stages of connectors, one after the other: history first, then what is live.");
            self.add("hybrid", CompletionKind::Keyword, "", doc);
        }
    }

    fn options(&mut self, owner: &Owner, given: &[String]) {
        let is_given = |name: &str| given.iter().any(|given| given == name);
        match owner {
            Owner::Connector(side, name) => {
                let Some((options, formats)) = self.analysis.connector(name).and_then(|spec| describe::side(spec, *side)) else {
                    return;
                };
                self.described(options.iter().filter(|option| !is_given(option.name)));
                if !formats.is_empty() && !is_given("format") {
                    let code = format!("format: {} = {}", formats.join(" | "), formats[0]);
                    self.add(
                        "format",
                        CompletionKind::Option,
                        formats.join(" | "),
                        describe::page(&code, "How rows look as bytes."),
                    );
                    self.colon();
                }
            }
            Owner::Format(name) => {
                let options = formats::find(name).map_or(&[][..], |format| format.options);
                self.described(options.iter().filter(|option| !is_given(option.name)));
            }
            Owner::Operator(name) => {
                let Some(operator) = self.analysis.facts.operators.get(name) else { return };
                for (option, ty) in operator.options.iter().filter(|(option, _)| !is_given(option)) {
                    let place = self.analysis.operator_option_place(name, option);
                    let doc = place.and_then(|span| self.analysis.doc_above(span)).unwrap_or_default();
                    self.add(option, CompletionKind::Option, ty.to_string(), describe::page(&format!("{option}: {ty}"), &doc));
                    self.colon();
                }
            }
        }
    }

    fn described<'o>(&mut self, options: impl Iterator<Item = &'o OptionSpec>) {
        // What must be given comes first.
        let mut options: Vec<&OptionSpec> = options.collect();
        options.sort_by_key(|option| !option.required);
        for option in options {
            self.add(option.name, CompletionKind::Option, describe::option_detail(option), describe::option(option));
            self.colon();
        }
    }

    fn option_value(&mut self, owner: &Owner, name: &str) {
        let found = match owner {
            Owner::Connector(side, connector) => {
                let Some((options, formats)) = self.analysis.connector(connector).and_then(|spec| describe::side(spec, *side))
                else {
                    return;
                };
                if name == "format" {
                    for format in formats {
                        let doc = formats::find(format).map_or("", |format| format.doc);
                        self.add(format, CompletionKind::Value, "", doc);
                    }
                    return;
                }
                options.iter().find(|option| option.name == name)
            }
            Owner::Format(format) => {
                formats::find(format).and_then(|format| format.options.iter().find(|option| option.name == name))
            }
            Owner::Operator(operator) => {
                if self
                    .analysis
                    .operator_option(operator, name)
                    .is_some_and(|ty| *ty.required() == millstream_runtime::graph::Ty::Bool)
                {
                    self.keywords(&["true", "false"]);
                }
                return self.params();
            }
        };
        match found.map(|option| option.ty) {
            Some(OptionTy::Word(words)) => words.iter().for_each(|word| self.add(word, CompletionKind::Value, "", "")),
            Some(OptionTy::Columns) => self.at(&Place::Column),
            Some(ty) => {
                match ty {
                    OptionTy::Bool => self.keywords(&["true", "false"]),
                    OptionTy::Every => self.keywords(&["every"]),
                    _ => {}
                }
                self.params();
                let stages = self.analysis.facts.seen.iter().flat_map(|seen| seen.stages.clone()).collect::<Vec<_>>();
                stages.iter().for_each(|stage| self.add(stage, CompletionKind::Value, "an earlier stage", ""));
            }
            None => {}
        }
    }

    fn types(&mut self) {
        let own: Vec<String> = self.analysis.facts.types.keys().cloned().collect();
        for name in own {
            let doc = self.analysis.describe_type(&name).unwrap_or_default();
            self.add(&name, CompletionKind::Type, "", doc);
        }
        crate::hir::BUILT_IN_TYPES.iter().for_each(|name| self.add(name, CompletionKind::Type, "", ""));
    }

    fn streams(&mut self) {
        let facts = &self.analysis.facts;
        let here = self.item().and_then(|item| match &item.kind {
            ItemKind::Stream(stream) => Some(stream.name.text.clone()),
            _ => None,
        });
        let names: Vec<String> = facts.streams.keys().filter(|name| here.as_ref() != Some(name)).cloned().collect();
        for name in names {
            let doc = self.analysis.describe_stream(&name).unwrap_or_default();
            self.add(&name, CompletionKind::Stream, "", doc);
        }
    }

    fn operators(&mut self) {
        let names: Vec<String> = self.analysis.facts.operators.keys().cloned().collect();
        for name in names {
            let doc = self.analysis.describe_operator(&name).unwrap_or_default();
            self.add(&name, CompletionKind::Operator, "", doc);
        }
    }

    /// The item in which the cursor is.
    pub fn item(&self) -> Option<&crate::syntax::ast::Item> {
        let items = &self.analysis.file()?.items;
        items.iter().find(|item| item.span.start <= self.cursor && self.cursor <= item.span.end)
    }

    /// Columns of the rows at the cursor, with their types.
    pub fn rows(&self) -> Vec<(String, String)> {
        let typed = |columns: &[(String, millstream_runtime::graph::Ty)]| {
            columns.iter().map(|(name, ty)| (name.clone(), ty.to_string())).collect::<Vec<_>>()
        };
        let facts = &self.analysis.facts;
        let of_source = match self.item().map(|item| &item.kind) {
            Some(ItemKind::Source(source)) => facts.streams.get(&source.name.text),
            Some(ItemKind::Lookup(lookup)) => facts.streams.get(&lookup.name.text),
            _ => None,
        };
        of_source.or_else(|| self.input()).map(|rows| typed(&rows.columns)).unwrap_or_default()
    }

    /// What the operator at the cursor takes.
    pub fn input(&self) -> Option<&crate::hir::facts::Rows> {
        let start = self.item().map_or(0, |item| item.span.start);
        let here = self
            .analysis
            .facts
            .inputs
            .iter()
            .filter(|input| input.span.file == FileId(0) && start <= input.span.start && input.span.start <= self.cursor);
        here.max_by_key(|input| input.span.start).map(|input| &input.rows)
    }
}

/// Whether a name needs no backticks.
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(tokens::is_word_start) && characters.all(tokens::is_word) && !RESERVED.contains(&name)
}
