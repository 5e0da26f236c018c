//! E0812 and E0820: side outputs of an operator in Rust.

use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::source::Span;
use crate::syntax::ast::Name;

const CODE: &str = "E0820";

/// `side into x` without a side output.
pub fn no_side(name: &Name, operator: &str) -> Diagnostic {
    Diagnostic::error("E0812", format!("`{operator}` has no side output"), name.span, "nothing comes here")
        .with_help("write `type Side = ..;` in its `impl Process`, or take `side into` away")
}

/// `side Odd into x` of an operator whose `Side` is a record.
pub fn one_side(name: &Name, operator: &str, into: &str) -> Diagnostic {
    Diagnostic::error(CODE, format!("`{operator}` has one side output, which has no name"), name.span, "not known here")
        .with_help(format!("write `side into {into}`; several are an enum: `type Side = Beside;`"))
        .with_fix(format!("write `side into {into}`"), name.span, "", false)
}

/// `side into x` of an operator with several side outputs.
pub fn which_side(span: Span, operator: &str, into: &str, known: &[&str]) -> Diagnostic {
    let title = format!("`{operator}` has the side outputs {}", list(known));
    let first = known.first().copied().unwrap_or("Odd");
    Diagnostic::error(CODE, title, span, "which of them comes here is not said")
        .with_help(format!("write `side {first} into {into}`; there may be one for each"))
}

/// `side Od into x`
pub fn no_such_side(name: &Name, operator: &str, known: &[&str]) -> Diagnostic {
    let title = format!("`{operator}` has no side output `{}`", name.text);
    let diagnostic = Diagnostic::error(CODE, title, name.span, "not a variant of its `Side`");
    match did_you_mean(&name.text, known.iter().copied()) {
        Some(meant) => {
            diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(format!("write `{meant}`"), name.span, meant, false)
        }
        None => diagnostic.with_help(format!("it has {}", list(known))),
    }
}

/// A side output that goes into two streams.
pub fn side_twice(span: Span, output: Option<&str>, first: Span, stream: &str) -> Diagnostic {
    let what = output.map_or("the side output".to_owned(), |output| format!("the side output `{output}`"));
    Diagnostic::error(CODE, format!("{what} goes into `{stream}` already"), span, "a second time")
        .with_label(first, "the first time")
        .with_help(format!("read `{stream}` in both places: any number of streams and sinks may"))
}

/// `type Side = Beside;` with an enum that does not say how its rows go apart.
pub fn sides_not_derived(span: Span, name: &str, place: Span) -> Diagnostic {
    Diagnostic::error(CODE, format!("`{name}` is not made for side outputs"), span, "not known how its rows go apart")
        .with_label(place, "the enum")
        .with_help(format!("write `#[derive(SideOutputs)]` above `pub enum {name}`"))
}

/// `#[derive(SideOutputs)]` on something else.
pub(in crate::rust) fn no_enum_of_sides(name: &Name) -> Diagnostic {
    let title = "side outputs are the variants of an enum";
    Diagnostic::error(CODE, title, name.span, "no variants here")
        .with_help(format!("write `pub enum {} {{ Calm(Calm), Odd(Odd) }}`: a variant for each, with its record", name.text))
}

/// A variant without a record, or with more.
pub(in crate::rust) fn side_without_record(variant: &Name) -> Diagnostic {
    let title = format!("the side output `{}` carries no record", variant.text);
    Diagnostic::error(CODE, title, variant.span, "a side output carries one record")
        .with_help(format!("write `{0}({0}Row)`, with a struct that is a record", variant.text))
}

fn list(known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    known.join(", ")
}
