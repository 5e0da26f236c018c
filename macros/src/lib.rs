//! Derive macros of Millstream. Used through the crate `millstream`, which the derived code names.

mod aggregate;
mod attributes;
mod binding;
mod bounds;
mod connector;
mod function;
mod operator;
mod record;
mod shared;
mod side_outputs;
mod state;
mod supported;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a row type, whose fields are the columns; or an enum a type of columns, whose values are the variants.
///
/// `#[flow(rename = "order-id")]` gives a column or a value another name in the outside data. `#[flow(unit = "ms")]` (`s`,
/// `ms`, `us`, `ns`) says what a number means for a timestamp. `#[flow(event_time)]` marks the column of event time, and
/// `#[flow(key)]` those of the key.
#[proc_macro_derive(Record, attributes(flow))]
pub fn derive_record(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    record::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Says where the rows of a record come from: `#[source(name = orders, from = file { path: "orders.jsonl" }, watermark = placed_at - 1m)]`.
///
/// A pipeline that uses the Rust file has the source, as if it stood there. What stands behind `from`, `watermark`, `idle_after` and
/// `on_error` is the language.
#[proc_macro_derive(Source, attributes(source))]
pub fn derive_source(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    binding::derive(&input, &binding::SOURCE).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Says where rows of a record go: `#[sink(of = revenue, into = file { path: "revenue" })]`.
///
/// A pipeline that uses the Rust file and has the stream writes it there; its rows have the columns of the record.
#[proc_macro_derive(Sink, attributes(sink))]
pub fn derive_sink(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    binding::derive(&input, &binding::SINK).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a type storable in checkpoints: all its fields, in order, under their names (those of `#[flow(rename = "..")]` where given).
/// `#[flow(default)]` or `#[flow(default = 0.5)]` says what a field is in values that were stored before it was there; without that a new field
/// has to be an option, a list, a set or a map.
#[proc_macro_derive(State, attributes(flow))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    state::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the states without key of a process: each field is an `OperatorList`, a `UnionList` or a `BroadcastState`.
/// `#[flow(rename = "..")]` keeps the name of a state when the field gets another.
#[proc_macro_derive(Shared, attributes(flow))]
pub fn derive_shared(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    shared::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum the side outputs of an operator: a variant for each, with its record. `type Side = Beside;` names it, and `side Odd into odd`
/// takes the rows of a variant.
#[proc_macro_derive(SideOutputs)]
pub fn derive_side_outputs(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    side_outputs::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the options of a connector of one's own: `from poll { url: ".." }`, `into batch { .. }`.
///
/// Each field is an option, with its type and its doc comment. One of type `Option` may be left out, and one with
/// `#[flow(default = ..)]`. `#[flow(every)]` (of a `Duration`), `#[flow(size)]` (of a `u64`) and `#[flow(words = "a, b")]` (of a
/// `String`) say how it is written. On the struct, `#[flow(name = "..", formats = "json, csv", bounded, replayable, exactly_once)]` says what
/// it is called, which formats it takes, and what it promises. `SourceConnector` or `SinkConnector` says what it makes of them.
#[proc_macro_derive(Connector, attributes(flow))]
pub fn derive_connector(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    connector::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function known to the language: `use rust "enrich.rs"` in a `.flow` file finds it.
///
/// Parameters are values, `&str`, `&T`, `&[T]` or `Option`s of them; the result is a value, or a `Result` whose error is an
/// evaluation error of the row. A `Vec` or an `impl Iterator` is a list, which `explode` makes rows of.
/// `#[function(name = "other_name")]` gives it another name in the language. Of an `async fn` many calls are on their way at the same
/// time: `#[function(in_flight = 20, timeout = "5s", retries = 3, backoff = "100ms", unordered)]` says how many, how long an answer may
/// take, how often a call that has failed is made again, the pause before it (which doubles), and that rows need not come out as they came in.
#[proc_macro_attribute]
pub fn function(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(arguments.into(), item.into()).into()
}

/// Makes an `impl Accumulator for ..` an aggregate of the language: `| aggregate by country { top: most_frequent(tag) }`.
///
/// The struct derives `Clone`, `Default` and `State`. `Input` is the type of the argument, or a tuple of those of several. With an
/// `impl Retract` beside it, it can be used over tables too. `#[aggregate(name = "other_name")]` gives it another name than that of the
/// struct in small letters.
#[proc_macro_attribute]
pub fn aggregate(arguments: TokenStream, item: TokenStream) -> TokenStream {
    aggregate::expand(arguments.into(), item.into()).into()
}

/// Makes an `impl Process for ..` an operator of the language: `| process by country FraudScore { threshold: 0.9 }`.
///
/// `Input` and `Output` are records, and so is `Side`, where there is a side output; of several it is an enum that derives `SideOutputs`. What is left out is filled in: `Side`,
/// `State`, `Broadcast` and `Shared` are then nothing.
#[proc_macro_attribute]
pub fn operator(arguments: TokenStream, item: TokenStream) -> TokenStream {
    operator::expand(arguments.into(), item.into()).into()
}
