//! `#[function] pub fn country_of(ip: &str) -> Option<String>`

use syn::spanned::Spanned;

use super::read::{Reader, within};
use super::written::Written;
use super::{RustFn, attributes, errors};

/// Reads a function. One that is not annotated is only remembered.
pub(super) fn read(reader: &mut Reader<'_>, function: &syn::ItemFn, path: &[String]) {
    let name = reader.place.name(&function.sig.ident);
    let Some(annotation) = attributes::find(&function.attrs, "function") else {
        if matches!(function.vis, syn::Visibility::Public(_)) {
            reader.file.plain.push(name);
        }
        return;
    };
    let rust_name = name.text.clone();
    let Ok(said) = attributes::function(reader, annotation, "function") else { return reader.file.broken.push(rust_name) };
    let called = said.name.clone().unwrap_or(name);
    let waits = match (&function.sig.asyncness, said.of_async) {
        (Some(_), _) => Some(said.waits),
        (None, None) => None,
        (None, Some(span)) => {
            reader.report(errors::only_of_async(span));
            return reader.file.broken.push(called.text);
        }
    };
    if !signature_fits(reader, function) {
        return reader.file.broken.push(called.text);
    }
    let mut params = Vec::new();
    for input in &function.sig.inputs {
        let syn::FnArg::Typed(typed) = input else { continue };
        let syn::Pat::Ident(pattern) = &*typed.pat else {
            let diagnostic = errors::pattern(reader.place.span(typed.pat.span()));
            reader.report(diagnostic);
            return reader.file.broken.push(called.text);
        };
        params.push((reader.place.name(&pattern.ident), Written::of(&typed.ty, &reader.place)));
    }
    let span = reader.place.span(function.sig.span());
    let result = match &function.sig.output {
        syn::ReturnType::Default => Written::unit(reader.place.span(function.sig.ident.span())),
        syn::ReturnType::Type(_, ty) => Written::of(ty, &reader.place),
    };
    if let Some(span) = said.retries.filter(|_| !result.is_result()) {
        reader.report(errors::never_fails(&called, span));
        return reader.file.broken.push(called.text);
    }
    let doc = attributes::doc(&function.attrs);
    reader.file.functions.push(RustFn { name: called, path: within(path, rust_name), doc, params, result, waits, span });
}

/// What no function of the language can be. False: reported.
fn signature_fits(reader: &mut Reader<'_>, function: &syn::ItemFn) -> bool {
    let sig = &function.sig;
    let mut fits = reader.is_public(&function.vis, &sig.ident, "function");
    let wrong = [
        (unsafe_word(&sig.safety), "unsafe", "take `unsafe` away, and use an `unsafe` block where it is needed"),
        (sig.variadic.as_ref().map(Spanned::span), "variadic", "take a slice: `values: &[i64]`"),
    ];
    for (span, word, help) in wrong {
        if let Some(span) = span {
            let diagnostic = errors::kind_of_function(reader.place.span(span), word, help);
            reader.report(diagnostic);
            fits = false;
        }
    }
    if let Some(receiver) = sig.receiver() {
        let diagnostic = errors::receiver(reader.place.span(receiver.span()));
        reader.report(diagnostic);
        fits = false;
    }
    reader.no_generics(&sig.generics, "function") && fits
}

fn unsafe_word(safety: &syn::Safety) -> Option<proc_macro2::Span> {
    match safety {
        syn::Safety::Unsafe(word) => Some(word.span()),
        _ => None,
    }
}
