//! `#[function]`: the item stays as it is, but for `#[inline]`; what the language could not call is refused where it stands.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ItemFn, LitStr, Pat, Result, ReturnType, Visibility};

use crate::attributes::inline;
use crate::connector::duration;
use crate::supported;

/// The function itself, and an error for each mistake: rustc then says what else is wrong with it. Of an `async fn` also what makes rustc
/// say, at the function, that it cannot be waited for on another thread.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match check(arguments, &item) {
        Ok(mut function) => {
            let sends = function.sig.asyncness.as_ref().map(|_| sends(&function));
            if sends.is_none() {
                inline(&mut function.attrs);
            }
            quote!(#function #sends)
        }
        Err(error) => {
            let mistakes = error.into_compile_error();
            match refused(&item) {
                true => mistakes,
                false => quote!(#mistakes #item),
            }
        }
    }
}

/// Whether rustc has a word of its own for the same mistake: `self` outside of an `impl`, a borrowed result without a lifetime.
fn refused(item: &TokenStream) -> bool {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return false };
    let borrowed = matches!(&function.sig.output, ReturnType::Type(_, ty) if supported::is_borrowed(ty));
    function.sig.receiver().is_some() || borrowed
}

fn sends(function: &ItemFn) -> TokenStream {
    let (name, inputs) = (&function.sig.ident, &function.sig.inputs);
    let (params, types): (Vec<_>, Vec<_>) = inputs
        .iter()
        .enumerate()
        .filter_map(|(number, input)| match input {
            FnArg::Typed(typed) => Some((Ident::new(&format!("a{number}"), name.span()), &typed.ty)),
            FnArg::Receiver(_) => None,
        })
        .unzip();
    quote_spanned! {name.span()=>
        const _: () = {
            #[allow(dead_code)]
            fn sends(#(#params: #types),*) {
                fn is_send<T: ::core::marker::Send>(_: T) {}
                is_send(#name(#(#params),*));
            }
        };
    }
}

fn check(arguments: TokenStream, item: &TokenStream) -> Result<ItemFn> {
    let function: ItemFn = syn::parse2(item.clone()).map_err(|error| {
        Error::new(error.span(), format!("`#[function]` stands above a function: `pub fn name(text: &str) -> bool` ({error})"))
    })?;
    let mut mistakes = Vec::new();
    let sig = &function.sig;
    let retries = said(arguments.clone(), sig.asyncness.is_some()).unwrap_or_else(|error| {
        mistakes.push(error);
        false
    });
    if retries && matches!(&sig.output, ReturnType::Type(_, ty) if !supported::is_result(ty)) {
        let text = "no call of it fails, as it returns no `Result`: return `Result<T, String>`, or take `retries` away";
        mistakes.push(Error::new_spanned(&arguments, text));
    }
    if !matches!(function.vis, Visibility::Public(_)) {
        mistakes.push(Error::new(sig.ident.span(), "a pipeline cannot reach this function: write `pub` before it"));
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
                mistakes.extend(supported::argument(&typed.ty).err());
            }
        }
    }
    match &sig.output {
        // What is borrowed under a lifetime has been refused at the lifetime.
        ReturnType::Type(_, ty) if sig.generics.params.is_empty() => mistakes.extend(supported::result(ty).err()),
        ReturnType::Type(..) => {}
        ReturnType::Default => {
            mistakes.push(Error::new(sig.ident.span(), "this function gives no value: say what it returns, such as `-> bool`"));
        }
    }
    let mut mistakes = mistakes.into_iter();
    match mistakes.next() {
        None => Ok(function),
        Some(first) => Err(mistakes.fold(first, |mut all, next| {
            all.combine(next);
            all
        })),
    }
}

/// `name = "other_name"`, and of an `async fn` how it is called; whether calls that have failed are made again.
fn said(arguments: TokenStream, waits: bool) -> Result<bool> {
    let (mut retries, mut backoff) = (false, None);
    let parser = syn::meta::parser(|meta| {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match word.as_str() {
            "name" => return meta.value()?.parse::<LitStr>().map(drop),
            "in_flight" => {
                let value: syn::Expr = meta.value()?.parse()?;
                if !whole(&value).is_some_and(|count| (1..=100_000).contains(&count)) {
                    let text = "`in_flight` is from 1 to 100000: so many calls may be on their way, in each subtask";
                    return Err(Error::new(value.span(), text));
                }
            }
            "timeout" => {
                let value: syn::Expr = meta.value()?.parse()?;
                if micros(&value).is_none_or(|micros| micros <= 0) {
                    return Err(Error::new(value.span(), "`timeout` is a duration such as \"5s\" or \"250ms\""));
                }
            }
            "unordered" => {}
            "retries" => {
                let value: syn::Expr = meta.value()?.parse()?;
                if !whole(&value).is_some_and(|count| (1..=1000).contains(&count)) {
                    return Err(Error::new(
                        value.span(),
                        "`retries` is from 1 to 1000: so often a call that has failed is made again",
                    ));
                }
                retries = true;
            }
            "backoff" => {
                let value: syn::Expr = meta.value()?.parse()?;
                if micros(&value).is_none_or(|micros| micros <= 0) {
                    let text = "`backoff` is a duration such as \"100ms\": the pause before a call is made again, which doubles";
                    return Err(Error::new(value.span(), text));
                }
                backoff = Some(meta.path.span());
            }
            _ => {
                let text = "`#[function]` knows `name = \"other_name\"`, and of an `async fn` `in_flight = 20`, `timeout = \"5s\"`, `retries = 3`, \
                            `backoff = \"100ms\"` and `unordered`";
                return Err(meta.error(text));
            }
        }
        match waits {
            true => Ok(()),
            false => Err(meta.error("this is of an `async fn`: this function gives its value at once")),
        }
    });
    syn::parse::Parser::parse2(parser, arguments)?;
    match backoff {
        Some(span) if !retries => {
            Err(Error::new(span, "nothing is made again here: write `retries = 3` beside it, or take it away"))
        }
        _ => Ok(retries),
    }
}

fn whole(value: &syn::Expr) -> Option<u64> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(count), .. }) => count.base10_parse().ok(),
        _ => None,
    }
}

fn micros(value: &syn::Expr) -> Option<i64> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => duration(&text.value()),
        _ => None,
    }
}
