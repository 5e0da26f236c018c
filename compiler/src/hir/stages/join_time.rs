//! What bounds a join in time: `within`, `over`, `as of`.

use millstream_runtime::connectors;
use millstream_runtime::graph::{
    CastMode, Changelog, Expr, Field, JoinColumn, JoinColumnOf, JoinHow, JoinKey, JoinKind, JoinTimes, Literal, Lookup,
    TimeColumn, Ty, Window, WindowBound,
};

use super::At;
use super::join::Sides;
use super::window::{event_time, window};
use crate::hir::errors::{joins, tables, time};
use crate::hir::flow::{Alias, Flow, Hidden};
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::{cast, plain_column};
use crate::source::Span;
use crate::syntax::ast::{self, Join};

/// The bound as written; what is wrong is reported and leaves none.
pub(super) fn how<'a>(at: &mut At<'_, '_, 'a>, join: &'a Join, sides: &Sides, keys: &[JoinKey]) -> JoinHow {
    let bounds = [
        ("within", join.within.as_ref().map(|within| within.span)),
        ("over", join.over.as_ref().map(|over| over.span)),
        ("as of", join.as_of.as_ref().map(|time| time.span)),
    ];
    let mut given = bounds.into_iter().filter_map(|(what, span)| Some((what, span?)));
    if let Some(lookup) = &sides.right.lookup {
        let given = given.next().or(join.allow_late.as_ref().map(|allow| ("allow .. late", allow.span)));
        let given = given.or(join.late_into.as_ref().map(|name| ("late into", name.span)));
        return JoinHow::Lookup(Box::new(looked_up(at, join, lookup, sides, keys, given)));
    }
    if let Some((first_what, first)) = given.next() {
        for (what, span) in given {
            at.report(joins::one_bound(span, what, first, first_what));
        }
    }
    lateness_fits(at, join);
    let found = if let Some(written) = &join.within {
        within(at, join, written, sides)
    } else if let Some(over) = &join.over {
        self::over(at, join, over, sides)
    } else if let Some(time) = &join.as_of {
        as_of(at, join, time, sides, keys)
    } else {
        Some(JoinHow::Unbounded)
    };
    found.unwrap_or(JoinHow::Unbounded)
}

/// The external table as this join asks it. `bound`: what bounds the join in time, which nothing may.
fn looked_up<'a>(
    at: &mut At<'_, '_, 'a>,
    join: &'a Join,
    lookup: &Lookup,
    sides: &Sides,
    keys: &[JoinKey],
    bound: Option<(&str, Span)>,
) -> Lookup {
    if let Some((what, span)) = bound {
        at.report(joins::lookup_has_no_time(span, what, &lookup.name));
    }
    if matches!(join.kind, JoinKind::Right | JoinKind::Full) {
        let why = "nobody can say which rows of an external table have no partner";
        let kinds = "`join`, `left join`, `semi join` or `anti join`";
        at.report(joins::kind_does_not_fit(at.stage.span, join.kind.words(), "lookup", kinds, why));
    }
    if sides.left.is_table() {
        const WHY: &str = "the answer may be another when a row is taken back";
        at.report(tables::not_over_table("`join` with a lookup", at.stage.span, WHY));
    }
    let by_key = connectors::find(&lookup.connector).and_then(|spec| spec.lookup).is_some_and(|spec| spec.by_key);
    let texts = match by_key {
        true => keys.iter().map(|key| as_text(&key.left)).collect(),
        false => Vec::new(),
    };
    Lookup { texts, ..lookup.clone() }
}

/// A value as text.
fn as_text(value: &Expr) -> Expr {
    match value.ty.required() {
        Ty::String => value.clone(),
        _ if value.ty.is_optional() => cast(CastMode::Checked, value.clone(), Ty::String.optional()),
        _ => cast(CastMode::Checked, value.clone(), Ty::String),
    }
}

fn lateness_fits(at: &mut At<'_, '_, '_>, join: &Join) {
    const WHY: &str = "without a bound in time no row of a join is late";
    let bounded = join.within.is_some() || join.over.is_some() || join.as_of.is_some();
    if let Some(allow) = &join.allow_late
        && join.over.is_none()
    {
        let why = if bounded { "only windows wait for late rows" } else { WHY };
        at.report(time::nothing_is_late("allow .. late", allow.span, why));
    }
    if let Some(name) = join.late_into.as_ref().filter(|_| !bounded) {
        at.report(time::nothing_is_late("late into", name.span, WHY));
    }
}

fn within<'a>(at: &mut At<'_, '_, 'a>, join: &'a Join, written: &'a ast::JoinWithin, sides: &Sides) -> Option<JoinHow> {
    let first = duration(at, &written.from);
    let (from, to) = match &written.to {
        None => {
            let size = first?;
            if size <= 0 {
                at.report(time::not_positive("the time behind `within`", written.from.span));
                return None;
            }
            (size.saturating_neg(), size)
        }
        Some(to) => (first?, duration(at, to)?),
    };
    if from > to {
        let text = |expr: Option<&ast::Expr>| expr.map(|expr| at.lowering.cx.text(expr.span)).unwrap_or_default();
        let diagnostic = joins::empty_range(written.span, &text(Some(&written.from)), &text(written.to.as_ref()));
        at.report(diagnostic);
        return None;
    }
    let times = times(at, join, "within", written.span, sides, true)?;
    Some(JoinHow::Within { from, to, times })
}

fn duration<'a>(at: &mut At<'_, '_, 'a>, written: &'a ast::Expr) -> Option<i64> {
    const WHAT: &str = "the time behind `within`";
    match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(written, &Ty::Duration, WHAT)? {
        Literal::Duration(time) => Some(time),
        _ => None,
    }
}

fn over<'a>(at: &mut At<'_, '_, 'a>, join: &'a Join, over: &'a ast::Over, sides: &Sides) -> Option<JoinHow> {
    let times = times(at, join, "over", over.span, sides, true);
    if let Some(span) = over.processing_time {
        at.report(joins::window_kind(span, "processing_time"));
        return None;
    }
    times.as_ref()?;
    let window = window(at, over, &sides.left)?;
    if !matches!(window, Window::Tumbling { .. } | Window::Sliding { .. }) {
        at.report(joins::window_kind(over.window.function.span, &over.window.function.text));
        return None;
    }
    let allowed_lateness = match &join.allow_late {
        Some(allow) => super::aggregate::allowed(at, allow),
        None => 0,
    };
    Some(JoinHow::Over { window, times: times?, allowed_lateness })
}

fn as_of<'a>(
    at: &mut At<'_, '_, 'a>,
    join: &'a Join,
    written: &'a ast::Expr,
    sides: &Sides,
    keys: &[JoinKey],
) -> Option<JoinHow> {
    if !matches!(join.kind, JoinKind::Inner | JoinKind::Left) {
        let why = "each row looks up one row of the other side as it was then";
        at.report(joins::kind_does_not_fit(at.stage.span, join.kind.words(), "as of", "`join` or `left join`", why));
        return None;
    }
    let typed = Typer::new(&mut at.lowering.cx, Scope::Row(&sides.left)).expr(written);
    let times = times(at, join, "as of", written.span, sides, false)?;
    if sides.pair.unknown || typed.ty == Ty::Error {
        return None;
    }
    let column = sides.left.ty.time.as_ref()?;
    if plain_column(&typed) != Some(&column.column) {
        at.report(joins::not_the_event_time(written.span, &column.column));
        return None;
    }
    if let Changelog::Table { key } = &sides.right.ty.changelog {
        let key: Vec<&str> = key.iter().flatten().map(String::as_str).collect();
        let equal: Vec<Option<&str>> = keys.iter().map(|equal| plain_column(&equal.right)).collect();
        let by_key = !key.is_empty()
            && key.iter().all(|column| equal.contains(&Some(column)))
            && equal.iter().all(|column| column.is_some_and(|column| key.contains(&column)));
        if !by_key {
            let span = join.on.as_ref().map_or(at.stage.span, |on| on.span);
            at.report(joins::not_by_key(span, &join.right.text, &key));
            return None;
        }
    }
    Some(JoinHow::AsOf { times })
}

/// The event times of both sides. `streams`: neither may be a table (with `as of` the right one may).
fn times(at: &mut At<'_, '_, '_>, join: &Join, what: &str, span: Span, sides: &Sides, streams: bool) -> Option<JoinTimes> {
    const WHY: &str = "a table's rows change after they have been joined";
    let quoted = format!("`join .. {what}`");
    let mut fits = !sides.pair.unknown;
    for (flow, place) in [(&sides.left, at.stage.span), (&sides.right, join.right.span)] {
        let may_be_table = !streams && std::ptr::eq(flow, &sides.right);
        if flow.is_table() && !may_be_table {
            at.report(tables::not_over_table(&quoted, place, WHY));
            fits = false;
        } else if flow.ty.time.is_none() && !flow.unknown {
            at.report(joins::side_without_time(span, what, &flow.name, &flow.timestamps()));
            fits = false;
        }
    }
    if !fits {
        return None;
    }
    let left = event_time(&at.lowering.cx, &sides.left, span)?;
    let right = event_time(&at.lowering.cx, &sides.right, span)?;
    Some(JoinTimes { left, right, late_output: join.late_into.is_some() })
}

/// Which column of the result holds its event time.
pub(super) fn time(kind: JoinKind, how: &JoinHow, left: &Flow, right: &Flow, renamed: &[(String, String)]) -> Option<TimeColumn> {
    match how {
        JoinHow::Unbounded => None,
        JoinHow::Over { .. } => Some(TimeColumn { column: "window.end".to_owned(), offset: -1 }),
        JoinHow::AsOf { .. } | JoinHow::Lookup(_) => left.ty.time.clone(),
        JoinHow::Within { .. } => match kind {
            JoinKind::Full => None,
            JoinKind::Right => {
                let time = right.ty.time.as_ref()?;
                let (_, column) = renamed.iter().find(|(own, _)| *own == time.column)?;
                Some(TimeColumn { column: column.clone(), offset: time.offset })
            }
            _ => left.ty.time.clone(),
        },
    }
}

/// `window.start` and `window.end` behind a window join.
pub(super) fn window_columns(
    columns: &mut Vec<JoinColumn>,
    fields: &mut Vec<Field>,
    hidden: &mut Vec<Hidden>,
    aliases: &mut Vec<Alias>,
) {
    let bounds = [("start", WindowBound::Start), ("end", WindowBound::End)];
    let named = bounds.map(|(own, bound)| (own.to_owned(), format!("window.{own}"), bound));
    aliases.retain(|alias| alias.name != "window");
    aliases.push(Alias {
        name: "window".to_owned(),
        columns: named.iter().map(|(own, column, _)| (own.clone(), column.clone())).collect(),
    });
    // Those of a window join before this one are gone.
    columns.retain(|column| !named.iter().any(|(_, name, _)| *name == column.name));
    fields.retain(|field| !named.iter().any(|(_, name, _)| *name == field.name));
    hidden.retain(|hidden| !named.iter().any(|(_, name, _)| *name == hidden.column));
    for (_, column, bound) in named {
        columns.push(JoinColumn { name: column.clone(), of: JoinColumnOf::Window(bound) });
        fields.push(Field::new(column.clone(), Ty::Timestamp));
        hidden.push(Hidden { column, twin: None, spare: true });
    }
}
