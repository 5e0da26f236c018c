//! The outline of a file: its items, and what is in them.

use crate::source::{FileId, Span};
use crate::syntax::ast::{Item, ItemKind, Name, OnError, StageKind};
use crate::syntax::parse;

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    Job,
    Param,
    Record,
    Enum,
    EnumValue,
    Column,
    Function,
    Source,
    Lookup,
    Stream,
    Sink,
}

/// A name that a file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// For people: a type, a connector.
    pub detail: String,
    /// All of it.
    pub span: Span,
    /// Its name.
    pub name_span: Span,
    pub children: Vec<Symbol>,
}

/// The outline of a text.
pub fn symbols(text: &str) -> Vec<Symbol> {
    let source = |span: Span| text.get(span.start as usize..span.end as usize).unwrap_or_default();
    parse(FileId(0), text).file.items.iter().filter_map(|item| symbol(item, &source)).collect()
}

fn symbol<'t>(item: &Item, source: &dyn Fn(Span) -> &'t str) -> Option<Symbol> {
    let (name, kind, detail) = match &item.kind {
        ItemKind::Job(job) => (&job.name, SymbolKind::Job, String::new()),
        ItemKind::Param(param) => (&param.name, SymbolKind::Param, source(param.ty.span).to_owned()),
        ItemKind::Record(record) => (&record.name, SymbolKind::Record, String::new()),
        ItemKind::Enum(node) => (&node.name, SymbolKind::Enum, String::new()),
        ItemKind::Function(function) => {
            let returns = function.returns.as_ref().map_or("", |ty| source(ty.span));
            (&function.name, SymbolKind::Function, returns.to_owned())
        }
        ItemKind::Source(from) => {
            (&from.name, SymbolKind::Source, format!("{} from {}", source(from.ty.span), from.connector.name.text))
        }
        ItemKind::Lookup(from) => {
            (&from.name, SymbolKind::Lookup, format!("{} from {}", source(from.ty.span), from.connector.name.text))
        }
        ItemKind::Stream(stream) => (&stream.name, SymbolKind::Stream, String::new()),
        ItemKind::Sink(sink) => (&sink.pipeline.input, SymbolKind::Sink, format!("into {}", sink.connector.name.text)),
        ItemKind::Error(Some(name)) => (name, SymbolKind::Stream, "does not parse".to_owned()),
        ItemKind::Use(_) | ItemKind::Error(None) => return None,
    };
    if name.text.is_empty() {
        return None;
    }
    let child = |name: &Name, kind, detail: &str, span| Symbol {
        name: name.text.clone(),
        kind,
        detail: detail.to_owned(),
        span,
        name_span: name.span,
        children: Vec::new(),
    };
    let children = match &item.kind {
        ItemKind::Record(record) => {
            let columns = record.columns.iter().filter(|column| !column.name.text.is_empty());
            columns.map(|column| child(&column.name, SymbolKind::Column, source(column.ty.span), column.span)).collect()
        }
        ItemKind::Enum(node) => node.values.iter().map(|value| child(value, SymbolKind::EnumValue, "", value.span)).collect(),
        ItemKind::Stream(stream) => {
            let late = stream.pipeline.stages.iter().filter_map(|stage| late(&stage.kind));
            late.map(|name| child(name, SymbolKind::Stream, "late rows", name.span)).collect()
        }
        ItemKind::Source(from) => match &from.on_error {
            Some((OnError::Into(name), _)) => vec![child(name, SymbolKind::Stream, "records that cannot be read", name.span)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    Some(Symbol { name: name.text.clone(), kind, detail, span: item.span.to(name.span), name_span: name.span, children })
}

/// The stream that an operator's `late into` defines.
fn late(stage: &StageKind) -> Option<&Name> {
    match stage {
        StageKind::Dedup { late_into, .. } => late_into.as_ref(),
        StageKind::Aggregate(aggregate) => aggregate.late_into.as_ref(),
        StageKind::Top(top) => top.late_into.as_ref(),
        StageKind::Sort(sort) => sort.late_into.as_ref(),
        StageKind::Join(join) => join.late_into.as_ref(),
        _ => None,
    }
}
