//! Literals, lists, records and format strings.

use millstream_runtime::graph::{Expr, ExprKind, Field, Literal, Schema, Ty};

use super::common::unify;
use super::typer::Typer;
use super::{casts, decimals};
use crate::hir::errors::{names, types};
use crate::source::Span;
use crate::syntax::ast::{self, FormatPart, Name};

impl<'a> Typer<'_, 'a> {
    pub fn literal(&mut self, expr: &ast::Expr) -> Expr {
        let (literal, ty) = match &expr.kind {
            ast::ExprKind::Null => (Literal::Null, Ty::Null),
            ast::ExprKind::Bool(value) => (Literal::Bool(*value), Ty::Bool),
            ast::ExprKind::Int(value) => return self.integer(i128::try_from(*value).ok(), expr.span),
            ast::ExprKind::Float(value) => (Literal::Float(*value), Ty::Float64),
            ast::ExprKind::Decimal { unscaled, scale } => {
                let digits = unscaled.unsigned_abs().checked_ilog10().unwrap_or(0) as i32 + 1;
                let scale = i32::from(*scale);
                if digits > 38 || scale > 38 {
                    return self.reject(types::bad_type(expr.span, "this decimal has too many digits", "at most 38"), expr.span);
                }
                (Literal::Decimal(*unscaled), decimals::sized(digits.max(scale) - scale, scale))
            }
            ast::ExprKind::String(text) => (Literal::String(text.clone()), Ty::String),
            ast::ExprKind::Duration(micros) => (Literal::Duration(*micros), Ty::Duration),
            ast::ExprKind::Timestamp(micros) => (Literal::Timestamp(*micros), Ty::Timestamp),
            ast::ExprKind::Date(days) => (Literal::Date(*days), Ty::Date),
            ast::ExprKind::Size(bytes) => return self.integer(Some(i128::from(*bytes)), expr.span),
            _ => return self.error(expr.span),
        };
        self.make(ExprKind::Literal(literal), ty, expr.span)
    }

    /// An integer literal, its sign included: int64, or uint64 where only that holds it.
    pub fn integer(&mut self, value: Option<i128>, span: Span) -> Expr {
        match value {
            Some(value) if casts::fits(value, &Ty::Int64) => self.make(ExprKind::Literal(Literal::Int(value)), Ty::Int64, span),
            Some(value) if casts::fits(value, &Ty::UInt64) => self.make(ExprKind::Literal(Literal::Int(value)), Ty::UInt64, span),
            _ => self.reject(types::integer_too_big(span), span),
        }
    }

    /// `f"{carrier}-{day}"`
    pub fn format(&mut self, parts: &'a [FormatPart], span: Span) -> Expr {
        let mut optional = false;
        let mut typed = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                FormatPart::Text(text) => {
                    typed.push(self.make(ExprKind::Literal(Literal::String(text.clone())), Ty::String, span))
                }
                FormatPart::Value(value) => {
                    let part = self.expr(value);
                    optional |= part.ty.is_optional();
                    let fits = !matches!(part.ty.required(), Ty::List(_) | Ty::Map(..) | Ty::Record(_) | Ty::Bytes | Ty::Null);
                    typed.push(match fits {
                        true => part,
                        false => self.reject(types::operand("f\"..\"", value.span, &part.ty, "a scalar value"), value.span),
                    });
                }
            }
        }
        let ty = if optional { Ty::String.optional() } else { Ty::String };
        self.make(ExprKind::Format(typed), ty, span)
    }

    /// `[1, 2]`
    pub fn list(&mut self, items: &'a [ast::Expr], span: Span) -> Expr {
        let typed: Vec<Expr> = items.iter().map(|item| self.expr(item)).collect();
        if typed.is_empty() {
            return self.make(ExprKind::List(typed), Ty::List(Box::new(Ty::Null)), span);
        }
        let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
        match self.unified(typed, &spans, "items of this list") {
            Some((typed, ty)) => self.make(ExprKind::List(typed), Ty::List(Box::new(ty)), span),
            None => self.error(span),
        }
    }

    /// `{ a: 1, b }`
    pub fn record(&mut self, fields: &'a [(Name, ast::Expr)], span: Span) -> Expr {
        let mut typed: Vec<(String, Expr)> = Vec::with_capacity(fields.len());
        let mut schema: Vec<Field> = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            if schema.iter().any(|field| field.name == name.text) {
                self.cx.report(names::column_twice(&name.text, name.span, None, "this record"));
                continue;
            }
            let value = self.expr(value);
            let value = self.typed(value, name.span);
            schema.push(Field::new(&name.text, value.ty.clone()));
            typed.push((name.text.clone(), value));
        }
        self.make(ExprKind::Record(typed), Ty::Record(Schema::anonymous(schema)), span)
    }

    /// Reports a value whose type is left open: a bare null, an empty list.
    pub fn typed(&mut self, value: Expr, span: Span) -> Expr {
        let what = match &value.ty {
            Ty::Null => "`null`",
            Ty::List(item) if **item == Ty::Null => "an empty list",
            _ => return value,
        };
        self.reject(types::type_unknown(span, what), span)
    }

    /// Values brought to one type; reports two that do not go together.
    pub fn unified(&mut self, typed: Vec<Expr>, spans: &[Span], place: &str) -> Option<(Vec<Expr>, Ty)> {
        match unify(typed) {
            Ok(done) => Some(done),
            Err((a, b, typed)) => {
                let at = |index: usize| spans.get(index).copied().unwrap_or_default();
                let help = super::typer::help(&typed[b], &typed[a].ty).or_else(|| super::typer::help(&typed[a], &typed[b].ty));
                self.cx.report(types::different(place, (&typed[a].ty, at(a)), (&typed[b].ty, at(b)), help));
                None
            }
        }
    }
}
