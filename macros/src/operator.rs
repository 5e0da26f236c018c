//! `#[operator]`: fills in the associated types that were left out, and refuses what `Process` does not have.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, ImplItem, ItemImpl, Result, Signature, parse_quote};

use crate::attributes::{inline, near};

/// Associated types, with what stands for those that are left out; None: they have to be there.
const TYPES: &[(&str, Option<&str>)] = &[
    ("Input", None),
    ("Output", None),
    ("Side", Some("NoSide")),
    ("State", Some("")),
    ("Broadcast", Some("NoBroadcast")),
    ("Shared", Some("")),
];

/// Methods, and how they are written.
const METHODS: &[(&str, usize, &str)] = &[
    ("process", 3, "fn process(&mut self, row: Self::Input, cx: &mut Context<'_, Self>) -> Result<(), Failure>"),
    ("on_event_timer", 3, "fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure>"),
    ("on_clock_timer", 3, "fn on_clock_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure>"),
    (
        "on_broadcast",
        3,
        "fn on_broadcast(&mut self, row: Self::Broadcast, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure>",
    ),
    ("on_end", 2, "fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure>"),
];

/// The implementation made whole; after a mistake nothing but the mistake, so that nothing follows from it.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    complete(arguments, item).unwrap_or_else(Error::into_compile_error)
}

fn complete(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new(arguments.span(), "`#[operator]` takes nothing: options are fields of the struct"));
    }
    const FORM: &str = "`#[operator]` stands above `impl Process for FraudScore { .. }`";
    let mut item: ItemImpl = syn::parse2(item).map_err(|error| Error::new(error.span(), format!("{FORM} ({error})")))?;
    let Some((path, _)) = item.trait_.as_ref() else { return Err(Error::new(item.self_ty.span(), FORM)) };
    if path.segments.last().is_none_or(|last| last.ident != "Process") {
        return Err(Error::new(path.span(), FORM));
    }
    if let Some(parameter) = item.generics.params.first() {
        return Err(Error::new(parameter.span(), "an operator has no type parameters and no lifetimes: write one for each type"));
    }
    let known_types: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let known_methods: Vec<&str> = METHODS.iter().map(|(name, ..)| *name).collect();
    let (mut types, mut has_process, mut keeps) = (Vec::new(), false, false);
    for member in &mut item.items {
        match member {
            ImplItem::Type(ty) => {
                let name = ty.ident.to_string();
                if !known_types.contains(&name.as_str()) {
                    return Err(Error::new(ty.ident.span(), unknown(&name, &known_types)));
                }
                keeps |= match name.as_str() {
                    "State" | "Shared" => !matches!(&ty.ty, syn::Type::Tuple(of) if of.elems.is_empty()),
                    "Broadcast" => {
                        !matches!(&ty.ty, syn::Type::Path(of) if of.path.segments.last().is_some_and(|last| last.ident == "NoBroadcast"))
                    }
                    _ => false,
                };
                types.push(name);
            }
            ImplItem::Fn(function) => {
                let name = function.sig.ident.to_string();
                has_process |= name == "process";
                let Some((_, count, form)) = METHODS.iter().find(|(known, ..)| *known == name) else {
                    return Err(Error::new(function.sig.ident.span(), unknown(&name, &known_methods)));
                };
                signature(&function.sig, *count, form)?;
                keeps |= name != "process";
                if name == "process" {
                    inline(&mut function.attrs);
                }
            }
            _ => {}
        }
    }
    if !has_process {
        return Err(Error::new(item.self_ty.span(), format!("an operator takes rows: add `{}`", METHODS[0].2)));
    }
    for (name, default) in TYPES.iter().filter(|(name, _)| !types.iter().any(|known| known == name)) {
        let ident = format_ident!("{name}");
        let filled: ImplItem = match default {
            None => {
                let what = if *name == "Input" { "takes" } else { "makes" };
                let text = format!("say which record it {what}: `type {name} = ..;`");
                return Err(Error::new(item.self_ty.span(), text));
            }
            Some("") => parse_quote!(type #ident = ();),
            Some(path) => {
                let path = format_ident!("{path}");
                parse_quote!(type #ident = ::millstream::codegen::#path;)
            }
        };
        item.items.push(filled);
    }
    // It may stand without a key: what is seen here is what the compiler of the language goes by.
    let of = &item.self_ty;
    let row_by_row = (!keeps).then(|| quote!(impl ::millstream::codegen::RowByRow for #of {}));
    Ok(quote!(#item #row_by_row))
}

fn signature(sig: &Signature, count: usize, form: &str) -> Result<()> {
    if let Some(word) = &sig.asyncness {
        return Err(Error::new(word.span(), "an operator does not wait, for rows behind this one would: take `async` away"));
    }
    let mutable = sig.receiver().is_some_and(|receiver| matches!(receiver.kind, syn::ReceiverKind::Reference(_, _, Some(_))));
    if !mutable || sig.inputs.len() != count {
        return Err(Error::new(sig.span(), format!("`{}` has other parameters: write `{form}`", sig.ident)));
    }
    Ok(())
}

fn unknown(word: &str, known: &[&str]) -> String {
    match known.iter().find(|known| near(word, known)) {
        Some(meant) => format!("an operator has no `{word}`: did you mean `{meant}`?"),
        None => format!("an operator has no `{word}`: put what else it needs into an `impl` of its own"),
    }
}
