//! `format: csv { null: "NA" }`: the format of a source or sink, and whether it can carry the rows.

use millstream_runtime::formats;
use millstream_runtime::graph::{ConnectorOption, Expr, ExprKind, Literal, OptionValue, Origin, Schema, Ty};

use super::options::{self, Owner};
use crate::hir::context::Context;
use crate::hir::errors::connectors;
use crate::source::Span;
use crate::syntax::ast::{self, Connector};

/// The format and its options; `taken` are the formats of the connector, the default first. `schema` is None after
/// a mistake.
pub fn lower<'a>(
    cx: &mut Context<'a>,
    connector: &'a Connector,
    taken: &'static [&'static str],
    schema: Option<&Schema>,
    reads: bool,
) -> (Option<String>, Vec<ConnectorOption>) {
    let given = connector.options.iter().find(|option| option.name.text == "format");
    let (name, span, own): (&str, Span, &'a [ast::ConnectorOption]) = match given.map(|option| (&option.value, option)) {
        None => match taken.first() {
            Some(default) => (default, connector.name.span, &[]),
            None => return (None, Vec::new()),
        },
        Some((ast::OptionValue::Block(name, options), _)) => (&name.text, name.span, options),
        Some((ast::OptionValue::Expr(ast::Expr { kind: ast::ExprKind::Name(name), span }), _)) => (name, *span, &[]),
        Some((ast::OptionValue::Error, _)) => return (None, Vec::new()),
        Some((ast::OptionValue::Every(expr) | ast::OptionValue::After(expr), _)) => {
            let expected = format!("one of the words {}", crate::hir::errors::listed(taken));
            cx.report(connectors::option_type(&connector.name.text, "format", expr.span, &expected, "a time"));
            return (None, Vec::new());
        }
        Some((ast::OptionValue::Expr(expr), _)) => {
            let expected = format!("one of the words {}", crate::hir::errors::listed(taken));
            cx.report(connectors::option_type(&connector.name.text, "format", expr.span, &expected, "an expression"));
            return (None, Vec::new());
        }
    };
    let spec = formats::find(name);
    let Some(spec) = spec.filter(|spec| taken.contains(&spec.name)) else {
        cx.report(connectors::bad_format(&connector.name.text, name, span, spec.is_some(), taken));
        return (None, Vec::new());
    };
    if let Some(schema) = schema {
        check_columns(cx, spec.name, span, schema);
    }
    // Columns that a format names are those of the outside data, not of the stream.
    let owner = Owner { name: spec.name, span, specs: spec.options, columns: None, beside: &[] };
    let mut options = options::lower(cx, &owner, own);
    if let (Some(schema), true) = (schema, reads) {
        columns_of_file(spec.name, &mut options, schema);
    }
    (Some(spec.name.to_owned()), options)
}

/// Text is one string a line.
fn check_columns(cx: &mut Context<'_>, format: &str, span: Span, schema: &Schema) {
    if format != "text" || matches!(schema.fields.as_slice(), [field] if matches!(field.ty.required(), Ty::String | Ty::Error)) {
        return;
    }
    let columns = schema.fields.iter().map(|field| format!("{}: {}", field.name, field.ty)).collect::<Vec<_>>().join(", ");
    let label = format!("text is one column of type string, these are {columns}");
    let help = "select one string: `| select { line: f\"..\" }`, or use another format";
    cx.report(connectors::format_columns(format, span, label, help));
}

/// Without a header, the columns of a file are those of the whole record: said here, before any of them are pruned.
fn columns_of_file(format: &str, options: &mut Vec<ConnectorOption>, schema: &Schema) {
    let value = |name: &str| options.iter().find(|option| option.name == name).map(|option| &option.value);
    let headless =
        matches!(value("header"), Some(OptionValue::Value(Expr { kind: ExprKind::Literal(Literal::Bool(false)), .. })));
    if format == "csv" && headless && value("columns").is_none() {
        let columns = schema.fields.iter().map(|field| field.external_name().to_owned()).collect();
        let origin = Origin::default();
        options.push(ConnectorOption { name: "columns".to_owned(), value: OptionValue::Columns(columns), origin });
    }
}
