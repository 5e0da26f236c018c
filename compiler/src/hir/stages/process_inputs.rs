//! The streams that an operator in a Rust file takes: `with blocks by card with broadcast limits`.
//!
//! Each is projected to what the operator takes of it. Two streams by key, and nothing else, are told apart by the side that they come in on.
//! More become one before the operator: rows with a column for the record of each stream, of which all but one are null, and with columns for
//! the key and the event time. The same happens to several that come to every subtask.

use millstream_runtime::graph::{
    Changelog, EnumInput, EnumVariant, Expr, ExprKind, Field, KeyedInput, Literal, Operation, Port, Schema, SecondInput,
    StreamType, TimeColumn, Ty,
};

use super::At;
use super::dedup::group_key;
use super::process::{columns, project};
use crate::hir::NodeId;
use crate::hir::attributes::Attributes;
use crate::hir::flow::Flow;
use crate::hir::lower::NewNode;
use crate::hir::rust::{Inputs, Operator};
use crate::hir::types::casts::adapt;
use crate::rust;
use crate::syntax::ast::{self, Name, WithInput};

/// What comes into the operator.
pub struct Taken {
    /// The first input, and what is known of its rows.
    pub rows: Flow,
    pub keys: Vec<Expr>,
    pub time: Option<Expr>,
    pub input: Ty,
    pub of: Option<EnumInput>,
    pub second: Option<SecondInput>,
    pub inputs: Vec<(NodeId, Port)>,
}

/// The clauses, in the order of the records: those by key, then those that come to every subtask.
type With<'a> = (Vec<&'a WithInput>, Vec<&'a WithInput>);

/// Gives each `with` its place. Err: reported.
pub fn matched<'a>(
    at: &mut At<'_, '_, 'a>,
    process: &'a ast::Process,
    found: &Operator<'a>,
    keys: &[Expr],
) -> Result<With<'a>, ()> {
    let (keyed, broadcast) = (found.keyed.rows.len() - 1, found.broadcast.rows.len());
    let (to_all, by_key): (Vec<&WithInput>, Vec<&WithInput>) = process.with.iter().partition(|with| with.broadcast);
    let name = &process.name;
    if let Some(extra) = by_key.get(keyed) {
        at.report(match to_all.len() < broadcast {
            true => rust::second_to_all(extra.span, &name.text, &extra.stream.text),
            false => rust::no_second(extra.span, &name.text, 1 + keyed + broadcast),
        });
        return Err(());
    }
    if let Some(extra) = to_all.get(broadcast) {
        at.report(match by_key.len() < keyed {
            true => {
                let types: Vec<String> = keys.iter().map(|key| key.ty.to_string()).collect();
                rust::second_by_key(extra.span, &name.text, &extra.stream.text, &types)
            }
            false => rust::no_second(extra.span, &name.text, 1 + keyed + broadcast),
        });
        return Err(());
    }
    let missing = found.keyed.rows.get(1 + by_key.len()).map(|row| (row, false));
    let missing = missing.or_else(|| found.broadcast.rows.get(to_all.len()).map(|row| (row, true)));
    if let Some(((_, record), broadcast)) = missing {
        let record = match record {
            Ty::Record(Schema { name: Some(record), .. }) => record,
            _ => "another stream",
        };
        at.report(rust::second_missing(name, record, broadcast));
        return Err(());
    }
    if let Some(with) = to_all.iter().find(|with| !with.by.is_empty()) {
        at.report(rust::second_to_all(with.span, &name.text, &with.stream.text));
        return Err(());
    }
    Ok((by_key, to_all))
}

/// Projects all streams, and brings them together. None: reported.
pub fn lower<'a>(
    at: &mut At<'_, '_, 'a>,
    name: &'a Name,
    found: &Operator<'a>,
    (by_key, to_all): With<'a>,
    (first, keys): (Flow, Vec<Expr>),
) -> Option<Taken> {
    // Every stream by key: as the operator takes it, with the key that rows of it have.
    let key_types: Vec<Ty> = keys.iter().map(|key| key.ty.clone()).collect();
    let (_, record) = found.keyed.rows.first()?;
    let mut keyed = vec![(columns(at, name, schema(record)?, &first)?, keys, first)];
    for (with, (_, record)) in by_key.iter().zip(&found.keyed.rows[1..]) {
        let rows = stream(at, name, with)?;
        let keys: Vec<Expr> = with.by.iter().map(|key| group_key(at, key, &rows)).collect();
        let count = keys.len();
        // Equal keys meet only where they are of one type.
        let fitted = keys.into_iter().zip(&key_types).map(|(key, ty)| adapt(key, ty).ok().filter(|key| key.ty == *ty));
        let Some(keys) = fitted.collect::<Option<Vec<Expr>>>().filter(|_| count == key_types.len()) else {
            let types: Vec<String> = key_types.iter().map(ToString::to_string).collect();
            at.report(rust::second_by_key(with.span, &name.text, &with.stream.text, &types));
            return None;
        };
        keyed.push((columns(at, &named(name, with), schema(record)?, &rows)?, keys, rows));
    }
    let mut broadcast = Vec::new();
    for (with, (_, record)) in to_all.iter().zip(&found.broadcast.rows) {
        let rows = stream(at, name, with)?;
        broadcast.push((columns(at, &named(name, with), schema(record)?, &rows)?, Vec::new(), rows));
    }
    let mut taken_second = None;
    if keyed.len() == 2 && broadcast.is_empty() {
        let (columns, keys, rows) = keyed.remove(1);
        let (rows, keys, time) = project(at, columns, keys, rows);
        let (path, variants) = (found.keyed.of_enum.clone()?, [0, 1].map(|index| found.keyed.rows[index].0.clone()));
        let side = Some(KeyedInput { keys, time, path, variants });
        let input = found.keyed.rows[1].1.clone();
        taken_second = Some(((rows.node, rows.port), SecondInput { input, of: None, keyed: side }));
    } else if let Some((_, first)) = found.broadcast.rows.first() {
        let (rows, of) = match broadcast.len() {
            1 => {
                let (columns, keys, rows) = broadcast.remove(0);
                (project(at, columns, keys, rows).0, None)
            }
            _ => {
                let (rows, of) = together(at, &found.broadcast, broadcast, &[]);
                (rows, Some(of))
            }
        };
        taken_second = Some(((rows.node, rows.port), SecondInput { input: first.clone(), of, keyed: None }));
    }
    let (rows, keys, time, of) = if keyed.len() == 1 {
        let (columns, keys, rows) = keyed.remove(0);
        let (rows, keys, time) = project(at, columns, keys, rows);
        (rows, keys, time, None)
    } else {
        let (rows, of) = together(at, &found.keyed, keyed, &key_types);
        let column = |name: &str| rows.ty.schema.field(name).map(|field| Expr::column(name, field.ty.clone()));
        let keys = (0..key_types.len()).filter_map(|number| column(&by(number))).collect();
        let time = column(TIME);
        (rows, keys, time, Some(of))
    };
    let mut inputs = vec![(rows.node, rows.port)];
    let second = taken_second.map(|(end, second)| {
        inputs.push(end);
        second
    });
    Some(Taken { rows, keys, time, input: record.clone(), of, second, inputs })
}

fn schema(record: &Ty) -> Option<&Schema> {
    match record {
        Ty::Record(schema) => Some(schema),
        _ => None,
    }
}

/// The operator, at the place of a stream that it is given.
fn named(name: &Name, with: &WithInput) -> Name {
    Name { text: name.text.clone(), span: with.stream.span }
}

/// The stream of a `with`. None: reported.
fn stream(at: &mut At<'_, '_, '_>, name: &Name, with: &WithInput) -> Option<Flow> {
    let rows = at.lowering.named(&with.stream);
    if rows.unknown {
        return None;
    }
    if rows.is_table() {
        at.report(rust::over_table(with.stream.span, &name.text));
        return None;
    }
    Some(rows)
}

/// The column of event time, where streams have been brought together. No field in Rust has such a name.
const TIME: &str = "event time";

/// That of a key.
fn by(number: usize) -> String {
    format!("by {number}")
}

/// That of the rows of a stream.
fn of(number: usize) -> String {
    format!("input {number}")
}

/// Streams as one.
fn together(
    at: &mut At<'_, '_, '_>,
    inputs: &Inputs,
    streams: Vec<(Vec<(String, Expr)>, Vec<Expr>, Flow)>,
    keys: &[Ty],
) -> (Flow, EnumInput) {
    let variants = inputs.rows.iter().enumerate().map(|(number, (name, record))| EnumVariant {
        name: name.clone(),
        column: of(number),
        record: record.clone(),
    });
    let made = EnumInput { path: inputs.of_enum.clone().unwrap_or_default(), variants: variants.collect() };
    let time_of = |rows: &Flow| {
        let time = rows.ty.time.as_ref()?;
        rows.column_type(&time.column).map(|ty| (Expr::column(time.column.clone(), ty), time.offset))
    };
    let offset = streams.iter().filter_map(|(.., rows)| Some(time_of(rows)?.1)).max();
    let mut fields: Vec<Field> = keys.iter().enumerate().map(|(number, ty)| Field::new(by(number), ty.clone())).collect();
    if offset.is_some() {
        fields.push(Field::new(TIME, Ty::Timestamp.optional()));
    }
    fields.extend(made.variants.iter().map(|variant| Field::new(&variant.column, variant.record.clone().optional())));
    let output = StreamType {
        schema: Schema::anonymous(fields),
        changelog: Changelog::Append,
        time: offset.map(|offset| TimeColumn { column: TIME.to_owned(), offset }),
    };
    let (mut ends, mut known) = (Vec::new(), None);
    for (index, (columns, keys, rows)) in streams.into_iter().enumerate() {
        let mut values: Vec<(String, Expr)> = keys.into_iter().enumerate().map(|(number, key)| (by(number), key)).collect();
        if offset.is_some() {
            let null = Expr::new(ExprKind::Literal(Literal::Null), Ty::Timestamp.optional());
            let time = time_of(&rows).and_then(|(time, _)| adapt(time, &Ty::Timestamp.optional()).ok());
            values.push((TIME.to_owned(), time.unwrap_or(null)));
        }
        for (number, variant) in made.variants.iter().enumerate() {
            let ty = variant.record.clone().optional();
            let null = Expr::new(ExprKind::Literal(Literal::Null), ty.clone());
            let value = match number == index {
                true => adapt(Expr::new(ExprKind::Record(columns.clone()), variant.record.clone()), &ty).unwrap_or(null),
                false => null,
            };
            values.push((variant.column.clone(), value));
        }
        let mut flow = at.add_plain("select", Operation::Project(values), rows, output.clone());
        flow.new_rows();
        flow.answers.clear();
        ends.push((flow.node, flow.port));
        known.get_or_insert(flow);
    }
    let node = at.lowering.add(NewNode {
        place: at.place,
        word: "union",
        attributes: Attributes::default(),
        operation: Operation::Union,
        inputs: ends,
        output: output.clone(),
        span: at.stage.span,
    });
    let known = known.unwrap_or_else(|| Flow::broken(""));
    (Flow { node, port: Port::Main, ty: output, ..known }, made)
}
