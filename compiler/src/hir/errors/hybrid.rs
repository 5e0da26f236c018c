//! E064x: stages of hybrid sources.

use millstream_runtime::graph::Ty;

use super::{listed, suggest};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

/// `hybrid { }`
pub fn no_stages(span: Span) -> Diagnostic {
    Diagnostic::error("E0640", "a hybrid source needs stages", span, "there is none").with_help(
        "name them in the order they are read: `hybrid { history = file { .. }  live = file { .., watch: every 5s } }`",
    )
}

/// Two stages with one name.
pub fn stage_twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error("E0640", format!("the stage `{}` is there twice", name.text), name.span, "again here")
        .with_label(first, "first here")
        .with_help("give one of them another name")
}

/// A hybrid source as a stage.
pub fn nested(span: Span) -> Diagnostic {
    Diagnostic::error("E0640", "a stage cannot be a hybrid source itself", span, "stages within a stage")
        .with_help("list all stages one after the other in one `hybrid { .. }`: there may be any number")
}

/// `into hybrid { .. }`
pub fn only_sources(span: Span) -> Diagnostic {
    Diagnostic::error("E0640", "`hybrid` cannot be written to", span, "only a source has stages")
        .with_help("write one `sink` for each place that the rows go to")
}

/// A stage that never ends, with others behind it.
pub fn never_ends(stage: &Name, connector: &str, next: &Name, at: Span) -> Diagnostic {
    let title = format!("the stage `{}` never ends", stage.text);
    let help = match connector {
        "generator" => "say how many rows it makes, `rows: 1_000`, or put it last".to_owned(),
        "file" => "leave `watch` out, so that it ends with the files that are there when it begins, or put it last".to_owned(),
        _ => format!("put `{}` last", stage.text),
    };
    Diagnostic::error("E0641", title, at, format!("`{}` would never begin", next.text))
        .with_label(next.span, "it begins when the stage before it has ended")
        .with_help(help)
}

/// `other.max(..)` where there is no such stage.
pub fn unknown_stage(name: &str, span: Span, earlier: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0642", format!("unknown stage `{name}`"), span, "no stage of this source has this name");
    match earlier.is_empty() {
        true => diagnostic.with_help("this is the first stage: there is none before it that could have ended"),
        false => suggest(diagnostic, name, span, earlier, "stages before this one"),
    }
}

/// A stage that asks itself, or one that comes later.
pub fn not_ended(stage: &str, own: &str, span: Span, earlier: &[&str]) -> Diagnostic {
    let title = match stage == own {
        true => format!("the stage `{stage}` cannot ask how it ends itself"),
        false => format!("the stage `{stage}` comes after `{own}`"),
    };
    let label = format!("it has not ended when `{own}` begins");
    let diagnostic = Diagnostic::error("E0643", title, span, label);
    match earlier.is_empty() {
        true => diagnostic.with_help(format!("`{own}` is the first stage: its options know of no other")),
        false => diagnostic.with_help(format!("stages that have ended by then: {}", listed(earlier))),
    }
}

/// `history.first`, `history.min(x)`
pub fn unknown_fact(stage: &str, fact: &Name, called: bool) -> Diagnostic {
    let title = format!("it is not known of a stage what `{}` was", fact.text);
    let diagnostic = Diagnostic::error("E0644", title, fact.span, "not known of a stage");
    match (called, fact.text.as_str()) {
        (true, "start_time" | "end_time") => diagnostic.with_help(format!("write `{stage}.{}`, without parentheses", fact.text)),
        (false, "max") => diagnostic.with_help(format!("say of which column: `{stage}.max(column)`")),
        _ => diagnostic.with_help(format!("there are `{stage}.max(column)`, `{stage}.start_time` and `{stage}.end_time`")),
    }
}

/// `history.max()`, `history.max(a + b)`
pub fn one_column(stage: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0644", "the greatest value is that of one column", span, "not the name of a column")
        .with_help(format!("write `{stage}.max(column)`"))
}

/// `history.max(x)` where the record has no `x`.
pub fn unknown_column(stage: &str, name: &str, span: Span, candidates: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0644", format!("the rows of `{stage}` have no column `{name}`"), span, "unknown column");
    suggest(diagnostic, name, span, candidates, "columns")
}

/// `history.max(tags)`
pub fn no_greatest(name: &str, span: Span, ty: &Ty) -> Diagnostic {
    Diagnostic::error("E0644", format!("`{name}` has no greatest value"), span, format!("it is {ty}"))
        .with_help("name a column of numbers, texts or times")
}

/// `a.max(b)` where `a` is no stage.
pub fn no_methods(method: &Name, call: &str) -> Diagnostic {
    Diagnostic::error("E0645", "functions are not called with a dot", method.span, "only a stage of a hybrid source is asked so")
        .with_help(format!("put the value first in the parentheses: `{call}`"))
}

/// `since` or `until` where the source has no event time.
pub fn no_event_time(option: &str, span: Span) -> Diagnostic {
    let title = format!("`{option}` needs to know the time of a row");
    Diagnostic::error("E0646", title, span, "the source has no event time")
        .with_help("say which column it is: add `watermark placed_at - 10s` behind the source's connector")
}

/// A required option whose value is null where the earlier stage had no rows.
pub fn may_be_absent(option: &str, span: Span, found: &Ty, text: &str) -> Diagnostic {
    let label = format!("this is {found}: null if the stage had no rows");
    Diagnostic::error("E0647", format!("the option `{option}` must have a value"), span, label)
        .with_help(format!("say what counts then: `{text} ?? other`"))
}
