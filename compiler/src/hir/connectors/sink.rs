//! `sink delays | final into file { .. }`

use millstream_runtime::graph::{Changelog, Expr, Operation, Port, SinkOperation, StreamType, Ty};

use super::formats;
use super::options::{self, Owner};
use crate::hir::attributes::Attributes;
use crate::hir::context::Context;
use crate::hir::errors::{connectors, tables};
use crate::hir::flow::Flow;
use crate::hir::lower::{Lowering, NewNode, Place};
use crate::source::Span;
use crate::syntax::ast;

/// Lowers the end of a sink's pipeline.
pub fn lower<'a>(
    lowering: &mut Lowering<'a>,
    place: &Place,
    sink: &'a ast::Sink,
    input: Flow,
    attributes: Attributes,
    span: Span,
) {
    let cx = &mut lowering.cx;
    let connector = &sink.connector;
    let name = &connector.name;
    if connector.stages.is_some() {
        cx.report(crate::hir::errors::hybrid::only_sources(name.span));
        return;
    }
    let Some(spec) = cx.connector(&name.text) else {
        if !name.text.is_empty() && !cx.items.broken.contains(name.text.as_str()) {
            cx.report(cx.unknown_connector(name, &cx.connectors_with(|_| true)));
        }
        return;
    };
    let Some(side) = &spec.sink else {
        cx.report(connectors::wrong_side(name, false, &cx.connectors_with(|spec| spec.sink.is_some())));
        return;
    };
    let of_record = record_of(cx, sink);
    if let Some(record) = of_record {
        has_columns_of(cx, sink, record, &input);
    }
    let key: &[ast::Name] = match of_record.and_then(|record| cx.record_keys.get(record)) {
        // What the sink itself says goes before what its record says, which is also for tables that rows are looked up in.
        Some(own) if sink.key.is_empty() && side.accepts_tables => own,
        _ => &sink.key,
    };
    let columns = (!input.unknown).then(|| input.columns());
    let beside: &[&str] = if side.formats.is_empty() { &[] } else { &["format"] };
    let owner = Owner { name: &name.text, span: name.span, specs: side.options, columns: columns.clone(), beside };
    let options = options::lower(cx, &owner, &connector.options);
    let (format, format_options) = match side.formats.is_empty() {
        true => (None, Vec::new()),
        false => formats::lower(cx, connector, side.formats, (!input.unknown).then_some(&input.ty.schema), false),
    };
    if input.is_table() && !side.accepts_tables {
        let stream = &sink.pipeline.input;
        let of = own_struct(cx, &name.text);
        cx.report(tables::table_into_append_sink(&stream.text, &name.text, stream.span, input.table_cause.clone(), of));
    }
    if side.needs_key && key.is_empty() && !input.unknown && !matches!(&input.ty.changelog, Changelog::Table { key: Some(_) }) {
        let stream = &sink.pipeline.input;
        cx.report(connectors::needs_key(&name.text, name.span, &stream.text, input.is_table()));
    }
    if let Some(first) = key.first() {
        match (side.accepts_tables, &columns) {
            (false, _) => {
                let of = own_struct(cx, &name.text);
                cx.report(connectors::takes_no_key(&name.text, first.span, of));
            }
            (true, Some(columns)) => {
                for key in key {
                    if !columns.contains(&key.text.as_str()) {
                        cx.report(connectors::unknown_column("key", &key.text, key.span, columns));
                    }
                    // Rows go to writers by it, those of a stream, too.
                    if let Some(field) = input.ty.schema.field(&key.text).filter(|field| !field.ty.is_ordered()) {
                        cx.report(tables::not_a_key(&format!("the key `{}`", key.text), key.span, &field.ty));
                    }
                }
            }
            (true, None) => {}
        }
    }
    let input = match &columns {
        Some(_) if side.accepts_tables && input.is_table() && !input.unknown => {
            under_key(lowering, place, key, input.clone(), span)
        }
        Some(_) if side.accepts_tables && !input.unknown && !key.is_empty() => {
            to_one_writer(lowering, place, key, input.clone(), span)
        }
        _ => input,
    };
    let key = key.iter().map(|key| key.text.clone()).collect();
    let operation = SinkOperation { connector: name.text.clone(), key, options, format, format_options };
    lowering.add(NewNode {
        place,
        word: spec.name,
        attributes,
        operation: Operation::Sink(operation),
        inputs: vec![(input.node, input.port)],
        output: input.ty,
        span,
    });
}

/// The record of a sink of `#[derive(Sink)]`.
fn record_of<'a>(cx: &Context<'a>, sink: &ast::Sink) -> Option<&'a str> {
    let at = sink.connector.name.span;
    let mut bindings = cx.rust.iter().flat_map(|file| &file.bindings);
    let binding = bindings.find(|binding| binding.at.file == at.file && binding.at.start == at.start)?;
    Some(&binding.record)
}

/// Its stream has the columns of the record, and no others.
fn has_columns_of(cx: &mut Context<'_>, sink: &ast::Sink, name: &str, input: &Flow) {
    let Some(Ty::Record(record)) = cx.records.get(name).filter(|_| !input.unknown) else { return };
    let missing = record.fields.iter().find_map(|field| match input.ty.schema.field(&field.name) {
        None => Some(format!("there is no column `{}: {}`", field.name, field.ty)),
        Some(own) if own.ty != field.ty => Some(format!("`{}` is {}, not {}", field.name, own.ty, field.ty)),
        Some(_) => None,
    });
    let more = input.fields().iter().find(|own| record.field(&own.name).is_none());
    if let Some(reason) = missing.or_else(|| more.map(|more| format!("the record has no field `{}`", more.name))) {
        let stream = &sink.pipeline.input.text;
        let diagnostic = crate::rust::sink_lacks(sink.connector.name.span, stream, name, &reason);
        cx.report(diagnostic);
    }
}

/// The struct of a connector that a Rust file defines.
fn own_struct<'a>(cx: &Context<'a>, connector: &str) -> Option<&'a str> {
    let mut connectors = cx.rust.iter().flat_map(|file| &file.connectors);
    connectors.find(|own| own.name.text == connector).map(|own| own.item.text.as_str())
}

/// A stream whose rows of one key come to the same writer, one after the other.
fn to_one_writer<'a>(lowering: &mut Lowering<'a>, place: &Place, key: &'a [ast::Name], input: Flow, span: Span) -> Flow {
    let field =
        |key: &ast::Name| input.ty.schema.field(&key.text).map(|field| Expr::column(field.name.clone(), field.ty.clone()));
    let Some(keys) = key.iter().map(field).collect::<Option<Vec<_>>>() else { return input };
    let node = lowering.add(NewNode {
        place,
        word: "key_by",
        attributes: Attributes::default(),
        operation: Operation::PartitionBy(keys),
        inputs: vec![(input.node, input.port)],
        output: input.ty.clone(),
        span,
    });
    Flow { node, port: Port::Main, ..input }
}

/// The table under the sink's key. Where it has another key, several of its rows may stand for one of the sink's: then the
/// last to come is shown, and when it goes, the one before it.
fn under_key<'a>(lowering: &mut Lowering<'a>, place: &Place, names: &'a [ast::Name], input: Flow, span: Span) -> Flow {
    let key: Vec<String> = names.iter().map(|key| key.text.clone()).collect();
    let Changelog::Table { key: own } = &input.ty.changelog else { return input };
    let same = own.as_ref().is_some_and(|own| own.len() == key.len() && own.iter().all(|column| key.contains(column)));
    if key.is_empty() || same || key.iter().any(|key| input.ty.schema.field(key).is_none()) {
        return input;
    }
    let output = StreamType { changelog: Changelog::Table { key: Some(key.clone()) }, ..input.ty.clone() };
    let node = lowering.add(NewNode {
        place,
        word: "key_by",
        attributes: Attributes::default(),
        operation: Operation::KeyBy(key),
        inputs: vec![(input.node, input.port)],
        output: output.clone(),
        span,
    });
    Flow { node, port: Port::Main, ty: output, ..input }
}
