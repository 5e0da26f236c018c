//! `#[derive(Record)] pub struct Order { .. }` and enums.

use syn::spanned::Spanned;

use super::read::{Reader, within};
use super::written::Written;
use super::{RustTypeItem, attributes, errors};
use crate::syntax::ast::Name;
use millstream_runtime::graph::TimeUnit;

/// What an annotated type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    Record(Vec<TypeMember>),
    /// The variants: in Rust, and as they stand in the data.
    Enum(Vec<(Name, String)>),
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeMember {
    pub name: Name,
    pub ty: Written,
    /// The name in the outside data.
    pub external: Option<String>,
    pub unit: Option<TimeUnit>,
}

/// What enums have to derive beside `Record`: columns are copied, compared, sorted and used as keys.
const OF_ENUMS: &[&str] = &["Clone", "Copy", "Debug", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash"];

/// Reads a struct. One that is not annotated is only remembered.
pub(super) fn read_struct(reader: &mut Reader<'_>, item: &syn::ItemStruct, path: &[String]) {
    let derives = attributes::derives(&item.attrs);
    let name = reader.place.name(&item.ident);
    if derives.iter().any(|derive| derive == "Connector") {
        return super::connectors::read_struct(reader, item, path);
    }
    if super::operators::derives_sides(&item.attrs) {
        let diagnostic = errors::no_enum_of_sides(&name);
        reader.report(diagnostic);
        return reader.file.broken.push(name.text);
    }
    if !derives.iter().any(|derive| derive == "Record") {
        if let Some(derive) = derives.iter().find(|derive| matches!(derive.as_str(), "Source" | "Sink")) {
            let diagnostic = errors::binding_of_no_record(&name, derive);
            reader.report(diagnostic);
        }
        super::operators::read_struct(reader, item, path);
        return reader.file.plain_types.push(name);
    }
    let mut fits = reader.is_public(&item.vis, &item.ident, "record") && reader.no_generics(&item.generics, "record");
    fits &= derives_all(reader, &derives, &["Clone"], &name);
    let syn::Fields::Named(fields) = &item.fields else {
        let diagnostic = errors::no_named_fields(&name);
        reader.report(diagnostic);
        return reader.file.broken.push(name.text);
    };
    let mut members: Vec<TypeMember> = Vec::new();
    let mut known = vec!["rename", "unit", "event_time", "key"];
    if derives.iter().any(|derive| derive == "State") {
        known.push("default");
    }
    let mut event_time: Option<Name> = None;
    let (mut key, mut outside) = (Vec::new(), Vec::new());
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        fits &= reader.is_public(&field.vis, ident, "field");
        let flow = attributes::flow(reader, &field.attrs, &known);
        let field_name = reader.place.name(ident);
        if flow.event_time {
            match &event_time {
                Some(first) => {
                    let diagnostic = errors::two_event_times(&field_name, first);
                    reader.report(diagnostic);
                }
                None => event_time = Some(field_name.clone()),
            }
        }
        if flow.key {
            key.push(field_name.clone());
        }
        let renamed = flow.rename.as_ref().map_or(field_name.clone(), |rename| rename.clone());
        fits &= is_new(reader, &mut outside, renamed, "columns");
        let external = flow.rename.map(|rename| rename.text).filter(|rename| *rename != field_name.text);
        members.push(TypeMember { ty: Written::of(&field.ty, &reader.place), name: field_name, external, unit: flow.unit });
    }
    if !fits {
        return reader.file.broken.push(name.text);
    }
    super::bindings::read(reader, item, &derives, &name);
    let path = within(path, name.text.clone());
    reader.file.types.push(RustTypeItem { name, path, kind: TypeKind::Record(members), event_time, key });
}

/// Whether nothing has had this name in the outside data before. False: reported.
fn is_new(reader: &mut Reader<'_>, before: &mut Vec<Name>, name: Name, what: &str) -> bool {
    if let Some(first) = before.iter().find(|first| first.text == name.text) {
        let diagnostic = errors::outside_name_twice(&name, first, what);
        reader.report(diagnostic);
        return false;
    }
    before.push(name);
    true
}

/// Reads an enum. One that is not annotated is only remembered.
pub(super) fn read_enum(reader: &mut Reader<'_>, item: &syn::ItemEnum, path: &[String]) {
    let derives = attributes::derives(&item.attrs);
    let name = reader.place.name(&item.ident);
    if !derives.iter().any(|derive| derive == "Record") {
        super::operators::read_enum(reader, item, path);
        return reader.file.plain_types.push(name);
    }
    let mut fits = reader.is_public(&item.vis, &item.ident, "enum") && reader.no_generics(&item.generics, "enum");
    fits &= derives_all(reader, &derives, OF_ENUMS, &name);
    let (mut values, mut outside) = (Vec::new(), Vec::new());
    for variant in &item.variants {
        if !matches!(variant.fields, syn::Fields::Unit) {
            let diagnostic = errors::variant_with_fields(reader.place.span(variant.fields.span()));
            reader.report(diagnostic);
            fits = false;
        }
        let flow = attributes::flow(reader, &variant.attrs, &["rename"]);
        let variant = reader.place.name(&variant.ident);
        let named = flow.rename.unwrap_or_else(|| variant.clone());
        fits &= is_new(reader, &mut outside, named.clone(), "values");
        let text = named.text;
        values.push((variant, text));
    }
    if values.is_empty() {
        let diagnostic = errors::no_variants(&name);
        reader.report(diagnostic);
        fits = false;
    }
    if !fits {
        return reader.file.broken.push(name.text);
    }
    let path = within(path, name.text.clone());
    reader.file.types.push(RustTypeItem { name, path, kind: TypeKind::Enum(values), event_time: None, key: Vec::new() });
}

/// Derives that have to stand beside `Record`. False: reported.
fn derives_all(reader: &mut Reader<'_>, derives: &[String], needed: &[&str], name: &Name) -> bool {
    let missing: Vec<&str> = needed.iter().copied().filter(|needed| !derives.iter().any(|derive| derive == needed)).collect();
    if missing.is_empty() {
        return true;
    }
    let diagnostic = errors::derives(name, &missing, needed);
    reader.report(diagnostic);
    false
}
