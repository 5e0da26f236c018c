//! E04xx: event time and windows.

use millstream_runtime::graph::Ty;

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

/// An event-time window over a stream that has no event time.
pub fn no_time_column(span: Span, stream: &str, candidates: &[&str], dropped: bool) -> Diagnostic {
    let label = match dropped {
        true => "the column that held event time is no longer there",
        false => "no column says when a row happened",
    };
    let column = candidates.first().copied().unwrap_or("column");
    let help = match (dropped, candidates.is_empty()) {
        (true, true) => "keep the time column in `select`".to_owned(),
        (false, true) => "add a column of type timestamp, and a watermark on it".to_owned(),
        _ => format!(
            "say when rows happened: `| watermark {column} - 5s` before this, or `watermark {column} - 5s` at the source; or use `processing_time`"
        ),
    };
    Diagnostic::error("E0401", format!("a window needs event time, and `{stream}` has none"), span, label).with_help(help)
}

/// `within` over a stream that has no event time.
pub fn within_needs_time(span: Span) -> Diagnostic {
    Diagnostic::error("E0401", "`within` needs event time", span, "no column says when a row happened")
        .with_help("say when rows happened: `| watermark column - 5s` before this")
}

/// A window kind that does not exist.
pub fn unknown_window(name: &Name, kinds: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0402", format!("unknown window `{}`", name.text), name.span, "no window of this kind");
    super::suggest(diagnostic, &name.text, name.span, kinds, "windows")
}

/// Wrong arguments of a window.
pub fn window_arguments(span: Span, usage: &str, label: &str) -> Diagnostic {
    Diagnostic::error("E0403", "this window is written wrongly", span, label.to_owned()).with_help(format!("write `{usage}`"))
}

/// A size that is not positive.
pub fn not_positive(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0404", format!("{what} must be more than zero"), span, "not positive")
        .with_help("write a length such as `10s` or `1d`, or a count such as `100`")
}

/// A step that does not fit its size.
pub fn step_does_not_fit(span: Span, size: &str, step: &str, larger: bool) -> Diagnostic {
    let label = match larger {
        true => format!("{step} is more than {size}: rows would fall between windows"),
        false => format!("{size} is not a multiple of {step}"),
    };
    Diagnostic::error("E0405", "the step does not fit the window's size", span, label)
        .with_help("choose a step that divides the size, for example `sliding(1h, 5m)`")
}

/// A watermark that is not one time column less something.
pub fn watermark_expression(span: Span, label: &str) -> Diagnostic {
    Diagnostic::error("E0406", "a watermark names one timestamp column", span, label.to_owned())
        .with_help("write `watermark time_column - 5s`: the column, and how late rows may come")
}

/// A time column that may be null.
pub fn nullable_time(span: Span, column: &str, ty: &Ty) -> Diagnostic {
    let help = format!(
        "make the column required, or keep only rows that have it: `| where {column} is not null | watermark {column} - 5s`"
    );
    Diagnostic::error("E0407", format!("the time column `{column}` may be null"), span, format!("this is {ty}")).with_help(help)
}

/// `window.start` where there is none.
pub fn no_window_bounds(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0408", "there is no `window` here", span, reason.to_owned()).with_help(
        "`window.start` and `window.end` stand in the block of `aggregate .. over tumbling(..)` and of the other time windows",
    )
}

/// `window.begin`
pub fn unknown_window_bound(field: &Name) -> Diagnostic {
    let title = format!("a window has no `{}`", field.text);
    super::suggest(Diagnostic::error("E0408", title, field.span, "unknown"), &field.text, field.span, &["start", "end"], "it has")
}

/// `allow .. late` or `late into` where no row can be late.
pub fn nothing_is_late(what: &str, span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0409", format!("`{what}` has no meaning here"), span, reason.to_owned())
        .with_help("rows are late for windows over event time (tumbling, sliding, session, cumulative, calendar), for `sort`, for joins in time, and \
             for `dedup .. keep first within`")
}

/// `every 10s` where there is nothing early.
pub fn nothing_is_early(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0417", "`every` has no meaning here", span, reason.to_owned())
        .with_help("windows over time with a fixed length (tumbling, sliding, cumulative) and `global` have early results")
}

/// A zone that the tz database does not have.
pub fn unknown_zone(name: &str, span: Span, near: Option<&str>) -> Diagnostic {
    let title = format!("there is no time zone `{name}`");
    let diagnostic = Diagnostic::error("E0419", title, span, "not a name of the tz database");
    match near {
        Some(near) => {
            let help = format!("did you mean `{near}`?");
            diagnostic.with_help(help).with_fix(format!("write `{near}`"), span, format!("\"{near}\""), false)
        }
        None => diagnostic.with_help(
            "write a place, such as `America/New_York` or `Europe/Berlin`, or `UTC`; offsets that never change are `Etc/GMT+5` (five hours behind UTC) to `Etc/GMT-14`",
        ),
    }
}

/// An offset that is longer than the window.
pub fn offset_too_long(span: Span, limit: &str) -> Diagnostic {
    Diagnostic::error("E0410", "the offset is longer than the window", span, format!("must be less than {limit}"))
        .with_help("take whole windows away from it")
}

/// `sort` that does not begin with the event time.
pub fn sort_not_by_time(span: Span, column: &str, descending: bool) -> Diagnostic {
    let label = match descending {
        true => "a stream has no last row to begin with".to_owned(),
        false => format!("rows come out as event time goes on, and that is `{column}`"),
    };
    Diagnostic::error("E0411", "`sort` goes by event time first", span, label).with_help(format!(
        "write `sort by {column}`, further columns behind it; for the first rows in another order: `top 10 by ..`"
    ))
}

/// `idle after` or `align` at a source without a watermark.
pub fn needs_watermark(what: &str, source: &str, span: Span) -> Diagnostic {
    let title = format!("`{what}` needs event time, and the source `{source}` has none");
    Diagnostic::error("E0418", title, span, "no watermark that it could speak of")
        .with_help("add a watermark to the source: `watermark time_column - 5s`")
}
