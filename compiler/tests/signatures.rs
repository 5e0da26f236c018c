//! What `check` says of Rust items agrees with what the macros, and so rustc, make of them: a table of both.
//!
//! The macros are taken in as source, as nothing can call a macro crate. What both accept is compiled with all of its types in
//! `compiler/cli/tests/rust/all.rs`; what only rustc can refuse, in `macros/flow/tests/misuse`.
#![allow(dead_code, unused_imports, reason = "the macro crate calls more of it")]

#[path = "../../macros/src/aggregate.rs"]
mod aggregate;
#[path = "../../macros/src/attributes.rs"]
mod attributes;
#[path = "../../macros/src/bounds.rs"]
mod bounds;
#[path = "../../macros/src/connector.rs"]
mod connector;
#[path = "../../macros/src/function.rs"]
mod function;
#[path = "../../macros/src/operator.rs"]
mod operator;
#[path = "../../macros/src/record.rs"]
mod record;
#[path = "../../macros/src/side_outputs.rs"]
mod side_outputs;
#[path = "../../macros/src/supported.rs"]
mod supported;

use millstream_compiler::diagnostics::Severity;
use millstream_compiler::session::{Loader, Session};
use proc_macro2::TokenStream;
use quote::ToTokens;

/// Who refuses an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Nobody,
    /// `check` and the macro.
    Both,
    /// `check`; rustc refuses it, or what is generated for it, and a macro cannot know.
    Check,
}

use By::{Both, Check, Nobody};

/// What stands before each item.
const BEFORE: &str = "use millstream::prelude::*;\nuse std::collections::{BTreeMap, HashMap, HashSet};\n\n\
    #[derive(Clone, Debug, Record)]\npub struct Item { pub id: i64 }\n\n\
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]\npub enum Kind { A, B }\n\n\
    #[derive(Clone, Debug)]\npub struct Plain { pub id: i64 }\n\n\
    pub type Id = i64;\n\n\
    pub struct Op { pub limit: i64 }\n\n\
    #[derive(Clone, Debug, Default, State)]\npub struct Acc { n: i64 }\n\n";

const FUNCTIONS: &[(By, &str)] = &[
    (Nobody, "#[function] pub fn f(a: i8, b: u64, c: f32, d: bool) -> i16 { 1 }"),
    (Nobody, "#[function] pub fn f(a: &str, b: String, c: Str) -> String { a.to_owned() }"),
    (Nobody, "#[function] pub fn f(a: Option<&str>, b: Option<String>) -> Option<Str> { None }"),
    (Nobody, "#[function] pub fn f(a: &[String], b: Vec<i64>, c: Option<&[i64]>) -> Vec<String> { Vec::new() }"),
    (Nobody, "#[function] pub fn f(a: Map<String, i64>, b: &Map<Str, f64>) -> BTreeMap<String, i64> { a }"),
    (Nobody, "#[function] pub fn f(a: Decimal<10, 2>, b: Date, c: &Time, d: Timestamp, e: Duration) -> Timestamp { d }"),
    (Nobody, "#[function] pub fn f(a: Uuid, b: &Json, c: &[u8], d: Vec<u8>) -> Bytes { d.into() }"),
    (Nobody, "#[function] pub fn f(a: Item, b: &Item, c: Option<&Item>, d: &[Item], e: Kind) -> Item { a }"),
    (Nobody, "#[function] pub fn f(a: Id) -> Id { a }"),
    (Nobody, "#[function] pub fn f() -> &'static str { \"x\" }"),
    (Nobody, "#[function] pub fn f(a: i64) -> Option<&'static str> { None }"),
    (Nobody, "#[function] pub fn f(a: i64) -> Result<i64, String> { Ok(a) }"),
    (Nobody, "#[function] pub fn f(a: i64) -> Result<Option<Vec<Item>>, EvalError> { Ok(None) }"),
    (Nobody, "#[function] pub fn f(a: i64) -> impl Iterator<Item = i64> { 0..a }"),
    (Nobody, "#[function] pub fn f(mut a: i64) -> i64 { a += 1; a }"),
    (Nobody, "#[function(name = \"g\")] pub fn f(a: i64) -> i64 { a }"),
    (Nobody, "#[function] pub async fn f(a: &str) -> bool { true }"),
    (
        Nobody,
        "#[function(in_flight = 5, timeout = \"1m30s\", unordered)] pub async fn f(a: i64) -> Result<Item, String> { Err(a.to_string()) }",
    ),
    (Nobody, "#[function(retries = 3, backoff = \"250ms\")] pub async fn f(a: i64) -> Result<i64, String> { Ok(a) }"),
    (Both, "#[function] fn f(a: i64) -> i64 { a }"),
    (Both, "#[function] pub(crate) fn f(a: i64) -> i64 { a }"),
    (Both, "#[function] pub unsafe fn f(a: i64) -> i64 { a }"),
    (Both, "#[function] pub fn f<T>(a: T) -> i64 { 1 }"),
    (Both, "#[function] pub fn f<const N: usize>(a: i64) -> i64 { a }"),
    (Both, "#[function] pub fn f<'a>(a: &'a str) -> String { a.to_owned() }"),
    (Both, "#[function] pub fn f(&self, a: i64) -> i64 { a }"),
    (Both, "#[function] pub fn f((a, b): (i64, i64)) -> i64 { a }"),
    (Both, "#[function] pub fn f(_: i64) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: &mut String) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: i64) {}"),
    (Both, "#[function] pub fn f(a: i64) -> () {}"),
    (Both, "#[function] pub fn f(a: usize) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: i128) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: i64) -> isize { 1 }"),
    (Both, "#[function] pub fn f(a: char) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: HashMap<String, i64>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: &HashSet<i64>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: Vec<HashMap<String, i64>>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: (i64, i64)) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: [i64; 3]) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: Box<i64>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: std::time::Instant) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: std::time::Duration) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: Option<Option<i64>>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: Decimal) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: Decimal<10, 12>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: &str) -> &str { a }"),
    (Both, "#[function] pub fn f(a: &str) -> Option<&str> { None }"),
    (Both, "#[function] pub fn f(a: &str) -> Result<&str, String> { Ok(a) }"),
    (Both, "#[function] pub fn f(a: impl Into<i64>) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: &[&str]) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: &&str) -> i64 { 1 }"),
    (Both, "#[function] pub fn f(a: i64) -> impl Fn() -> i64 { move || a }"),
    (Both, "#[function] pub fn f(a: i64) -> Vec<&'static str> { Vec::new() }"),
    (Both, "#[function] pub fn f(a: fn() -> i64) -> i64 { a() }"),
    (Both, "#[function(title = \"x\")] pub fn f(a: i64) -> i64 { a }"),
    (Both, "#[function(name = 5)] pub fn f(a: i64) -> i64 { a }"),
    (Both, "#[function(timeout = \"5s\")] pub fn f(a: i64) -> i64 { a }"),
    (Both, "#[function(timeout = \"5 seconds\")] pub async fn f(a: i64) -> i64 { a }"),
    (Both, "#[function(in_flight = 100_001)] pub async fn f(a: i64) -> i64 { a }"),
    (Both, "#[function(retries = 3)] pub async fn f(a: i64) -> i64 { a }"),
    (Both, "#[function(retries = 0)] pub async fn f(a: i64) -> Result<i64, String> { Ok(a) }"),
    (Both, "#[function(backoff = \"1s\")] pub async fn f(a: i64) -> Result<i64, String> { Ok(a) }"),
    (Check, "#[function] pub fn f(a: Orders) -> i64 { 1 }"),
    (Check, "#[function] pub fn f(a: Plain) -> i64 { 1 }"),
    (Check, "#[function] pub fn lower(a: i64) -> i64 { a }"),
];

const RECORDS: &[(By, &str)] = &[
    (
        Nobody,
        "#[derive(Clone, Record)] pub struct R { pub id: i64, pub item: Item, pub kind: Option<Kind>, pub items: Vec<Item> }",
    ),
    (
        Nobody,
        "#[derive(Clone, Record)] pub struct R { #[flow(event_time, unit = \"ms\")] pub at: Timestamp, #[flow(rename = \"r-id\", key)] pub id: Id }",
    ),
    (Nobody, "#[derive(Clone, Record)] pub struct R { pub a: Option<Decimal<10, 2>>, pub b: Vec<Option<Map<String, Vec<u8>>>> }"),
    (
        Nobody,
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)] pub enum R { #[flow(rename = \"a b\")] A, B }",
    ),
    (Both, "#[derive(Clone, Record)] pub struct R(pub i64);"),
    (Both, "#[derive(Clone, Record)] pub struct R<T> { pub a: T }"),
    (Both, "#[derive(Clone, Record)] pub struct R<'a> { pub a: &'a str }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: usize }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: Option<Option<i64>> }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: HashMap<String, i64> }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: (i64, i64) }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: [i64; 2] }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: Decimal }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: Decimal<39, 2> }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: Box<Item> }"),
    (Both, "#[derive(Clone, Record)] pub struct R { pub a: Vec<R> }"),
    (
        Both,
        "#[derive(Clone, Record)] pub struct R { #[flow(event_time)] pub a: Timestamp, #[flow(event_time)] pub b: Timestamp }",
    ),
    (Both, "#[derive(Clone, Record)] pub struct R { #[flow(event_time)] pub a: i64 }"),
    (Both, "#[derive(Clone, Record)] pub struct R { #[flow(event_tme)] pub a: Timestamp }"),
    (Both, "#[derive(Clone, Record)] pub struct R { #[flow(unit = \"m\")] pub a: Timestamp }"),
    (Both, "#[derive(Clone, Record)] pub struct R { #[flow(unit = \"ms\")] pub a: i64 }"),
    (Both, "#[derive(Clone, Record)] pub struct R { #[flow(rename = \"b\")] pub a: i64, pub b: i64 }"),
    (Both, "#[derive(Clone, Record)] pub struct R { #[flow(rename = b)] pub a: i64 }"),
    (Both, "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)] pub enum R {}"),
    (Both, "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)] pub enum R { A(i64) }"),
    (
        Both,
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)] pub enum R { A, #[flow(rename = \"A\")] B }",
    ),
    (Check, "#[derive(Record)] pub struct R { pub a: i64 }"),
    (Check, "#[derive(Clone, Record)] struct R { pub a: i64 }"),
    (Check, "#[derive(Clone, Record)] pub struct R { a: i64 }"),
    (Check, "#[derive(Clone, Record)] pub struct R { pub a: Plain }"),
    (Check, "#[derive(Clone, Record)] pub struct R { pub a: Nothing }"),
    (Check, "#[derive(Clone, Record)] pub struct R { #[flow(event_time)] pub a: Id }"),
    (Check, "#[derive(Clone, Record)] pub enum R { A }"),
];

const PROCESS: &str = "fn process(&mut self, row: Item, cx: &mut Context<'_, Self>) -> Result<(), Failure> { Ok(()) }";

const OPERATORS: &[(By, &str)] = &[
    (Nobody, "#[operator] impl Process for Op { type Input = Item; type Output = Item; $process }"),
    (
        Nobody,
        "#[operator] impl Process for Op { type Input = Item; type Output = Item; type Side = Item; type State = Acc; $process \
              fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> { Ok(()) } }",
    ),
    (Both, "#[operator] impl Process for Op { type Input = Item; $process }"),
    (Both, "#[operator] impl Process for Op { type Output = Item; $process }"),
    (Both, "#[operator] impl Process for Op { type Input = Item; type Output = Item; }"),
    (Both, "#[operator] impl<T> Process for Op { type Input = Item; type Output = Item; $process }"),
    (Both, "#[operator(keyed)] impl Process for Op { type Input = Item; type Output = Item; $process }"),
    (Both, "#[operator] impl Op { }"),
    (Check, "#[operator] impl Process for Op { type Input = Plain; type Output = Item; $process }"),
    (Check, "#[operator] impl Process for Op { type Input = Item; type Output = Plain; $process }"),
    (Check, "impl Process for Op { type Input = Item; type Output = Item; $process }"),
];

const ADD: &str = "fn add(&mut self, value: i64) -> Result<(), EvalError> { Ok(()) } \
                   fn merge(&mut self, other: &Self) -> Result<(), EvalError> { Ok(()) }";
const FINISH: &str = "fn finish(&self) -> Result<Option<i64>, EvalError> { Ok(None) }";

const AGGREGATES: &[(By, &str)] = &[
    (Nobody, "#[aggregate] impl Accumulator for Acc { type Input = i64; type Output = i64; $add $finish }"),
    (
        Nobody,
        "#[aggregate(name = \"top_most\")] impl Accumulator for Acc { type Input = (i64, String); type Output = Item; $add $finish }",
    ),
    (Both, "#[aggregate] impl Accumulator for Acc { type Input = i64; type Output = i64; $finish }"),
    (Both, "#[aggregate] impl<T> Accumulator for Acc { type Input = i64; type Output = i64; $add $finish }"),
    (Both, "#[aggregate(nam = \"x\")] impl Accumulator for Acc { type Input = i64; type Output = i64; $add $finish }"),
    (Both, "#[aggregate] impl Acc { $add $finish }"),
    (Both, "#[aggregate] impl Accumulator for Acc { type Input = usize; type Output = i64; $add $finish }"),
    (Check, "#[aggregate] impl Accumulator for Acc { type Input = Plain; type Output = i64; $add $finish }"),
];

const SIDES: &[(By, &str)] = &[
    (Nobody, "#[derive(SideOutputs)] pub enum S { A(Item), B(Item) }"),
    (Nobody, "#[derive(Debug, SideOutputs)] pub enum S { /// Odd ones.\n Odd(Item) }"),
    (Both, "#[derive(SideOutputs)] pub struct S { pub a: Item }"),
    (Both, "#[derive(SideOutputs)] pub enum S {}"),
    (Both, "#[derive(SideOutputs)] pub enum S { A(Item), B }"),
    (Both, "#[derive(SideOutputs)] pub enum S { A(Item, Item) }"),
    (Both, "#[derive(SideOutputs)] pub enum S { A { item: Item } }"),
    (Both, "#[derive(SideOutputs)] pub enum S<T> { A(T) }"),
    (Check, "#[derive(SideOutputs)] pub enum S { A(String) }"),
    (Check, "#[derive(SideOutputs)] pub enum S { A(Vec<Item>) }"),
    (Check, "#[derive(SideOutputs)] pub enum S { A((i64, i64)) }"),
    (Check, "#[derive(SideOutputs)] enum S { A(Item) }"),
    (Check, "#[derive(SideOutputs)] pub enum S { A(Plain) }"),
];

const CONNECTORS: &[(By, &str)] = &[
    (
        Nobody,
        "/// Reads.\n#[derive(Connector)] pub struct C { /// Where.\n pub url: String, /// How many.\n #[flow(default = 5)] pub rows: u32 } $source",
    ),
    (
        Nobody,
        "/// Reads.\n#[derive(Connector)] #[flow(name = \"poll\", formats = \"json, csv\", bounded, replayable)] pub struct C; $source",
    ),
    (Both, "#[derive(Connector)] pub struct C; $source"),
    (Both, "/// Reads.\n#[derive(Connector)] pub struct C { pub url: String } $source"),
    (Both, "/// Reads.\n#[derive(Connector)] pub struct C { /// Where.\n pub url: std::path::PathBuf } $source"),
    (Both, "/// Reads.\n#[derive(Connector)] pub struct C { /// Where.\n pub format: String } $source"),
    (Both, "/// Reads.\n#[derive(Connector)] pub struct C { /// How long.\n #[flow(default = 5)] pub wait: Duration } $source"),
    (
        Both,
        "/// Reads.\n#[derive(Connector)] pub struct C { /// How long.\n #[flow(defalt = \"5s\")] pub wait: Duration } $source",
    ),
    (
        Both,
        "/// Reads.\n#[derive(Connector)] pub struct C { /// How long.\n #[flow(default = \"5s\")] pub wait: Option<Duration> } $source",
    ),
    (
        Both,
        "/// Reads.\n#[derive(Connector)] pub struct C { /// One.\n pub a: String, /// Two.\n #[flow(rename = \"a\")] pub b: String } $source",
    ),
    (Both, "/// Reads.\n#[derive(Connector)] pub struct C<T> { /// One.\n pub a: T } $source"),
    (Both, "/// Reads.\n#[derive(Connector)] pub struct C(String); $source"),
    (Check, "/// Reads.\n#[derive(Connector)] pub struct C;"),
];

const SOURCE: &str = "impl SourceConnector for C { type Source<T: Record, F: Format> = Nothing; \
                      fn source<T: Record, F: Format>(self, format: F) -> JobResult<Nothing> { Ok(Nothing) } }";

/// A pipeline that uses the Rust file, and the file.
struct Files(String);

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "p.flow" => Ok(b"use rust \"f.rs\"\n".to_vec()),
            _ => Ok(self.0.clone().into_bytes()),
        }
    }
}

/// The titles of the errors of `check`.
fn check(item: &str) -> Vec<String> {
    let session = Session::open("p.flow", &Files(format!("{BEFORE}{item}\n"))).unwrap();
    let errors = session.diagnostics().iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| format!("{} {}", found.code.0, found.title)).collect()
}

/// Whether the macro above the last annotated item refuses it.
fn refused_by_macro(item: &str) -> bool {
    let file = syn::parse_file(item).unwrap_or_else(|error| panic!("{item}: {error}"));
    let expanded: Vec<TokenStream> = file.items.into_iter().filter_map(expand).collect();
    expanded.iter().any(|tokens| tokens.to_string().contains("compile_error"))
}

fn expand(item: syn::Item) -> Option<TokenStream> {
    let derived =
        |attrs: &[syn::Attribute], name: &str| attrs.iter().any(|attr| attr.to_token_stream().to_string().contains(name));
    let result = |derived: syn::Result<TokenStream>| Some(derived.unwrap_or_else(syn::Error::into_compile_error));
    match item {
        syn::Item::Fn(mut item) => {
            let arguments = annotation(&mut item.attrs, "function")?;
            Some(function::expand(arguments, item.to_token_stream()))
        }
        syn::Item::Impl(mut item) => match annotation(&mut item.attrs, "operator") {
            Some(arguments) => Some(operator::expand(arguments, item.to_token_stream())),
            None => Some(aggregate::expand(annotation(&mut item.attrs, "aggregate")?, item.to_token_stream())),
        },
        syn::Item::Struct(item) if derived(&item.attrs, "Connector") => {
            result(syn::parse2(item.to_token_stream()).and_then(|input| connector::derive(&input)))
        }
        syn::Item::Struct(item) if derived(&item.attrs, "SideOutputs") => {
            result(syn::parse2(item.to_token_stream()).and_then(|input| side_outputs::derive(&input)))
        }
        syn::Item::Struct(item) => result(syn::parse2(item.to_token_stream()).and_then(|input| record::derive(&input))),
        syn::Item::Enum(item) if derived(&item.attrs, "SideOutputs") => {
            result(syn::parse2(item.to_token_stream()).and_then(|input| side_outputs::derive(&input)))
        }
        syn::Item::Enum(item) => result(syn::parse2(item.to_token_stream()).and_then(|input| record::derive(&input))),
        _ => None,
    }
}

/// Takes an attribute away and gives what stands in its brackets.
fn annotation(attrs: &mut Vec<syn::Attribute>, name: &str) -> Option<TokenStream> {
    let at = attrs.iter().position(|attr| attr.path().is_ident(name))?;
    match attrs.remove(at).meta {
        syn::Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}

fn agree(table: &[(By, &str)]) {
    let mut wrong = Vec::new();
    for (expected, item) in table {
        let item = item.replace("$process", PROCESS).replace("$add", ADD).replace("$finish", FINISH).replace("$source", SOURCE);
        let said = check(&item);
        let found = match (said.is_empty(), refused_by_macro(&item)) {
            (true, false) => Some(Nobody),
            (false, true) => Some(Both),
            (false, false) => Some(Check),
            (true, true) => None,
        };
        if found != Some(*expected) {
            let by = found.map_or("the macro alone".to_owned(), |by| format!("{by:?}"));
            wrong.push(format!("{item}\n    refused by {by}, not {expected:?}: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions() {
    agree(FUNCTIONS);
}

#[test]
fn side_outputs_of_operators() {
    agree(SIDES);
}

#[test]
fn records() {
    agree(RECORDS);
}

#[test]
fn operators() {
    agree(OPERATORS);
}

#[test]
fn aggregates() {
    agree(AGGREGATES);
}

#[test]
fn connectors() {
    agree(CONNECTORS);
}
