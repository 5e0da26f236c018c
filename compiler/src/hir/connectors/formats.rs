//! `format: csv { null: "NA" }`: the format of a source or sink, and whether it can carry the rows.

use millstream_runtime::formats;
use millstream_runtime::graph::{ConnectorOption, Schema, Ty};

use super::options::{self, Owner};
use crate::hir::context::Context;
use crate::hir::errors::connectors;
use crate::source::Span;
use crate::syntax::ast::{self, Connector};

/// The format and its options; `taken` are the formats of the connector, the default first. `schema` is None after a mistake.
pub fn lower<'a>(
    cx: &mut Context<'a>,
    connector: &'a Connector,
    taken: &'static [&'static str],
    schema: Option<&Schema>,
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
    let columns = schema.map(|schema| schema.fields.iter().map(|field| field.name.as_str()).collect());
    let owner = Owner { name: spec.name, span, specs: spec.options, columns, beside: &[] };
    (Some(spec.name.to_owned()), options::lower(cx, &owner, own))
}

/// Text is one string a line; CSV has no place for nested values.
fn check_columns(cx: &mut Context<'_>, format: &str, span: Span, schema: &Schema) {
    match format {
        "text" => {
            let fits = matches!(schema.fields.as_slice(), [field] if matches!(field.ty.required(), Ty::String | Ty::Error));
            if !fits {
                let label = format!("text is one column of type string, these are {schema}");
                let help = "select one string: `| select { line: f\"..\" }`, or use another format";
                cx.report(connectors::format_columns(format, span, label, help));
            }
        }
        "csv" => {
            let nested =
                schema.fields.iter().find(|field| matches!(field.ty.required(), Ty::List(_) | Ty::Map(..) | Ty::Record(_)));
            if let Some(field) = nested {
                let label = format!("`{}` is {}, and a field of CSV is a single value", field.name, field.ty);
                cx.report(connectors::format_columns(format, span, label, "select single values, or use the format `json`"));
            }
        }
        _ => {}
    }
}
