//! Collects the items of all files by kind and name, before anything is looked at in detail.
//!
//! The first file is the one the user named. Of the others, which came by `use`, jobs and sinks do not count.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::errors::names;
use crate::diagnostics::Diagnostics;
use crate::rust::RustFile;
use crate::source::{FileId, Span};
use crate::syntax::ast::{self, ItemKind, Name, OnError, Pipeline, SettingValue, StageKind};

/// An item: what it is, and the doc and attributes around it.
#[derive(Debug)]
pub struct Entry<'a, T> {
    pub item: &'a ast::Item,
    pub node: &'a T,
}

/// What the name of a stream stands for: an index into the list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamItem {
    Source(usize),
    Stream(usize),
    Late(usize),
}

/// A stream defined by `late into x` or `on error into x`.
#[derive(Debug)]
pub struct Late<'a> {
    pub name: &'a Name,
    /// Where it stands.
    pub owner: Owner,
}

/// Where a clause that defines a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Stream(usize),
    Sink(usize),
    Source(usize),
    Job,
}

/// All items, by kind.
#[derive(Debug, Default)]
pub struct Items<'a> {
    pub main: FileId,
    pub job: Option<Entry<'a, ast::Job>>,
    pub params: Vec<Entry<'a, ast::Param>>,
    pub records: Vec<Entry<'a, ast::Record>>,
    pub enums: Vec<Entry<'a, ast::Enum>>,
    pub functions: Vec<Entry<'a, ast::Function>>,
    pub sources: Vec<Entry<'a, ast::Source>>,
    pub lookups: Vec<Entry<'a, ast::Lookup>>,
    pub streams: Vec<Entry<'a, ast::Stream>>,
    pub sinks: Vec<Entry<'a, ast::Sink>>,
    pub late: Vec<Late<'a>>,
    /// Sources, streams and late streams share one set of names.
    pub stream_names: BTreeMap<&'a str, StreamItem>,
    /// Names of functions, whether or not they turn out to be right.
    pub function_names: HashSet<&'a str>,
    /// Names of items that do not parse: what refers to them is no further mistake.
    pub broken: HashSet<&'a str>,
}

/// Sorts items by kind; reports those defined twice (the first one counts).
pub fn collect<'a>(files: &'a [(FileId, ast::File)], rust: &[RustFile], diags: &mut Diagnostics) -> Items<'a> {
    let main = files.first().map_or(FileId(0), |(id, _)| *id);
    let mut items = Items { main, ..Items::default() };
    let mut seen = Seen::default();
    let rust_file = |file: FileId| rust.iter().find(|of| of.id == file);
    for (file, ast) in files {
        for item in &ast.items {
            collect_item(&mut items, &mut seen, item, *file == main || rust_file(*file).is_some(), diags);
        }
    }
    // A sink in a Rust file is for pipelines that have its stream. They come last.
    let Items { sinks, stream_names, broken, .. } = &mut items;
    sinks.retain(|sink| {
        let Some(file) = rust_file(sink.item.span.file) else { return true };
        let stream = &sink.node.pipeline.input;
        let known = stream_names.contains_key(stream.text.as_str());
        // Crates may hold more than a pipeline uses.
        if !known && file.of_crate.is_none() && !broken.contains(stream.text.as_str()) {
            let names: Vec<&str> = stream_names.keys().copied().collect();
            diags.push(names::sink_without_stream(stream, &names));
        }
        known
    });
    items
}

fn collect_item<'a>(items: &mut Items<'a>, seen: &mut Seen<'a>, item: &'a ast::Item, main: bool, diags: &mut Diagnostics) {
    match &item.kind {
        ItemKind::Job(node) if main => match &items.job {
            None => {
                items.job = Some(Entry { item, node });
                for setting in &node.settings {
                    if let SettingValue::Into(name) = &setting.value {
                        items.define(seen, name, Owner::Job, diags);
                    }
                }
            }
            Some(first) => diags.push(names::defined_twice("job", &node.name.text, node.name.span, first.node.name.span)),
        },
        ItemKind::Param(node) if seen.first("param", &node.name, diags) => items.params.push(Entry { item, node }),
        ItemKind::Record(node) if seen.first("record", &node.name, diags) => items.records.push(Entry { item, node }),
        // Types share one set of names.
        ItemKind::Enum(node) if seen.first("record", &node.name, diags) => items.enums.push(Entry { item, node }),
        ItemKind::Function(node) if seen.first("function", &node.name, diags) => {
            items.function_names.insert(&node.name.text);
            items.functions.push(Entry { item, node });
        }
        ItemKind::Source(node) if seen.first("stream", &node.name, diags) => {
            let owner = Owner::Source(items.sources.len());
            items.stream_names.insert(&node.name.text, StreamItem::Source(items.sources.len()));
            items.sources.push(Entry { item, node });
            if let Some((OnError::Into(name), _)) = &node.on_error {
                items.define(seen, name, owner, diags);
            }
        }
        // They share their names with streams: both are joined.
        ItemKind::Lookup(node) if seen.first("stream", &node.name, diags) => items.lookups.push(Entry { item, node }),
        ItemKind::Stream(node) => {
            let owner = Owner::Stream(items.streams.len());
            if seen.first("stream", &node.name, diags) {
                items.stream_names.insert(&node.name.text, StreamItem::Stream(items.streams.len()));
            }
            // One defined twice is lowered all the same, so that mistakes in it are found.
            items.streams.push(Entry { item, node });
            collect_late(items, seen, &node.pipeline, owner, diags);
        }
        ItemKind::Sink(node) if main => {
            let owner = Owner::Sink(items.sinks.len());
            items.sinks.push(Entry { item, node });
            collect_late(items, seen, &node.pipeline, owner, diags);
        }
        ItemKind::Error(Some(name)) => {
            items.broken.insert(&name.text);
        }
        _ => {}
    }
}

fn collect_late<'a>(items: &mut Items<'a>, seen: &mut Seen<'a>, pipeline: &'a Pipeline, owner: Owner, diags: &mut Diagnostics) {
    for stage in &pipeline.stages {
        let (StageKind::Aggregate(ast::Aggregate { late_into: Some(name), .. })
        | StageKind::Top(ast::Top { late_into: Some(name), .. })
        | StageKind::Dedup { late_into: Some(name), .. }
        | StageKind::Sort(ast::Sort { late_into: Some(name), .. })
        | StageKind::Join(ast::Join { late_into: Some(name), .. })) = &stage.kind
        else {
            if let StageKind::Process(process) = &stage.kind {
                process.sides.iter().for_each(|side| items.define(seen, &side.into, owner, diags));
            }
            continue;
        };
        items.define(seen, name, owner, diags);
    }
}

impl<'a> Items<'a> {
    /// A stream that a clause defines.
    fn define(&mut self, seen: &mut Seen<'a>, name: &'a Name, owner: Owner, diags: &mut Diagnostics) {
        if seen.first("stream", name, diags) {
            self.stream_names.insert(&name.text, StreamItem::Late(self.late.len()));
            self.late.push(Late { name, owner });
        }
    }
}

/// Where names of each kind were first defined.
#[derive(Default)]
struct Seen<'a>(HashMap<(&'static str, &'a str), Span>);

impl<'a> Seen<'a> {
    /// Whether this is the first of its name; else reports it.
    fn first(&mut self, what: &'static str, name: &'a Name, diags: &mut Diagnostics) -> bool {
        if name.text.is_empty() {
            return false;
        }
        match self.0.get(&(what, name.text.as_str())) {
            Some(first) => {
                diags.push(names::defined_twice(what, &name.text, name.span, *first));
                false
            }
            None => {
                self.0.insert((what, &name.text), name.span);
                true
            }
        }
    }
}
