//! `#[function]`: the item stays as it is; what the language could not call is refused where it stands.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ItemFn, LitStr, Pat, Result, ReturnType, Type, Visibility};

/// The function itself, and an error for each mistake: rustc then says what else is wrong with it.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mistakes = check(arguments, &item).err().map(Error::into_compile_error);
    quote!(#mistakes #item)
}

fn check(arguments: TokenStream, item: &TokenStream) -> Result<()> {
    let function: ItemFn = syn::parse2(item.clone()).map_err(|error| {
        Error::new(error.span(), format!("`#[function]` stands above a function: `pub fn name(text: &str) -> bool` ({error})"))
    })?;
    let mut mistakes = Vec::new();
    mistakes.extend(name(arguments).err());
    let sig = &function.sig;
    if !matches!(function.vis, Visibility::Public(_)) {
        mistakes.push(Error::new(sig.ident.span(), "a pipeline cannot reach this function: write `pub` before it"));
    }
    if let Some(word) = &sig.asyncness {
        let text = "a function is called row by row and cannot wait: take `async` away";
        mistakes.push(Error::new(word.span(), text));
    }
    if let syn::Safety::Unsafe(word) = &sig.safety {
        mistakes.push(Error::new(word.span(), "take `unsafe` away, and use an `unsafe` block where it is needed"));
    }
    if let Some(parameter) = sig.generics.params.first() {
        mistakes.push(Error::new(
            parameter.span(),
            match parameter {
                GenericParam::Lifetime(_) => {
                    "nothing is borrowed from a row: take `&str` or `&T`, and return a value of its own, such as `String`"
                }
                _ => "nothing in the language says what this is: write one function for each type that it is used with",
            },
        ));
    }
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                mistakes
                    .push(Error::new(receiver.span(), "there is no value to call it on: write a free function without `self`"));
            }
            FnArg::Typed(typed) => {
                if !matches!(&*typed.pat, Pat::Ident(_)) {
                    mistakes.push(Error::new(
                        typed.pat.span(),
                        "a parameter is one name: take the pattern apart inside of the function",
                    ));
                }
                if matches!(&*typed.ty, Type::Reference(reference) if reference.mutability.is_some()) {
                    mistakes.push(Error::new(
                        typed.ty.span(),
                        "arguments cannot be changed: take a value or `&T`, and return what is new",
                    ));
                }
            }
        }
    }
    if matches!(&sig.output, ReturnType::Default) {
        mistakes.push(Error::new(sig.ident.span(), "this function gives no value: say what it returns, such as `-> bool`"));
    }
    let mut mistakes = mistakes.into_iter();
    match mistakes.next() {
        None => Ok(()),
        Some(first) => Err(mistakes.fold(first, |mut all, next| {
            all.combine(next);
            all
        })),
    }
}

/// `name = "other_name"`, or nothing.
fn name(arguments: TokenStream) -> Result<()> {
    let parser = syn::meta::parser(|meta| match meta.path.is_ident("name") {
        true => meta.value()?.parse::<LitStr>().map(drop),
        false => Err(meta.error("`#[function]` knows only `name`: `#[function(name = \"other_name\")]`")),
    });
    syn::parse::Parser::parse2(parser, arguments)
}
