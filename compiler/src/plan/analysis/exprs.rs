//! Every expression of an operator, in one place, so that no pass forgets one.

use millstream_runtime::graph::{
    AggregateOperation, ConnectorOption, Exchange, Expr, JobEdge, JoinHow, JoinOperation, Operation, OptionValue, Side,
    SortOperation, TopOperation, Window, WindowTime,
};

/// Where an expression of an operator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// It reads the operator's input rows.
    Input,
    /// It reads the rows of this side of a join.
    Side(Side),
    /// It reads a pair of rows of a join, by the names of `JoinOperation::columns`.
    Pair,
    /// It reads the operator's own output rows (a source's watermark).
    Own,
    /// It reads keys and aggregates of a group.
    Group,
    /// It is known when the job starts (options).
    Start,
}

/// Calls `visit` on every expression of an operator.
pub fn for_each<'a>(operation: &'a Operation, visit: &mut dyn FnMut(Scope, &'a Expr)) {
    match operation {
        Operation::Source(source) => {
            options(&source.options, visit);
            options(&source.format_options, visit);
            for stage in &source.stages {
                options(&stage.options, visit);
                options(&stage.format_options, visit);
            }
            source.watermark.iter().for_each(|watermark| visit(Scope::Own, &watermark.watermark));
        }
        Operation::Sink(sink) => {
            options(&sink.options, visit);
            options(&sink.format_options, visit);
        }
        Operation::Filter(expr) | Operation::Explode { list: expr, .. } => visit(Scope::Input, expr),
        Operation::CallAsync(asked) => visit(Scope::Input, &asked.call),
        Operation::Project(columns) => columns.iter().for_each(|(_, value)| visit(Scope::Input, value)),
        Operation::Watermark(watermark) => visit(Scope::Input, &watermark.watermark),
        Operation::Dedup(dedup) => dedup.keys.iter().chain(&dedup.time).for_each(|expr| visit(Scope::Input, expr)),
        Operation::Aggregate(aggregate) => {
            aggregate_inputs(aggregate, &mut |expr| visit(Scope::Input, expr));
            aggregate.output.iter().for_each(|(_, value)| visit(Scope::Group, value));
        }
        Operation::Over(over) => {
            over.keys.iter().chain([&over.time]).for_each(|expr| visit(Scope::Input, expr));
            for (_, call) in &over.calls {
                call.call.args.iter().chain(&call.call.filter).for_each(|expr| visit(Scope::Input, expr));
            }
        }
        Operation::Process(process) => {
            process.keys.iter().chain(&process.time).for_each(|expr| visit(Scope::Input, expr));
            if let Some(keyed) = process.second.as_ref().and_then(|second| second.keyed.as_ref()) {
                keyed.keys.iter().chain(&keyed.time).for_each(|expr| visit(Scope::Side(Side::Right), expr));
            }
            process.options.iter().for_each(|(_, value)| visit(Scope::Start, value));
        }
        Operation::Join(join) => join_exprs(join, visit),
        Operation::PartitionBy(keys) => keys.iter().for_each(|key| visit(Scope::Input, key)),
        Operation::Top(top) => top_inputs(top, &mut |expr| visit(Scope::Input, expr)),
        Operation::Sort(sort) => sort_inputs(sort, &mut |expr| visit(Scope::Input, expr)),
        Operation::Combine(combine) => combine.keys.iter().for_each(|key| visit(Scope::Input, key)),
        Operation::Inserts | Operation::KeyBy(_) => {}
        Operation::Union
        | Operation::Errors
        | Operation::Final
        | Operation::Changes
        | Operation::Rebalance
        | Operation::Broadcast => {}
    }
}

fn join_exprs<'a>(join: &'a JoinOperation, visit: &mut dyn FnMut(Scope, &'a Expr)) {
    for key in &join.keys {
        visit(Scope::Side(Side::Left), &key.left);
        visit(Scope::Side(Side::Right), &key.right);
    }
    if let Some(times) = join.times() {
        visit(Scope::Side(Side::Left), &times.left);
        visit(Scope::Side(Side::Right), &times.right);
    }
    if let Some(lookup) = join.lookup() {
        lookup.texts.iter().for_each(|text| visit(Scope::Side(Side::Left), text));
        options(&lookup.options, visit);
        options(&lookup.format_options, visit);
    }
    join.condition.iter().for_each(|condition| visit(Scope::Pair, condition));
}

/// What an aggregate evaluates per input row: keys, time, arguments, filters of calls.
pub fn aggregate_inputs<'a>(aggregate: &'a AggregateOperation, visit: &mut dyn FnMut(&'a Expr)) {
    aggregate.keys.iter().for_each(|(_, key)| visit(key));
    if let Some(WindowTime::Event(time)) = aggregate.window.as_ref().and_then(window_time) {
        visit(time);
    }
    for call in &aggregate.calls {
        call.args.iter().chain(&call.filter).for_each(&mut *visit);
    }
}

/// What a `top` evaluates per input row.
pub fn top_inputs<'a>(top: &'a TopOperation, visit: &mut dyn FnMut(&'a Expr)) {
    top.keys.iter().chain(top.order.iter().map(|key| &key.value)).for_each(&mut *visit);
    if let Some(WindowTime::Event(time)) = top.window.as_ref().and_then(window_time) {
        visit(time);
    }
}

/// What a `sort` evaluates per input row.
pub fn sort_inputs<'a>(sort: &'a SortOperation, visit: &mut dyn FnMut(&'a Expr)) {
    sort.time.iter().for_each(&mut *visit);
    sort.order.iter().for_each(|key| visit(&key.value));
}

/// What places rows in a window of time.
pub fn window_time(window: &Window) -> Option<&WindowTime> {
    match window {
        Window::Tumbling { time, .. }
        | Window::Sliding { time, .. }
        | Window::Session { time, .. }
        | Window::Cumulative { time, .. }
        | Window::Calendar { time, .. } => Some(time),
        Window::Count { .. } | Window::SlidingCount { .. } | Window::Global => None,
    }
}

fn window_time_mut(window: &mut Window) -> Option<&mut WindowTime> {
    match window {
        Window::Tumbling { time, .. }
        | Window::Sliding { time, .. }
        | Window::Session { time, .. }
        | Window::Cumulative { time, .. }
        | Window::Calendar { time, .. } => Some(time),
        Window::Count { .. } | Window::SlidingCount { .. } | Window::Global => None,
    }
}

fn options<'a>(options: &'a [ConnectorOption], visit: &mut dyn FnMut(Scope, &'a Expr)) {
    for option in options {
        match &option.value {
            OptionValue::Value(expr) => visit(Scope::Start, expr),
            OptionValue::Block(_, inner) => self::options(inner, visit),
            OptionValue::Word(_) | OptionValue::Columns(_) | OptionValue::Size(_) => {}
        }
    }
}

/// Calls `change` on every expression of an operator that runs per row or per group (so on all but options).
pub fn for_each_mut(operation: &mut Operation, change: &mut dyn FnMut(Scope, &mut Expr)) {
    match operation {
        Operation::Source(source) => {
            source.watermark.iter_mut().for_each(|watermark| change(Scope::Own, &mut watermark.watermark))
        }
        Operation::Filter(expr) | Operation::Explode { list: expr, .. } => change(Scope::Input, expr),
        Operation::CallAsync(asked) => change(Scope::Input, &mut asked.call),
        Operation::Project(columns) => columns.iter_mut().for_each(|(_, value)| change(Scope::Input, value)),
        Operation::Watermark(watermark) => change(Scope::Input, &mut watermark.watermark),
        Operation::Dedup(dedup) => {
            dedup.keys.iter_mut().chain(&mut dedup.time).for_each(|expr| change(Scope::Input, expr));
        }
        Operation::Aggregate(aggregate) => {
            aggregate.keys.iter_mut().for_each(|(_, key)| change(Scope::Input, key));
            if let Some(WindowTime::Event(time)) = aggregate.window.as_mut().and_then(window_time_mut) {
                change(Scope::Input, time);
            }
            for call in &mut aggregate.calls {
                call.args.iter_mut().chain(&mut call.filter).for_each(|expr| change(Scope::Input, expr));
            }
            aggregate.output.iter_mut().for_each(|(_, value)| change(Scope::Group, value));
        }
        Operation::Over(over) => {
            over.keys.iter_mut().chain([&mut over.time]).for_each(|expr| change(Scope::Input, expr));
            for (_, call) in &mut over.calls {
                call.call.args.iter_mut().chain(&mut call.call.filter).for_each(|expr| change(Scope::Input, expr));
            }
        }
        Operation::Process(process) => {
            process.keys.iter_mut().chain(&mut process.time).for_each(|expr| change(Scope::Input, expr));
            if let Some(keyed) = process.second.as_mut().and_then(|second| second.keyed.as_mut()) {
                keyed.keys.iter_mut().chain(&mut keyed.time).for_each(|expr| change(Scope::Side(Side::Right), expr));
            }
        }
        Operation::Join(join) => {
            for key in &mut join.keys {
                change(Scope::Side(Side::Left), &mut key.left);
                change(Scope::Side(Side::Right), &mut key.right);
            }
            if let Some(times) = join.times_mut() {
                change(Scope::Side(Side::Left), &mut times.left);
                change(Scope::Side(Side::Right), &mut times.right);
            }
            if let JoinHow::Lookup(lookup) = &mut join.how {
                lookup.texts.iter_mut().for_each(|text| change(Scope::Side(Side::Left), text));
            }
            join.condition.iter_mut().for_each(|condition| change(Scope::Pair, condition));
        }
        Operation::PartitionBy(keys) => keys.iter_mut().for_each(|key| change(Scope::Input, key)),
        Operation::Top(top) => {
            let order = top.order.iter_mut().map(|key| &mut key.value);
            top.keys.iter_mut().chain(order).for_each(|expr| change(Scope::Input, expr));
            if let Some(WindowTime::Event(time)) = top.window.as_mut().and_then(window_time_mut) {
                change(Scope::Input, time);
            }
        }
        Operation::Sort(sort) => {
            sort.time.iter_mut().for_each(|time| change(Scope::Input, time));
            sort.order.iter_mut().for_each(|key| change(Scope::Input, &mut key.value));
        }
        Operation::Combine(combine) => combine.keys.iter_mut().for_each(|key| change(Scope::Input, key)),
        Operation::Sink(_)
        | Operation::Inserts
        | Operation::KeyBy(_)
        | Operation::Union
        | Operation::Errors
        | Operation::Final
        | Operation::Changes
        | Operation::Rebalance
        | Operation::Broadcast => {}
    }
}

/// The key expressions of an edge.
pub fn edge_keys(edge: &JobEdge) -> &[Expr] {
    match &edge.exchange {
        Exchange::Hash(keys) => keys,
        _ => &[],
    }
}
