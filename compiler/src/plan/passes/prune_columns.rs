//! Columns that nobody reads are neither computed nor decoded.

use std::collections::{HashMap, HashSet};

use millstream_runtime::connectors::channel;
use millstream_runtime::graph::{
    Changelog, ConnectorOption, Exchange, ExprKind, Field, JobGraph, JobVertex, Literal, Operation, OptionValue, Port, Schema,
    Side, SourceOperation, StreamType, VertexId,
};

use super::Pass;
use super::route_errors::stream_of_errors;
use crate::plan::analysis::exprs::{Scope, aggregate_inputs, edge_keys, for_each_mut, sort_inputs, top_inputs};
use crate::plan::analysis::failure::Failure;
use crate::plan::analysis::need::{Need, retype};
use crate::plan::analysis::pairs;
use crate::plan::analysis::stages::asked_columns;

/// Goes from the sinks back to learn what is read, then forward from the sources to take away the rest: columns of
/// projections, aggregate calls, columns of sources, and fields of records in them. Keys of partitions and tables, times
/// of windows and watermarks count as read. Each row and record keeps at least one column.
pub struct PruneColumns;

impl Pass for PruneColumns {
    const NAME: &'static str = "prune_columns";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let mut floor = HashMap::new();
        loop {
            let needs = needs_with_errors(graph, &floor);
            let mut pruned = graph.clone();
            let changed = apply(&mut pruned, &needs);
            if level_unions(&pruned, &needs, &mut floor) {
                if changed {
                    *graph = pruned;
                }
                return changed;
            }
        }
    }
}

/// What is read of each vertex's rows, beyond what consumers say themselves.
type Needs = HashMap<VertexId, Need>;

/// Where somebody reads the rows that could not be computed, operators that can fail need whole rows.
fn needs_with_errors(graph: &JobGraph, floor: &Needs) -> Needs {
    let found = needs(graph, floor, &HashSet::new());
    let whole_rows = stream_of_errors(graph).and_then(|errors| found.get(&errors)).is_some_and(|need| need.of("raw").is_some());
    if !whole_rows {
        return found;
    }
    let failure = Failure::new(graph);
    let fallible = graph.vertices().filter(|id| failure.operation_can_fail(&graph.vertex(*id).operation)).collect();
    needs(graph, floor, &fallible)
}

fn needs(graph: &JobGraph, floor: &Needs, whole_rows: &HashSet<VertexId>) -> Needs {
    let mut main: Needs = floor.clone();
    let mut late: Needs = HashMap::new();
    let mut order = graph.topological();
    order.reverse();
    for id in order {
        let vertex = graph.vertex(id);
        let mut own = main.remove(&id).unwrap_or_else(Need::nothing);
        add_keys(&mut own, vertex);
        if let Operation::Source(source) = &vertex.operation {
            source.watermark.iter().for_each(|watermark| own.add_expr(&watermark.watermark));
            columns_of_stages(source).into_iter().for_each(|column| own.add(&column, Need::All));
            // The program fills whole records.
            if source.connector == channel::NAME {
                own = Need::All;
            }
        }
        let of_late = late.remove(&id);
        main.insert(id, own.clone());
        for (producer, edge) in graph.inputs(id) {
            let mut of_producer = if whole_rows.contains(&id) { Need::All } else { input_need(vertex, &own, edge.input) };
            // Late rows are rows of the first input.
            if let Some(late) = of_late.as_ref().filter(|_| edge.input == 0) {
                of_producer.merge(late.clone());
            }
            edge_keys(edge).iter().for_each(|key| of_producer.add_expr(key));
            let by_port = match edge.port {
                Port::Main => &mut main,
                Port::Late => &mut late,
                // These rows are made whole, and only when something is wrong.
                Port::Error | Port::Side(_) => continue,
            };
            by_port.entry(producer).or_insert_with(Need::nothing).merge(of_producer);
        }
    }
    main
}

/// The key of a table tells its rows apart.
fn add_keys(need: &mut Need, vertex: &JobVertex) {
    if let Changelog::Table { key: Some(key) } = &vertex.output.changelog {
        key.iter().for_each(|column| need.add(column, Need::All));
    }
}

/// What an operator reads of an input if this much of its output is read.
fn input_need(vertex: &JobVertex, own: &Need, input: usize) -> Need {
    let mut need = Need::nothing();
    match &vertex.operation {
        Operation::Sink(_) => need = Need::All,
        Operation::Source(_) => {}
        Operation::Filter(condition) => {
            need = own.clone();
            need.add_expr(condition);
        }
        Operation::Project(columns) => {
            let kept = own.prune(&vertex.output.schema);
            for (name, value) in columns.iter().filter(|(name, _)| kept.field(name).is_some()) {
                need.add_part(value, own.of(name).unwrap_or_else(Need::nothing));
            }
        }
        Operation::Explode { list, name } => {
            need = own.clone().without(name);
            need.add_expr(list);
        }
        Operation::CallAsync(asked) => {
            need = own.clone().without(&asked.name);
            need.add_expr(&asked.call);
        }
        Operation::Watermark(watermark) => {
            need = own.clone();
            need.add(&watermark.column, Need::All);
            need.add_expr(&watermark.watermark);
        }
        Operation::Dedup(dedup) => {
            need = own.clone();
            dedup.keys.iter().chain(&dedup.time).for_each(|expr| need.add_expr(expr));
        }
        Operation::Aggregate(aggregate) => {
            let used = used_calls(vertex, own);
            let mut pruned = aggregate.clone();
            let mut index = 0;
            pruned.calls.retain(|_| {
                index += 1;
                used[index - 1]
            });
            aggregate_inputs(&pruned, &mut |expr| need.add_expr(expr));
        }
        Operation::Top(top) => {
            need = own.clone();
            if let Some(rank) = &top.rank {
                need = need.without(rank);
            }
            top_inputs(top, &mut |expr| need.add_expr(expr));
        }
        Operation::Sort(sort) => {
            need = own.clone();
            sort_inputs(sort, &mut |expr| need.add_expr(expr));
        }
        // Rows are compared by all their columns.
        Operation::Combine(_) => need = Need::All,
        // It was given what it takes.
        Operation::Process(_) => need = Need::All,
        Operation::KeyBy(key) => {
            need = own.clone();
            key.iter().for_each(|column| need.add(column, Need::All));
        }
        Operation::Inserts => need = own.clone(),
        Operation::Over(over) => {
            need = own.clone();
            for (name, _) in &over.calls {
                need = need.without(name);
            }
            over.keys.iter().chain([&over.time]).for_each(|expr| need.add_expr(expr));
            for (_, call) in over.calls.iter().filter(|(name, _)| own.of(name).is_some()) {
                call.call.args.iter().chain(&call.call.filter).for_each(|expr| need.add_expr(expr));
            }
        }
        Operation::Join(join) => {
            need = pairs::side_need(join, own, if input == 0 { Side::Left } else { Side::Right });
        }
        Operation::Changes => need = own.clone().without("op"),
        Operation::Errors => {}
        Operation::Union | Operation::Final | Operation::Rebalance | Operation::Broadcast => need = own.clone(),
        Operation::PartitionBy(keys) => {
            need = own.clone();
            keys.iter().for_each(|key| need.add_expr(key));
        }
    }
    need
}

/// Which calls of an aggregate the kept output columns read.
fn used_calls(vertex: &JobVertex, own: &Need) -> Vec<bool> {
    let Operation::Aggregate(aggregate) = &vertex.operation else { return Vec::new() };
    let mut used = vec![false; aggregate.calls.len()];
    let kept = own.prune(&vertex.output.schema);
    for (name, value) in &aggregate.output {
        if kept.field(name).is_some() {
            value.walk(&mut |node| {
                if let ExprKind::Aggregate(index) = node.kind
                    && let Some(used) = used.get_mut(index)
                {
                    *used = true;
                }
            });
        }
    }
    used
}

/// Takes away what is not needed, producers first, and gives every expression the types of the pruned rows.
fn apply(graph: &mut JobGraph, needs: &Needs) -> bool {
    let mut changed = false;
    for id in graph.topological() {
        let input = graph.inputs(id).first().map(|(producer, edge)| graph.output_type(*producer, edge.port).schema.clone());
        let before = graph.vertex(id).clone();
        let sides = pairs::sides(graph, id);
        let vertex = graph.vertex_mut(id);
        let nothing = Need::nothing();
        let need = needs.get(&id).unwrap_or(&nothing);
        if matches!(vertex.operation, Operation::Join(_)) {
            prune_join(vertex, need, &sides);
        } else {
            prune_vertex(vertex, need, &input.unwrap_or_default());
        }
        changed |= *vertex != before;
    }
    let ends = graph.topological().into_iter().flat_map(|id| graph.outputs(id).into_iter().map(move |(_, edge)| (id, edge.port)));
    let rows: HashMap<(VertexId, Port), Schema> =
        ends.map(|(id, port)| ((id, port), graph.output_type(id, port).schema.clone())).collect();
    graph.for_each_edge_mut(|producer, _, edge| {
        if let (Exchange::Hash(keys), Some(row)) = (&mut edge.exchange, rows.get(&(producer, edge.port))) {
            keys.iter_mut().for_each(|key| retype(key, row));
        }
    });
    changed
}

fn prune_vertex(vertex: &mut JobVertex, need: &Need, input: &Schema) {
    let used = used_calls(vertex, need);
    let keep = need.prune(&vertex.output.schema);
    match &mut vertex.operation {
        Operation::Project(columns) => columns.retain(|(name, _)| keep.field(name).is_some()),
        Operation::Over(over) => over.calls.retain(|(name, _)| keep.field(name).is_some()),
        Operation::Aggregate(aggregate) => {
            aggregate.output.retain(|(name, _)| keep.field(name).is_some());
            let mut number = 0;
            let numbers: Vec<usize> = used
                .iter()
                .map(|used| {
                    number += usize::from(*used);
                    number.saturating_sub(1)
                })
                .collect();
            let mut index = 0;
            aggregate.calls.retain(|_| {
                index += 1;
                used[index - 1]
            });
            aggregate.output.iter_mut().for_each(|(_, value)| renumber(value, &numbers));
        }
        _ => {}
    }
    if let Operation::Source(source) = &mut vertex.operation {
        if keep.fields.len() < vertex.output.schema.fields.len() {
            name_columns(source, &vertex.output.schema);
        }
        vertex.output.schema = keep;
    } else {
        for_each_mut(&mut vertex.operation, &mut |scope, expr| {
            // The second input of a process has all that it takes.
            if scope != Scope::Side(Side::Right) {
                retype(expr, input);
            }
        });
        vertex.output.schema = output_schema(vertex, input);
    }
    if let Operation::Source(source) = &mut vertex.operation
        && let Some(watermark) = &mut source.watermark
    {
        retype(&mut watermark.watermark, &vertex.output.schema);
    }
    let schema = &vertex.output.schema;
    vertex.output.time = vertex.output.time.take().filter(|time| schema.field(&time.column).is_some());
}

fn prune_join(vertex: &mut JobVertex, need: &Need, [left, right]: &[StreamType; 2]) {
    let Operation::Join(join) = &mut vertex.operation else { return };
    let keep = need.prune(&vertex.output.schema);
    pairs::prune(join, &mut vertex.output.schema, &keep, &left.schema, &right.schema);
    let pair = pairs::pair(join, &left.schema, &right.schema);
    for_each_mut(&mut vertex.operation, &mut |scope, expr| match scope {
        Scope::Side(Side::Left) => retype(expr, &left.schema),
        Scope::Side(Side::Right) => retype(expr, &right.schema),
        _ => retype(expr, &pair),
    });
    let schema = &vertex.output.schema;
    vertex.output.time = vertex.output.time.take().filter(|time| schema.field(&time.column).is_some());
}

/// Columns that a source itself looks at: the time that its options compare, and what later stages ask of earlier ones.
fn columns_of_stages(source: &SourceOperation) -> Vec<String> {
    let mut columns: Vec<String> = source.stages.iter().filter_map(|stage| stage.range.clone()).collect();
    columns.extend(source.range.clone());
    columns.extend(asked_columns(source));
    columns
}

/// A CSV file without a header is read by position: the format has to know the columns that are no longer there.
fn name_columns(source: &mut SourceOperation, full: &Schema) {
    name_columns_in(&mut source.format_options, full);
    source.stages.iter_mut().for_each(|stage| name_columns_in(&mut stage.format_options, full));
}

fn name_columns_in(format_options: &mut Vec<ConnectorOption>, full: &Schema) {
    let option = |name: &str| format_options.iter().find(|option| option.name == name);
    let headless = option("header").is_some_and(|option| match &option.value {
        OptionValue::Value(value) => value.kind == ExprKind::Literal(Literal::Bool(false)),
        _ => false,
    });
    if headless && option("columns").is_none() {
        let columns = full.fields.iter().map(|field| field.external_name().to_owned()).collect();
        let origin = format_options.first().map(|option| option.origin.clone()).unwrap_or_default();
        format_options.push(ConnectorOption { name: "columns".to_owned(), value: OptionValue::Columns(columns), origin });
    }
}

fn renumber(expr: &mut millstream_runtime::graph::Expr, numbers: &[usize]) {
    if let ExprKind::Aggregate(index) = &mut expr.kind {
        *index = numbers[*index];
    }
    expr.for_each_child_mut(&mut |child| renumber(child, numbers));
}

/// The rows that an operator makes of pruned input rows.
fn output_schema(vertex: &JobVertex, input: &Schema) -> Schema {
    let old = &vertex.output.schema;
    let computed = |columns: &[(String, millstream_runtime::graph::Expr)]| Schema {
        name: old.name.clone(),
        fields: columns
            .iter()
            .map(|(name, value)| Field {
                ty: value.ty.clone(),
                ..old.field(name).cloned().unwrap_or_else(|| Field::new(name.clone(), value.ty.clone()))
            })
            .collect(),
    };
    match &vertex.operation {
        Operation::Project(columns) => computed(columns),
        Operation::Aggregate(aggregate) => computed(&aggregate.output),
        Operation::Explode { name, .. } => with_own(input, old.fields.last().filter(|field| field.name == *name), false),
        Operation::CallAsync(asked) => with_own(input, old.field(&asked.name), false),
        Operation::Top(top) => match &top.rank {
            Some(rank) => with_own(input, old.field(rank), false),
            None => input.clone(),
        },
        Operation::Combine(combine) => {
            let mut schema = input.clone();
            schema.fields.retain(|field| combine.side.as_ref() != Some(&field.name));
            schema
        }
        Operation::Over(over) => {
            let mut fields = input.fields.clone();
            fields.extend(over.calls.iter().map(|(name, call)| Field::new(name.clone(), call.call.ty.clone())));
            Schema::anonymous(fields)
        }
        Operation::Changes => with_own(input, old.field("op"), true),
        Operation::Sink(_) | Operation::Errors | Operation::Process(_) => old.clone(),
        _ => input.clone(),
    }
}

/// The columns of the input and one of the operator's own.
fn with_own(input: &Schema, own: Option<&Field>, first: bool) -> Schema {
    let mut fields: Vec<Field> =
        input.fields.iter().filter(|field| own.is_none_or(|own| own.name != field.name)).cloned().collect();
    let at = if first { 0 } else { fields.len() };
    fields.splice(at..at, own.cloned());
    Schema::anonymous(fields)
}

/// Whether all inputs of all unions have the same columns. Where they do not, `floor` grows, to try again.
fn level_unions(graph: &JobGraph, needs: &Needs, floor: &mut Needs) -> bool {
    let mut level = true;
    for id in graph.topological() {
        if !matches!(graph.vertex(id).operation, Operation::Union) {
            continue;
        }
        let rows: Vec<&Schema> =
            graph.inputs(id).iter().map(|(producer, edge)| &graph.output_type(*producer, edge.port).schema).collect();
        let Some((first, others)) = rows.split_first() else { continue };
        for other in others {
            for field in first.fields.iter().chain(&other.fields) {
                if first.field(&field.name) != other.field(&field.name) {
                    level &= !raise(floor, id, needs.get(&id), field);
                }
            }
        }
    }
    level
}

/// Makes a union read this much of a column; all of it if that is read already. Says whether that is more than before.
fn raise(floor: &mut Needs, union: VertexId, known: Option<&Need>, field: &Field) -> bool {
    let known = known.and_then(|need| need.of(&field.name));
    let mut wanted = known.clone().unwrap_or_else(Need::nothing);
    wanted.merge(Need::of_ty(&field.ty));
    if known.as_ref() == Some(&wanted) {
        wanted = Need::All;
    }
    if known == Some(Need::All) {
        return false;
    }
    floor.entry(union).or_insert_with(Need::nothing).add(&field.name, wanted);
    true
}
