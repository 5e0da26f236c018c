//! Keys: what rows are grouped and distributed by.

use millstream_runtime::graph::{Expr, SortKey, Ty};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::context::Context;
use super::expr::{Hold, Lowering, Value, place};

/// So many values make one tuple; longer keys are tuples of tuples.
const TUPLE: usize = 12;

/// The type of the key that these expressions make: `()`, one type, or a tuple.
pub(super) fn key_type(cx: &Context<'_>, keys: &[&Expr]) -> TokenStream {
    let types = keys.iter().map(|key| element_type(cx, &key.ty)).collect();
    nest(types)
}

/// The key of a row, owned.
pub(super) fn key_value<'a>(lowering: &mut Lowering<'a>, keys: &[&'a Expr]) -> TokenStream {
    let values = keys
        .iter()
        .map(|key| {
            let tokens = lowering.lower_owned(key).tokens;
            if has_float(&key.ty) { quote!(AsKey::into_key(#tokens)) } else { tokens }
        })
        .collect();
    nest(values)
}

/// What rows are ordered by, of one row.
pub(super) fn order_value<'a>(lowering: &mut Lowering<'a>, order: &'a [SortKey]) -> TokenStream {
    let values = order
        .iter()
        .map(|key| {
            let tokens = lowering.lower_owned(&key.value).tokens;
            let tokens = if has_float(&key.value.ty) { quote!(AsKey::into_key(#tokens)) } else { tokens };
            if key.descending { quote!(Reverse(#tokens)) } else { tokens }
        })
        .collect();
    nest(values)
}

/// How the parts of a key are reached behind a reference to it, called `name`.
pub(super) fn key_parts(cx: &Context<'_>, keys: &[&Expr], name: &Ident) -> Vec<Value> {
    let count = keys.len();
    keys.iter()
        .enumerate()
        .map(|(index, key)| {
            let path = key_part(name, index, count);
            if has_float(&key.ty) {
                let rust = cx.types.borrow_mut().owned(&key.ty);
                let path = if count == 1 { path } else { quote!(&#path) };
                let hold = if key.ty.is_copy() { Hold::Copy } else { Hold::Owned };
                return Value::closed(quote!(<#rust>::from_key(#path)), hold);
            }
            match (count, key.ty.is_copy()) {
                (1, true) => Value::open(quote!(*#path), Hold::Copy),
                // Methods reach through the reference by themselves.
                _ => place(path, &key.ty),
            }
        })
        .collect()
}

/// One of so many parts of a key, behind a reference to it called `name`.
pub(super) fn key_part(name: &Ident, index: usize, count: usize) -> TokenStream {
    match count {
        1 => quote!(#name),
        2..=TUPLE => field(quote!(#name), index),
        // A chunk of one is no tuple.
        _ if index + 1 == count && count % TUPLE == 1 => field(quote!(#name), index / TUPLE),
        _ => field(field(quote!(#name), index / TUPLE), index % TUPLE),
    }
}

fn field(base: TokenStream, index: usize) -> TokenStream {
    let index = Literal::usize_unsuffixed(index);
    quote!(#base.#index)
}

fn element_type(cx: &Context<'_>, ty: &Ty) -> TokenStream {
    let rust = cx.types.borrow_mut().owned(ty);
    if has_float(ty) { quote!(<#rust as AsKey>::Key) } else { rust }
}

/// Floats need a rule for what is equal.
fn has_float(ty: &Ty) -> bool {
    match ty {
        Ty::Float32 | Ty::Float64 => true,
        Ty::Optional(inner) | Ty::List(inner) => has_float(inner),
        Ty::Map(key, value) => has_float(key) || has_float(value),
        _ => false,
    }
}

/// Nothing, one thing, a tuple, or a tuple of tuples.
pub(super) fn nest(parts: Vec<TokenStream>) -> TokenStream {
    match &parts[..] {
        [] => quote!(()),
        [one] => one.clone(),
        parts if parts.len() <= TUPLE => quote!((#(#parts),*)),
        parts => nest(parts.chunks(TUPLE).map(|chunk| nest(chunk.to_vec())).collect()),
    }
}
