//! What an operator keeps, about how large one entry is, and for how long.

use millstream_runtime::graph::text::duration_text;
use millstream_runtime::graph::{
    AggregateCall, AggregateOperation, Changelog, Emit, Expr, Frame, JobGraph, JoinHow, Lookup, Operation, Schema, Ty, VertexId,
};

use crate::plan::analysis::pairs;

/// Per entry of a table: its hash, its place in the list, and what lies free.
const ENTRY: u64 = 24;

/// `about 72 bytes per (carrier), for ever`; None: no state, or none that grows.
pub fn state(graph: &JobGraph, id: VertexId) -> Option<String> {
    let vertex = graph.vertex(id);
    let inputs = graph.inputs(id);
    let input = inputs.first().map(|(producer, edge)| graph.output_type(*producer, edge.port))?;
    let row = row_size(&input.schema);
    let table = input.changelog != Changelog::Append;
    let per = |keys: &[&Expr]| match keys {
        [] => "in all".to_owned(),
        keys => format!("per ({})", keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    };
    let key_size = |keys: &[&Expr]| ENTRY + keys.iter().map(|key| size(&key.ty)).sum::<u64>();
    let (what, ends) = match &vertex.operation {
        Operation::Aggregate(aggregate) => {
            let keys: Vec<&Expr> = aggregate.keys.iter().map(|(_, key)| key).collect();
            let (bytes, more) = accumulators(aggregate, table);
            let window = if aggregate.window.is_some() { " and window" } else { "" };
            (format!("about {} bytes {}{window}{more}", key_size(&keys) + 8 + bytes, per(&keys)), aggregate.window.is_some())
        }
        Operation::Dedup(dedup) => {
            let keys: Vec<&Expr> = dedup.keys.iter().collect();
            let kept = if dedup.emit == Emit::Append && dedup.time.is_none() { 8 } else { 8 + row };
            (format!("about {} bytes {}", key_size(&keys) + kept, per(&keys)), dedup.within.is_some())
        }
        Operation::Process(process) if !process.stateless => {
            let keys: Vec<&Expr> = process.keys.iter().collect();
            let timers = match process.timers.as_slice() {
                [] => String::new(),
                timers => format!(", and its {} timers", timers.join(" and ")),
            };
            (format!("the state of `{}`{timers} {}", process.path.join("::"), per(&keys)), false)
        }
        Operation::Top(top) => {
            let keys: Vec<&Expr> = top.keys.iter().collect();
            let each = row + 8 + top.order.iter().map(|key| size(&key.value.ty)).sum::<u64>();
            let rows = match (table, top.count) {
                (true, _) => format!("about {each} bytes per row"),
                (false, 1) => format!("about {} bytes", key_size(&keys) + each),
                (false, count) => format!("about {count} rows of {each} bytes"),
            };
            (format!("{rows} {}", per(&keys)), top.window.is_some())
        }
        Operation::Over(over) => {
            let keys: Vec<&Expr> = over.keys.iter().collect();
            let values: u64 = over.calls.iter().flat_map(|(_, call)| &call.call.args).map(|arg| 16 + size(&arg.ty)).sum();
            let frame = match over.frame {
                Frame::Rows(count) => format!(", {} per row of its last {count}", 8 + values),
                Frame::Time(length) => format!(", {} per row of the last {}", 8 + values, duration_text(length)),
                Frame::Ahead(count) => format!(", {row} per row of its last {count}"),
                Frame::Running | Frame::All => String::new(),
            };
            let bytes = key_size(&keys) + 64 + values;
            (format!("about {bytes} bytes {}{frame}, {row} per row that waits", per(&keys)), matches!(over.frame, Frame::Time(_)))
        }
        Operation::CallAsync(asked) => return Some(format!("at most {} rows that wait for answers", asked.waits.in_flight)),
        Operation::Join(join) if join.lookup().is_some() => return join.lookup().map(looked_up),
        Operation::Join(join) => {
            let [left, right] = pairs::sides(graph, id).map(|side| row_size(&side.schema) + 16);
            let what = match &join.how {
                JoinHow::AsOf { .. } => format!("about {left} bytes per row that waits, {right} per version of the other side"),
                _ => format!("about {left} bytes per left row, {right} per right row"),
            };
            let what = if join.broadcast { format!("{what}, those of the right side in every task") } else { what };
            (what, join.how != JoinHow::Unbounded)
        }
        Operation::Combine(_) => (format!("about {} bytes per row that differs", ENTRY + 2 * row + 16), false),
        Operation::KeyBy(_) => (format!("about {} bytes per row", ENTRY + row), false),
        Operation::Final => (format!("about {} bytes per row that stands", ENTRY + row), false),
        Operation::Sort(_) => (format!("about {} bytes per row", ENTRY + row + 8), true),
        _ => return None,
    };
    let how_long = match vertex.hints.ttl.filter(|ttl| *ttl != i64::MAX) {
        _ if ends => "until the watermark has passed".to_owned(),
        Some(ttl) if !matches!(vertex.operation, Operation::Final | Operation::KeyBy(_)) => {
            format!("until {} after its last change", duration_text(ttl))
        }
        _ => "for ever".to_owned(),
    };
    Some(format!("{what}, {how_long}"))
}

/// What a lookup has in memory, which no checkpoint holds.
fn looked_up(lookup: &Lookup) -> String {
    let row = ENTRY + row_size(&lookup.schema);
    match (lookup.texts.is_empty(), lookup.cache) {
        (true, _) => format!("about {row} bytes per row of `{}`, all of them, in every subtask; in no checkpoint", lookup.name),
        (false, Some(_)) => {
            format!("about {row} bytes per answer, at most {} in every subtask; in no checkpoint", lookup.cache_limit)
        }
        (false, None) => "rows that wait for answers".to_owned(),
    }
}

/// Bytes of the accumulators, and what comes on top of them.
fn accumulators(aggregate: &AggregateOperation, table: bool) -> (u64, String) {
    let mut bytes = 0;
    let mut values = Vec::new();
    for call in &aggregate.calls {
        let value: u64 = call.args.iter().map(|arg| size(&arg.ty)).sum();
        bytes += own_size(call, value, table);
        if keeps_values(call, table) {
            values.push(format!("{} of each value of `{}`", value + 16, call.function));
        }
    }
    let more = if values.is_empty() { String::new() } else { format!(" and {}", values.join(" and ")) };
    (bytes, more)
}

fn keeps_values(call: &AggregateCall, table: bool) -> bool {
    let over_table =
        table && matches!(call.function, "min" | "max" | "first" | "last" | "min_by" | "max_by" | "approx_count_distinct");
    call.distinct || over_table || matches!(call.function, "list" | "set" | "percentile")
}

fn own_size(call: &AggregateCall, value: u64, table: bool) -> u64 {
    match call.function {
        _ if keeps_values(call, table) => 48,
        "count" => 8,
        "sum" | "avg" => 32,
        "stddev" | "variance" => 64,
        "approx_count_distinct" => 4096,
        _ => value + 8,
    }
}

fn row_size(schema: &Schema) -> u64 {
    schema.fields.iter().map(|field| size(&field.ty)).sum()
}

/// Bytes in memory. Texts of up to 24 bytes lie in place, longer ones and lists beside it.
fn size(ty: &Ty) -> u64 {
    match ty {
        Ty::Bool | Ty::Int8 | Ty::UInt8 => 1,
        Ty::Int16 | Ty::UInt16 => 2,
        Ty::Int32 | Ty::UInt32 | Ty::Float32 | Ty::Date => 4,
        Ty::Decimal { .. } | Ty::Uuid => 16,
        Ty::String | Ty::Bytes | Ty::Json | Ty::List(_) | Ty::Map(..) => 24,
        Ty::Record(schema) => row_size(schema),
        Ty::Optional(inner) => size(inner) + 1,
        _ => 8,
    }
}
