//! `sink delays | final into file { .. }`

use millstream_runtime::graph::{Changelog, Operation, Port, SinkOperation, StreamType, Ty};

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
            cx.report(connectors::unknown_connector(name, &cx.connectors_with(|_| true)));
        }
        return;
    };
    let Some(side) = &spec.sink else {
        cx.report(connectors::wrong_side(name, false, &cx.connectors_with(|spec| spec.sink.is_some())));
        return;
    };
    of_record(cx, sink, &input);
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
        cx.report(tables::table_into_append_sink(&stream.text, &name.text, stream.span, input.table_cause.clone()));
    }
    if let Some(key) = sink.key.first() {
        match (side.accepts_tables, &columns) {
            (false, _) => cx.report(connectors::takes_no_key(&name.text, key.span)),
            (true, Some(columns)) => {
                for key in sink.key.iter().filter(|key| !columns.contains(&key.text.as_str())) {
                    cx.report(connectors::unknown_column("key", &key.text, key.span, columns));
                }
            }
            (true, None) => {}
        }
    }
    let input = match &columns {
        Some(_) if side.accepts_tables && input.is_table() && !input.unknown => {
            under_key(lowering, place, sink, input.clone(), span)
        }
        _ => input,
    };
    let operation = SinkOperation { connector: name.text.clone(), options, format, format_options };
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

/// The stream of a sink of `#[derive(Sink)]` has the columns of the record, and no others.
fn of_record(cx: &mut Context<'_>, sink: &ast::Sink, input: &Flow) {
    let at = sink.connector.name.span;
    let mut bindings = cx.rust.iter().flat_map(|file| &file.bindings);
    let Some(binding) = bindings.find(|binding| binding.at.file == at.file && binding.at.start == at.start) else { return };
    let Some(Ty::Record(record)) = cx.records.get(binding.record.as_str()).filter(|_| !input.unknown) else { return };
    let missing = record.fields.iter().find_map(|field| match input.ty.schema.field(&field.name) {
        None => Some(format!("there is no column `{}: {}`", field.name, field.ty)),
        Some(own) if own.ty != field.ty => Some(format!("`{}` is {}, not {}", field.name, own.ty, field.ty)),
        Some(_) => None,
    });
    let more = input.fields().iter().find(|own| record.field(&own.name).is_none());
    if let Some(reason) = missing.or_else(|| more.map(|more| format!("the record has no field `{}`", more.name))) {
        let stream = &sink.pipeline.input.text;
        let diagnostic = crate::rust::sink_lacks(at, stream, &binding.record, &reason);
        cx.report(diagnostic);
    }
}

/// The table under the sink's key. Where it has another key, several of its rows may stand for one of the sink's: then the
/// last to come is shown, and when it goes, the one before it.
fn under_key<'a>(lowering: &mut Lowering<'a>, place: &Place, sink: &'a ast::Sink, input: Flow, span: Span) -> Flow {
    let key: Vec<String> = sink.key.iter().map(|key| key.text.clone()).collect();
    let Changelog::Table { key: own } = &input.ty.changelog else { return input };
    let same = own.as_ref().is_some_and(|own| own.len() == key.len() && own.iter().all(|column| key.contains(column)));
    if key.is_empty() || same || key.iter().any(|key| input.ty.schema.field(key).is_none()) {
        return input;
    }
    for name in &sink.key {
        if let Some(field) = input.ty.schema.field(&name.text).filter(|field| !field.ty.is_ordered()) {
            lowering.cx.report(tables::not_a_key(&format!("the key `{}`", name.text), name.span, &field.ty));
        }
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
