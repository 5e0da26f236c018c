//! `source flights: Flight from file { .. } watermark .. on error ..`

use std::collections::BTreeSet;

use millstream_runtime::connectors::{self as catalog, SourceSpec};
use millstream_runtime::graph::errors::error_stream;
use millstream_runtime::graph::{
    Changelog, ErrorPolicy, Operation, OptionValue, Port, Schema, SourceOperation, StreamType, TimeColumn, Ty,
};

use super::formats;
use super::options::{self, Owner};
use crate::hir::attributes::Attributes;
use crate::hir::context::Context;
use crate::hir::errors::connectors;
use crate::hir::flow::Flow;
use crate::hir::lower::{Lowering, NewNode, Place};
use crate::hir::stages;
use crate::source::Span;
use crate::syntax::ast::{self, OnError, TypeKind};

/// Lowers a source to its node; what it gives is known even where its connector is wrong.
pub fn lower<'a>(lowering: &mut Lowering<'a>, source: &'a ast::Source, attributes: Attributes, span: Span) -> Flow {
    let cx = &mut lowering.cx;
    let schema = match cx.ty(&source.ty) {
        Ty::Record(schema) => Some(schema),
        Ty::Error => None,
        other => {
            cx.report(connectors::source_needs_record(source.ty.span, &other));
            None
        }
    };
    let mut flow = Flow {
        port: Port::Main,
        not_null: BTreeSet::new(),
        unknown: schema.is_none(),
        ty: StreamType { schema: schema.clone().unwrap_or_default(), changelog: Changelog::Append, time: None },
        ..Flow::broken(&source.name.text)
    };
    let operation = operation(cx, source, schema.as_ref(), &flow);
    let watermark = operation.watermark.as_ref();
    flow.ty.time = watermark.map(|watermark| TimeColumn { column: watermark.column.clone(), offset: 0 });
    // A watermark that is wrong is still one: no message about its absence follows.
    flow.unknown |= source.watermark.is_some() && watermark.is_none();
    let place = Place { uid: source.name.text.clone(), name: source.name.text.clone(), hints: Default::default() };
    flow.node = lowering.add(NewNode {
        place: &place,
        word: "source",
        attributes,
        operation: Operation::Source(operation),
        inputs: Vec::new(),
        output: flow.ty.clone(),
        span,
    });
    if let Some((OnError::Into(name), _)) = &source.on_error {
        let errors =
            Flow { node: flow.node, port: Port::Error, ty: error_stream().clone(), unknown: false, ..Flow::broken(&name.text) };
        lowering.define_late(name, errors);
    }
    flow
}

fn operation<'a>(cx: &mut Context<'a>, source: &'a ast::Source, schema: Option<&Schema>, flow: &Flow) -> SourceOperation {
    let connector = &source.connector;
    let name = &connector.name;
    let watermark = source.watermark.as_ref().and_then(|expr| stages::watermark(cx, expr, flow));
    let on_error = match source.on_error {
        Some((OnError::Skip, _)) => ErrorPolicy::Skip,
        Some((OnError::Into(_), _)) => ErrorPolicy::Into,
        _ => ErrorPolicy::Fail,
    };
    let mut operation = SourceOperation {
        connector: name.text.clone(),
        options: Vec::new(),
        format: None,
        format_options: Vec::new(),
        watermark,
        on_error,
    };
    if let Some(key) = source.key.first() {
        cx.report(connectors::takes_no_key(&name.text, key.span));
    }
    let Some(spec) = catalog::find(&name.text) else {
        if !name.text.is_empty() {
            let known: Vec<&str> = catalog::CONNECTORS.iter().map(|spec| spec.name).collect();
            cx.report(connectors::unknown_connector(name, &known));
        }
        return operation;
    };
    let Some(spec) = &spec.source else {
        let known: Vec<&str> = catalog::CONNECTORS.iter().filter(|spec| spec.source.is_some()).map(|spec| spec.name).collect();
        cx.report(connectors::wrong_side(name, true, &known));
        return operation;
    };
    let columns = schema.map(|schema| schema.fields.iter().map(|field| field.name.as_str()).collect());
    let beside: &[&str] = if spec.formats.is_empty() { &[] } else { &["format"] };
    let owner = Owner { name: &name.text, span: name.span, specs: spec.options, columns, beside };
    operation.options = options::lower(cx, &owner, &connector.options);
    if !spec.formats.is_empty() {
        (operation.format, operation.format_options) = formats::lower(cx, connector, spec.formats, schema, true);
    }
    if let Some(schema) = schema {
        fixed_columns(cx, source, spec, &operation, schema);
    }
    operation
}

/// A connector with columns of its own: the record may name any of them, with their types.
fn fixed_columns<'a>(
    cx: &mut Context<'a>,
    source: &'a ast::Source,
    spec: &SourceSpec,
    operation: &SourceOperation,
    schema: &Schema,
) {
    let Some(columns) = spec.columns else { return };
    let words: Vec<(&str, &str)> = operation
        .options
        .iter()
        .filter_map(|option| match &option.value {
            OptionValue::Word(word) => Some((option.name.as_str(), word.as_str())),
            _ => None,
        })
        .collect();
    let Some(has) = columns(&words) else { return };
    let written = written_columns(cx, &source.ty);
    same_columns(cx, &operation.connector, &has, schema, (written, source.ty.span), "");
}

/// Every column of the record, and of records in it, is one of the connector's.
fn same_columns<'a>(
    cx: &mut Context<'a>,
    connector: &str,
    has: &Schema,
    wanted: &Schema,
    (written, at): (&'a [ast::Column], Span),
    path: &str,
) {
    let known: Vec<&str> = has.fields.iter().map(|field| field.name.as_str()).collect();
    for field in &wanted.fields {
        let column = written.iter().find(|column| column.name.text == field.name);
        let span = column.map_or(at, |column| column.name.span);
        let name = format!("{path}{}", field.name);
        match has.field(&field.name).map(|own| &own.ty) {
            None => cx.report(connectors::no_such_column(connector, &name, span, &known)),
            Some(own) => match (own.required(), field.ty.required()) {
                (Ty::Record(has), Ty::Record(wanted)) if field.ty.is_optional() || !own.is_optional() => {
                    let inner = column.map_or(&[][..], |column| written_columns(cx, &column.ty));
                    same_columns(cx, connector, has, wanted, (inner, span), &format!("{name}."));
                }
                _ if provides(own, &field.ty) => {}
                _ => cx.report(connectors::column_type(connector, &name, span, own, &field.ty)),
            },
        }
    }
}

/// Whether a value of the connector's type is one of the record's.
fn provides(own: &Ty, wanted: &Ty) -> bool {
    match wanted {
        Ty::Error => true,
        Ty::Optional(wanted) => provides(own.required(), wanted),
        wanted => own == wanted,
    }
}

/// The columns of a record where they are written.
fn written_columns<'a>(cx: &Context<'a>, ty: &'a ast::Type) -> &'a [ast::Column] {
    match &ty.kind {
        TypeKind::Named { name, .. } => {
            let record = cx.items.records.iter().find(|entry| entry.node.name.text == name.text);
            record.map_or(&[], |entry| &entry.node.columns)
        }
        TypeKind::Record(columns) => columns,
        _ => &[],
    }
}
