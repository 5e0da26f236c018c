//! How earlier stages of a hybrid source ended: `history.max(placed_at)`, `history.end_time`.

use millstream_runtime::graph::{Expr, ExprKind, StageFact, Ty};

use super::typer::Typer;
use crate::hir::errors::hybrid;
use crate::hir::resolve::scope::Scope;
use crate::source::Span;
use crate::syntax::ast::{self, Name};

impl<'a> Typer<'_, 'a> {
    /// `base.method(args)`
    pub fn method(&mut self, base: &'a ast::Expr, method: &'a Name, args: &'a [ast::Expr], span: Span) -> Expr {
        let ast::ExprKind::Name(stage) = &base.kind else { return self.no_methods(base, method, args, span) };
        let Some(number) = self.stage_number(stage) else {
            if let (Scope::Job, Some(stages)) = (&self.scope, &self.cx.stages)
                && !self.cx.params.contains_key(stage.as_str())
            {
                let earlier = stages.names[..stages.at].to_vec();
                return self.reject(hybrid::unknown_stage(stage, base.span, &earlier), span);
            }
            return self.no_methods(base, method, args, span);
        };
        if let Some(error) = self.not_ended(stage, number, base.span, span) {
            return error;
        }
        if method.text != "max" {
            return self.reject(hybrid::unknown_fact(stage, method, true), span);
        }
        let [argument] = args else { return self.reject(hybrid::one_column(stage, span), span) };
        let ast::ExprKind::Name(column) = &argument.kind else {
            return match argument.kind {
                ast::ExprKind::Error => self.error(span),
                _ => self.reject(hybrid::one_column(stage, argument.span), span),
            };
        };
        let Some(schema) = self.cx.stages.as_ref().and_then(|stages| stages.schema.clone()) else { return self.error(span) };
        let Some(field) = schema.field(column) else {
            let columns: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
            return self.reject(hybrid::unknown_column(stage, column, argument.span, &columns), span);
        };
        let ty = field.ty.required().clone();
        match ty {
            Ty::Error => self.error(span),
            Ty::List(_) | Ty::Map(..) | Ty::Record(_) | Ty::Json | Ty::Bytes => {
                self.reject(hybrid::no_greatest(column, argument.span, &field.ty), span)
            }
            _ => self.make(ExprKind::StageEnd(stage.clone(), StageFact::Max(column.clone())), ty.optional(), span),
        }
    }

    /// `history.start_time`, `history.end_time`; None: the base is no stage.
    pub fn stage_fact(&mut self, base: &'a ast::Expr, field: &Name, span: Span) -> Option<Expr> {
        let ast::ExprKind::Name(stage) = &base.kind else { return None };
        let number = self.stage_number(stage)?;
        if let Some(error) = self.not_ended(stage, number, base.span, span) {
            return Some(error);
        }
        let fact = match field.text.as_str() {
            "start_time" => StageFact::StartTime,
            "end_time" => StageFact::EndTime,
            _ => return Some(self.reject(hybrid::unknown_fact(stage, field, false), span)),
        };
        Some(self.make(ExprKind::StageEnd(stage.clone(), fact), Ty::Timestamp, span))
    }

    /// Where among the stages this one is, in an option of a stage.
    pub fn stage_number(&self, name: &str) -> Option<usize> {
        let (Scope::Job, Some(stages)) = (&self.scope, &self.cx.stages) else { return None };
        stages.names.iter().position(|stage| *stage == name)
    }

    /// What a reference to this stage itself or to a later one leaves behind.
    fn not_ended(&mut self, stage: &str, number: usize, at: Span, span: Span) -> Option<Expr> {
        let stages = self.cx.stages.as_ref()?;
        if number < stages.at {
            return None;
        }
        let (own, earlier) = (stages.names.get(stages.at).copied().unwrap_or_default(), stages.names[..stages.at].to_vec());
        let diagnostic = hybrid::not_ended(stage, own, at, &earlier);
        Some(self.reject(diagnostic, span))
    }

    fn no_methods(&mut self, base: &'a ast::Expr, method: &Name, args: &'a [ast::Expr], span: Span) -> Expr {
        let typed = self.expr(base);
        for arg in args {
            self.expr(arg);
        }
        match typed.ty {
            Ty::Error => self.error(span),
            _ => {
                let mut values = vec![self.cx.text(base.span)];
                values.extend(args.iter().map(|arg| self.cx.text(arg.span)));
                self.reject(hybrid::no_methods(method, &format!("{}({})", method.text, values.join(", "))), span)
            }
        }
    }
}
