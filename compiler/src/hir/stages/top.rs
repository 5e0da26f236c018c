//! `top 10 by price desc per auction`: the first rows in an order. Without a window a table, with one a stream.

use millstream_runtime::graph::{
    Changelog, Emit, Expr, Field, Literal, Operation, SortKey, StreamType, TopOperation, Ty, Window, WindowTime,
};

use super::At;
use super::dedup::group_key;
use super::window::{never_late, window};
use crate::hir::errors::{names, tables, time};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::plain_column;
use crate::syntax::ast::{self, OrderKey};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, top: &'a ast::Top, input: Flow) -> Flow {
    let count = count(at, &top.count);
    let order = order(at, &top.by, &input);
    let keys: Vec<Expr> = top.per.iter().map(|key| group_key(at, key, &input)).collect();
    if let Some(over) = &top.over
        && input.is_table()
    {
        at.report(tables::not_over_table("a window", over.span, "a table's rows change after their window has been given out"));
    }
    let window = top.over.as_ref().and_then(|over| window(at, over, &input));
    let windowed = top.over.is_some();
    let mut schema = input.ty.schema.clone();
    if let Some(rank) = &top.rank {
        if schema.field(&rank.text).is_some() {
            at.report(names::column_twice(&rank.text, rank.span, None, "this stream"));
            schema.fields.retain(|field| field.name != rank.text);
        }
        schema.name = None;
        schema.fields.push(Field::new(&rank.text, Ty::Int64));
    }
    let changelog = match windowed {
        true => Changelog::Append,
        false => Changelog::Table { key: key(top, count, &keys, &input) },
    };
    let time = match windowed {
        true => input.ty.time.clone().filter(|_| window.as_ref().is_some_and(keeps_time)),
        false => input.ty.time.clone(),
    };
    let time_dropped = input.time_dropped || (time.is_none() && input.ty.time.is_some());
    let operation = TopOperation {
        count,
        order,
        latest_first: false,
        keys,
        window,
        ties: top.ties.is_some(),
        rank: top.rank.as_ref().map(|rank| rank.text.clone()),
        late_output: top.late_into.is_some(),
        emit: if windowed { Emit::Append } else { Emit::Changes },
    };
    late_needs_time(at, top);
    let rows = input.clone();
    let mut flow = at.add("top", Operation::Top(operation), input, StreamType { schema, changelog, time });
    flow.time_dropped = time_dropped;
    if !windowed {
        let why = "the first rows change when a better one comes, which makes a table".to_owned();
        flow.table_cause = Some((at.stage.span, why));
    }
    at.late_rows(top.late_into.as_ref(), rows, &flow);
    flow
}

/// Without a window over event time no row is late.
fn late_needs_time(at: &mut At<'_, '_, '_>, top: &ast::Top) {
    let Some(name) = &top.late_into else { return };
    let no_window = Some("without a window every row counts, however old it is");
    if let Some(reason) = top.over.as_ref().map_or(no_window, never_late) {
        at.report(time::nothing_is_late("late into", name.span, reason));
    }
}

/// The columns that tell the output rows apart.
fn key(top: &ast::Top, count: u64, keys: &[Expr], input: &Flow) -> Option<Vec<String>> {
    let per = || keys.iter().map(|key| plain_column(key).map(str::to_owned)).collect::<Option<Vec<_>>>();
    match (&top.rank, &input.ty.changelog) {
        (None, _) if count == 1 && top.ties.is_none() => per(),
        // A rank is taken by one row of its key.
        (Some(rank), _) if top.ties.is_none() => per().map(|mut key| {
            key.push(rank.text.clone());
            key
        }),
        (None, Changelog::Table { key }) => key.clone(),
        _ => None,
    }
}

/// Whether rows that the window gives out can be told to be of its time: they come at most its size behind the watermark.
fn keeps_time(window: &Window) -> bool {
    match window {
        Window::Tumbling { time, .. } | Window::Sliding { time, .. } | Window::Cumulative { time, .. } => {
            *time != WindowTime::Processing
        }
        _ => false,
    }
}

fn count<'a>(at: &mut At<'_, '_, 'a>, written: &'a ast::Expr) -> u64 {
    const WHAT: &str = "the number of rows of `top`";
    match Typer::new(&mut at.lowering.cx, Scope::Constant(WHAT)).constant(written, &Ty::Int64, WHAT) {
        Some(Literal::Int(count)) if count > 0 => u64::try_from(count).unwrap_or(u64::MAX),
        Some(_) => {
            at.report(time::not_positive(WHAT, written.span));
            1
        }
        None => 1,
    }
}

/// The keys of an order, of types that have one.
pub fn order<'a>(at: &mut At<'_, '_, 'a>, keys: &'a [OrderKey], input: &Flow) -> Vec<SortKey> {
    keys.iter().map(|key| SortKey { value: group_key(at, &key.value, input), descending: key.descending }).collect()
}
