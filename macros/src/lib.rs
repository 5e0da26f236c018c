//! Derive macros of Millstream. Used through the crate `millstream`, which the derived code names.

mod attributes;
mod record;
mod shared;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a row type: its fields are the columns.
///
/// `#[flow(name = "order-id")]` gives a column another name in the outside data. `#[flow(unit = "ms")]` (`s`, `ms`, `us`,
/// `ns`) says what a number means for a timestamp.
#[proc_macro_derive(Record, attributes(flow))]
pub fn derive_record(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    record::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a type storable in checkpoints: all its fields, in order, under their names (those of `#[flow(name = "..")]` where given).
#[proc_macro_derive(State, attributes(flow))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    state::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the states without key of a process: each field is an `OperatorList`, a `UnionList` or a `BroadcastState`.
/// `#[flow(name = "..")]` keeps the name of a state when the field gets another.
#[proc_macro_derive(Shared, attributes(flow))]
pub fn derive_shared(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    shared::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
