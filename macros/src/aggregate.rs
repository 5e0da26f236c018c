//! `#[aggregate]`: the `impl Accumulator` stays as it is; what the language could not call is refused where it stands.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::{Error, ImplItem, ItemImpl, LitStr, Result, Type};

use crate::supported;

const FORM: &str = "`#[aggregate]` stands above `impl Accumulator for MostFrequent { .. }`";
const METHODS: &[(&str, &str)] = &[
    ("add", "fn add(&mut self, value: Self::Input) -> Result<(), EvalError>"),
    ("merge", "fn merge(&mut self, other: &Self) -> Result<(), EvalError>"),
    ("finish", "fn finish(&self) -> Result<Option<Self::Output>, EvalError>"),
];

/// The implementation itself; after a mistake nothing but the mistake.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match check(arguments, &item) {
        Ok(()) => item,
        Err(error) => error.into_compile_error(),
    }
}

fn check(arguments: TokenStream, item: &TokenStream) -> Result<()> {
    let parser = syn::meta::parser(|meta| match meta.path.is_ident("name") {
        true => meta.value()?.parse::<LitStr>().map(drop),
        false => Err(meta.error("`#[aggregate]` knows only `name`: `#[aggregate(name = \"other_name\")]`")),
    });
    syn::parse::Parser::parse2(parser, arguments)?;
    let item: ItemImpl = syn::parse2(item.clone()).map_err(|error| Error::new(error.span(), format!("{FORM} ({error})")))?;
    let Some((path, _)) = item.trait_.as_ref() else { return Err(Error::new(item.self_ty.span(), FORM)) };
    if path.segments.last().is_none_or(|last| last.ident != "Accumulator") {
        return Err(Error::new(path.span(), FORM));
    }
    if let Some(parameter) = item.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            "an aggregate has no type parameters and no lifetimes: write one for each type",
        ));
    }
    for member in &item.items {
        match member {
            ImplItem::Type(member) if member.ident == "Input" => match &member.ty {
                Type::Tuple(tuple) => tuple.elems.iter().try_for_each(supported::argument)?,
                one => supported::argument(one)?,
            },
            ImplItem::Type(member) if member.ident == "Output" => supported::result(&member.ty)?,
            _ => {}
        }
    }
    for (method, form) in METHODS {
        let found = item.items.iter().find_map(|item| match item {
            ImplItem::Fn(function) if function.sig.ident == method => Some(&function.sig),
            _ => None,
        });
        match found {
            None => return Err(Error::new(item.self_ty.span(), format!("something is missing: add `{form}`"))),
            Some(sig) => {
                if let Some(word) = &sig.asyncness {
                    return Err(Error::new(
                        word.span(),
                        "an aggregate does not wait, for rows behind this one would: take `async` away",
                    ));
                }
            }
        }
    }
    Ok(())
}
