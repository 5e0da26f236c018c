//! Names, fields and items: what stands for a value.

use millstream_runtime::graph::{CastMode, Expr, ExprKind, Field, Ty, WindowBound};

use super::casts::cast;
use super::typer::Typer;
use crate::diagnostics::did_you_mean;
use crate::hir::errors::{names, tables, time, types};
use crate::hir::flow::Flow;
use crate::hir::resolve::scope::Scope;
use crate::source::Span;
use crate::syntax::ast::{self, Name};

impl<'a> Typer<'_, 'a> {
    /// A bare name: a column before a param.
    pub fn name(&mut self, name: &'a str, span: Span) -> Expr {
        let found = match &self.scope {
            Scope::Row(flow) if flow.unknown => return self.error(span),
            Scope::Row(flow) => flow.ty.schema.field(name).map(|field| self.column(flow, field, span)),
            Scope::Function(params) => params
                .iter()
                .find(|(param, _)| param == name)
                .map(|(_, ty)| self.make(ExprKind::Local(name.to_owned()), ty.clone(), span)),
            Scope::Output(output) if output.input.unknown => return self.error(span),
            Scope::Output(output) if output.input.ty.schema.field(name).is_some() => {
                let has_keys = !output.keys.is_empty();
                return self.reject(tables::neither_key_nor_aggregate(name, span, has_keys), span);
            }
            Scope::Constant(_) | Scope::Job | Scope::Output(_) => None,
        };
        match found {
            Some(expr) => expr,
            None => self.name_elsewhere(name, span),
        }
    }

    /// A column of the input, required where a filter has seen to it.
    pub fn column(&self, input: &Flow, field: &Field, span: Span) -> Expr {
        let column = self.make(ExprKind::Column(field.name.clone()), field.ty.clone(), span);
        match field.ty.is_optional() && input.not_null.contains(&field.name) {
            true => {
                let required = column.ty.required().clone();
                cast(CastMode::NotNull, column, required)
            }
            false => column,
        }
    }

    /// A name that is no column here: a param, or a mistake.
    fn name_elsewhere(&mut self, name: &'a str, span: Span) -> Expr {
        if let Some(ty) = self.cx.params.get(name).cloned() {
            self.cx.used_params.insert(name.to_owned());
            return match self.scope {
                Scope::Function(_) => self.reject(names::param_in_function(name, span), span),
                Scope::Constant(what) => self.reject(types::not_constant(what, span), span),
                _ => self.make(ExprKind::Param(name.to_owned()), ty, span),
            };
        }
        if self.cx.items.broken.contains(name) {
            return self.error(span);
        }
        if name == "window" && matches!(self.scope, Scope::Output(_)) {
            let help = "write `window.start` or `window.end`";
            return self.reject(names::not_a_value(name, span, "the window", help), span);
        }
        let (own, place): (Vec<&str>, &str) = match &self.scope {
            Scope::Row(flow) => (flow.columns(), "among the columns and params"),
            Scope::Function(params) => (params.iter().map(|(name, _)| name.as_str()).collect(), "in this function"),
            Scope::Output(output) => {
                let keys = output.keys.iter().filter_map(|key| key.name.as_deref());
                (keys.chain(output.input.columns()).collect(), "among the group keys, columns and params")
            }
            Scope::Job | Scope::Constant(_) => (Vec::new(), "here; no row is at hand"),
        };
        if self.stage_number(name).is_some() {
            let help = format!("ask how it ended: `{name}.max(column)`, `{name}.start_time`, `{name}.end_time`");
            return self.reject(names::not_a_value(name, span, "a stage", &help), span);
        }
        let is_function = self.cx.functions.contains_key(name) || millstream_runtime::functions::find(name).is_some();
        let params = self.cx.items.params.iter().map(|entry| entry.node.name.text.as_str());
        let sees_params = matches!(self.scope, Scope::Row(_) | Scope::Job | Scope::Output(_));
        let mut candidates = own;
        candidates.extend(params.filter(|_| sees_params));
        let diagnostic = if is_function {
            names::not_a_value(name, span, "a function", &format!("call it: `{name}(..)`"))
        } else if self.cx.items.stream_names.contains_key(name) {
            names::not_a_value(
                name,
                span,
                "a stream",
                "streams stand at the start of a pipeline; in an expression, name a column",
            )
        } else if let Some((of, value)) = self.enum_value(name, &candidates) {
            names::value_without_quotes(name, span, of, value)
        } else {
            names::unknown_name(name, span, &candidates, place)
        };
        self.reject(diagnostic, span)
    }

    /// The enum that has a value of this name, or of nearly this name where nothing else that is known comes as near.
    fn enum_value(&self, name: &str, candidates: &[&str]) -> Option<(&str, &str)> {
        let mut values: Vec<(&str, &str)> = Vec::new();
        for (of, ty) in &self.cx.records {
            if let Ty::Enum(ty) = ty {
                values.extend(ty.values.iter().map(|value| (*of, value.as_str())));
            }
        }
        values.sort_unstable();
        let meant = match values.iter().any(|(_, value)| *value == name) {
            true => name,
            false => did_you_mean(name, candidates.iter().copied().chain(values.iter().map(|(_, value)| *value)))?,
        };
        values.into_iter().find(|(_, value)| *value == meant && !candidates.contains(value))
    }

    /// `base.field`, `base?.field`, `window.start`
    pub fn field(&mut self, base: &'a ast::Expr, field: &'a Name, safe: bool, span: Span) -> Expr {
        if let Some(column) = self.qualified(base, field, span) {
            return column;
        }
        if let Some(bound) = self.window_bound(base, field, span) {
            return bound;
        }
        if let Some(fact) = self.stage_fact(base, field, span) {
            return fact;
        }
        let base_typed = self.expr(base);
        let Ty::Record(schema) = base_typed.ty.required() else {
            return match base_typed.ty {
                Ty::Error => self.error(span),
                ty => self.reject(types::no_fields(&field.text, base.span, &ty), span),
            };
        };
        let Some(found) = schema.field(&field.text) else {
            let candidates: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
            let record = schema.name.clone().unwrap_or_else(|| "this record".to_owned());
            return self.reject(names::unknown_field(field, &record, &candidates), field.span);
        };
        let found = found.clone();
        if safe && !base_typed.ty.is_optional() {
            self.cx.report(types::never_null(base.span, &base_typed.ty, "`.` does the same as `?.`"));
        }
        self.field_of(base_typed, &found, span)
    }

    /// `p.order_id`: a column of one side of a join.
    fn qualified(&mut self, base: &ast::Expr, field: &Name, span: Span) -> Option<Expr> {
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let (flow, in_block) = match &self.scope {
            Scope::Row(flow) => (*flow, false),
            Scope::Output(output) => (&output.input, true),
            _ => return None,
        };
        let alias = flow.alias(name)?;
        let Some(column) = alias.column(&field.text) else {
            if flow.unknown {
                return Some(self.error(span));
            }
            let candidates: Vec<String> = alias.columns.iter().map(|(own, _)| own.clone()).collect();
            let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
            return Some(self.reject(names::unknown_field(field, &format!("`{name}`"), &candidates), field.span));
        };
        if in_block {
            let has_keys = matches!(&self.scope, Scope::Output(output) if !output.keys.is_empty());
            let written = format!("{name}.{}", field.text);
            return Some(self.reject(tables::neither_key_nor_aggregate(&written, span, has_keys), span));
        }
        let found = flow.ty.schema.field(column)?;
        Some(self.column(flow, found, span))
    }

    /// A field of a typed record.
    pub fn field_of(&self, base: Expr, field: &Field, span: Span) -> Expr {
        let (ty, name) = (field.ty.clone(), field.name.clone());
        // Behind `where bid is not null`: take the field first, so that nothing larger is copied, then check.
        if let ExprKind::Cast(CastMode::NotNull, inner) = base.kind {
            let inside = self.make(ExprKind::Field(inner, name), ty.clone().optional(), span);
            return if ty.is_optional() { inside } else { cast(CastMode::NotNull, inside, ty) };
        }
        let ty = if base.ty.is_optional() { ty.optional() } else { ty };
        self.make(ExprKind::Field(Box::new(base), name), ty, span)
    }

    fn window_bound(&mut self, base: &'a ast::Expr, field: &Name, span: Span) -> Option<Expr> {
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        if name != "window" {
            return None;
        }
        let bounds = match &self.scope {
            Scope::Output(output) => output.bounds,
            Scope::Row(flow) if !flow.unknown && flow.ty.schema.field("window").is_none() => match self.in_aggregate {
                true => Err("an aggregate's argument sees rows, not the window"),
                false => Err("`window` is known only in the block of `aggregate`"),
            },
            _ => return None,
        };
        Some(match (bounds, field.text.as_str()) {
            (Err(reason), _) => self.reject(time::no_window_bounds(span, reason), span),
            (Ok(()), "start") => self.make(ExprKind::Window(WindowBound::Start), Ty::Timestamp, span),
            (Ok(()), "end") => self.make(ExprKind::Window(WindowBound::End), Ty::Timestamp, span),
            (Ok(()), _) => self.reject(time::unknown_window_bound(field), span),
        })
    }

    /// `list[0]`, `map["k"]`
    pub fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Expr {
        let base_typed = self.expr(base);
        let (key, value) = match base_typed.ty.required() {
            Ty::List(item) => (Ty::Int64, (**item).clone()),
            Ty::Map(key, value) => ((**key).clone(), (**value).clone()),
            Ty::Error => {
                self.expr(index);
                return self.error(span);
            }
            ty => {
                let ty = ty.clone();
                self.expr(index);
                return self.reject(types::no_index(base.span, &ty), span);
            }
        };
        let typed = self.expr(index);
        let key = if typed.ty.is_optional() { key.optional() } else { key };
        let index = self.fit(typed, &key, "this index", index.span);
        self.make(ExprKind::Index(Box::new(base_typed), Box::new(index)), value.optional(), span)
    }
}
