//! Moves the places of a tree, all of them: each node is taken apart by name, so that a new field cannot be forgotten.

use super::ast::{
    Aggregate, Align, Argument, ArgumentValue, Attribute, Cache, Call, Column, Connector, ConnectorOption, ConnectorStage, Enum,
    Expr, ExprKind, FormatPart, Function, Item, ItemKind, Job, Join, JoinWithin, Last, Lookup, MatchArm, MatchPattern,
    MatchRange, Name, OnError, OptionValue, OrderKey, Over, OverExpr, Param, Pipeline, Process, Record, SelectItem, Setting,
    SettingValue, SideInto, Sink, Sort, Source, Stage, StageKind, Stream, Top, Type, TypeKind, Use, WithInput,
};
use crate::source::{FileId, Span};

/// Where to: a file, and so many bytes further on.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub file: FileId,
    pub by: i64,
}

impl Move {
    pub fn item(self, item: &mut Item) {
        let Item { kind, doc: _, attributes, partial: _, span } = item;
        self.span(span);
        self.attributes(attributes);
        match kind {
            ItemKind::Job(Job { name, settings }) => {
                self.name(name);
                settings.iter_mut().for_each(|setting| self.setting(setting));
            }
            ItemKind::Use(Use { kind: _, path: _, path_span }) => self.span(path_span),
            ItemKind::Param(Param { name, ty, default }) => {
                self.name(name);
                self.ty(ty);
                self.exprs(default);
            }
            ItemKind::Record(Record { name, columns }) => {
                self.name(name);
                self.columns(columns);
            }
            ItemKind::Enum(Enum { name, values }) => {
                self.name(name);
                self.names(values);
            }
            ItemKind::Function(Function { name, params, returns, body }) => {
                self.name(name);
                for (name, ty) in params {
                    self.name(name);
                    self.ty(ty);
                }
                returns.iter_mut().for_each(|ty| self.ty(ty));
                self.expr(body);
            }
            ItemKind::Source(Source { name, ty, connector, watermark, idle, align, on_error, key }) => {
                self.name(name);
                self.ty(ty);
                self.connector(connector);
                self.exprs(watermark.iter_mut().chain(idle));
                if let Some(Align { group, within, every, span }) = align {
                    self.name(group);
                    self.expr(within);
                    self.exprs(every);
                    self.span(span);
                }
                if let Some((on_error, span)) = on_error {
                    self.span(span);
                    match on_error {
                        OnError::Fail | OnError::Skip => {}
                        OnError::Into(name) => self.name(name),
                    }
                }
                self.names(key);
            }
            ItemKind::Lookup(Lookup { name, ty, connector, key, cache, unordered }) => {
                self.name(name);
                self.ty(ty);
                self.connector(connector);
                self.names(key);
                if let Some(Cache { time, limit, span }) = cache {
                    self.expr(time);
                    self.exprs(limit);
                    self.span(span);
                }
                self.spans(unordered);
            }
            ItemKind::Stream(Stream { name, pipeline }) => {
                self.name(name);
                self.pipeline(pipeline);
            }
            ItemKind::Sink(Sink { pipeline, connector, key }) => {
                self.pipeline(pipeline);
                self.connector(connector);
                self.names(key);
            }
            ItemKind::Error(name) => self.names(name),
        }
    }

    fn span(self, span: &mut Span) {
        let Span { file, start, end } = span;
        *file = self.file;
        let moved = |at: u32| (i64::from(at) + self.by) as u32;
        (*start, *end) = (moved(*start), moved(*end));
    }

    fn spans(self, span: &mut Option<Span>) {
        span.iter_mut().for_each(|span| self.span(span));
    }

    fn name(self, name: &mut Name) {
        let Name { text: _, span } = name;
        self.span(span);
    }

    fn names<'a>(self, names: impl IntoIterator<Item = &'a mut Name>) {
        names.into_iter().for_each(|name| self.name(name));
    }

    fn exprs<'a>(self, exprs: impl IntoIterator<Item = &'a mut Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn attributes(self, attributes: &mut [Attribute]) {
        for Attribute { name, args, span } in attributes {
            self.name(name);
            self.exprs(args);
            self.span(span);
        }
    }

    fn setting(self, setting: &mut Setting) {
        let Setting { name, value, span } = setting;
        self.name(name);
        self.span(span);
        match value {
            SettingValue::Expr(value) => self.expr(value),
            SettingValue::Checkpoint { every, to, options } => {
                self.expr(every);
                self.exprs(to);
                self.options(options);
            }
            SettingValue::Into(name) => self.name(name),
            SettingValue::Block(name, options) => {
                self.name(name);
                self.options(options);
            }
            SettingValue::Error => {}
        }
    }

    fn connector(self, connector: &mut Connector) {
        let Connector { name, options, stages, span } = connector;
        self.name(name);
        self.options(options);
        for ConnectorStage { name, connector, span } in stages.iter_mut().flatten() {
            self.name(name);
            self.connector(connector);
            self.span(span);
        }
        self.span(span);
    }

    fn options(self, options: &mut [ConnectorOption]) {
        for ConnectorOption { name, value, span } in options {
            self.name(name);
            self.span(span);
            match value {
                OptionValue::Expr(value) | OptionValue::Every(value) | OptionValue::After(value) => self.expr(value),
                OptionValue::Block(name, options) => {
                    self.name(name);
                    self.options(options);
                }
                OptionValue::Error => {}
            }
        }
    }

    fn columns(self, columns: &mut [Column]) {
        for Column { attributes, doc: _, name, ty, span } in columns {
            self.attributes(attributes);
            self.name(name);
            self.ty(ty);
            self.span(span);
        }
    }

    fn ty(self, ty: &mut Type) {
        let Type { kind, optional: _, span } = ty;
        self.span(span);
        match kind {
            TypeKind::Named { name, numbers: _ } => self.name(name),
            TypeKind::List(item) => self.ty(item),
            TypeKind::Map(key, value) => {
                self.ty(key);
                self.ty(value);
            }
            TypeKind::Record(columns) => self.columns(columns),
            TypeKind::Error => {}
        }
    }

    fn pipeline(self, pipeline: &mut Pipeline) {
        let Pipeline { input, alias, stages, span } = pipeline;
        self.name(input);
        self.names(alias);
        self.span(span);
        for Stage { kind, attributes, span } in stages {
            self.attributes(attributes);
            self.span(span);
            self.stage(kind);
        }
    }

    fn stage(self, kind: &mut StageKind) {
        match kind {
            StageKind::Where(value) | StageKind::Watermark(value) => self.expr(value),
            StageKind::Select(items) => self.items(items),
            StageKind::Explode { list, name } => {
                self.expr(list);
                self.name(name);
            }
            StageKind::Union(names) => self.names(names),
            StageKind::Dedup { by, keep, within, late_into } => {
                self.exprs(by);
                keep.iter_mut().for_each(|(_, span)| self.span(span));
                self.exprs(within);
                self.names(late_into);
            }
            StageKind::Aggregate(Aggregate { by, over, allow_late, every, late_into, columns, block_span }) => {
                for (name, value) in by {
                    self.names(name);
                    self.expr(value);
                }
                self.over(over);
                self.exprs(allow_late.iter_mut().chain(every));
                self.names(late_into);
                self.items(columns);
                self.span(block_span);
            }
            StageKind::Top(Top { count, by, per, over, ties, rank, late_into }) => {
                self.expr(count);
                self.order(by);
                self.exprs(per);
                self.over(over);
                self.spans(ties);
                self.names(rank.iter_mut().chain(late_into));
            }
            StageKind::Sort(Sort { by, late_into }) => {
                self.order(by);
                self.names(late_into);
            }
            StageKind::Combine { how: _, all, others } => {
                self.spans(all);
                self.names(others);
            }
            StageKind::Join(Join { kind: _, right, alias, on, within, over, as_of, allow_late, late_into, broadcast }) => {
                self.name(right);
                self.names(alias);
                self.exprs(on.iter_mut().chain(as_of).chain(allow_late));
                if let Some(JoinWithin { from, to, span }) = within {
                    self.expr(from);
                    self.exprs(to);
                    self.span(span);
                }
                self.over(over);
                self.names(late_into);
                self.spans(broadcast);
            }
            StageKind::Process(Process { by, name, options, with, sides }) => {
                self.exprs(by);
                self.name(name);
                self.options(options);
                for WithInput { stream, by, broadcast: _, span } in with {
                    self.name(stream);
                    self.exprs(by);
                    self.span(span);
                }
                for SideInto { output, into, span } in sides {
                    self.names(output);
                    self.name(into);
                    self.span(span);
                }
            }
            StageKind::PartitionBy(keys) => self.exprs(keys),
            StageKind::Distinct
            | StageKind::Final
            | StageKind::Changes
            | StageKind::Rebalance
            | StageKind::Broadcast
            | StageKind::Error => {}
        }
    }

    fn order(self, keys: &mut [OrderKey]) {
        keys.iter_mut().for_each(|OrderKey { value, descending: _ }| self.expr(value));
    }

    fn over(self, over: &mut Option<Over>) {
        if let Some(Over { window, processing_time, span }) = over {
            self.call(window);
            self.spans(processing_time);
            self.span(span);
        }
    }

    fn items(self, items: &mut [SelectItem]) {
        for item in items {
            match item {
                SelectItem::Column { name, value } => {
                    self.names(name);
                    self.expr(value);
                }
                SelectItem::Rest { of, span } => {
                    self.exprs(of);
                    self.span(span);
                }
                SelectItem::Except(names) => self.names(names),
                SelectItem::Error(span) => self.span(span),
            }
        }
    }

    fn call(self, call: &mut Call) {
        let Call { function, distinct, args, filter } = call;
        self.name(function);
        self.spans(distinct);
        for Argument { name, value, span } in args {
            self.names(name);
            self.span(span);
            match value {
                ArgumentValue::Expr(value) => self.expr(value),
                ArgumentValue::Type(ty) => self.ty(ty),
            }
        }
        self.exprs(filter.as_deref_mut());
    }

    /// The parser limits the depth.
    fn expr(self, expr: &mut Expr) {
        let Expr { kind, span } = expr;
        self.span(span);
        match kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Decimal { .. }
            | ExprKind::String(_)
            | ExprKind::Duration(_)
            | ExprKind::Timestamp(_)
            | ExprKind::Date(_)
            | ExprKind::Size(_)
            | ExprKind::Name(_)
            | ExprKind::Env(_)
            | ExprKind::Error => {}
            ExprKind::Format(parts) => self.exprs(parts.iter_mut().filter_map(|part| match part {
                FormatPart::Text(_) => None,
                FormatPart::Value(value) => Some(value),
            })),
            ExprKind::Field { base, field, safe: _ } => {
                self.expr(base);
                self.name(field);
            }
            ExprKind::Method { base, method, args } => {
                self.expr(base);
                self.name(method);
                self.exprs(args);
            }
            ExprKind::Index { base, index } => self.exprs([&mut **base, &mut **index]),
            ExprKind::Unary { op: _, operand } | ExprKind::IsNull { operand, negated: _ } => self.expr(operand),
            ExprKind::Binary { op: _, op_span, left, right } => {
                self.span(op_span);
                self.exprs([&mut **left, &mut **right]);
            }
            ExprKind::In { operand, list, negated: _ } => self.exprs([&mut **operand, &mut **list]),
            ExprKind::Between { operand, low, high, negated: _ } => self.exprs([&mut **operand, &mut **low, &mut **high]),
            ExprKind::If { condition, then, otherwise } => self.exprs([&mut **condition, &mut **then, &mut **otherwise]),
            ExprKind::Match { subject, arms } => {
                self.expr(subject);
                for MatchArm { patterns, guard, result, span } in arms {
                    patterns.iter_mut().for_each(|pattern| self.pattern(pattern));
                    self.exprs(guard);
                    self.expr(result);
                    self.span(span);
                }
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::Over(over) => {
                let OverExpr { call, call_span, by, order, last, over_span } = &mut **over;
                self.call(call);
                self.span(call_span);
                self.exprs(by);
                self.exprs(order);
                if let Some(Last { length, rows: _, span }) = last {
                    self.expr(length);
                    self.span(span);
                }
                self.span(over_span);
            }
            ExprKind::List(items) => self.exprs(items),
            ExprKind::Record(fields) => {
                for (name, value) in fields {
                    self.name(name);
                    self.expr(value);
                }
            }
        }
    }

    fn pattern(self, pattern: &mut MatchPattern) {
        match pattern {
            MatchPattern::Value(value) => self.expr(value),
            MatchPattern::Range(MatchRange { from, to, inclusive: _, span }) => {
                self.exprs(from.iter_mut().chain(to));
                self.span(span);
            }
        }
    }
}
