//! `source flights: Flight from file { .. } watermark .. on error ..`

use std::collections::BTreeSet;

use millstream_runtime::connectors::{self as catalog, SourceSpec};
use millstream_runtime::graph::errors::error_stream;
use millstream_runtime::graph::{
    Changelog, ConnectorOption, ErrorPolicy, Expr, Operation, OptionValue, Port, Schema, SourceOperation, StreamType, TimeColumn,
    Ty, WatermarkOperation,
};

use super::options::{self, Owner};
use super::{formats, hybrid, timing};
use crate::hir::attributes::Attributes;
use crate::hir::context::Context;
use crate::hir::errors::connectors;
use crate::hir::flow::Flow;
use crate::hir::lower::{Lowering, NewNode, Place};
use crate::hir::stages;
use crate::source::Span;
use crate::syntax::ast::{self, OnError, TypeKind};

/// The columns of rows of this type; None: it is no record, which has been reported.
pub fn record<'a>(cx: &mut Context<'a>, ty: &'a ast::Type) -> Option<Schema> {
    match cx.ty(ty) {
        Ty::Record(schema) => Some(schema),
        Ty::Error => None,
        other => {
            cx.report(connectors::source_needs_record(ty.span, &other));
            None
        }
    }
}

/// Lowers a source to its node; what it gives is known even where its connector is wrong.
pub fn lower<'a>(lowering: &mut Lowering<'a>, source: &'a ast::Source, attributes: Attributes, item: &ast::Item) -> Flow {
    let span = item.span;
    let cx = &mut lowering.cx;
    let schema = record(cx, &source.ty);
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
    flow.unknown |= watermark.is_none() && (source.watermark.is_some() || item.partial);
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
    let watermark = match &source.watermark {
        Some(expr) => stages::watermark(cx, expr, flow),
        None => of_record(cx, schema),
    };
    let timed = source.watermark.is_some() || watermark.is_some();
    let on_error = match source.on_error {
        Some((OnError::Skip, _)) => ErrorPolicy::Skip,
        Some((OnError::Into(_), _)) => ErrorPolicy::Into,
        _ => ErrorPolicy::Fail,
    };
    let time = watermark.as_ref().map(|watermark| watermark.column.as_str());
    let rows = Rows { ty: &source.ty, schema, time, watermark: timed };
    if let Some(key) = source.key.first() {
        cx.report(connectors::takes_no_key(&name.text, key.span, None));
    }
    let (read, stages) = match &connector.stages {
        Some(stages) => (Read::default(), hybrid::lower(cx, connector, stages, &rows)),
        None => (read(cx, connector, &rows), Vec::new()),
    };
    let (idle_after, align) = timing::lower(cx, source, timed);
    SourceOperation {
        connector: name.text.clone(),
        options: read.options,
        format: read.format,
        format_options: read.format_options,
        range: read.range,
        stages,
        watermark,
        idle_after,
        align,
        on_error,
    }
}

/// A record from Rust with `#[flow(event_time)]`: its rows come in the order of that column.
fn of_record(cx: &Context<'_>, schema: Option<&Schema>) -> Option<WatermarkOperation> {
    let schema = schema?;
    let column = cx.event_times.get(schema.name.as_deref()?)?;
    let ty = schema.field(column).map(|field| field.ty.clone()).filter(|ty| *ty == Ty::Timestamp)?;
    let watermark = Expr::column(*column, ty);
    Some(WatermarkOperation { column: (*column).to_owned(), watermark })
}

/// What is known of the rows of a source.
pub struct Rows<'r, 'a> {
    pub ty: &'a ast::Type,
    /// None after a mistake.
    pub schema: Option<&'r Schema>,
    /// The column of its event time.
    pub time: Option<&'r str>,
    /// Whether there is a watermark, right or wrong.
    pub watermark: bool,
}

/// A connector that is read from, checked.
#[derive(Default)]
pub struct Read {
    pub spec: Option<&'static SourceSpec>,
    pub options: Vec<ConnectorOption>,
    pub format: Option<String>,
    pub format_options: Vec<ConnectorOption>,
    pub range: Option<String>,
}

/// Checks a connector and its options.
pub fn read<'a>(cx: &mut Context<'a>, connector: &'a ast::Connector, rows: &Rows<'_, 'a>) -> Read {
    let name = &connector.name;
    let mut read = Read::default();
    let Some(spec) = cx.connector(&name.text) else {
        if !name.text.is_empty() && !cx.items.broken.contains(name.text.as_str()) {
            cx.report(cx.unknown_connector(name, &cx.connectors_with(|_| true)));
        }
        return read;
    };
    let Some(spec) = &spec.source else {
        cx.report(connectors::wrong_side(name, true, &cx.connectors_with(|spec| spec.source.is_some())));
        return read;
    };
    read.spec = Some(spec);
    let columns = rows.schema.map(|schema| schema.fields.iter().map(|field| field.name.as_str()).collect());
    let beside: &[&str] = if spec.formats.is_empty() { &[] } else { &["format"] };
    let owner = Owner { name: &name.text, span: name.span, specs: spec.options, columns, beside };
    read.options = options::lower(cx, &owner, &connector.options);
    if !spec.formats.is_empty() {
        (read.format, read.format_options) = formats::lower(cx, connector, spec.formats, rows.schema, true);
    }
    let ranged =
        connector.options.iter().find(|option| [catalog::SINCE.name, catalog::UNTIL.name].contains(&option.name.text.as_str()));
    if let Some(option) = ranged.filter(|option| spec.options.iter().any(|spec| spec.name == option.name.text)) {
        read.range = rows.time.map(str::to_owned);
        if !rows.watermark {
            cx.report(crate::hir::errors::hybrid::no_event_time(&option.name.text, option.name.span));
        }
    }
    if let Some(schema) = rows.schema {
        fixed_columns(cx, connector, rows.ty, spec, &read, schema);
    }
    read
}

/// A connector with columns of its own: the record may name any of them, with their types.
fn fixed_columns<'a>(
    cx: &mut Context<'a>,
    connector: &ast::Connector,
    ty: &'a ast::Type,
    spec: &SourceSpec,
    read: &Read,
    schema: &Schema,
) {
    let Some(columns) = spec.columns else { return };
    let words: Vec<(&str, &str)> = read
        .options
        .iter()
        .filter_map(|option| match &option.value {
            OptionValue::Word(word) => Some((option.name.as_str(), word.as_str())),
            _ => None,
        })
        .collect();
    let Some(has) = columns(&words) else { return };
    let written = written_columns(cx, ty);
    same_columns(cx, &connector.name.text, &has, schema, (written, ty.span), "");
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
