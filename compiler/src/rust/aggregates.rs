//! `#[aggregate] impl Accumulator for MostFrequent { .. }`

use syn::spanned::Spanned;

use super::read::Reader;
use super::written::Written;
use super::{attributes, errors};
use crate::source::Span;
use crate::syntax::ast::Name;

/// An aggregate of a Rust file.
#[derive(Clone, Debug, PartialEq)]
pub struct RustAggregateItem {
    /// As the language calls it.
    pub name: Name,
    /// The struct.
    pub item: String,
    /// Where the `impl` names it.
    pub span: Span,
    pub doc: String,
    /// The types of the arguments.
    pub inputs: Vec<Written>,
    pub output: Written,
}

/// Reads an implementation of `Accumulator`. One that is not annotated is no aggregate of the language.
pub(super) fn read_impl(reader: &mut Reader<'_>, item: &syn::ItemImpl, of: Written, own: String) {
    let Some(annotation) = attributes::find(&item.attrs, "aggregate") else { return };
    let Ok(said) = attributes::function(reader, annotation, "aggregate") else { return reader.file.broken.push(own) };
    let name = said.name.unwrap_or_else(|| Name { text: super::connectors::snake(&own), span: of.span });
    if !reader.no_generics(&item.generics, "aggregate") {
        return reader.file.broken.push(name.text);
    }
    let (mut inputs, mut output) = (None, None);
    for member in &item.items {
        let syn::ImplItem::Type(ty) = member else { continue };
        match ty.ident.to_string().as_str() {
            "Input" => match &ty.ty {
                syn::Type::Tuple(tuple) if tuple.elems.len() == 1 => {
                    let help = "write its type alone: a tuple is of two or more arguments";
                    let span = reader.place.span(tuple.span());
                    reader.report(errors::aggregate_wrong(span, &own, "this is a tuple of one", help));
                    return reader.file.broken.push(name.text);
                }
                syn::Type::Tuple(tuple) => {
                    inputs = Some(tuple.elems.iter().map(|ty| Written::of(ty, &reader.place)).collect());
                }
                one => inputs = Some(vec![Written::of(one, &reader.place)]),
            },
            "Output" => output = Some(Written::of(&ty.ty, &reader.place)),
            _ => {}
        }
    }
    let has =
        |method: &str| item.items.iter().any(|item| matches!(item, syn::ImplItem::Fn(function) if function.sig.ident == method));
    let missing = match (&inputs, &output) {
        (None, _) => Some("`type Input = ..;`, the type of its argument"),
        (_, None) => Some("`type Output = ..;`, the type of its result"),
        _ if !has("add") => Some("`fn add(&mut self, value: Self::Input) -> Result<(), EvalError>`"),
        _ if !has("merge") => Some("`fn merge(&mut self, other: &Self) -> Result<(), EvalError>`"),
        _ if !has("finish") => Some("`fn finish(&self) -> Result<Option<Self::Output>, EvalError>`"),
        _ => None,
    };
    if let Some(missing) = missing {
        let span = reader.place.span(item.self_ty.span());
        let diagnostic = errors::aggregate_wrong(span, &own, "something is missing", &format!("add {missing}"));
        reader.report(diagnostic);
        return reader.file.broken.push(name.text);
    }
    let doc = attributes::doc(&item.attrs).unwrap_or_default();
    if let (Some(inputs), Some(output)) = (inputs, output) {
        reader.file.aggregates.push(RustAggregateItem { name, item: own, span: of.span, doc, inputs, output });
    }
}
