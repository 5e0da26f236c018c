//! `idle after 30s`, `align shop within 1m`: how a source takes part in event time, besides its watermark.

use millstream_runtime::graph::{Alignment, Literal, Ty};

use crate::hir::context::Context;
use crate::hir::errors::time;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::source::Span;
use crate::syntax::ast;

/// Lowers the clauses: the time after which a silent split is idle, and what the source keeps together with.
pub fn lower<'a>(cx: &mut Context<'a>, source: &'a ast::Source, timed: bool) -> (Option<i64>, Option<Alignment>) {
    let idle_after = source.idle.as_ref().and_then(|idle| {
        needs_watermark(cx, source, timed, "idle after", idle.span);
        positive(cx, idle, "the time behind `idle after`")
    });
    (idle_after, source.align.as_ref().and_then(|written| align(cx, source, timed, written)))
}

fn align<'a>(cx: &mut Context<'a>, source: &'a ast::Source, timed: bool, written: &'a ast::Align) -> Option<Alignment> {
    needs_watermark(cx, source, timed, "align", written.span);
    let within = positive(cx, &written.within, "the time behind `within`");
    let every = match &written.every {
        Some(every) => Some(positive(cx, every, "the time behind `every`")?),
        None => None,
    };
    Some(Alignment { group: written.group.text.clone(), within: within?, every })
}

fn needs_watermark(cx: &mut Context<'_>, source: &ast::Source, timed: bool, what: &str, span: Span) {
    if !timed {
        cx.report(time::needs_watermark(what, &source.name.text, span));
    }
}

fn positive<'a>(cx: &mut Context<'a>, expr: &'a ast::Expr, what: &'static str) -> Option<i64> {
    match Typer::new(cx, Scope::Job).constant(expr, &Ty::Duration, what)? {
        Literal::Duration(micros) if micros > 0 => Some(micros),
        _ => {
            cx.report(time::not_positive(what, expr.span));
            None
        }
    }
}
