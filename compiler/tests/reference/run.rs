//! Operators over lists of rows.

use std::collections::BTreeMap;

use millstream_runtime::graph::{
    AggregateCall, AggregateOperation, Expr, JobGraph, JoinColumnOf, JoinOperation, Keep, Operation, Schema, Side, VertexId,
    Window, WindowTime,
};

use super::eval::{Failed, Scope, eval, eval_in};
use super::value::{Row, Value};

/// What comes out: rows at each sink, sorted, and how many rows failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub sinks: BTreeMap<String, Vec<Row>>,
    pub failures: usize,
}

/// Runs a graph over the rows of its sources, by the sources' ids.
pub fn run(graph: &JobGraph, sources: &BTreeMap<String, Vec<Row>>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut rows: BTreeMap<VertexId, Vec<Row>> = BTreeMap::new();
    for id in graph.topological() {
        let vertex = graph.vertex(id);
        let input: Vec<Row> = graph.inputs(id).into_iter().flat_map(|(producer, _)| rows[&producer].clone()).collect();
        let output = match &vertex.operation {
            Operation::Source(source) => {
                let mut rows: Vec<Row> = sources[&vertex.uid].iter().map(|row| only(row, &vertex.output.schema)).collect();
                if let Some(watermark) = &source.watermark {
                    let before = rows.len();
                    rows.retain(|row| eval(&watermark.watermark, row).is_ok());
                    outcome.failures += before - rows.len();
                }
                rows
            }
            Operation::Join(join) => {
                let side = |input: usize| {
                    let of_side = graph.inputs(id).into_iter().filter(|(_, edge)| edge.input == input);
                    of_side.flat_map(|(producer, _)| rows[&producer].clone()).collect::<Vec<Row>>()
                };
                self::join(join, &vertex.output.schema, &side(0), &side(1), &mut outcome.failures)
            }
            operation => step(operation, input, &mut outcome.failures),
        };
        if let Operation::Sink(_) = &vertex.operation {
            let mut output = output.clone();
            output.sort();
            outcome.sinks.insert(vertex.uid.clone(), output);
        }
        rows.insert(id, output);
    }
    outcome
}

/// The columns that a source reads, fields of records included.
fn only(row: &Row, schema: &millstream_runtime::graph::Schema) -> Row {
    let part = |name: &str, ty: &millstream_runtime::graph::Ty| match (&row[name], ty.required()) {
        (Value::Record(record), millstream_runtime::graph::Ty::Record(schema)) => Value::Record(only(record, schema)),
        (value, _) => value.clone(),
    };
    schema.fields.iter().map(|field| (field.name.clone(), part(&field.name, &field.ty))).collect()
}

/// One operator; a row that fails is left out and counted.
fn step(operation: &Operation, input: Vec<Row>, failures: &mut usize) -> Vec<Row> {
    let mut each = |make: &dyn Fn(&Row) -> Result<Vec<Row>, Failed>| {
        let mut out = Vec::new();
        for row in &input {
            match make(row) {
                Ok(rows) => out.extend(rows),
                Err(Failed) => *failures += 1,
            }
        }
        out
    };
    match operation {
        Operation::Filter(condition) => each(&|row| {
            let keep = eval(condition, row)? == Value::Bool(true);
            Ok(if keep { vec![row.clone()] } else { Vec::new() })
        }),
        Operation::Project(columns) => each(&|row| {
            let out: Result<Row, Failed> = columns.iter().map(|(name, value)| Ok((name.clone(), eval(value, row)?))).collect();
            Ok(vec![out?])
        }),
        Operation::Explode { list, name } => each(&|row| {
            let items = match eval(list, row)? {
                Value::List(items) => items,
                _ => Vec::new(),
            };
            let with = |item: Value| {
                let mut row = row.clone();
                row.insert(name.clone(), item);
                row
            };
            Ok(items.into_iter().map(with).collect())
        }),
        Operation::Watermark(watermark) => each(&|row| eval(&watermark.watermark, row).map(|_| vec![row.clone()])),
        Operation::Union | Operation::Final | Operation::Sink(_) => input,
        Operation::Dedup(dedup) => self::dedup(&input, &dedup.keys, dedup.time.as_ref(), dedup.keep, failures),
        Operation::Aggregate(aggregate) => self::aggregate(&input, aggregate, failures),
        other => panic!("the interpreter does not know {other:?}"),
    }
}

/// Pairs of all rows, or left rows by themselves: inner and semi joins.
fn join(join: &JoinOperation, output: &Schema, lefts: &[Row], rights: &[Row], failures: &mut usize) -> Vec<Row> {
    let mut out = Vec::new();
    for left in lefts {
        let mut found = false;
        for right in rights {
            let pair: Row = join
                .columns
                .iter()
                .filter_map(|column| match &column.of {
                    JoinColumnOf::Side(Side::Left, own) => Some((column.name.clone(), left[own].clone())),
                    JoinColumnOf::Side(Side::Right, own) => Some((column.name.clone(), right[own].clone())),
                    JoinColumnOf::Window(_) => None,
                })
                .collect();
            let equal = join.keys.iter().all(|key| {
                let (left, right) = (eval(&key.left, left), eval(&key.right, right));
                matches!((left, right), (Ok(left), Ok(right)) if left == right && left != Value::Null)
            });
            if !equal {
                continue;
            }
            match join.condition.as_ref().map_or(Ok(Value::Bool(true)), |condition| eval(condition, &pair)) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => continue,
                Err(Failed) => {
                    *failures += 1;
                    continue;
                }
            }
            found = true;
            if join.kind.pairs() {
                out.push(only(&pair, output));
            }
        }
        if found && !join.kind.pairs() {
            out.push(only(left, output));
        }
    }
    out
}

/// Among equal times the first arrival is first and the last arrival last.
fn dedup(input: &[Row], keys: &[Expr], time: Option<&Expr>, keep: Keep, failures: &mut usize) -> Vec<Row> {
    let mut kept: BTreeMap<Vec<Value>, (Value, Row)> = BTreeMap::new();
    for row in input {
        let key: Result<Vec<Value>, Failed> = keys.iter().map(|key| eval(key, row)).collect();
        let time = time.map_or(Ok(Value::Null), |time| eval(time, row));
        let (Ok(key), Ok(time)) = (key, time) else {
            *failures += 1;
            continue;
        };
        let better = kept.get(&key).is_none_or(|(best, _)| match keep {
            Keep::First => time < *best,
            Keep::Last => time >= *best,
        });
        if better {
            kept.insert(key, (time, row.clone()));
        }
    }
    kept.into_values().map(|(_, row)| row).collect()
}

/// Keys, and the start of the window.
type Group = (Vec<Value>, Option<i64>);

/// Per call its arguments, or nothing where the row does not count.
type Arguments = Vec<Option<Vec<Value>>>;

fn aggregate(input: &[Row], aggregate: &AggregateOperation, failures: &mut usize) -> Vec<Row> {
    let mut groups: BTreeMap<Group, Vec<Arguments>> = BTreeMap::new();
    for row in input {
        match evaluate(row, aggregate) {
            Ok((group, args)) => groups.entry(group).or_default().push(args),
            Err(Failed) => *failures += 1,
        }
    }
    let mut out = Vec::new();
    for ((keys, start), rows) in groups {
        let window = start.map(|start| (start, start + size_of(aggregate)));
        let calls: Result<Vec<Value>, Failed> = aggregate
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| result(call, rows.iter().filter_map(|args| args[index].clone())))
            .collect();
        let row: Result<Row, Failed> = calls.and_then(|calls| {
            let scope = Scope { row: &Row::new(), keys: &keys, calls: &calls, window };
            aggregate.output.iter().map(|(name, value)| Ok((name.clone(), eval_in(value, scope)?))).collect()
        });
        match row {
            Ok(row) => out.push(row),
            Err(Failed) => *failures += 1,
        }
    }
    out
}

fn size_of(aggregate: &AggregateOperation) -> i64 {
    match &aggregate.window {
        Some(Window::Tumbling { size, .. }) => *size,
        other => panic!("the interpreter does not know {other:?}"),
    }
}

fn evaluate(row: &Row, aggregate: &AggregateOperation) -> Result<(Group, Arguments), Failed> {
    let keys = aggregate.keys.iter().map(|(_, key)| eval(key, row)).collect::<Result<Vec<_>, _>>()?;
    let start = match &aggregate.window {
        None => None,
        Some(Window::Tumbling { size, offset, time: WindowTime::Event(time) }) => match eval(time, row)? {
            Value::Timestamp(time) => Some((time - offset).div_euclid(*size) * size + offset),
            other => panic!("{other:?} is no time"),
        },
        other => panic!("the interpreter does not know {other:?}"),
    };
    let args = |call: &AggregateCall| {
        if let Some(filter) = &call.filter
            && eval(filter, row)? != Value::Bool(true)
        {
            return Ok(None);
        }
        call.args.iter().map(|arg| eval(arg, row)).collect::<Result<Vec<_>, Failed>>().map(Some)
    };
    Ok(((keys, start), aggregate.calls.iter().map(args).collect::<Result<_, _>>()?))
}

/// The value of one call over the arguments of the rows that count. Nulls do not count.
fn result(call: &AggregateCall, args: impl Iterator<Item = Vec<Value>>) -> Result<Value, Failed> {
    let mut args: Vec<Vec<Value>> = args.filter(|args| !args.contains(&Value::Null)).collect();
    if call.distinct {
        args.sort();
        args.dedup();
    }
    let first = args.into_iter().map(|args| args.into_iter().next());
    Ok(match call.function {
        "count" => Value::Int(first.count() as i128),
        "max" => first.flatten().max().unwrap_or(Value::Null),
        "min" => first.flatten().min().unwrap_or(Value::Null),
        "sum" => {
            let mut sum = None;
            for value in first.flatten() {
                let Value::Int(value) = value else { panic!("{value:?} is no number") };
                *sum.get_or_insert(0i128) += value;
            }
            match sum {
                None => Value::Null,
                Some(sum) if i64::try_from(sum).is_ok() => Value::Int(sum),
                Some(_) => return Err(Failed),
            }
        }
        other => panic!("the interpreter does not know {other}"),
    })
}
