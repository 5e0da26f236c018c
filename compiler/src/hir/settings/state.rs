//! `state: memory | disk { path: "./state", memory: 256MB }`: where keyed state is.

use std::collections::HashMap;

use millstream_runtime::graph::{Expr, ExprKind, Literal, StateSettings, Ty};

use super::word;
use crate::hir::context::Context;
use crate::hir::errors::{names, state as errors};
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::source::Span;
use crate::syntax::ast::{self, ConnectorOption, Name, OptionValue};

/// What may stand in the block, for suggestions.
const BLOCK: &[&str] = &["path", "memory"];

/// Where nothing is said.
const MEMORY: u64 = 256 << 20;

/// With less than that the store itself has no room to work.
const LEAST: u64 = 16 << 20;

/// Without a block.
pub(super) fn plain<'a>(cx: &mut Context<'a>, expr: &'a ast::Expr) -> StateSettings {
    match word(expr) {
        Some("memory") => StateSettings::Memory,
        Some("disk") => StateSettings::Disk { path: default_path(cx, expr.span), memory: MEMORY },
        _ => {
            cx.report_value(names::bad_setting("state", expr.span, "`memory` or `disk { path: \"./state\", memory: 256MB }`"));
            StateSettings::Memory
        }
    }
}

/// `disk { .. }`; as in memory where the word is another, which is reported.
pub(super) fn block<'a>(cx: &mut Context<'a>, name: &'a Name, options: &'a [ConnectorOption]) -> StateSettings {
    if name.text != "disk" {
        cx.report_value(names::bad_setting("state", name.span, "`disk` before a block, or `memory` without one"));
        return StateSettings::Memory;
    }
    let (mut path, mut memory) = (None, MEMORY);
    let mut given: HashMap<&'a str, Span> = HashMap::new();
    for option in options {
        let (name, span) = (option.name.text.as_str(), option.name.span);
        if let Some(first) = given.insert(name, span) {
            cx.report(names::setting_twice(name, span, first));
        }
        match (name, &option.value) {
            (_, OptionValue::Error) => {}
            ("path", OptionValue::Expr(expr)) => {
                path = Some(Typer::new(cx, Scope::Job).expect(expr, &Ty::String, "the folder of state"));
            }
            ("memory", OptionValue::Expr(expr)) => match expr.kind {
                ast::ExprKind::Size(bytes) if bytes >= LEAST => memory = bytes,
                _ => cx.report_value(names::bad_setting("memory", expr.span, "a size of at least 16MB, such as `256MB`")),
            },
            ("path" | "memory", _) => cx.report(names::bad_setting(name, option.span, "a plain value")),
            _ => cx.report(errors::unknown(&option.name, BLOCK)),
        }
    }
    StateSettings::Disk { path: path.unwrap_or_else(|| default_path(cx, name.span)), memory }
}

fn default_path(cx: &mut Context<'_>, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(Literal::String("state".to_owned())), ty: Ty::String, origin: cx.origin(span) }
}
