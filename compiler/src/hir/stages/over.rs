//! `f(..) over (by .., order by .., last ..)` in `select`: an operator before the select computes the values.
//!
//! Calls over the same rows (equal `by` and frame) share one operator, equal calls one column. The new columns have no names
//! in the language: the select finds them by the places where the calls stand.

use millstream_runtime::graph::{
    AnalyticCall, Changelog, Expr, Field, Frame, Hints, Literal, Operation, OverOperation, StreamType, Ty,
};

use super::At;
use super::columns::fresh;
use super::dedup::group_key;
use super::window::{event_time, length, rows};
use crate::hir::attributes::{self, Attributes};
use crate::hir::errors::{over as errors, tables};
use crate::hir::flow::Flow;
use crate::hir::lower::NewNode;
use crate::hir::resolve::same::same;
use crate::hir::resolve::scope::Scope;
use crate::hir::resolve::walk::walk;
use crate::hir::types::Typer;
use crate::syntax::ast::{self, ExprKind, Last, OverExpr, SelectItem};

/// Calls that share an operator.
struct Group<'a> {
    over: &'a OverExpr,
    frame: Frame,
    calls: Vec<(&'a ast::Expr, AnalyticCall)>,
}

/// Computes the analytic calls of a select. The flow that comes back has columns more, and knows which are whose.
pub fn analytic<'a>(at: &mut At<'_, '_, 'a>, items: &'a [SelectItem], mut input: Flow) -> Flow {
    let found = calls(items);
    let Some(first) = found.first() else { return input };
    if input.is_table() {
        let why = "a row that is taken back would change the values of all rows behind it";
        at.report(tables::not_over_table("`over (..)`", first.span, why));
    }
    let mut groups: Vec<Group<'a>> = Vec::new();
    let places: Vec<_> = found.iter().map(|expr| expr.span).collect();
    let mut same_as: Vec<(&'a ast::Expr, &'a ast::Expr)> = Vec::new();
    for expr in found {
        let ExprKind::Over(over) = &expr.kind else { continue };
        let Some((frame, call)) = lower_call(at, over, &input) else { continue };
        let group = groups.iter_mut().find(|group| shares(group.frame, frame) && all_same(&group.over.by, &over.by));
        let group = match group {
            Some(group) => group,
            None => {
                groups.push(Group { over, frame, calls: Vec::new() });
                let last = groups.len() - 1;
                &mut groups[last]
            }
        };
        if let (Frame::Ahead(so_far), Frame::Ahead(count)) = (group.frame, frame) {
            group.frame = Frame::Ahead(so_far.max(count));
        }
        match group.calls.iter().find(|(known, _)| same_call(known, over)) {
            Some((known, _)) => same_as.push((expr, known)),
            None => group.calls.push((expr, call)),
        }
    }
    // Rows that wait for those behind them come out of order, so that comes last.
    groups.sort_by_key(|group| matches!(group.frame, Frame::Ahead(_)));
    let ahead: Vec<&Group<'a>> = groups.iter().filter(|group| matches!(group.frame, Frame::Ahead(_))).collect();
    if let [first, second, ..] = &ahead[..] {
        at.report(errors::two_leads(second.over.over_span, first.over.over_span));
    }
    let waits = !ahead.is_empty();
    let visible = input.clone();
    for group in groups {
        input = add(at, group, items, input, &visible);
    }
    for (expr, known) in same_as {
        let place = input.answers.iter().find(|(span, _, _)| *span == known.span).cloned();
        input.answers.extend(place.map(|(_, column, ty)| (expr.span, column, ty)));
    }
    for span in places {
        if !input.answers.iter().any(|(place, _, _)| *place == span) {
            input.answers.push((span, String::new(), Ty::Error));
        }
    }
    if waits && input.ty.time.take().is_some() {
        input.time_dropped = true;
    }
    input
}

fn calls(items: &[SelectItem]) -> Vec<&ast::Expr> {
    let mut found = Vec::new();
    for item in items {
        if let SelectItem::Column { value, .. } = item {
            walk(value, &mut |expr| {
                if matches!(expr.kind, ExprKind::Over(_)) {
                    found.push(expr);
                }
            });
        }
    }
    // One inside another is reported when its call is typed.
    let inner = |expr: &ast::Expr, outer: &ast::Expr| {
        expr.span != outer.span && outer.span.start <= expr.span.start && expr.span.end <= outer.span.end
    };
    let all = found.clone();
    found.retain(|expr| !all.iter().any(|outer| inner(expr, outer)));
    found
}

/// The column that shows just this value. What it has added up goes by that name in the state, wherever the column is moved.
fn column_of<'a>(items: &'a [SelectItem], expr: &ast::Expr) -> Option<&'a str> {
    items.iter().find_map(|item| match item {
        SelectItem::Column { name: Some(name), value } if value.span == expr.span => Some(name.text.as_str()),
        _ => None,
    })
}

fn shares(one: Frame, other: Frame) -> bool {
    one == other || matches!((one, other), (Frame::Ahead(_), Frame::Ahead(_)))
}

fn all_same(a: &[ast::Expr], b: &[ast::Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// The frame has been compared; the calls may still differ in what they call.
fn same_call(known: &ast::Expr, over: &OverExpr) -> bool {
    let ExprKind::Over(known) = &known.kind else { return false };
    let call = |over: &OverExpr| ast::Expr { kind: ExprKind::Call(over.call.clone()), span: over.call_span };
    same(&call(known), &call(over))
}

fn lower_call<'a>(at: &mut At<'_, '_, 'a>, over: &'a OverExpr, input: &Flow) -> Option<(Frame, AnalyticCall)> {
    let call = Typer::new(&mut at.lowering.cx, Scope::Row(input)).analytic_call(over, input);
    // Mistakes in the keys are told even where the call is wrong.
    for key in &over.by {
        group_key(at, key, input);
    }
    check_order(at, over, input);
    let frame = match &over.last {
        None => None,
        Some(last) => Some(frame(at, last)?),
    };
    let call = call?;
    let of_rows = match call.call.function {
        "row_number" | "lag" => Some(Frame::Running),
        "lead" => Some(Frame::Ahead(call.back)),
        _ => None,
    };
    match (of_rows, &over.last) {
        (Some(_), Some(last)) => {
            at.report(errors::no_frame(last.span, call.call.function));
            None
        }
        (Some(of_rows), None) => Some((of_rows, call)),
        (None, _) => Some((frame.unwrap_or(Frame::All), call)),
    }
}

fn frame<'a>(at: &mut At<'_, '_, 'a>, last: &'a Last) -> Option<Frame> {
    if last.rows {
        return rows(at, &last.length).map(Frame::Rows);
    }
    if let ExprKind::Int(count) = last.length.kind {
        at.report(errors::rows_or_time(last.length.span, count));
        return None;
    }
    length(at, &last.length).map(Frame::Time)
}

/// Rows are taken in the order of event time; behind `final`, which has none, in that of any timestamp.
fn order<'a>(at: &mut At<'_, '_, 'a>, over: &'a OverExpr, input: &Flow) -> Option<Expr> {
    match (&over.order, &input.ty.time) {
        (Some(order), None) if input.at_end => {
            let mut typer = Typer::new(&mut at.lowering.cx, Scope::Row(input));
            Some(typer.expect(order, &Ty::Timestamp, "the order of `over`"))
        }
        _ => event_time(&at.lowering.cx, input, over.over_span),
    }
}

fn check_order<'a>(at: &mut At<'_, '_, 'a>, over: &'a OverExpr, input: &Flow) {
    if input.unknown || input.is_table() || (input.at_end && input.ty.time.is_none() && over.order.is_some()) {
        return;
    }
    let Some(time) = &input.ty.time else {
        let candidates = input.timestamps();
        at.report(errors::needs_time(over.over_span, &input.name, &candidates, input.time_dropped, input.at_end));
        return;
    };
    if let Some(order) = &over.order
        && !matches!(&order.kind, ExprKind::Name(name) if *name == time.column)
    {
        let column = time.column.clone();
        at.report(errors::order_is_time(order.span, &column));
    }
}

/// Adds the operator of a group.
fn add<'a>(at: &mut At<'_, '_, 'a>, group: Group<'a>, items: &[SelectItem], input: Flow, visible: &Flow) -> Flow {
    let keys: Vec<Expr> = group.over.by.iter().map(|key| group_key(at, key, visible)).collect();
    // What is missing has been reported.
    let Some(time) = order(at, group.over, visible) else { return input };
    let mut schema = input.ty.schema.clone();
    schema.name = None;
    let mut answers = input.answers.clone();
    let mut calls = Vec::with_capacity(group.calls.len());
    for (expr, mut call) in group.calls {
        call.call.state = column_of(items, expr).unwrap_or_default().to_owned();
        let name = fresh(&schema, &format!("{} over", call.call.function));
        schema.fields.push(Field::new(name.clone(), call.call.ty.clone()));
        answers.push((expr.span, name.clone(), call.call.ty.clone()));
        calls.push((name, call));
    }
    let output = StreamType { schema, changelog: Changelog::Append, time: input.ty.time.clone() };
    let operation = Operation::Over(OverOperation { keys, time, frame: group.frame, calls });
    // What else stands before `select` is for the rows that it makes.
    let hints = Hints { ttl: attributes::ttl_of(&at.stage.attributes).map(|(ttl, _)| ttl), ..Hints::default() };
    let attributes = Attributes { hints, id: None };
    let (place, span, inputs) = (at.place, at.stage.span, vec![(input.node, input.port)]);
    let new = NewNode { place, word: "over", attributes, operation, inputs, output: output.clone(), span };
    let node = at.lowering.add(new);
    Flow { node, port: millstream_runtime::graph::Port::Main, ty: output, answers, ..input }
}

/// `lag(x, 2)`: how many rows.
pub fn distance<'a>(typer: &mut Typer<'_, 'a>, written: &'a ast::Expr) -> Option<u64> {
    const WHAT: &str = "how many rows to look back or ahead";
    match typer.constant(written, &Ty::Int64, WHAT)? {
        Literal::Int(count @ 1..=1_000_000) => u64::try_from(count).ok(),
        _ => {
            typer.cx.report(crate::hir::errors::time::not_positive(WHAT, written.span));
            None
        }
    }
}
