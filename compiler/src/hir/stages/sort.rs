//! `sort by placed_at`: rows in the order of event time, as far as the watermark has come. Behind `final`, where all rows come
//! at the end, in any order.

use millstream_runtime::graph::{Operation, SortOperation};

use super::At;
use super::top::order;
use super::window::event_time;
use crate::hir::errors::{tables, time};
use crate::hir::flow::Flow;
use crate::hir::types::casts::plain_column;
use crate::syntax::ast::Sort;

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, sort: &'a Sort, input: Flow) -> Flow {
    let keys = &sort.by;
    if input.is_table() {
        at.report(tables::not_over_table("`sort`", at.stage.span, "rows that change have no place in an order of time"));
    }
    let order = order(at, keys, &input);
    if input.at_end && !input.is_table() {
        if let Some(name) = &sort.late_into {
            at.report(time::nothing_is_late("late into", name.span, "behind `final` all rows come at the end"));
            at.lowering.define_late(name, Flow::broken(&name.text));
        }
        let output = input.ty.clone();
        let operation = SortOperation { time: None, order, late_output: false };
        return at.add("sort", Operation::Sort(operation), input, output);
    }
    let time = event_time(&at.lowering.cx, &input, at.stage.span);
    let unsure = input.unknown || input.is_table();
    let (Some((first, rest)), Some(time)) = (order.split_first(), time) else {
        if !unsure {
            let mut diagnostic = time::no_time_column(at.stage.span, &input.name, &input.timestamps(), input.time_dropped);
            diagnostic.title = diagnostic.title.replace("a window", "`sort`");
            at.report(diagnostic);
        }
        if let Some(name) = &sort.late_into {
            at.lowering.define_late(name, Flow::broken(&name.text));
        }
        return Flow::broken(&input.name);
    };
    let column = input.ty.time.as_ref().map(|time| time.column.as_str());
    if !unsure
        && let Some(written) = keys.first()
        && (plain_column(&first.value) != column || first.descending)
    {
        at.report(time::sort_not_by_time(written.value.span, column.unwrap_or_default(), first.descending));
    }
    let output = input.ty.clone();
    let late_output = sort.late_into.is_some();
    let operation = SortOperation { time: Some(time), order: rest.to_vec(), late_output };
    let rows = input.clone();
    let flow = at.add("sort", Operation::Sort(operation), input, output);
    at.late_rows(sort.late_into.as_ref(), rows, &flow);
    flow
}
