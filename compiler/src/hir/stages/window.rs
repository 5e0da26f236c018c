//! `over tumbling(1d)`: windows, their sizes, and what places rows in them.

use millstream_runtime::graph::{
    BinaryOp, CalendarUnit, CastMode, Expr, ExprKind, Literal, TimeColumn, Ty, Window, WindowBound, WindowTime,
};

use super::At;
use crate::hir::context::Context;
use crate::hir::errors::time;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::zones;
use crate::source::Span;
use crate::syntax::ast::{self, ArgumentValue, Over};

pub const KINDS: &[&str] = &["tumbling", "sliding", "session", "cumulative", "calendar", "count", "global"];

/// The window as written; None: reported.
pub fn window<'a>(at: &mut At<'_, '_, 'a>, over: &'a Over, input: &Flow) -> Option<Window> {
    let name = &over.window.function;
    if name.text == "calendar" {
        return calendar(at, over, input);
    }
    let usage = match name.text.as_str() {
        "tumbling" => "tumbling(size)",
        "sliding" => "sliding(size, step)",
        "session" => "session(gap)",
        "cumulative" => "cumulative(max, step)",
        "count" => "count(rows)` or `count(rows, step)",
        "global" => "global",
        _ => {
            at.report(time::unknown_window(name, KINDS));
            return None;
        }
    };
    let (sizes, offset) = arguments(at, over, usage)?;
    if let (Some((_, span)), "session" | "count" | "global") = (&offset, name.text.as_str()) {
        at.report(time::window_arguments(*span, usage, "this window takes no offset"));
        return None;
    }
    match (name.text.as_str(), sizes.as_slice()) {
        ("global", []) => no_clock(at, over, usage).then_some(Window::Global),
        ("count", [size]) => {
            let size = rows(at, size)?;
            no_clock(at, over, usage).then_some(Window::Count { size })
        }
        ("count", [written, step_written]) => {
            let (size, step) = (rows(at, written)?, rows(at, step_written)?);
            if step > size {
                at.report(time::step_does_not_fit(step_written.span, &size.to_string(), &step.to_string(), true));
                return None;
            }
            no_clock(at, over, usage).then_some(Window::SlidingCount { size, step })
        }
        ("tumbling", [size]) => {
            let (written, size) = (size, length(at, size)?);
            let offset = within(at, offset, size, written)?;
            Some(Window::Tumbling { size, offset, time: window_time(at, over, input)? })
        }
        ("session", [gap]) => {
            let gap = length(at, gap)?;
            Some(Window::Session { gap, time: window_time(at, over, input)? })
        }
        ("sliding" | "cumulative", [written, step_written]) => {
            let (size, step) = (length(at, written)?, length(at, step_written)?);
            if step > size || size % step != 0 {
                let (size_text, step_text) = (at.lowering.cx.text(written.span), at.lowering.cx.text(step_written.span));
                at.report(time::step_does_not_fit(step_written.span, &size_text, &step_text, step > size));
                return None;
            }
            let (limit, limit_written) = if name.text == "sliding" { (step, step_written) } else { (size, written) };
            let offset = within(at, offset, limit, limit_written)?;
            let time = window_time(at, over, input)?;
            Some(match name.text.as_str() {
                "sliding" => Window::Sliding { size, step, offset, time },
                _ => Window::Cumulative { max: size, step, offset, time },
            })
        }
        _ => {
            let label = match sizes.len() {
                0 => "no size given".to_owned(),
                1 => "1 size given".to_owned(),
                count => format!("{count} sizes given"),
            };
            at.report(time::window_arguments(over.span, usage, &label));
            None
        }
    }
}

/// `calendar(week, zone: "America/New_York")`
fn calendar<'a>(at: &mut At<'_, '_, 'a>, over: &'a Over, input: &Flow) -> Option<Window> {
    const USAGE: &str = "calendar(day, zone: \"America/New_York\")";
    const UNITS: &str = "the units are `day`, `week`, `month`, `quarter` and `year`";
    let (mut unit, mut zone) = (None, None);
    for argument in &over.window.args {
        let wrong = match (&argument.name, &argument.value) {
            (None, ArgumentValue::Expr(ast::Expr { kind: ast::ExprKind::Name(word), .. })) if unit.is_none() => {
                unit = CalendarUnit::ALL.into_iter().find(|unit| unit.word() == word);
                unit.is_none().then_some(UNITS)
            }
            (Some(name), ArgumentValue::Expr(ast::Expr { kind: ast::ExprKind::String(text), span }))
                if name.text == "zone" && zone.is_none() =>
            {
                zone = Some(text.clone());
                if let Some(diagnostic) = zones::check(text, *span) {
                    at.report(diagnostic);
                    return None;
                }
                None
            }
            (None, _) => Some(UNITS),
            (Some(name), _) if name.text == "zone" => Some("the zone is one text in quotes"),
            (Some(_), _) => Some("the only named argument is `zone: \"..\"`"),
        };
        if let Some(label) = wrong {
            at.lowering.cx.report_value(time::window_arguments(argument.span, USAGE, label));
            return None;
        }
    }
    let Some(unit) = unit else {
        at.report(time::window_arguments(over.span, USAGE, UNITS));
        return None;
    };
    let time = window_time(at, over, input)?;
    Some(Window::Calendar { unit, zone: zone.unwrap_or_else(|| "UTC".to_owned()), time })
}

type Offset<'a> = Option<(&'a ast::Expr, Span)>;

/// Sizes in order, and the offset.
fn arguments<'a>(at: &mut At<'_, '_, 'a>, over: &'a Over, usage: &str) -> Option<(Vec<&'a ast::Expr>, Offset<'a>)> {
    let mut sizes = Vec::new();
    let mut offset = None;
    for argument in &over.window.args {
        let ArgumentValue::Expr(value) = &argument.value else {
            at.report(time::window_arguments(argument.span, usage, "this is a type"));
            return None;
        };
        match &argument.name {
            None => sizes.push(value),
            Some(name) if name.text == "offset" && offset.is_none() => offset = Some((value, argument.span)),
            Some(name) => {
                let label = match name.text.as_str() {
                    "zone" => "for days of a time zone there is `calendar(day, zone: ..)`",
                    _ => "the only named argument is `offset: ..`",
                };
                at.report(time::window_arguments(name.span, usage, label));
                return None;
            }
        }
    }
    Some((sizes, offset))
}

fn no_clock(at: &mut At<'_, '_, '_>, over: &Over, usage: &str) -> bool {
    if let Some(span) = over.processing_time {
        at.report(time::window_arguments(span, usage, "this window does not look at the time"));
    }
    over.processing_time.is_none()
}

pub fn length<'a>(at: &mut At<'_, '_, 'a>, written: &'a ast::Expr) -> Option<i64> {
    const WHAT: &str = "the length of a window";
    match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(written, &Ty::Duration, WHAT)? {
        Literal::Duration(time) if time > 0 => Some(time),
        _ => {
            at.report(time::not_positive(WHAT, written.span));
            None
        }
    }
}

pub fn rows<'a>(at: &mut At<'_, '_, 'a>, written: &'a ast::Expr) -> Option<u64> {
    const WHAT: &str = "the number of rows of a window";
    match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(written, &Ty::Int64, WHAT)? {
        Literal::Int(count) if count > 0 => u64::try_from(count).ok(),
        _ => {
            at.report(time::not_positive(WHAT, written.span));
            None
        }
    }
}

/// The offset, which is shorter than what it shifts.
fn within<'a>(at: &mut At<'_, '_, 'a>, offset: Offset<'a>, limit: i64, limit_written: &ast::Expr) -> Option<i64> {
    const WHAT: &str = "the offset of a window";
    let Some((written, span)) = offset else { return Some(0) };
    match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(written, &Ty::Duration, WHAT)? {
        Literal::Duration(time) if time.unsigned_abs() < limit.unsigned_abs() => Some(time),
        _ => {
            let limit = at.lowering.cx.text(limit_written.span);
            at.report(time::offset_too_long(span, &limit));
            None
        }
    }
}

fn window_time(at: &mut At<'_, '_, '_>, over: &Over, input: &Flow) -> Option<WindowTime> {
    if over.processing_time.is_some() {
        return Some(WindowTime::Processing);
    }
    if input.unknown || input.is_table() {
        return None;
    }
    match event_time(&at.lowering.cx, input, over.span) {
        Some(time) => Some(WindowTime::Event(time)),
        None => {
            at.report(time::no_time_column(over.span, &input.name, &input.timestamps(), input.time_dropped));
            None
        }
    }
}

/// The event time of a row: its time column, shifted where that carries the start or end of a window.
pub fn event_time(cx: &Context<'_>, input: &Flow, span: Span) -> Option<Expr> {
    let time = input.ty.time.as_ref()?;
    let field = input.ty.schema.field(&time.column)?;
    let origin = millstream_runtime::graph::Origin { text: time.column.clone(), ..cx.origin(span) };
    let mut value = Expr { kind: ExprKind::Column(time.column.clone()), ty: field.ty.clone(), origin: origin.clone() };
    if value.ty.is_optional() {
        value = crate::hir::types::casts::cast(CastMode::NotNull, value, Ty::Timestamp);
    }
    if time.offset != 0 {
        let shift = Expr { kind: ExprKind::Literal(Literal::Duration(time.offset)), ty: Ty::Duration, origin: origin.clone() };
        let kind = ExprKind::Binary(BinaryOp::Add, Box::new(value), Box::new(shift));
        value = Expr { kind, ty: Ty::Timestamp, origin };
    }
    Some(value)
}

/// The time column of a window's output: its end less one microsecond, so that a row falls into the same window again.
pub fn output_time(window: &Window, columns: &[(String, Expr)]) -> Option<TimeColumn> {
    let (size, time) = match window {
        Window::Tumbling { size, time, .. } | Window::Sliding { size, time, .. } => (Some(*size), time),
        Window::Session { time, .. } | Window::Cumulative { time, .. } | Window::Calendar { time, .. } => (None, time),
        Window::Count { .. } | Window::SlidingCount { .. } | Window::Global => return None,
    };
    if *time == WindowTime::Processing {
        return None;
    }
    let carries = |bound: WindowBound| {
        columns.iter().find(|(_, value)| value.kind == ExprKind::Window(bound)).map(|(name, _)| name.clone())
    };
    if let Some(column) = carries(WindowBound::End) {
        return Some(TimeColumn { column, offset: -1 });
    }
    Some(TimeColumn { column: carries(WindowBound::Start)?, offset: size? - 1 })
}

/// Whether `window.start` and `window.end` are known, or why not.
pub fn bounds(window: Option<&Window>) -> Result<(), &'static str> {
    match window {
        Some(
            Window::Tumbling { .. }
            | Window::Sliding { .. }
            | Window::Session { .. }
            | Window::Cumulative { .. }
            | Window::Calendar { .. },
        ) => Ok(()),
        Some(Window::Count { .. } | Window::SlidingCount { .. }) => Err("a window of rows has no start and end in time"),
        Some(Window::Global) => Err("`global` has no start and end"),
        None => Err("this aggregate has no window"),
    }
}

/// Why no row is late for such a window. None: rows may be.
pub fn never_late(over: &Over) -> Option<&'static str> {
    match over.window.function.text.as_str() {
        "count" | "global" => Some("this window does not look at the time"),
        _ => over.processing_time.map(|_| "by the clock on the wall, no row is late"),
    }
}
