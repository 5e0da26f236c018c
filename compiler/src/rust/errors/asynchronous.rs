//! E0815: what can be wrong with an async function, and where it is called.

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

const CODE: &str = "E0815";

/// `in_flight = 0`
pub fn in_flight(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "`in_flight` is from 1 to 100000", span, "not such a number")
        .with_help("say how many calls may be on their way, in each subtask: `in_flight = 20`")
}

/// `timeout = 5`
pub fn timeout(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "`timeout` is a duration", span, "not a duration")
        .with_help("say how long an answer may take: `timeout = \"5s\"`, `timeout = \"250ms\"`")
}

/// `#[function(timeout = "5s")] pub fn ..`
pub fn only_of_async(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "this is of an `async fn`", span, "this function gives its value at once")
        .with_help("write `pub async fn`, or take this away")
}

/// A call where it cannot be waited for.
pub fn waits_not_here(name: &Name) -> Diagnostic {
    let title = format!("`{}` is an async function: it stands in `select`, where it is called for every row", name.text);
    Diagnostic::error(CODE, title, name.span, "its answer cannot be waited for here").with_help(format!(
        "call it in a `select`, and in no branch of it nor behind `??`, `and`, `or`; then use what it gave: `| select {{ .., answer: {}(..) }} | ..`",
        name.text
    ))
}
