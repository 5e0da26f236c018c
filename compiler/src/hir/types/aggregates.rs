//! Aggregate calls in the block of `aggregate`: their arguments see rows, their results belong to a group.

use millstream_runtime::aggregates::AggregateSpec;
use millstream_runtime::graph::{AggregateCall, Expr, ExprKind, Ty};

use super::decimals;
use super::typer::Typer;
use crate::hir::errors::tables;
use crate::hir::resolve::same::same;
use crate::hir::resolve::scope::Scope;
use crate::syntax::ast::{self, Call};

impl<'a> Typer<'_, 'a> {
    /// One call; equal calls share one accumulator.
    pub fn aggregate(&mut self, expr: &'a ast::Expr, call: &'a Call, spec: &'static AggregateSpec) -> Expr {
        let Scope::Output(output) = &mut self.scope else { return self.error(expr.span) };
        if let Some(index) = output.calls.iter().position(|(written, _)| same(written, expr)) {
            let ty = output.calls[index].1.ty.clone();
            return self.make(ExprKind::Aggregate(index), ty, expr.span);
        }
        let input = output.input.clone();
        let never_empty = output.never_empty;
        let Some(typed) = self.aggregate_call(expr, call, spec, &input, never_empty) else { return self.error(expr.span) };
        let ty = typed.ty.clone();
        let Scope::Output(output) = &mut self.scope else { return self.error(expr.span) };
        let index = output.calls.len();
        output.calls.push((expr, typed));
        self.make(ExprKind::Aggregate(index), ty, expr.span)
    }

    fn aggregate_call(
        &mut self,
        expr: &'a ast::Expr,
        call: &'a Call,
        spec: &'static AggregateSpec,
        input: &crate::hir::flow::Flow,
        never_empty: bool,
    ) -> Option<AggregateCall> {
        let mut rows = Typer { cx: self.cx, scope: Scope::Row(input), in_aggregate: true };
        let arguments = rows.arguments(call);
        let filter = call.filter.as_deref().map(|filter| rows.condition(filter, "`where`"));
        let (args, spans) = arguments?;
        if let Some(span) = call.distinct {
            match args.first() {
                None => rows.cx.report(tables::distinct_what(span, spec.name)),
                Some(arg) if !arg.ty.is_ordered() => {
                    rows.cx.report(tables::not_a_key("a distinct value", spans.first().copied().unwrap_or(span), &arg.ty));
                }
                _ => {}
            }
        }
        let broken = args.iter().chain(&filter).any(|arg| arg.ty == Ty::Error);
        let signature = rows.signature(spec.signature)?;
        let bound = rows.bind(&signature, spec.signature, args, &spans, call.function.span)?;
        if broken {
            return None;
        }
        let result = match (spec.name, bound.args.first()) {
            ("sum", Some(value)) => sum(value.ty.required()),
            ("avg", Some(value)) => average(value.ty.required()),
            _ => bound.result,
        };
        let empty = filter.is_some() || !never_empty || bound.args.iter().any(|arg| arg.ty.is_optional());
        let ty = if empty && !spec.never_null { result.optional() } else { result };
        let origin = rows.cx.origin(expr.span);
        Some(AggregateCall { function: spec.name, args: bound.args, distinct: call.distinct.is_some(), filter, ty, origin })
    }
}

/// Sums of integers are int64 (checked), of decimals as wide as can be.
fn sum(ty: &Ty) -> Ty {
    match ty {
        ty if ty.is_integer() => Ty::Int64,
        Ty::Decimal { scale, .. } => Ty::Decimal { precision: 38, scale: *scale },
        Ty::Float32 => Ty::Float64,
        ty => ty.clone(),
    }
}

/// Means of integers are floats, of decimals decimals of at least six digits behind the point.
fn average(ty: &Ty) -> Ty {
    match decimals::parts(ty) {
        Some((_, scale)) => Ty::Decimal { precision: 38, scale: scale.max(6) as u8 },
        None if *ty == Ty::Duration => Ty::Duration,
        None => Ty::Float64,
    }
}
