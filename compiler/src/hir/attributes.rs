//! Attributes: `@id("totals")`, `@parallelism(4)`, `@slot_group("io")`, `@no_chain`, `@ttl(1d)`, and of columns `@name`, `@unit`.

use millstream_runtime::graph::{Field, Hints, TimeUnit, Ty};

use super::context::Context;
use super::errors::names;
use crate::source::Span;
use crate::syntax::ast::{Attribute, Column, Expr, ExprKind};

const OPERATOR: &[&str] = &["id", "parallelism", "slot_group", "no_chain", "ttl"];
const COLUMN: &[&str] = &["name", "unit"];

/// What attributes of an item or of an operator say.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    pub hints: Hints,
    pub id: Option<(String, Span)>,
}

/// Attributes of a source, stream, sink or operator.
pub fn operator(cx: &mut Context<'_>, attributes: &[Attribute], place: &str) -> Attributes {
    let mut known = Attributes::default();
    for attribute in attributes {
        match (attribute.name.text.as_str(), attribute.args.as_slice()) {
            ("no_chain", []) => known.hints.no_chain = true,
            ("id", [arg]) if text(arg).is_some_and(|id| !id.is_empty()) => {
                known.id = text(arg).map(|id| (id.to_owned(), arg.span));
            }
            ("slot_group", [arg]) if text(arg).is_some_and(|name| !name.is_empty()) => {
                known.hints.slot_group = text(arg).map(str::to_owned);
            }
            ("parallelism", [Expr { kind: ExprKind::Int(count @ 1..=32_768), .. }]) => {
                known.hints.parallelism = Some(*count as u32);
            }
            ("ttl", args) if ttl(args).is_some() => known.hints.ttl = ttl(args),
            (name, _) => {
                let usage = match name {
                    "no_chain" => "`@no_chain`",
                    "id" => "`@id(\"name\")`",
                    "slot_group" => "`@slot_group(\"name\")`",
                    "parallelism" => "`@parallelism(4)`, 1 to 32768",
                    "ttl" => "`@ttl(1d)`, a time of more than zero, or `@ttl(never)`",
                    _ => {
                        cx.report(names::unknown_attribute(&attribute.name, OPERATOR, place));
                        continue;
                    }
                };
                cx.report_value(names::bad_attribute(name, attribute.span, usage));
            }
        }
    }
    known
}

/// The time of `@ttl(1d)`; `@ttl(never)` is like a time that never comes.
fn ttl(args: &[Expr]) -> Option<i64> {
    match args {
        [Expr { kind: ExprKind::Duration(time @ 1..), .. }] => Some(*time),
        [Expr { kind: ExprKind::Name(never), .. }] if never == "never" => Some(i64::MAX),
        _ => None,
    }
}

/// The time of a `@ttl` that is written well, and where it stands.
pub fn ttl_of(attributes: &[Attribute]) -> Option<(i64, Span)> {
    let mut named = attributes.iter().filter(|attribute| attribute.name.text == "ttl");
    named.find_map(|attribute| Some((ttl(&attribute.args)?, attribute.span)))
}

/// Attributes of a record's column.
pub fn column(cx: &mut Context<'_>, column: &Column, field: &mut Field) {
    for attribute in &column.attributes {
        match (attribute.name.text.as_str(), attribute.args.as_slice()) {
            ("name", [arg]) if text(arg).is_some() => field.external = text(arg).map(str::to_owned),
            ("unit", [arg]) => {
                let unit = TimeUnit::ALL.into_iter().find(|unit| text(arg) == Some(unit.word()));
                match unit {
                    Some(unit) if matches!(field.ty.required(), Ty::Timestamp | Ty::Error) => field.unit = Some(unit),
                    Some(_) => {
                        let expected = "a column of type timestamp behind it";
                        cx.report_value(names::bad_attribute("unit", attribute.span, expected));
                    }
                    None => cx.report_value(names::bad_attribute("unit", attribute.span, "`@unit(\"ms\")`: s, ms, us or ns")),
                }
            }
            ("name", _) => cx.report_value(names::bad_attribute("name", attribute.span, "`@name(\"outside-name\")`")),
            ("unit", _) => cx.report_value(names::bad_attribute("unit", attribute.span, "`@unit(\"ms\")`: s, ms, us or ns")),
            _ => cx.report(names::unknown_attribute(&attribute.name, COLUMN, "a column")),
        }
    }
}

/// Items that take no attributes.
pub fn none(cx: &mut Context<'_>, attributes: &[Attribute], place: &str) {
    for attribute in attributes {
        cx.report(names::unknown_attribute(&attribute.name, &[], place));
    }
}

fn text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::String(text) => Some(text),
        _ => None,
    }
}
