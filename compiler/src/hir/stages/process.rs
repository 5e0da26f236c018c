//! `process by country FraudScore { threshold: 0.9 }`: an operator in a Rust file.
//!
//! Before it stands a projection to what it takes: its columns, its keys and the event time, so that nothing else is kept.

use millstream_runtime::graph::{
    CastMode, Changelog, Expr, ExprKind, Field, Literal, Operation, Port, ProcessOperation, Schema, SideOutput, StreamType,
    TimeColumn, Ty,
};

use super::At;
use super::dedup::group_key;
use super::process_inputs as inputs;
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::{adapt, plain_column};
use crate::rust::{self, RustStruct};
use crate::syntax::ast::{self, Name, OptionValue, SideInto};

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, process: &'a ast::Process, input: Flow) -> Flow {
    let keys: Vec<Expr> = process.by.iter().map(|key| group_key(at, key, &input)).collect();
    let name = &process.name;
    let broken = |at: &mut At<'_, '_, 'a>| {
        for side in &process.sides {
            at.lowering.define_late(&side.into, Flow::broken(&side.into.text));
        }
        Flow::broken(&name.text)
    };
    let Some(found) = at.lowering.cx.rust_operators.get(name.text.as_str()).cloned() else {
        unknown(at, process);
        return broken(at);
    };
    let Some(options) = options(at, process, &found) else { return broken(at) };
    if input.is_table() {
        at.report(rust::over_table(name.span, &name.text));
        return broken(at);
    }
    if input.unknown {
        return broken(at);
    }
    let Ty::Record(gives) = &found.output else { return broken(at) };
    let Ok(with) = inputs::matched(at, process, &found, &keys) else { return broken(at) };
    let Some(taken) = inputs::lower(at, name, &found, with, (input, keys)) else { return broken(at) };
    let inputs::Taken { rows, keys, time, input, of, second, inputs } = taken;
    let sides = found.sides.iter().filter_map(|side| match &side.record {
        Ty::Record(schema) => Some(SideOutput { variant: side.variant.clone(), rows: stream(schema, side.time.as_deref()) }),
        _ => None,
    });
    let sides: Vec<SideOutput> = sides.collect();
    let output = stream(gives, found.output_time.as_deref());
    let operation = ProcessOperation {
        module: found.module,
        path: found.path.clone(),
        keys,
        stateless: found.stateless,
        options,
        defaults: found.defaults,
        unit: found.item.unit,
        input,
        of,
        second,
        output: found.output.clone(),
        sides: sides.clone(),
        time,
        timers: found.timers.clone(),
    };
    let mut flow = at.add_over("process", Operation::Process(operation), inputs, rows, output);
    flow.new_rows();
    flow.time_dropped = false;
    let mut taken: Vec<(usize, &SideInto)> = Vec::new();
    for side in &process.sides {
        let into = &side.into;
        let rows = match side_output(at, name, &sides, side, &taken) {
            Some(number) => {
                taken.push((number, side));
                let ty = sides[number].rows.clone();
                Flow { node: flow.node, port: Port::Side(number), ty, unknown: false, ..Flow::broken(&into.text) }
            }
            None => Flow::broken(&into.text),
        };
        at.lowering.define_late(into, rows);
    }
    flow
}

/// Which of its side outputs goes into a stream. None: reported.
fn side_output(
    at: &mut At<'_, '_, '_>,
    operator: &Name,
    sides: &[SideOutput],
    side: &SideInto,
    taken: &[(usize, &SideInto)],
) -> Option<usize> {
    let (operator, into) = (operator.text.as_str(), &side.into.text);
    let known: Vec<&str> = sides.iter().filter_map(|side| side.variant.as_deref()).collect();
    let number = match (&side.output, known.as_slice()) {
        _ if sides.is_empty() => Err(rust::no_side(&side.into, operator)),
        (None, []) => Ok(0),
        (Some(output), []) => Err(rust::one_side(output, operator, into)),
        (None, known) => Err(rust::which_side(side.span, operator, into, known)),
        (Some(output), known) => {
            known.iter().position(|known| *known == output.text).ok_or_else(|| rust::no_such_side(output, operator, known))
        }
    };
    let number = number.and_then(|number| match taken.iter().find(|(other, _)| *other == number) {
        Some((_, first)) => Err(rust::side_twice(side.span, sides[number].variant.as_deref(), first.span, &first.into.text)),
        None => Ok(number),
    });
    number.map_err(|diagnostic| at.report(diagnostic)).ok()
}

fn unknown(at: &mut At<'_, '_, '_>, process: &ast::Process) {
    let cx = &mut at.lowering.cx;
    let name = &process.name;
    if cx.items.broken.contains(name.text.as_str()) || name.text.is_empty() {
        return;
    }
    if let Some(diagnostic) = cx.left_out(name) {
        return cx.report(diagnostic);
    }
    let known: Vec<&str> = cx.rust_operators.keys().copied().collect();
    let plain = cx.rust.iter().flat_map(|file| &file.structs).find(|item| item.name.text == name.text);
    let diagnostic = rust::not_an_operator(name, &known, plain.map(|item| item.name.span));
    cx.report(diagnostic);
}

/// The rows that it makes. A column of event time holds what follows in order, as it does in a source.
fn stream(schema: &Schema, time: Option<&str>) -> StreamType {
    let time = time.map(|column| TimeColumn { column: column.to_owned(), offset: 0 });
    StreamType { schema: schema.clone(), changelog: Changelog::Append, time }
}

/// The fields of the struct with their values. None: reported.
fn options<'a>(
    at: &mut At<'_, '_, 'a>,
    process: &'a ast::Process,
    found: &crate::hir::rust::Operator<'a>,
) -> Option<Vec<(String, Expr)>> {
    let name = &process.name;
    let item: &'a RustStruct = found.item;
    let known: Vec<&str> = item.fields.iter().map(|(name, ..)| name.text.as_str()).collect();
    let mut values: Vec<(String, Expr)> = Vec::new();
    let mut fine = true;
    for option in &process.options {
        let Some(index) = known.iter().position(|known| *known == option.name.text) else {
            at.report(rust::no_such_option(&option.name, &name.text, &known));
            fine = false;
            continue;
        };
        let OptionValue::Expr(value) = &option.value else {
            if !matches!(option.value, OptionValue::Error) {
                at.report(rust::bad_option(option.span, "options of an operator are plain values", "write `name: value`"));
            }
            fine = false;
            continue;
        };
        if values.iter().any(|(known, _)| *known == option.name.text) {
            at.report(rust::bad_option(option.name.span, "an option is given once", "take one of them away"));
            fine = false;
            continue;
        }
        let Some((_, ty)) = found.fields.get(index) else { continue };
        let what = format!("`{}` of `{}`", option.name.text, name.text);
        let mut typer = Typer::new(&mut at.lowering.cx, Scope::Job);
        let typed = typer.expr(value);
        let typed = typer.fit(typed, ty, &what, value.span);
        fine &= typed.ty != Ty::Error;
        values.push((option.name.text.clone(), typed));
    }
    for ((field, ..), (_, ty)) in item.fields.iter().zip(&found.fields) {
        let given = values.iter().any(|(known, _)| *known == field.text);
        if !given && !found.defaults && fine {
            if ty.is_optional() {
                values.push((field.text.clone(), Expr::new(ExprKind::Literal(Literal::Null), ty.clone())));
                continue;
            }
            at.report(rust::option_missing(name.span, &name.text, &field.text, &ty.to_string(), field.span));
            fine = false;
        }
    }
    fine.then_some(values)
}

/// What the operator takes, made of the columns of the stream. None: reported.
pub(super) fn columns(at: &mut At<'_, '_, '_>, name: &Name, takes: &Schema, input: &Flow) -> Option<Vec<(String, Expr)>> {
    let mut columns = Vec::with_capacity(takes.fields.len());
    for field in &takes.fields {
        let reason = match input.column_type(&field.name) {
            None => "the stream has no such column".to_owned(),
            Some(ty) => {
                let column = Expr::column(field.name.clone(), ty.clone());
                let column = match input.ty.schema.field(&field.name) {
                    // A filter has seen to it that it is there.
                    Some(own) if own.ty.is_optional() && !ty.is_optional() => {
                        let inner = Expr::column(field.name.clone(), own.ty.clone());
                        Expr::new(ExprKind::Cast(CastMode::NotNull, Box::new(inner)), ty.clone())
                    }
                    _ => column,
                };
                match adapt(column, &field.ty) {
                    Ok(value) => {
                        columns.push((field.name.clone(), value));
                        continue;
                    }
                    Err(_) => format!("here it is {ty}"),
                }
            }
        };
        let have = input.columns();
        let ty = field.ty.to_string();
        at.report(rust::input_lacks(name.span, &name.text, &field.name, &ty, &reason, &have));
        return None;
    }
    Some(columns)
}

/// Adds the projection. Gives its rows, and where keys and event time are in them.
pub(super) fn project(
    at: &mut At<'_, '_, '_>,
    mut columns: Vec<(String, Expr)>,
    keys: Vec<Expr>,
    input: Flow,
) -> (Flow, Vec<Expr>, Option<Expr>) {
    let own = |columns: &[(String, Expr)], value: &Expr| {
        let column = plain_column(value)?;
        columns
            .iter()
            .find(|(_, known)| plain_column(known) == Some(column) && known.ty == value.ty)
            .map(|(name, _)| name.clone())
    };
    let mut named = Vec::new();
    for (number, key) in keys.into_iter().enumerate() {
        let name = own(&columns, &key).unwrap_or_else(|| {
            // A name that no field in Rust has.
            let name = format!("by {number}");
            columns.push((name.clone(), key.clone()));
            name
        });
        named.push(Expr { origin: key.origin.clone(), ..Expr::column(name, key.ty) });
    }
    let mut time = None;
    if let Some(of_input) = &input.ty.time
        && let Some(ty) = input.column_type(&of_input.column)
    {
        let value = Expr::column(of_input.column.clone(), ty.clone());
        let name = own(&columns, &value).unwrap_or_else(|| {
            columns.push(("event time".to_owned(), value));
            "event time".to_owned()
        });
        time = Some((name, ty, of_input.offset));
    }
    let fields = columns.iter().map(|(name, value)| Field::new(name.clone(), value.ty.clone())).collect();
    let output = StreamType {
        schema: Schema::anonymous(fields),
        changelog: Changelog::Append,
        time: time.as_ref().map(|(name, _, offset)| TimeColumn { column: name.clone(), offset: *offset }),
    };
    let mut flow = at.add_plain("select", Operation::Project(columns), input, output);
    flow.new_rows();
    flow.answers.clear();
    (flow, named, time.map(|(name, ty, _)| Expr::column(name, ty)))
}
