//! Attributes of Rust items: `#[function]`, `#[derive(Record)]`, `#[flow(..)]`, doc comments.

use millstream_runtime::graph::{TimeUnit, Waits};
use syn::spanned::Spanned;

use super::errors;
use super::read::Reader;
use crate::source::Span;
use crate::syntax::ast::{ExprKind, Name};
use crate::syntax::number;

/// The attribute of this name, whatever path stands before it.
pub(super) fn find<'a>(attrs: &'a [syn::Attribute], name: &str) -> Option<&'a syn::Attribute> {
    attrs.iter().find(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == name))
}

/// `#[path = "other.rs"]`
pub(super) fn path_of(attrs: &[syn::Attribute]) -> Option<String> {
    attrs.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) if path.is_ident("path") => Some(text.value()),
        _ => None,
    })
}

/// The doc comment, its lines without the blank before them.
pub(super) fn doc(attrs: &[syn::Attribute]) -> Option<String> {
    let mut lines = Vec::new();
    for attribute in attrs.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let syn::Meta::NameValue(syn::MetaNameValue { value: syn::Expr::Lit(literal), .. }) = &attribute.meta
            && let syn::Lit::Str(text) = &literal.lit
        {
            let text = text.value();
            lines.extend(text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()));
        }
    }
    let doc = lines.join("\n").trim().to_owned();
    (!doc.is_empty()).then_some(doc)
}

/// Names in `#[derive(..)]`.
pub(super) fn derives(attrs: &[syn::Attribute]) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in attrs.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let _ = attribute.parse_nested_meta(|meta| {
            names.extend(meta.path.segments.last().map(|last| last.ident.to_string()));
            Ok(())
        });
    }
    names
}

/// What `#[function(..)]` says.
pub(super) struct FunctionAttributes {
    pub(super) name: Option<Name>,
    /// How it is called, if it is an `async fn`.
    pub(super) waits: Waits,
    /// Where it says so.
    pub(super) of_async: Option<Span>,
    /// Where it says `retries`.
    pub(super) retries: Option<Span>,
}

/// `#[function]`, `#[function(name = "lower_ascii")]`, `#[function(in_flight = 20, timeout = "5s", retries = 3, unordered)]`. Err: reported.
pub(super) fn function(reader: &mut Reader<'_>, attribute: &syn::Attribute, what: &str) -> Result<FunctionAttributes, ()> {
    let mut said = FunctionAttributes { name: None, waits: Waits::DEFAULT, of_async: None, retries: None };
    if matches!(attribute.meta, syn::Meta::Path(_)) {
        return Ok(said);
    }
    let (mut wrong, mut backoff) = (None, None);
    let place = &reader.place;
    let parsed = attribute.parse_nested_meta(|meta| {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let span = place.span(meta.path.span());
        let waits = &mut said.waits;
        match word.as_str() {
            "name" => {
                let text: syn::LitStr = meta.value()?.parse()?;
                said.name = Some(Name { text: text.value(), span: place.span(text.span()) });
                return Ok(());
            }
            "unordered" if what == "function" => waits.ordered = false,
            "in_flight" if what == "function" => {
                let value: syn::Expr = meta.value()?.parse()?;
                match whole(&value).filter(|count| (1..=100_000).contains(count)) {
                    Some(count) => waits.in_flight = count,
                    None => wrong = Some(errors::in_flight(place.span(value.span()))),
                }
            }
            "timeout" if what == "function" => {
                let value: syn::Expr = meta.value()?.parse()?;
                match duration(&value).filter(|micros| *micros > 0) {
                    Some(micros) => waits.timeout = micros,
                    None => wrong = Some(errors::timeout(place.span(value.span()))),
                }
            }
            "retries" if what == "function" => {
                let value: syn::Expr = meta.value()?.parse()?;
                match whole(&value).filter(|count| (1..=1000).contains(count)) {
                    Some(count) => (waits.retries, said.retries) = (count, Some(span)),
                    None => wrong = Some(errors::retries(place.span(value.span()))),
                }
            }
            "backoff" if what == "function" => {
                let value: syn::Expr = meta.value()?.parse()?;
                match duration(&value).filter(|micros| *micros > 0) {
                    Some(micros) => (waits.backoff, backoff) = (micros, Some(span)),
                    None => wrong = Some(errors::backoff(place.span(value.span()))),
                }
            }
            _ => {
                wrong = Some(errors::function_attribute(span, what));
                if meta.input.peek(syn::Token![=]) {
                    let _: syn::Expr = meta.value()?.parse()?;
                }
                return Ok(());
            }
        }
        said.of_async.get_or_insert(span);
        Ok(())
    });
    if let Some(span) = backoff.filter(|_| said.retries.is_none() && wrong.is_none()) {
        wrong = Some(errors::backoff_of_nothing(span));
    }
    if let Err(error) = parsed {
        wrong = Some(errors::function_attribute(place.span(error.span()), what));
    }
    match wrong {
        Some(diagnostic) => {
            reader.report(diagnostic);
            Err(())
        }
        None => Ok(said),
    }
}

fn whole(value: &syn::Expr) -> Option<u64> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}

/// `"1h30m"`, in microseconds.
fn duration(value: &syn::Expr) -> Option<i64> {
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value else { return None };
    match number(&text.value()) {
        Ok(ExprKind::Duration(micros)) => Some(micros),
        _ => None,
    }
}

/// What `#[flow(..)]` says of a field or of a variant.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) rename: Option<Name>,
    pub(super) unit: Option<TimeUnit>,
    pub(super) event_time: bool,
    pub(super) key: bool,
}

/// Reads all `#[flow(..)]` of a field.
pub(super) fn flow(reader: &mut Reader<'_>, attrs: &[syn::Attribute], known: &[&str]) -> Flow {
    let mut flow = Flow::default();
    let mut problems = Vec::new();
    let place = &reader.place;
    for attribute in attrs.iter().filter(|attribute| attribute.path().is_ident("flow")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            let span = place.span(meta.path.span());
            let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match word.as_str() {
                "rename" | "name" if known.contains(&"rename") => {
                    let text: syn::LitStr = meta.value()?.parse()?;
                    flow.rename = Some(Name { text: text.value(), span: place.span(text.span()) });
                }
                "unit" if known.contains(&"unit") => {
                    let text: syn::LitStr = meta.value()?.parse()?;
                    flow.unit = TimeUnit::ALL.into_iter().find(|unit| unit.word() == text.value());
                    if flow.unit.is_none() {
                        problems.push(errors::unit(place.span(text.span())));
                    }
                }
                "event_time" if known.contains(&"event_time") => flow.event_time = true,
                "key" if known.contains(&"key") => flow.key = true,
                // What a stored value is that does not have the field: nothing to whoever reads columns.
                "default" if known.contains(&"default") => {
                    if meta.input.peek(syn::Token![=]) {
                        let _: syn::Expr = meta.value()?.parse()?;
                    }
                }
                _ => {
                    problems.push(errors::flow_attribute(&word, span, known));
                    if meta.input.peek(syn::Token![=]) {
                        let _: syn::Expr = meta.value()?.parse()?;
                    }
                }
            }
            Ok(())
        });
        if let Err(error) = parsed {
            problems.push(errors::flow_attribute("", place.span(error.span()), known));
        }
    }
    problems.into_iter().for_each(|problem| reader.report(problem));
    flow
}
