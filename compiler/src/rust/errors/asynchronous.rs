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

/// `retries = 0`
pub fn retries(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "`retries` is from 1 to 1000", span, "not such a number")
        .with_help("say how often a call that has failed is made again: `retries = 3`")
}

/// `backoff = 5`
pub fn backoff(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "`backoff` is a duration", span, "not a duration").with_help(
        "say how long the first pause is, before a call is made again: `backoff = \"100ms\"`; each further one is twice as long",
    )
}

/// `#[function(backoff = "1s")]`
pub fn backoff_of_nothing(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "`backoff` is the pause before a call is made again", span, "nothing is made again here")
        .with_help("write `retries = 3` beside it, or take it away")
}

/// `#[function(retries = 3)] pub async fn ask(ip: &str) -> String`
pub fn never_fails(name: &Name, span: Span) -> Diagnostic {
    Diagnostic::error(
        CODE,
        format!("`{}` returns no `Result`: no call of it fails", name.text),
        span,
        "nothing is made again here",
    )
    .with_help("return `Result<T, String>`, an error where there is no answer; or take `retries` away")
}

/// `#[function(timeout = "5s")] pub fn ..`
pub fn only_of_async(span: Span) -> Diagnostic {
    Diagnostic::error(CODE, "this is of an `async fn`", span, "this function gives its value at once")
        .with_help("write `pub async fn`, or take this away")
}

/// A call where it cannot be waited for. `itself`: it is the async function, and does not only call one.
pub fn waits_not_here(name: &Name, itself: bool) -> Diagnostic {
    let what = if itself { "is an async function" } else { "calls an async function" };
    let title = format!("`{}` {what}: it stands in `select`, `where` and `explode`", name.text);
    Diagnostic::error(CODE, title, name.span, "its answer cannot be waited for here").with_help(format!(
        "call it in a `select` before, and use what it gave: `| select {{ .., answer: {}(..) }} | ..`",
        name.text
    ))
}
