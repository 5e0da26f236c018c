//! Rust files of the user, read without rustc: what they make known to the language.
//!
//! In comes the text of a file that `use rust "enrich.rs"` names; out goes a [`RustFile`] with the annotated items, as they
//! are written, and diagnostics with places in that file. Types get their meaning later, in `hir`. Invariant: reading
//! never fails and never panics, whatever the text.

mod attributes;
mod errors;
mod functions;
mod imports;
mod read;
mod types;
mod written;

pub use errors::{
    event_time_is_no_timestamp, name_taken, no_result, not_annotated, nothing_annotated, type_not_annotated,
    unit_without_timestamp, unsupported,
};
pub use read::read;
pub use types::{TypeKind, TypeMember};
pub use written::{Written, WrittenKind};

use std::collections::HashMap;

use crate::source::{FileId, Span};
use crate::syntax::ast::Name;

/// What a Rust file holds for the language.
#[derive(Clone, Debug, PartialEq)]
pub struct RustFile {
    pub id: FileId,
    pub functions: Vec<RustFn>,
    pub types: Vec<RustTypeItem>,
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
    /// The signature.
    pub span: Span,
}

/// `#[derive(Record)] pub struct Order { .. }`, or an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct RustTypeItem {
    pub name: Name,
    /// Modules within the file, then the name.
    pub path: Vec<String>,
    pub doc: Option<String>,
    pub kind: TypeKind,
    /// The column with `#[flow(event_time)]`.
    pub event_time: Option<Name>,
    /// The columns with `#[flow(key)]`.
    pub key: Vec<Name>,
}
