//! Rust files of the user, read without rustc: what they make known to the language.
//!
//! In comes the text of a file that `use rust "enrich.rs"` names; out goes a [`RustFile`] with the annotated items, as they
//! are written, and diagnostics with places in that file. Types get their meaning later, in `hir`. Invariant: reading
//! never fails and never panics, whatever the text.

mod aggregates;
mod attributes;
mod bindings;
mod called;
mod cfg;
mod connectors;
mod errors;
mod functions;
mod imports;
mod operators;
mod read;
mod types;
mod written;

pub use aggregates::RustAggregateItem;
pub use bindings::Binding;
pub use connectors::{ConnectorDefault, RustConnectorItem, RustOption};
pub use errors::{
    aggregate_over_table, aggregate_wrong, bad_option, concealed, connector_default, connector_keyed_without_tables,
    connector_name_taken, connector_option_type, connector_without_sides, event_time_is_no_timestamp, input_lacks,
    inputs_of_enum, name_taken, needs_feature, no_crate, no_result, no_second, no_side, no_such_option, no_such_side,
    not_an_operator, not_annotated, nothing_annotated, one_side, operator_struct, option_missing, over_table, second_by_key,
    second_missing, second_to_all, side_twice, sides_not_derived, sink_lacks, type_not_annotated, unit_without_timestamp,
    unsupported, waits_not_here, which_side,
};
pub use read::{ModuleFile, read};
pub use types::{TypeKind, TypeMember};
pub use written::{Written, WrittenKind};

use std::collections::HashMap;

use millstream_runtime::graph::{RustCrate, Waits};

use crate::source::{FileId, Span};
use crate::syntax::ast::Name;

/// What a Rust file holds for the language.
#[derive(Clone, Debug, PartialEq)]
pub struct RustFile {
    pub id: FileId,
    /// Of a crate that `use crate` names; None: it becomes a module of the pipeline.
    pub of_crate: Option<RustCrate>,
    /// `pub mod x;`
    pub modules: Vec<ModuleFile>,
    /// `mod x;` and `mod x { .. }`: those that nobody else can reach.
    pub private_modules: Vec<String>,
    /// Items that are not compiled, each with a feature that would bring it back.
    pub left_out: Vec<(String, String)>,
    /// Functions in modules that nobody else can reach, each with its module.
    pub concealed: Vec<(String, String)>,
    /// `#[derive(Source)]` and `#[derive(Sink)]`.
    pub bindings: Vec<Binding>,
    pub functions: Vec<RustFn>,
    pub types: Vec<RustTypeItem>,
    /// `#[operator] impl Process for ..`
    pub operators: Vec<RustOperator>,
    /// `#[derive(Connector)] pub struct Poll { .. }`
    pub connectors: Vec<RustConnectorItem>,
    /// Structs with `impl SourceConnector for ..`.
    pub source_connectors: Vec<String>,
    /// Structs with `impl SinkConnector for ..`.
    pub sink_connectors: Vec<String>,
    /// Structs with `impl TableSinkConnector for ..`.
    pub table_connectors: Vec<String>,
    /// `#[aggregate] impl Accumulator for MostFrequent { .. }`
    pub aggregates: Vec<RustAggregateItem>,
    /// Structs with `impl Retract for ..`.
    pub retracts: Vec<String>,
    /// Structs that are no records: an operator is one of them.
    pub structs: Vec<RustStruct>,
    /// Enums that are no columns, each variant of one value: rows of several inputs.
    pub enums: Vec<RustEnum>,
    /// Types with an `impl Default`.
    pub defaults: Vec<String>,
    /// Public functions that are not annotated, for messages.
    pub plain: Vec<Name>,
    /// Structs and enums that are not annotated, for messages.
    pub plain_types: Vec<Name>,
    /// Annotated items that are wrong: what refers to them is no further mistake.
    pub broken: Vec<String>,
    /// `type Id = i64;`
    pub aliases: HashMap<String, Written>,
    /// Names that `use` brings in, and from where: `Duration` from `std::time::Duration`.
    pub imports: HashMap<String, String>,
}

impl RustFile {
    /// Whether nothing in it is annotated.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
            && self.types.is_empty()
            && self.operators.is_empty()
            && self.connectors.is_empty()
            && self.aggregates.is_empty()
    }
}

/// `#[function] pub fn country_of(ip: &str) -> Option<String>`
#[derive(Clone, Debug, PartialEq)]
pub struct RustFn {
    /// As the language calls it.
    pub name: Name,
    /// Modules within the file, then the name in Rust.
    pub path: Vec<String>,
    pub doc: Option<String>,
    pub params: Vec<(Name, Written)>,
    pub result: Written,
    /// It is an `async fn`, called like this.
    pub waits: Option<Waits>,
    /// The signature.
    pub span: Span,
}

/// `#[derive(Record)] pub struct Order { .. }`, or an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct RustTypeItem {
    pub name: Name,
    /// Modules within the file, then the name.
    pub path: Vec<String>,
    pub kind: TypeKind,
    /// The column with `#[flow(event_time)]`.
    pub event_time: Option<Name>,
    /// The columns with `#[flow(key)]`.
    pub key: Vec<Name>,
}

/// `#[operator] impl Process for FraudScore { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct RustOperator {
    /// The struct.
    pub name: String,
    /// Where the `impl` names it.
    pub span: Span,
    pub input: Option<Written>,
    pub output: Option<Written>,
    /// None: it has no side output.
    pub side: Option<Written>,
    /// None: no rows come to every subtask.
    pub broadcast: Option<Written>,
    /// It has a type of state, per key or beside the keys, or something to do at the end.
    pub keeps: bool,
    /// `event`, `clock`: the timers that it hears of.
    pub timers: Vec<String>,
}

/// `pub enum Event { Payment(Payment), Block(Block) }`: rows of several inputs, or of several side outputs
#[derive(Clone, Debug, PartialEq)]
pub struct RustEnum {
    pub name: Name,
    /// Modules within the file, then the name.
    pub path: Vec<String>,
    pub variants: Vec<(String, Written)>,
    pub public: bool,
    /// It derives `SideOutputs`.
    pub sides: bool,
}

/// A struct whose fields may be the options of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct RustStruct {
    pub name: Name,
    /// Modules within the file, then the name.
    pub path: Vec<String>,
    /// Each with its type and whether it is public.
    pub fields: Vec<(Name, Written, bool)>,
    /// `struct A(i64);`
    pub tuple: bool,
    /// `struct A;`
    pub unit: bool,
    /// Its first type parameter or lifetime.
    pub generic: Option<Span>,
    /// It derives `Default`.
    pub defaults: bool,
    pub public: bool,
}
