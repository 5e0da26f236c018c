//! Items: what stands at the top level of a file.

use super::{Column, Expr, Name, Pipeline, Type};
use crate::source::Span;

/// An item with what stands before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub kind: ItemKind,
    /// `///` lines before it, joined by newlines.
    pub doc: Option<String>,
    pub attributes: Vec<Attribute>,
    /// Only its beginning could be read, which is reported: a clause that is missing may be in the rest.
    pub partial: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    Job(Job),
    Use(Use),
    Param(Param),
    Record(Record),
    Enum(Enum),
    Function(Function),
    Source(Source),
    Lookup(Lookup),
    Stream(Stream),
    Sink(Sink),
    /// Does not parse, or is of a later edition; reported. Its name, where it could be read: references to it are
    /// no further mistakes.
    Error(Option<Name>),
}

/// `@id("totals")`, `@no_chain`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: Name,
    pub args: Vec<Expr>,
    pub span: Span,
}

/// `job name { settings }`
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub name: Name,
    pub settings: Vec<Setting>,
}

/// `parallelism: 2`, `checkpoint: every 10s to "./checkpoints"`, `on error: skip`, `restart: fixed(3, 10s)`
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// `on error` is one name.
    pub name: Name,
    pub value: SettingValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    Expr(Expr),
    /// `every 10s to "./checkpoints" { timeout: 10m }`
    Checkpoint {
        every: Expr,
        to: Option<Expr>,
        options: Vec<ConnectorOption>,
    },
    /// `into bad_rows`
    Into(Name),
    /// `disk { path: "./state" }`
    Block(Name, Vec<ConnectorOption>),
    Error,
}

/// `use "nexmark.flow"`, `use rust "enrich.rs"`, `use crate enrich`
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    pub kind: UseKind,
    /// The path of the file, or the name of the crate.
    pub path: String,
    pub path_span: Span,
}

/// What is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    Flow,
    Rust,
    Crate,
}

/// `param since: timestamp = @2026-01-01`
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
    pub default: Option<Expr>,
}

/// `record Flight { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub name: Name,
    pub columns: Vec<Column>,
}

/// `enum Status { open, "in transit" }`
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    pub name: Name,
    /// As they stand in the data.
    pub values: Vec<Name>,
}

/// `fn euros(usd: decimal(23, 3)): decimal(24, 3) = usd * 0.908d`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: Name,
    pub params: Vec<(Name, Type)>,
    pub returns: Option<Type>,
    pub body: Expr,
}

/// `source flights: Flight from file { .. } watermark time_hour - 1h on error skip`; clauses in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub name: Name,
    pub ty: Type,
    pub connector: Connector,
    pub watermark: Option<Expr>,
    /// `idle after 30s`
    pub idle: Option<Expr>,
    pub align: Option<Align>,
    pub on_error: Option<(OnError, Span)>,
    /// `key (id)`
    pub key: Vec<Name>,
}

/// `lookup rates: Rate from file { .. } key (currency) cache 10m up to 50_000 rows unordered`; clauses in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    pub name: Name,
    pub ty: Type,
    pub connector: Connector,
    /// `key (currency)`
    pub key: Vec<Name>,
    pub cache: Option<Cache>,
    /// `unordered`
    pub unordered: Option<Span>,
}

/// `cache 10m up to 50_000 rows`
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    pub time: Expr,
    pub limit: Option<Expr>,
    pub span: Span,
}

/// `align shop within 1m every 100ms`
#[derive(Clone, Debug, PartialEq)]
pub struct Align {
    pub group: Name,
    pub within: Expr,
    pub every: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnError {
    Fail,
    Skip,
    /// `into bad_orders`
    Into(Name),
}

/// `file { path: "..", format: csv { null: "NA" } }`, or `hybrid { history = file { .. } live = .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// `hybrid` for a connector with stages.
    pub name: Name,
    pub options: Vec<ConnectorOption>,
    /// None: it has options instead.
    pub stages: Option<Vec<ConnectorStage>>,
    pub span: Span,
}

/// `history = file { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorStage {
    pub name: Name,
    pub connector: Connector,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorOption {
    pub name: Name,
    pub value: OptionValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A bare word is `ExprKind::Name`; a list `[dt, hm]` is `ExprKind::List`.
    Expr(Expr),
    /// `csv { null: "NA" }`
    Block(Name, Vec<ConnectorOption>),
    /// `every 5s`
    Every(Expr),
    /// `after 30s`
    After(Expr),
    Error,
}

/// `stream delays = flights | where .. | ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub name: Name,
    pub pipeline: Pipeline,
}

/// `sink delays | final into file { .. } key (id)`; an anonymous pipeline may stand before `into`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    pub pipeline: Pipeline,
    pub connector: Connector,
    pub key: Vec<Name>,
}
