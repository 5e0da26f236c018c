//! E08xx: what can be wrong in a Rust file that a pipeline uses. Places are in the Rust file.

mod aggregates;
mod asynchronous;
mod bindings;
mod connectors;
mod inputs;
mod sides;

pub use aggregates::*;
pub use asynchronous::*;
pub use bindings::*;
pub use connectors::*;
pub use inputs::*;
pub use sides::*;

use super::Written;
use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::source::Span;
use crate::syntax::ast::Name;

/// The file is no Rust.
pub(super) fn not_rust(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0801", "this Rust file does not parse", span, reason.to_owned())
        .with_help("the file is read as rustc reads it: mend it there first")
}

/// `use crate x`, and there is none.
pub fn no_crate(span: Span, name: &str, reason: &str) -> Diagnostic {
    Diagnostic::error("E0817", format!("there is no crate `{name}` here"), span, reason.to_owned()).with_help(
        "`use crate` takes a library of the workspace around this file, or one that a package there depends on; for a single file write `use rust \"file.rs\"`",
    )
}

/// A function, record or operator that is not compiled. `of`: the crate that it is in; None: a file of the pipeline.
pub fn needs_feature(name: &Name, feature: &str, of: Option<&str>) -> Diagnostic {
    let title = format!("`{}` is there only with the feature `{feature}`", name.text);
    let (label, help) = match of {
        Some(of) => (
            format!("`{of}` is built without it"),
            format!("turn it on in the Cargo.toml around this file: `{of} = {{ .., features = [{feature:?}] }}`"),
        ),
        None => (
            "a file of a pipeline is compiled without features".to_owned(),
            "take `#[cfg(..)]` away, or move it to a crate of its own and write `use crate`".to_owned(),
        ),
    };
    Diagnostic::error("E0819", title, name.span, label).with_help(help)
}

/// A function in a module of a file that is not public.
pub fn concealed(name: &Name, module: &str) -> Diagnostic {
    let title = format!("`{}` is in the module `{module}`, which is not public", name.text);
    Diagnostic::error("E0804", title, name.span, "the pipeline cannot reach it").with_help(format!("write `pub mod {module}`"))
}

/// Thousands of brackets within each other.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error("E0801", "this Rust file does not parse", span, "brackets are nested too deeply from here on")
        .with_help("take the inner part out into a function of its own")
}

/// A type that no column can have.
pub fn unsupported(written: &Written, reason: &str, help: &str) -> Diagnostic {
    let title = format!("`{}` is no type of the language", written.text);
    Diagnostic::error("E0802", title, written.span, reason.to_owned()).with_help(help.to_owned())
}

/// Type parameters.
pub(super) fn generic(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        "E0803",
        format!("{} {what} of the language has no type parameters", article(what)),
        span,
        "nothing says what this is",
    )
    .with_help(format!("write one {what} for each type that it is used with"))
}

fn article(what: &str) -> &'static str {
    if what.starts_with(['a', 'e', 'o']) { "an" } else { "a" }
}

/// Lifetimes.
pub(super) fn lifetime(span: Span, what: &str) -> Diagnostic {
    let help = match what {
        "function" => "take `&str` or `&T`, and return a value of its own: `String`, `Vec<T>`",
        _ => "hold values of their own: `String` instead of `&'a str`",
    };
    Diagnostic::error(
        "E0803",
        format!("{} {what} of the language has no lifetimes", article(what)),
        span,
        "nothing is borrowed from a row",
    )
    .with_help(help)
}

/// `async fn` and the like.
pub(super) fn kind_of_function(span: Span, word: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0803", format!("a function of the language is not `{word}`"), span, "not known here").with_help(help)
}

/// `self`
pub(super) fn receiver(span: Span) -> Diagnostic {
    Diagnostic::error("E0803", "a function of the language has no `self`", span, "there is no value to call it on")
        .with_help("write a free function: `pub fn name(..) -> ..`")
}

/// `(a, b): (i64, i64)`
pub(super) fn pattern(span: Span) -> Diagnostic {
    Diagnostic::error("E0803", "a parameter is one name", span, "a pattern has no name in the language")
        .with_help("give it a name, and take it apart inside of the function")
}

/// A function that gives nothing.
pub fn no_result(name: &Name, span: Span) -> Diagnostic {
    Diagnostic::error("E0803", format!("the function `{}` gives no value", name.text), span, "no result")
        .with_help("say what it returns: `-> bool`, `-> Option<String>`")
}

/// An item that generated code could not name.
pub(super) fn not_public(name: &Name, what: &str, restricted: Option<Span>) -> Diagnostic {
    let title = format!("the {what} `{}` is not public", name.text);
    let diagnostic =
        Diagnostic::error("E0804", title, name.span, "the pipeline cannot reach it").with_help("write `pub` before it");
    match (restricted, what) {
        (Some(span), _) => diagnostic.with_fix("write `pub`", span, "pub", true),
        (None, "field") => {
            let start = Span { end: name.span.start, ..name.span };
            diagnostic.with_fix("write `pub`", start, "pub ", true)
        }
        _ => diagnostic,
    }
}

/// A name that the language has already.
pub fn name_taken(name: &Name, what: &str, by: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0805", format!("the {what} `{}` has the name of {by}", name.text), name.span, format!("this is {by}"))
        .with_help(help.to_owned())
}

/// `#[function(..)]`
pub(super) fn function_attribute(span: Span, what: &str) -> Diagnostic {
    if what == "function" {
        let title =
            "`#[function]` knows `name`, and of an `async fn` `in_flight`, `timeout`, `retries`, `backoff` and `unordered`";
        return Diagnostic::error("E0806", title, span, "not known here").with_help(
            "write `#[function]`, `#[function(name = \"other_name\")]` or `#[function(in_flight = 20, timeout = \"5s\", retries = 3)]`",
        );
    }
    Diagnostic::error("E0806", format!("`#[{what}]` knows only `name`"), span, "not known here")
        .with_help(format!("write `#[{what}]` or `#[{what}(name = \"other_name\")]`"))
}

/// `#[flow(..)]`
pub(super) fn flow_attribute(word: &str, span: Span, known: &[&str]) -> Diagnostic {
    let title = if word.is_empty() { "cannot read `#[flow(..)]`".to_owned() } else { format!("unknown attribute `{word}`") };
    let forms: Vec<&str> = known
        .iter()
        .map(|word| match *word {
            "rename" => "`rename = \"outside-name\"`",
            "unit" => "`unit = \"ms\"`",
            "event_time" => "`event_time`",
            "default" => "`default`",
            _ => "`key`",
        })
        .collect();
    let diagnostic = Diagnostic::error("E0806", title, span, "not known here");
    if word == "default" {
        return diagnostic.with_help(
            "a column that may be absent is an `Option`; `default` says what a field is that derives `State` and that older checkpoints do not have",
        );
    }
    match did_you_mean(word, known.iter().copied()) {
        Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`? known are {}", forms.join(", "))).with_fix(
            format!("write `{meant}`"),
            span,
            meant,
            false,
        ),
        None => diagnostic.with_help(format!("known are {}", forms.join(", "))),
    }
}

/// `#[flow(unit = "m")]`
pub(super) fn unit(span: Span) -> Diagnostic {
    Diagnostic::error("E0806", "unknown unit", span, "no unit of time").with_help("write \"s\", \"ms\", \"us\" or \"ns\"")
}

/// Two columns of event time.
pub(super) fn two_event_times(name: &Name, first: &Name) -> Diagnostic {
    Diagnostic::error("E0806", "a record has one event time", name.span, "the second one")
        .with_label(first.span, "the first one")
        .with_help("leave `#[flow(event_time)]` at one of the two fields")
}

/// `#[flow(event_time)]` at a field that is no timestamp.
pub fn event_time_is_no_timestamp(name: &Name, written: &Written) -> Diagnostic {
    let title = format!("`{}` cannot be the event time", name.text);
    Diagnostic::error("E0806", title, written.span, format!("`{}` is no `Timestamp`", written.text))
        .with_help("write `Timestamp`; `#[flow(unit = \"ms\")]` says what numbers in the data mean")
}

/// `#[flow(unit = ..)]` at a field that is no timestamp.
pub fn unit_without_timestamp(name: &Name, written: &Written) -> Diagnostic {
    let title = format!("`{}` has a unit, but is no timestamp", name.text);
    Diagnostic::error("E0806", title, written.span, format!("`{}` is no `Timestamp`", written.text))
        .with_help("take `unit` away, or make the field a `Timestamp`")
}

/// A tuple struct or one without fields.
pub(super) fn no_named_fields(name: &Name) -> Diagnostic {
    Diagnostic::error("E0806", "a record has named fields", name.span, "its fields have no names")
        .with_help(format!("write `pub struct {} {{ pub id: i64, .. }}`: fields are columns", name.text))
}

/// `Open { since: Timestamp }`
pub(super) fn variant_with_fields(span: Span) -> Diagnostic {
    Diagnostic::error("E0806", "values of an enum hold nothing", span, "a value is just its name")
        .with_help("write a record with a column of this enum and optional columns for the rest")
}

/// `#[flow(rename = "b")] a: i64, b: i64`
pub(super) fn outside_name_twice(name: &Name, first: &Name, what: &str) -> Diagnostic {
    let title = format!("two {what} are called `{}` in the outside data", name.text);
    Diagnostic::error("E0806", title, name.span, "the second one")
        .with_label(first.span, "the first one")
        .with_help("give one of them another name: `#[flow(rename = \"..\")]`")
}

/// `enum E {}`
pub(super) fn no_variants(name: &Name) -> Diagnostic {
    Diagnostic::error("E0806", format!("the enum `{}` has no values", name.text), name.span, "nothing can be stored here")
        .with_help("list them: `pub enum Status { Open, Shipped }`")
}

/// Derives that are missing.
pub(super) fn derives(name: &Name, missing: &[&str], needed: &[&str]) -> Diagnostic {
    let list = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Diagnostic::error("E0808", format!("`{}` does not derive {list}", name.text), name.span, "rows are copied and compared")
        .with_help(format!("write `#[derive({}, Record)]`", needed.join(", ")))
}

/// A function that is there, but not annotated.
pub fn not_annotated(call: &Name, function: Span) -> Diagnostic {
    Diagnostic::error("E0807", format!("the function `{}` is not annotated", call.text), call.span, "not known to the language")
        .with_label(function, "it is defined here")
        .with_help("write `#[function]` above it")
}

/// A struct that is there, but not annotated.
pub fn type_not_annotated(name: &str, span: Span, at: Span) -> Diagnostic {
    Diagnostic::error("E0807", format!("`{name}` is no record"), span, "not known to the language")
        .with_label(at, "it is defined here")
        .with_help("write `#[derive(Clone, Record)]` above it")
}

/// A file that gives nothing to the language.
/// `private`: the modules of a crate that nobody looked into.
pub fn nothing_annotated(span: Span, path: &str, private: &[String]) -> Diagnostic {
    let diagnostic = Diagnostic::warning(
        "W0801",
        format!("{path} has nothing for the language"),
        span,
        "no function or record of it is known",
    );
    match private {
        [] => diagnostic.with_help("write `#[function]` above a `pub fn`, or `#[derive(Clone, Record)]` above a `pub struct`"),
        [module, ..] => diagnostic.with_help(format!(
            "only its root and its public modules are looked into, whatever `pub use` says: write `pub mod {module};`"
        )),
    }
}

/// `impl Process` without `#[operator]`.
pub(super) fn operator_not_annotated(span: Span) -> Diagnostic {
    Diagnostic::error("E0807", "this operator is not annotated", span, "not known to the language")
        .with_help("write `#[operator]` above the `impl`")
}

/// A method or type that operators do not have.
pub(super) fn no_such_member(name: &Name, known: &[&str]) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0809", format!("an operator has no `{}`", name.text), name.span, "not a part of `Process`");
    let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match did_you_mean(&name.text, known.iter().copied()) {
        Some(meant) => {
            diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(format!("write `{meant}`"), name.span, meant, false)
        }
        None => diagnostic.with_help(format!("there are {list}; put what else it needs into an `impl` of its own")),
    }
}

/// What every operator says.
pub(super) fn operator_lacks(name: &str, span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0809", format!("the operator `{name}` is not complete"), span, "something is missing")
        .with_help(format!("add {what}"))
}

/// `#[operator] impl FraudScore`, `#[aggregate] impl MostFrequent`
pub(super) fn annotated_nothing(span: Span, what: &str, form: &str) -> Diagnostic {
    let code = if what == "operator" { "E0809" } else { "E0814" };
    Diagnostic::error(code, format!("`#[{what}]` stands above `{form}`"), span, "this is something else")
        .with_help(format!("write `{form}`, or take `#[{what}]` away"))
}

/// `#[operator(keyed)]`
pub(super) fn operator_arguments(span: Span) -> Diagnostic {
    Diagnostic::error("E0809", "`#[operator]` takes nothing", span, "not known here")
        .with_help("write `#[operator]`: options are fields of the struct, and `process by` in the pipeline says the key")
}

/// `async fn process`
pub(super) fn async_operator(span: Span) -> Diagnostic {
    Diagnostic::error("E0809", "an operator does not wait", span, "rows behind this one would wait too")
        .with_help("take `async` away")
}

/// A method with other parameters.
pub(super) fn operator_signature(span: Span, method: &str, form: &str) -> Diagnostic {
    Diagnostic::error("E0809", format!("`{method}` has other parameters"), span, "not as the engine calls it")
        .with_help(format!("write `{form}`"))
}

/// `process by a Unknown {}`
pub fn not_an_operator(name: &Name, known: &[&str], plain: Option<Span>) -> Diagnostic {
    let title = format!("there is no operator `{}`", name.text);
    let diagnostic = Diagnostic::error("E0810", title, name.span, "not defined in a Rust file that is used");
    if let Some(plain) = plain {
        return diagnostic
            .with_label(plain, "this is a struct")
            .with_help(format!("write `#[operator] impl Process for {} {{ .. }}`", name.text));
    }
    match did_you_mean(&name.text, known.iter().copied()) {
        Some(meant) => {
            diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(format!("write `{meant}`"), name.span, meant, false)
        }
        None if known.is_empty() => diagnostic.with_help("write it in Rust, and `use rust \"file.rs\"`"),
        None => diagnostic.with_help(format!("there are {}", known.join(", "))),
    }
}

/// An operator whose struct cannot be made.
pub fn operator_struct(span: Span, name: &str, label: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0809", format!("a pipeline cannot make a `{name}`"), span, label.to_owned()).with_help(help.to_owned())
}

/// An option that the operator does not have.
pub fn no_such_option(name: &Name, operator: &str, known: &[&str]) -> Diagnostic {
    let title = format!("`{operator}` has no option `{}`", name.text);
    let diagnostic = Diagnostic::error("E0811", title, name.span, "not a field of the operator");
    match did_you_mean(&name.text, known.iter().copied()) {
        Some(meant) => {
            diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(format!("write `{meant}`"), name.span, meant, false)
        }
        None if known.is_empty() => diagnostic.with_help("it has none"),
        None => diagnostic.with_help(format!("it has {}", known.join(", "))),
    }
}

/// An option that must be given.
pub fn option_missing(span: Span, operator: &str, name: &str, ty: &str, field: Span) -> Diagnostic {
    Diagnostic::error("E0811", format!("`{operator}` needs `{name}`"), span, "not given")
        .with_label(field, "the field")
        .with_help(format!("write `{operator} {{ {name}: .. }}`, a {ty}; or let the struct derive `Default`"))
}

/// An option given twice or as a block.
pub fn bad_option(span: Span, reason: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0811", reason.to_owned(), span, "not an option of an operator").with_help(help.to_owned())
}

/// Columns that the operator takes and that the stream does not have.
pub fn input_lacks(span: Span, operator: &str, column: &str, ty: &str, reason: &str, have: &[&str]) -> Diagnostic {
    let help = match did_you_mean(column, have.iter().copied()) {
        Some(near) => format!("the stream has `{near}`: `| select {{ .., {column}: {near} }}` before it gives it that name"),
        None => format!("`| select {{ .., {column}: .. }}` before it gives it one"),
    };
    Diagnostic::error("E0812", format!("`{operator}` takes `{column}: {ty}`"), span, reason.to_owned()).with_help(help)
}

/// An operator over a table.
pub fn over_table(span: Span, operator: &str) -> Diagnostic {
    Diagnostic::error("E0812", format!("`{operator}` takes a stream, not a table"), span, "rows of this table change")
        .with_help("write `| changes` before it: then it sees each change as a row")
}
