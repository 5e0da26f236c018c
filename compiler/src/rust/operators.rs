//! `#[operator] impl Process for FraudScore { .. }` and the structs that such operators are.

use syn::spanned::Spanned;

use super::read::{Reader, within};
use super::written::Written;
use super::{RustEnum, RustOperator, RustStruct, attributes, errors};

const PROCESS: &str = "fn process(&mut self, row: Self::Input, cx: &mut Context<'_, Self>) -> Result<(), Failure>";
/// Methods of `Process`, how many arguments each takes with `self`, and how it is written.
const METHODS: &[(&str, usize, &str)] = &[
    ("process", 3, PROCESS),
    ("on_event_timer", 3, "fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure>"),
    ("on_clock_timer", 3, "fn on_clock_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure>"),
    (
        "on_broadcast",
        3,
        "fn on_broadcast(&mut self, row: Self::Broadcast, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure>",
    ),
    ("on_end", 2, "fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure>"),
];
/// What stands below an annotation.
const FORMS: [(&str, &str, &str); 2] = [
    ("operator", "Process", "impl Process for FraudScore { .. }"),
    ("aggregate", "Accumulator", "impl Accumulator for MostFrequent { .. }"),
];
/// Associated types of `Process`.
const TYPES: &[&str] = &["Input", "Output", "Side", "State", "Broadcast", "Shared"];

/// Remembers a struct: an operator's fields are its options.
pub(super) fn read_struct(reader: &mut Reader<'_>, item: &syn::ItemStruct, path: &[String]) {
    let name = reader.place.name(&item.ident);
    let mut fields = Vec::new();
    if let syn::Fields::Named(named) = &item.fields {
        for field in &named.named {
            let Some(ident) = &field.ident else { continue };
            let public = matches!(field.vis, syn::Visibility::Public(_));
            fields.push((reader.place.name(ident), Written::of(&field.ty, &reader.place), public));
        }
    }
    let tuple = matches!(item.fields, syn::Fields::Unnamed(_));
    let generic = item.generics.params.first().map(|parameter| reader.place.span(parameter.span()));
    let defaults = attributes::derives(&item.attrs).iter().any(|derive| derive == "Default");
    let public = matches!(item.vis, syn::Visibility::Public(_));
    let path = within(path, name.text.clone());
    let unit = matches!(item.fields, syn::Fields::Unit);
    reader.file.structs.push(RustStruct { name, path, fields, tuple, unit, generic, defaults, public });
}

/// Remembers an enum: it may be the rows of several inputs.
pub(super) fn read_enum(reader: &mut Reader<'_>, item: &syn::ItemEnum, path: &[String]) {
    let name = reader.place.name(&item.ident);
    let sides = derives_sides(&item.attrs);
    let mut variants = Vec::new();
    for variant in &item.variants {
        match &variant.fields {
            syn::Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let written = Written::of(&fields.unnamed[0].ty, &reader.place);
                variants.push((reader.place.ident(&variant.ident), written));
            }
            _ if sides => {
                let diagnostic = errors::side_without_record(&reader.place.name(&variant.ident));
                reader.report(diagnostic);
                return reader.file.broken.push(name.text);
            }
            _ => return,
        }
    }
    if sides {
        if item.variants.is_empty() {
            let diagnostic = errors::no_enum_of_sides(&name);
            reader.report(diagnostic);
            return reader.file.broken.push(name.text);
        }
        if !(reader.is_public(&item.vis, &item.ident, "enum") && reader.no_generics(&item.generics, "enum of side outputs")) {
            return reader.file.broken.push(name.text);
        }
    }
    if item.generics.params.is_empty() {
        let public = matches!(item.vis, syn::Visibility::Public(_));
        reader.file.enums.push(RustEnum { path: within(path, name.text.clone()), name, variants, public, sides });
    }
}

/// `#[derive(SideOutputs)]`
pub(super) fn derives_sides(attrs: &[syn::Attribute]) -> bool {
    attributes::derives(attrs).iter().any(|derive| derive == "SideOutputs")
}

/// Reads an implementation of a trait that says what a struct is.
pub(super) fn read_impl(reader: &mut Reader<'_>, item: &syn::ItemImpl) {
    let last = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
    for (annotation, wanted, form) in FORMS {
        if let Some(attribute) = attributes::find(&item.attrs, annotation)
            && last.is_none_or(|last| last.ident != wanted)
        {
            let span = reader.place.span(attribute.span());
            reader.report(errors::annotated_nothing(span, annotation, form));
            return;
        }
    }
    let (Some((path, _)), Some(last)) = (&item.trait_, last) else { return };
    let of = Written::of(&item.self_ty, &reader.place);
    let super::WrittenKind::Named { name, .. } = &of.kind else { return };
    let name = name.clone();
    match last.ident.to_string().as_str() {
        "Default" => return reader.file.defaults.push(name),
        "Accumulator" => return super::aggregates::read_impl(reader, item, of, name),
        "Retract" => return reader.file.retracts.push(name),
        "SourceConnector" => return reader.file.source_connectors.push(name),
        "SinkConnector" => return reader.file.sink_connectors.push(name),
        "TableSinkConnector" => return reader.file.table_connectors.push(name),
        "Process" => {}
        _ => return,
    }
    let annotation = attributes::find(&item.attrs, "operator");
    if let Some(arguments) = annotation.filter(|annotation| !matches!(annotation.meta, syn::Meta::Path(_))) {
        let diagnostic = errors::operator_arguments(reader.place.span(arguments.meta.span()));
        reader.report(diagnostic);
        return reader.file.broken.push(name);
    }
    if annotation.is_none() {
        let diagnostic = errors::operator_not_annotated(reader.place.span(path.span()));
        reader.report(diagnostic);
        return reader.file.broken.push(name);
    }
    let mut fits = reader.no_generics(&item.generics, "operator");
    let mut operator = RustOperator {
        name,
        span: of.span,
        input: None,
        output: None,
        side: None,
        broadcast: None,
        keeps: false,
        timers: Vec::new(),
    };
    let mut has_process = false;
    for item in &item.items {
        match item {
            syn::ImplItem::Type(ty) => {
                let written = Written::of(&ty.ty, &reader.place);
                match ty.ident.to_string().as_str() {
                    "Input" => operator.input = Some(written),
                    "Output" => operator.output = Some(written),
                    "Side" => operator.side = Some(written),
                    // Written out as what it is without.
                    "Broadcast" if matches!(&written.kind, super::WrittenKind::Named { name, .. } if name == "NoBroadcast") => {}
                    "Broadcast" => operator.broadcast = Some(written),
                    // Written out as what it is without.
                    "State" | "Shared" => operator.keeps |= !matches!(written.kind, super::WrittenKind::Unit),
                    known if TYPES.contains(&known) => {}
                    _ => {
                        let diagnostic = errors::no_such_member(&reader.place.name(&ty.ident), TYPES);
                        reader.report(diagnostic);
                        fits = false;
                    }
                }
            }
            syn::ImplItem::Fn(function) => fits &= method(reader, &function.sig, &mut operator, &mut has_process),
            _ => {}
        }
    }
    for (missing, what) in [
        (operator.input.is_none(), "`type Input = ..;`, the record that it takes".to_owned()),
        (operator.output.is_none(), "`type Output = ..;`, the record that it makes".to_owned()),
        (!has_process, format!("`{PROCESS}`")),
    ] {
        if missing && fits {
            let diagnostic = errors::operator_lacks(&operator.name, operator.span, &what);
            reader.report(diagnostic);
            fits = false;
        }
    }
    match fits {
        true => reader.file.operators.push(operator),
        false => reader.file.broken.push(operator.name),
    }
}

fn method(reader: &mut Reader<'_>, sig: &syn::Signature, operator: &mut RustOperator, has_process: &mut bool) -> bool {
    let name = sig.ident.to_string();
    let Some((known, count, form)) = METHODS.iter().find(|(known, ..)| *known == name) else {
        let names: Vec<&str> = METHODS.iter().map(|(name, ..)| *name).collect();
        let diagnostic = errors::no_such_member(&reader.place.name(&sig.ident), &names);
        reader.report(diagnostic);
        return false;
    };
    *has_process |= *known == "process";
    operator.keeps |= *known == "on_end";
    if let Some(timer) = known.strip_prefix("on_").and_then(|rest| rest.strip_suffix("_timer")) {
        operator.timers.push(timer.to_owned());
    }
    let mutable = sig.receiver().is_some_and(|receiver| matches!(receiver.kind, syn::ReceiverKind::Reference(_, _, Some(_))));
    if let Some(word) = &sig.asyncness {
        let diagnostic = errors::async_operator(reader.place.span(word.span()));
        reader.report(diagnostic);
        return false;
    }
    if !mutable || sig.inputs.len() != *count {
        let diagnostic = errors::operator_signature(reader.place.span(sig.span()), known, form);
        reader.report(diagnostic);
        return false;
    }
    true
}
