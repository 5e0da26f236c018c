//! `dedup by (..) keep first | last`: one row per key.
//!
//! The first to arrive stays: rows are only added. The last one replaces those before it: a table with the key.

use millstream_runtime::graph::{
    Changelog, DedupOperation, Emit, Expr, Keep, Literal, Operation, SortKey, StreamType, TopOperation, Ty,
};

use super::At;
use super::window::event_time;
use crate::hir::errors::{tables, time};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::plain_column;
use crate::source::Span;
use crate::syntax::ast;

pub fn lower<'a>(
    at: &mut At<'_, '_, 'a>,
    by: &'a [ast::Expr],
    keep: Option<(ast::Keep, Span)>,
    (within, late_into): (Option<&'a ast::Expr>, Option<&'a ast::Name>),
    input: Flow,
) -> Flow {
    let keys: Vec<Expr> = by.iter().map(|key| group_key(at, key, &input)).collect();
    let keep = match keep {
        Some((ast::Keep::Last, _)) => Keep::Last,
        _ => Keep::First,
    };
    let late_output = late_into.is_some() && within.is_some() && keep == Keep::First && !input.is_table();
    if let Some(name) = late_into.filter(|_| !late_output) {
        let why = match within {
            None => "`dedup` without `within` forgets nothing, so a late row is compared as all others",
            Some(_) => "only what `keep first within` has forgotten can be repeated by a late row",
        };
        at.report(time::nothing_is_late("late into", name.span, why));
    }
    if input.is_table() {
        if let Some(within) = within {
            at.report(tables::not_over_table("`within`", within.span, "rows that are taken back have no time of their own"));
        }
        let flow = over_table(at, keys, keep, input.clone());
        at.late_rows(late_into, input, &flow);
        return flow;
    }
    let within = within.and_then(|within| forget_after(at, within, &input));
    let (emit, time, changelog) = match keep {
        Keep::First => (Emit::Append, None, Changelog::Append),
        Keep::Last => {
            let columns = keys.iter().map(|key| plain_column(key).map(str::to_owned));
            // A key that is forgotten may come again, so it does not name one row.
            let key = if within.is_some() { None } else { columns.collect() };
            (Emit::Changes, event_time(&at.lowering.cx, &input, at.stage.span), Changelog::Table { key })
        }
    };
    let output = StreamType { changelog, ..input.ty.clone() };
    let operation = DedupOperation { keys, keep, time, within, late_output, emit };
    let mut flow = at.add("dedup", Operation::Dedup(operation), input.clone(), output);
    at.late_rows(late_into, input, &flow);
    if keep == Keep::Last {
        flow.table_cause = Some((at.stage.span, "`keep last` replaces rows, which makes a table".to_owned()));
    }
    flow
}

/// Over a table rows go as well, so all are kept: the first, or the last, of those that stand.
fn over_table(at: &mut At<'_, '_, '_>, keys: Vec<Expr>, keep: Keep, input: Flow) -> Flow {
    let columns = keys.iter().map(|key| plain_column(key).map(str::to_owned)).collect();
    let time = event_time(&at.lowering.cx, &input, at.stage.span).filter(|_| keep == Keep::Last);
    let operation = TopOperation {
        count: 1,
        order: time.into_iter().map(|value| SortKey { value, descending: true }).collect(),
        latest_first: keep == Keep::Last,
        keys,
        window: None,
        ties: false,
        late_output: false,
        rank: None,
        emit: Emit::Changes,
    };
    let output = StreamType { changelog: Changelog::Table { key: columns }, ..input.ty.clone() };
    at.add("dedup", Operation::Top(operation), input, output)
}

/// A key: of a type that has an order, so that it can be looked up.
pub fn group_key<'a>(at: &mut At<'_, '_, 'a>, key: &'a ast::Expr, input: &Flow) -> Expr {
    let mut typer = Typer::new(&mut at.lowering.cx, Scope::Row(input));
    let typed = typer.expr(key);
    let typed = typer.typed(typed, key.span);
    if !typed.ty.is_ordered() {
        return typer.reject(tables::not_a_key("a key", key.span, &typed.ty), key.span);
    }
    typed
}

fn forget_after<'a>(at: &mut At<'_, '_, 'a>, within: &'a ast::Expr, input: &Flow) -> Option<i64> {
    let constant = Typer::new(&mut at.lowering.cx, Scope::Row(input)).constant(within, &Ty::Duration, "the time behind `within`");
    if input.ty.time.is_none() && !input.unknown {
        at.report(time::within_needs_time(within.span));
    }
    match constant? {
        Literal::Duration(time) if time > 0 => Some(time),
        _ => {
            at.report(time::not_positive("the time behind `within`", within.span));
            None
        }
    }
}
