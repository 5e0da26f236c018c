//! Sinks: the connector with its options.

use millstream_runtime::connectors;
use millstream_runtime::graph::SinkOperation;
use proc_macro2::TokenStream;
use quote::quote;

use super::Stage;
use super::source::{connector_type, format_type, turbofish};
use crate::codegen::options;

/// A statement before the sink, the sink as a value, and paths to import.
pub(in crate::codegen) fn sink<'a>(stage: &Stage<'a>, sink: &'a SinkOperation) -> (TokenStream, TokenStream, Vec<String>) {
    if let Some(own) = stage.cx.own_connector(&sink.connector) {
        let row = stage.cx.row(stage.input.schema);
        let format = sink.format.as_deref().map(|format| (format, &sink.format_options[..]));
        let (options, _) = options::render(stage.cx, &sink.options, format, stage.input.schema);
        let (format, uses) = format_type(sink.format.as_deref());
        let plain = !stage.input.table && stage.cx.takes_plain_rows(&sink.connector);
        let value = match (plain, stage.input.table) {
            (true, _) => quote!(own_sink::<#own, #row, #format>(&options)?),
            (false, table) => {
                let key = key(stage, sink);
                let make = if table { quote!(own_table_sink) } else { quote!(own_stream_sink) };
                quote!(#make::<#own, #row, #format>(&options, #key)?)
            }
        };
        return (quote!(let options = #options;), value, uses);
    }
    let spec = connectors::find(&sink.connector).and_then(|connector| connector.sink.as_ref());
    let row = stage.input.rust(stage.cx);
    let rust = spec.map_or("millstream::connectors::UnknownSink", |spec| spec.rust);
    let (ty, uses) = connector_type(rust, &row, sink.format.as_deref());
    if sink.connector == connectors::channel::NAME {
        let (sink, uid) = (turbofish(&ty), &stage.vertex.uid);
        return (TokenStream::new(), quote!(#sink::connect(cx.params(), #uid)?), uses);
    }
    let format = sink.format.as_deref().map(|format| (format, &sink.format_options[..]));
    let (options, _) = options::render(stage.cx, &sink.options, format, stage.input.schema);
    let sink = turbofish(&ty);
    let statement = quote!(let options = #options;);
    (statement, quote!(#sink::from_options(&options)?), uses)
}

/// The columns of the sink's key, or of the table's, by their outside names.
fn key(stage: &Stage<'_>, sink: &SinkOperation) -> TokenStream {
    let given = (!sink.key.is_empty()).then_some(&sink.key[..]);
    let Some(columns) = given.or(stage.input.key.filter(|_| stage.input.table)) else { return quote!(None) };
    let schema = stage.input.schema;
    let columns = columns.iter().map(|column| schema.field(column).map_or(column.as_str(), |field| field.external_name()));
    quote!(Some(&[#(#columns),*]))
}
