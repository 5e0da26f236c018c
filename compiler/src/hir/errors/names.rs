//! E02xx: names that are unknown, taken, or go round in circles; attributes and settings by name.

use super::suggest;
use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::source::Span;
use crate::syntax::ast::Name;

/// Two items of one kind with one name.
pub fn defined_twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0201", format!("the {what} `{name}` is defined twice"), span, "defined again here")
        .with_label(first, "first defined here")
        .with_help("give one of them another name")
}

/// A name in an expression that is no column, param or local.
pub fn unknown_name(name: &str, span: Span, candidates: &[&str], place: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0202", format!("unknown name `{name}`"), span, format!("not known {place}"));
    suggest(diagnostic, name, span, candidates, "known here")
}

/// A value of an enum, written like a name.
pub fn value_without_quotes(name: &str, span: Span, of: &str, value: &str) -> Diagnostic {
    Diagnostic::error("E0202", format!("unknown name `{name}`"), span, format!("values of the enum `{of}` stand in quotes"))
        .with_help(format!("write `\"{value}\"`"))
        .with_fix(format!("write `\"{value}\"`"), span, format!("\"{value}\""), false)
}

/// A name that exists, but is of no use here.
pub fn not_a_value(name: &str, span: Span, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0202", format!("`{name}` is {what}, not a value"), span, "a value is expected here").with_help(help)
}

/// A param inside `fn`.
pub fn param_in_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "E0202",
        format!("the param `{name}` is not known inside a `fn`"),
        span,
        "a `fn` sees only its own parameters",
    )
    .with_help(format!("give it to the function: add a parameter `{name}` and pass the param in the call"))
}

/// A stream that does not exist.
pub fn unknown_stream(name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("unknown stream `{}`", name.text);
    let diagnostic = Diagnostic::error("E0203", title, name.span, "no source or stream has this name");
    suggest(diagnostic, &name.text, name.span, candidates, "sources and streams")
}

/// A function that does not exist.
pub fn unknown_function(name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("unknown function `{}`", name.text);
    let diagnostic = Diagnostic::error("E0204", title, name.span, "neither in the standard library nor defined by `fn`");
    match crate::diagnostics::did_you_mean(&name.text, candidates.iter().copied()) {
        Some(_) => suggest(diagnostic, &name.text, name.span, candidates, ""),
        None => diagnostic.with_help(format!("define it: `fn {}(..) = ..`", name.text)),
    }
}

/// A type that does not exist.
pub fn unknown_type(name: &Name, candidates: &[&str]) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0205", format!("unknown type `{}`", name.text), name.span, "neither a built-in type nor a record");
    suggest(diagnostic, &name.text, name.span, candidates, "types")
}

/// Streams, functions or records that need themselves.
pub fn cycle(what: &str, round: &[(&str, Span)]) -> Diagnostic {
    let (name, span) = round.first().copied().unwrap_or_default();
    let way: Vec<&str> = round.iter().map(|(name, _)| *name).chain([name]).collect();
    let title = format!("the {what} `{name}` depends on itself");
    let mut diagnostic = Diagnostic::error("E0206", title, span, format!("goes round: {}", way.join(" <- ")));
    for (name, span) in round.iter().skip(1).take(4) {
        diagnostic = diagnostic.with_label(*span, format!("by way of `{name}`"));
    }
    diagnostic.with_help("take one of these references away")
}

/// Two columns of one name.
pub fn column_twice(name: &str, span: Span, first: Option<Span>, place: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0207", format!("two columns of {place} are called `{name}`"), span, "the second one of this name")
            .with_help(format!("give one of them another name: `{name}_2: ..`"));
    match first {
        Some(first) if first != span => diagnostic.with_label(first, "the first one"),
        _ => diagnostic,
    }
}

/// A field that a record does not have.
pub fn unknown_field(field: &Name, record: &str, candidates: &[&str]) -> Diagnostic {
    let title = format!("{record} has no field `{}`", field.text);
    suggest(Diagnostic::error("E0208", title, field.span, "unknown field"), &field.text, field.span, candidates, "it has")
}

/// `except x` of a column that is not there, or without `..`.
pub fn except_nothing(name: &Name, has_rest: bool, candidates: &[&str]) -> Diagnostic {
    if !has_rest {
        return Diagnostic::error("E0209", "`except` without `..`", name.span, "there is no `..` to leave this out of")
            .with_help("write `.., except name`");
    }
    let title = format!("`except` names `{}`, which is no column", name.text);
    suggest(Diagnostic::error("E0209", title, name.span, "unknown column"), &name.text, name.span, candidates, "columns")
}

/// An attribute that does not exist, or not here.
pub fn unknown_attribute(name: &Name, candidates: &[&str], place: &str) -> Diagnostic {
    let title = format!("unknown attribute `@{}` on {place}", name.text);
    suggest(Diagnostic::error("E0210", title, name.span, "not known here"), &name.text, name.span, candidates, "attributes here")
}

/// An attribute with wrong arguments.
pub fn bad_attribute(name: &str, span: Span, expected: &str) -> Diagnostic {
    Diagnostic::error("E0210", format!("`@{name}` is written wrongly"), span, format!("expected {expected}"))
        .with_help(format!("write {expected}"))
}

/// A job setting that does not exist.
pub fn unknown_setting(name: &Name, candidates: &[&str]) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0211", format!("unknown setting `{}`", name.text), name.span, "a job has no such setting");
    suggest(diagnostic, &name.text, name.span, candidates, "settings")
}

/// A job setting with a value that does not fit.
pub fn bad_setting(name: &str, span: Span, expected: &str) -> Diagnostic {
    Diagnostic::error("E0211", format!("the setting `{name}` does not take this value"), span, format!("expected {expected}"))
        .with_help(format!("write `{name}: ..` with {expected}"))
}

/// A setting given twice.
pub fn setting_twice(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0211", format!("the setting `{name}` is given twice"), span, "given again here")
        .with_label(first, "first given here")
        .with_help("take one of them away")
}

/// Two operators with one id.
pub fn id_twice(id: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0212", format!("the id `{id}` is used twice"), span, "ids keep an operator's state apart from others'")
        .with_label(first, "used first here")
        .with_help("choose another id")
}

/// `now()`
pub fn no_clock(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0204", format!("unknown function `{name}`"), span, "no function looks at the clock")
        .with_note("a job that starts again from a checkpoint gives the same rows, so what it computes depends on rows alone")
        .with_help("take the time from a column, or from outside: `param since: timestamp = @2026-01-01`; windows go by the clock with `processing_time`")
}

/// A computed column without a name.
pub fn column_without_name(span: Span) -> Diagnostic {
    Diagnostic::error("E0213", "this column needs a name", span, "computed, so it has no name of its own")
        .with_help("write `name: ` before it")
        .with_fix("give it a name", Span { end: span.start, ..span }, "name: ", false)
}

/// A name that belongs to the language.
pub fn name_taken(what: &str, name: &Name, by: &str) -> Diagnostic {
    Diagnostic::error(
        "E0214",
        format!("a {what} cannot be called `{}`", name.text),
        name.span,
        format!("`{}` is {by}", name.text),
    )
    .with_help("choose another name")
}

/// A param that nothing uses.
pub fn unused_param(name: &Name) -> Diagnostic {
    Diagnostic::warning("W0201", format!("the param `{}` is never used", name.text), name.span, "nothing reads it")
        .with_help("take it away, or use it")
}

/// A source, a stream or a lookup that goes nowhere.
pub fn unused_stream(what: &str, name: &Name) -> Diagnostic {
    let title = format!("the {what} `{}` reaches no sink", name.text);
    let help = match what {
        "lookup" => format!("look rows up in it, `| join {} on ..`, or take it away", name.text),
        _ => format!("write `sink {} into stdout`, or take it away", name.text),
    };
    Diagnostic::warning("W0202", title, name.span, "it is checked, but never runs").with_help(help)
}

/// A sink in a Rust file whose stream the pipeline does not have.
pub fn sink_without_stream(name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("the sink of `{}` is left out: the pipeline has no such stream", name.text);
    let diagnostic = Diagnostic::warning("W0203", title, name.span, "no source or stream has this name");
    let near = did_you_mean(&name.text, candidates.iter().copied());
    diagnostic.with_help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("define it, `stream {} = ..`, or take the sink away", name.text),
    })
}

/// A param whose flag every job has.
pub fn flag_taken(name: &Name, flag: &str, doc: &str) -> Diagnostic {
    let title = format!("a param cannot be called `{}`", name.text);
    Diagnostic::error("E0216", title, name.span, format!("every job has the flag `--{flag}`: {doc}"))
        .with_help("choose another name")
}
