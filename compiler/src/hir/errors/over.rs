//! E04xx: `over (..)`, the analytic form.

use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// `over (..)` in a place where it is not computed.
pub fn not_here(span: Span) -> Diagnostic {
    Diagnostic::error("E0416", "`over (..)` stands in `select`", span, "it cannot be computed here")
        .with_help("compute it first, then use it: `| select { .., n: row_number() over (by user) } | where n <= 3`")
}

/// No event time to order rows by.
pub fn needs_time(span: Span, stream: &str, candidates: &[&str], dropped: bool, at_end: bool) -> Diagnostic {
    let label = match dropped {
        true => "the column that held event time is no longer there",
        false => "no column says in which order rows come",
    };
    let column = candidates.first().copied().unwrap_or("column");
    let help = match at_end {
        true => format!("say in which order: `over (.., order by {column})`"),
        false => format!("say when rows happened: `| watermark {column} - 5s` before this"),
    };
    Diagnostic::error("E0401", format!("`over (..)` needs event time, and `{stream}` has none"), span, label).with_help(help)
}

/// `order by` of something else than event time.
pub fn order_is_time(span: Span, column: &str) -> Diagnostic {
    Diagnostic::error("E0412", "rows come in the order of event time", span, format!("event time is in `{column}`"))
        .with_help(format!("write `order by {column}`, or leave it out; for another order: `top`, or `| final` before this"))
}

/// `last 10`
pub fn rows_or_time(span: Span, count: u128) -> Diagnostic {
    Diagnostic::error("E0413", "`last` needs a unit", span, "rows or time?")
        .with_help(format!("write `last {count} rows`, or a time: `last {count}s`, `last {count}m`"))
        .with_fix(format!("write `last {count} rows`"), span, format!("{count} rows"), false)
}

/// `lag(x) over (.., last 10 rows)`
pub fn no_frame(span: Span, function: &str) -> Diagnostic {
    Diagnostic::error("E0413", format!("`{function}` takes no `last`"), span, "it looks at rows by their number")
        .with_help("take `last ..` away")
}

/// Two leads by different keys.
pub fn two_leads(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0414", "one `select` looks ahead by one key only", span, "another key")
        .with_label(first, "rows wait for the row behind them by this key")
        .with_help("look ahead in the same `by (..)`, or in streams of their own")
}

/// A function that is neither an aggregate nor analytic.
pub fn not_analytic(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0415", format!("`{name}` does not take `over (..)`"), span, "it looks at one row only")
        .with_help("aggregates do (`avg(price) over (by seller, last 10 rows)`), and `lag`, `lead` and `row_number`")
}

/// `lag(x)` without `over`.
pub fn needs_over(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0415", format!("`{name}` needs `over (..)`"), span, "it looks at other rows")
        .with_help(format!("say at which: `{name}(..) over (by key)`"))
}
