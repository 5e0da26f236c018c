//! Options of connectors and formats, as the running job gives them to the connector.

use millstream_runtime::graph::{ConnectorOption, Expr, OptionValue, Schema, Ty};
use proc_macro2::TokenStream;
use quote::quote;

use super::context::Context;
use super::expr::{Bindings, Lowering, Value};
use super::literal;

/// `Options::new().with("path", "data/*.csv").with_block("format", "csv", Options::new().with("null", "NA"))`, and whether
/// params are used.
pub(super) fn render<'a>(
    cx: &'a Context<'a>,
    options: &'a [ConnectorOption],
    format: Option<(&'a str, &'a [ConnectorOption])>,
    schema: &'a Schema,
) -> (TokenStream, bool) {
    let origin = options.first().map_or(&*NOWHERE, |option| &option.origin);
    let mut lowering = Lowering::new(cx, origin, Bindings { stages: Some(schema), ..Bindings::default() });
    let mut tokens = block(&mut lowering, options.iter().filter(|option| format.is_none() || option.name != "format"), schema);
    if let Some((word, options)) = format {
        let inner = block(&mut lowering, options.iter(), schema);
        tokens = quote!(#tokens.with_block("format", #word, #inner));
    }
    let statements = lowering.take_statements();
    let tokens = if statements.is_empty() { tokens } else { quote!({ #statements #tokens }) };
    (tokens, lowering.uses_params)
}

static NOWHERE: std::sync::LazyLock<millstream_runtime::graph::Origin> = std::sync::LazyLock::new(Default::default);

fn block<'a>(lowering: &mut Lowering<'a>, options: impl Iterator<Item = &'a ConnectorOption>, schema: &Schema) -> TokenStream {
    let mut tokens = quote!(Options::new());
    for option in options {
        let name = &option.name;
        let call = match &option.value {
            // Only options of stages may be null: then they count as not given.
            OptionValue::Value(expr) if expr.ty.is_optional() && asks_a_stage(expr) => {
                let value = optional(lowering, expr);
                quote!(.with_some(#name, #value))
            }
            OptionValue::Value(expr) => {
                let value = value(lowering, expr);
                quote!(.with(#name, #value))
            }
            OptionValue::Word(word) => quote!(.with_word(#name, #word)),
            OptionValue::Size(bytes) => {
                let bytes = proc_macro2::Literal::u64_unsuffixed(*bytes);
                quote!(.with_size(#name, #bytes))
            }
            // The connector knows columns by their outside names.
            OptionValue::Columns(columns) => {
                let columns =
                    columns.iter().map(|column| schema.field(column).map_or(column.as_str(), |field| field.external_name()));
                quote!(.with_columns(#name, &[#(#columns),*]))
            }
            OptionValue::Block(word, options) => {
                let inner = block(lowering, options.iter(), schema);
                quote!(.with_block(#name, #word, #inner))
            }
        };
        tokens.extend(call);
    }
    tokens
}

/// A value in one of the forms that options take. A null is an error of the running job.
fn value<'a>(lowering: &mut Lowering<'a>, expr: &'a Expr) -> TokenStream {
    if let millstream_runtime::graph::ExprKind::Literal(known) = &expr.kind
        && let Some(tokens) = plain_literal(known)
    {
        return tokens;
    }
    let mut lowered: Value = lowering.lower_borrowed(expr);
    let required = expr.ty.required();
    if expr.ty.is_optional() {
        lowered = lowering.required(lowered, &expr.ty);
    }
    let (tokens, operand) = (&lowered.tokens, lowered.operand());
    match required {
        Ty::Timestamp | Ty::Duration | Ty::Time => quote!(#operand.0),
        Ty::Int64 | Ty::Int32 | Ty::UInt32 | Ty::Bool | Ty::Float64 | Ty::String => tokens.clone(),
        Ty::Int8 | Ty::Int16 | Ty::UInt8 | Ty::UInt16 => quote!(i64::from(#tokens)),
        Ty::Float32 => quote!(f64::from(#tokens)),
        Ty::UInt64 => {
            let reference = quote!(&#operand);
            lowering.fallible_at(quote!(cast::cast::<i64, _>(#reference)), &expr.origin)
        }
        _ => {
            let reference = if required.is_copy() { quote!(&#operand) } else { tokens.clone() };
            let text = lowering.fallible_at(quote!(cast::cast::<Str, _>(#reference)), &expr.origin);
            quote!(#text.as_str())
        }
    }
}

fn asks_a_stage(expr: &Expr) -> bool {
    let mut asks = false;
    expr.walk(&mut |expr| asks |= matches!(expr.kind, millstream_runtime::graph::ExprKind::StageEnd(..)));
    asks
}

/// A value that may be null, in one of the forms that options take.
fn optional<'a>(lowering: &mut Lowering<'a>, expr: &'a Expr) -> TokenStream {
    let value = lowering.lower_owned(expr);
    let operand = value.operand();
    match expr.ty.required() {
        Ty::Timestamp | Ty::Duration | Ty::Time => quote!(#operand.map(|value| value.0)),
        _ => value.tokens,
    }
}

/// Literals as somebody would write them by hand.
fn plain_literal(known: &millstream_runtime::graph::Literal) -> Option<TokenStream> {
    use millstream_runtime::graph::Literal;
    Some(match known {
        Literal::String(text) => quote!(#text),
        Literal::Bool(value) => quote!(#value),
        Literal::Int(value) => literal::tokens(&Literal::Int(*value), &Ty::Int64),
        Literal::Float(value) => literal::tokens(&Literal::Float(*value), &Ty::Float64),
        Literal::Timestamp(micros) | Literal::Duration(micros) | Literal::Time(micros) => {
            literal::tokens(&Literal::Int(i128::from(*micros)), &Ty::Int64)
        }
        _ => return None,
    })
}
