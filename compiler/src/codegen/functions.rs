//! `functions.rs`: the user's own functions that are called.

use std::collections::HashMap;

use millstream_runtime::graph::{Function, Ty};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::context::Context;
use super::doc;
use super::expr::{Bindings, Hold, Lowering, Value};
use super::names::Scope;

/// `functions.rs`, or nothing.
pub(super) fn render<'a>(cx: &'a Context<'a>) -> Option<TokenStream> {
    let mut items = TokenStream::new();
    let mut number = 0;
    // A function may call further ones, which then follow in the list.
    while let Some((name, function)) = cx.called(number) {
        items.extend(render_function(cx, &name, function));
        number += 1;
    }
    let types = super::tokens::uses_types(&items);
    (!items.is_empty()).then(|| {
        quote! {
            #![doc = " Functions of the text."]
            use millstream::codegen::*;
            #types
            #items
        }
    })
}

fn render_function<'a>(cx: &'a Context<'a>, name: &Ident, function: &'a Function) -> TokenStream {
    let mut names = Scope::with(&["params"]);
    let (mut parameters, mut locals) = (Vec::new(), HashMap::new());
    for (parameter, ty) in &function.params {
        let ident = names.value(&local_name(parameter));
        let (rust, hold) = borrowed(cx, ty);
        locals.insert(parameter.as_str(), Value::closed(quote!(#ident), hold));
        parameters.push((ident, rust));
    }
    let mut lowering = Lowering::new(cx, &function.origin, Bindings { locals, ..Bindings::default() });
    let body = lowering.lower_owned(&function.body).tokens;
    let statements = lowering.take_statements();
    let all = quote!(#statements #body);
    let parameters = parameters.into_iter().map(|(ident, rust)| {
        let ident = super::tokens::unless_used(&all, ident);
        quote!(#ident: #rust)
    });
    let params = cx.function_uses_params(&function.name).then(|| {
        let ident = super::tokens::unless_used(&all, super::names::ident("params"));
        quote!(#ident: &crate::params::Params)
    });
    let parameters = params.into_iter().chain(parameters);
    let output = cx.types.borrow_mut().owned(&function.body.ty);
    let text = function.doc.as_deref().map(|text| doc::line(text.trim()));
    let origin = doc::origin(&function.origin);
    let waits = function.waits.map(|_| quote!(async));
    quote! {
        #text
        #origin
        pub #waits fn #name(#(#parameters),*) -> Result<#output, EvalError> {
            #statements
            Ok(#body)
        }
    }
}

/// Variables made by lowering are called `v1`, `v2`: a parameter of such a name gets another one.
fn local_name(name: &str) -> String {
    let digits = name.strip_prefix('v').or_else(|| name.strip_prefix('V'));
    match digits {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => format!("{name} value"),
        _ => name.to_owned(),
    }
}

/// The type of a parameter: values of `Copy` types, references to others.
fn borrowed(cx: &Context<'_>, ty: &Ty) -> (TokenStream, Hold) {
    if ty.is_copy() {
        return (cx.types.borrow_mut().owned(ty), Hold::Copy);
    }
    let reference = match ty.required() {
        Ty::String => quote!(&str),
        Ty::Bytes => quote!(&[u8]),
        Ty::List(element) => {
            let element = cx.types.borrow_mut().owned(element);
            quote!(&[#element])
        }
        other => {
            let owned = cx.types.borrow_mut().owned(other);
            quote!(&#owned)
        }
    };
    (if ty.is_optional() { quote!(Option<#reference>) } else { reference }, Hold::Reference)
}
