//! `aggregate by keys over window { columns }`: with a window a stream, without one a table.

use std::collections::HashMap;

use millstream_runtime::graph::{
    AggregateOperation, Changelog, Emit, Expr, ExprKind, Field, Literal, Operation, Schema, StreamType, Ty, Window, WindowBound,
};

use super::At;
use super::dedup::group_key;
use super::select::own_name;
use super::window::{bounds, never_late, output_time, window};
use crate::hir::errors::{names, tables, time};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::{GroupKey, Output, Scope};
use crate::hir::types::Typer;
use crate::source::Span;
use crate::syntax::ast::{self, Aggregate, SelectItem};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, aggregate: &'a Aggregate, input: Flow) -> Flow {
    let keys = group_keys(at, aggregate, &input);
    if let Some(over) = &aggregate.over
        && input.is_table()
    {
        at.report(tables::not_over_table("a window", over.span, "a table's rows change after their window has been given out"));
    }
    let window = aggregate.over.as_ref().and_then(|over| window(at, over, &input));
    // A window that is wrong is still one: no message follows from its absence.
    let windowed = aggregate.over.is_some();
    let bounds = if windowed && window.is_none() { Ok(()) } else { bounds(window.as_ref()) };
    let never_empty = windowed || !keys.is_empty();
    let mut output = Output { input, keys, calls: Vec::new(), bounds, never_empty };
    let columns = columns(at, &aggregate.columns, &mut output);
    let broken = aggregate.columns.iter().any(|item| matches!(item, SelectItem::Error(_)));
    if columns.is_empty() && !broken {
        at.report(tables::no_columns(aggregate.block_span, "aggregate"));
    }
    let Output { input, keys, calls, .. } = output;
    let late = lateness(at, aggregate);
    let every = early(at, aggregate, window.as_ref());
    let is_table = !windowed || every.is_some();
    let key = key_columns(&keys, &columns, windowed);
    let ty = StreamType {
        schema: Schema::anonymous(columns.iter().map(|(name, value)| Field::new(name, value.ty.clone())).collect()),
        changelog: if is_table { Changelog::Table { key } } else { Changelog::Append },
        time: window.as_ref().filter(|_| !is_table).and_then(|window| output_time(window, &columns)),
    };
    let operation = AggregateOperation {
        keys: named(keys),
        window,
        calls: calls.into_iter().map(|(_, call)| call).collect(),
        output: columns,
        allowed_lateness: late,
        every,
        late_output: aggregate.late_into.is_some(),
        emit: if is_table { Emit::Changes } else { Emit::Append },
    };
    let rows = input.clone();
    let time_dropped = ty.time.is_none() && (input.ty.time.is_some() || input.time_dropped);
    let mut flow = at.add("aggregate", Operation::Aggregate(operation), input, ty);
    flow.new_rows();
    flow.unknown = broken;
    flow.time_dropped = time_dropped;
    if !windowed {
        let why = "an aggregate without a window changes with every row, which makes a table".to_owned();
        flow.table_cause = Some((at.stage.span, why));
    } else if let Some(early) = aggregate.every.as_ref().filter(|_| is_table) {
        let why = "an early result is replaced by later ones, which makes a table".to_owned();
        flow.table_cause = Some((early.span, why));
    }
    at.late_rows(aggregate.late_into.as_ref(), rows, &flow);
    flow
}

fn group_keys<'a>(at: &mut At<'_, '_, 'a>, aggregate: &'a Aggregate, input: &Flow) -> Vec<GroupKey<'a>> {
    let mut keys: Vec<GroupKey<'a>> = Vec::with_capacity(aggregate.by.len());
    let mut first: HashMap<String, Span> = HashMap::new();
    for (name, written) in &aggregate.by {
        let value = group_key(at, written, input);
        let named = name.as_ref().map(|name| (name.text.as_str(), name.span)).or_else(|| own_name(written));
        if let Some((name, span)) = named {
            match first.get(name) {
                Some(first) => {
                    let first = *first;
                    at.report(names::column_twice(name, span, Some(first), "`by`"));
                    continue;
                }
                None => {
                    first.insert(name.to_owned(), span);
                }
            }
        }
        keys.push(GroupKey { name: named.map(|(name, _)| name.to_owned()), written, value });
    }
    keys
}

fn columns<'a>(at: &mut At<'_, '_, 'a>, items: &'a [SelectItem], output: &mut Output<'a>) -> Vec<(String, Expr)> {
    let mut columns: Vec<(String, Expr)> = Vec::with_capacity(items.len());
    let mut first: HashMap<String, Span> = HashMap::new();
    for item in items {
        let (name, value) = match item {
            SelectItem::Column { name, value } => (name, value),
            SelectItem::Rest { span, .. } => {
                at.report(tables::rest_in_aggregate(*span, ".."));
                continue;
            }
            SelectItem::Except(names) => {
                if let Some(name) = names.first() {
                    at.report(tables::rest_in_aggregate(name.span, "except"));
                }
                continue;
            }
            SelectItem::Error(_) => continue,
        };
        let mut typer = Typer::new(&mut at.lowering.cx, Scope::Output(output));
        let typed = typer.expr(value);
        let typed = typer.typed(typed, value.span);
        let Some((name, span)) = name.as_ref().map(|name| (name.text.as_str(), name.span)).or_else(|| own_name(value)) else {
            at.report(names::column_without_name(value.span));
            continue;
        };
        match first.get(name) {
            Some(first) => {
                let first = *first;
                at.report(names::column_twice(name, span, Some(first), "`aggregate`"));
            }
            None => {
                first.insert(name.to_owned(), span);
                columns.push((name.to_owned(), typed));
            }
        }
    }
    columns
}

/// The columns that hold the group keys, and the window's end where there is a window, if all are there: the key of the table.
fn key_columns(keys: &[GroupKey<'_>], columns: &[(String, Expr)], windowed: bool) -> Option<Vec<String>> {
    let column = |kind: ExprKind| columns.iter().find(|(_, value)| value.kind == kind).map(|(name, _)| name.clone());
    let end = windowed.then(|| column(ExprKind::Window(WindowBound::End)));
    (0..keys.len()).map(|index| column(ExprKind::Key(index))).chain(end).collect()
}

/// Keys under names of their own.
fn named(keys: Vec<GroupKey<'_>>) -> Vec<(String, Expr)> {
    let taken: Vec<String> = keys.iter().filter_map(|key| key.name.clone()).collect();
    let mut count = 0;
    let mut fresh = || {
        loop {
            count += 1;
            let name = format!("key_{count}");
            if !taken.contains(&name) {
                return name;
            }
        }
    };
    keys.into_iter().map(|key| (key.name.unwrap_or_else(&mut fresh), key.value)).collect()
}

/// The time between early results.
fn early<'a>(at: &mut At<'_, '_, 'a>, aggregate: &'a Aggregate, window: Option<&Window>) -> Option<i64> {
    const WHAT: &str = "the time between early results";
    let every = aggregate.every.as_ref()?;
    let reason = match window {
        None if aggregate.over.is_none() => "without a window every row changes the result at once",
        Some(Window::Session { .. }) => "sessions come out when they are over",
        Some(Window::Count { .. } | Window::SlidingCount { .. }) => "a window of rows comes out when it is full",
        _ => {
            return match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(every, &Ty::Duration, WHAT)? {
                Literal::Duration(time) if time > 0 => Some(time),
                _ => {
                    at.report(time::not_positive(WHAT, every.span));
                    None
                }
            };
        }
    };
    at.report(time::nothing_is_early(every.span, reason));
    None
}

fn lateness<'a>(at: &mut At<'_, '_, 'a>, aggregate: &'a Aggregate) -> i64 {
    let reason = aggregate.over.as_ref().map_or(Some("there is no window"), never_late);
    if let Some(reason) = reason {
        if let Some(allow) = &aggregate.allow_late {
            at.report(time::nothing_is_late("allow .. late", allow.span, reason));
        }
        if let Some(name) = &aggregate.late_into {
            at.report(time::nothing_is_late("late into", name.span, reason));
        }
        return 0;
    }
    let Some(allow) = &aggregate.allow_late else { return 0 };
    allowed(at, allow)
}

pub(super) fn allowed<'a>(at: &mut At<'_, '_, 'a>, allow: &'a ast::Expr) -> i64 {
    const WHAT: &str = "the allowed lateness";
    match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(allow, &Ty::Duration, WHAT) {
        Some(Literal::Duration(time)) if time >= 0 => time,
        Some(_) => {
            at.report(time::not_positive(WHAT, allow.span));
            0
        }
        None => 0,
    }
}
