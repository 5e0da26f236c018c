//! E0816: further inputs of an operator in Rust.

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

const CODE: &str = "E0816";

/// `with x` of an operator that takes no further stream. `count`: how many it takes.
pub fn no_second(span: Span, operator: &str, count: usize) -> Diagnostic {
    let streams = if count == 1 { "one stream".to_owned() } else { format!("{count} streams") };
    Diagnostic::error(CODE, format!("`{operator}` takes {streams}"), span, "it has no input for this one").with_help(
        "take this away; an operator takes several streams if its `Input` is an enum of their records, and others in every subtask if it has \
         `type Broadcast = ..;`",
    )
}

/// An operator that takes more streams than it is given.
pub fn second_missing(name: &Name, record: &str, broadcast: bool) -> Diagnostic {
    let form = if broadcast { "with broadcast STREAM" } else { "with STREAM by KEY" };
    let help = format!("say where they come from: `process .. {} {{ .. }} {form}`", name.text);
    Diagnostic::error(CODE, format!("`{}` takes rows of `{record}` too", name.text), name.span, "there is no input for them")
        .with_help(help)
}

/// `with rules` of an operator whose second input comes to every subtask.
pub fn second_to_all(span: Span, operator: &str, stream: &str) -> Diagnostic {
    Diagnostic::error(CODE, format!("rows of `{stream}` come to every subtask of `{operator}`"), span, "not said here")
        .with_help(format!("write `with broadcast {stream}`, without `by`"))
}

/// `with broadcast blocks` of an operator whose inputs both have keys; or a key that is not that of the first.
pub fn second_by_key(span: Span, operator: &str, stream: &str, keys: &[String]) -> Diagnostic {
    let how = match keys {
        [] => "without a key, as the first has none".to_owned(),
        keys => format!("by a key like that of the first: ({})", keys.join(", ")),
    };
    let help = match keys {
        [] => format!("write `with {stream}`"),
        [_] => format!("write `with {stream} by KEY`"),
        keys => format!("write `with {stream} by ({})`", vec!["KEY"; keys.len()].join(", ")),
    };
    Diagnostic::error(CODE, format!("`{operator}` takes rows of `{stream}` {how}"), span, "not so here").with_help(help)
}

/// `type Input = Event;` with an enum that is not of several records.
pub fn inputs_of_enum(span: Span, name: &str, count: usize) -> Diagnostic {
    let what = if count == 1 { "one variant".to_owned() } else { "no variants".to_owned() };
    let title = format!("an operator takes one record, or an enum of several: `{name}` has {what}");
    Diagnostic::error(CODE, title, span, "not several")
        .with_help(format!("write `pub enum {name} {{ First(FirstRecord), Second(SecondRecord) }}`"))
}
