//! Aggregate calls in the block of `aggregate`: their arguments see rows, their results belong to a group.

use millstream_runtime::aggregates::AggregateSpec;
use millstream_runtime::graph::{AggregateCall, AnalyticCall, Expr, ExprKind, Ty};

use super::decimals;
use super::typer::Typer;
use crate::hir::errors::{over, tables};
use crate::hir::flow::Flow;
use crate::hir::resolve::same::same;
use crate::hir::resolve::scope::Scope;
use crate::source::Span;
use crate::syntax::ast::{self, Call, OverExpr};

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
        let Some(typed) = self.aggregate_call(expr.span, call, spec, &input, never_empty) else { return self.error(expr.span) };
        let ty = typed.ty.clone();
        let Scope::Output(output) = &mut self.scope else { return self.error(expr.span) };
        let index = output.calls.len();
        output.calls.push((expr, typed));
        self.make(ExprKind::Aggregate(index), ty, expr.span)
    }

    /// The value of a call with `over (..)`, which an operator before the select has computed.
    pub fn over(&mut self, span: Span) -> Expr {
        self.answer(span).unwrap_or_else(|| self.reject(over::not_here(span), span))
    }

    /// What an operator before the select has computed for the call at this place.
    pub fn answer(&mut self, span: Span) -> Option<Expr> {
        let Scope::Row(flow) = &self.scope else { return None };
        let (_, column, ty) = flow.answers.iter().find(|(place, _, _)| *place == span)?;
        Some(match ty {
            // The call itself was wrong, which has been reported.
            Ty::Error => self.error(span),
            ty => self.make(ExprKind::Column(column.clone()), ty.clone(), span),
        })
    }

    /// A call before `over (..)`: an aggregate over the rows of its frame, or one of `lag`, `lead`, `row_number`.
    pub fn analytic_call(&mut self, over: &'a OverExpr, input: &Flow) -> Option<AnalyticCall> {
        let call = &over.call;
        let name = call.function.text.as_str();
        if let Some(spec) = self.cx.aggregate(name) {
            let call = self.aggregate_call(over.call_span, call, spec, input, true)?;
            return Some(AnalyticCall { call, back: 0 });
        }
        let Some(spec) = millstream_runtime::aggregates::find_analytic(name) else {
            self.cx.report(over::not_analytic(name, call.function.span));
            return None;
        };
        if let Some(span) = call.distinct {
            self.cx.report(tables::not_an_aggregate("distinct", span, name));
        }
        if let Some(filter) = &call.filter {
            self.cx.report(tables::not_an_aggregate("where", filter.span, name));
        }
        let mut typed = self.aggregate_call(over.call_span, call, spec, input, true)?;
        let back = match call.args.get(1).map(|argument| &argument.value) {
            Some(ast::ArgumentValue::Expr(written)) => crate::hir::stages::over::distance(self, written)?,
            _ => u64::from(!typed.args.is_empty()),
        };
        typed.args.truncate(1);
        if !spec.never_null && !typed.ty.is_optional() {
            typed.ty = typed.ty.optional();
        }
        Some(AnalyticCall { call: typed, back })
    }

    fn aggregate_call(
        &mut self,
        place: Span,
        call: &'a Call,
        spec: &'static AggregateSpec,
        input: &Flow,
        never_empty: bool,
    ) -> Option<AggregateCall> {
        let mut rows = Typer { cx: self.cx, scope: Scope::Row(input), in_aggregate: true, may_wait: false };
        let arguments = rows.arguments(call);
        let filter = call.filter.as_deref().map(|filter| rows.condition(filter, "`where`"));
        let (args, spans) = arguments?;
        if let Some(span) = call.distinct {
            if args.is_empty() {
                rows.cx.report(tables::distinct_what(span, spec.name));
            }
            if let Some((arg, span)) = args.iter().zip(&spans).find(|(arg, _)| !arg.ty.is_ordered()) {
                rows.cx.report(tables::not_a_key("a distinct value", *span, &arg.ty));
            }
        }
        let broken = args.iter().chain(&filter).any(|arg| arg.ty == Ty::Error);
        let own = rows.cx.aggregates.get(spec.name).filter(|own| std::ptr::eq(own.spec, spec));
        let (own_signature, retracts) = (own.map(|own| own.signature.clone()), own.is_none_or(|own| own.retracts));
        if input.is_table() && !retracts {
            rows.cx.report(crate::rust::aggregate_over_table(&call.function));
            return None;
        }
        let signature = match own_signature {
            Some(signature) => signature,
            None => rows.signature(spec.signature)?,
        };
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
        let origin = rows.cx.origin(place);
        let (args, distinct) = (bound.args, call.distinct.is_some());
        Some(AggregateCall { function: spec.name, args, distinct, filter, ty, state: String::new(), origin })
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
