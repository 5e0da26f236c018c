//! Names and values of a syntax tree by their place: what stands under the cursor.

use super::place::Side;
use crate::source::Span;
use crate::syntax::ast::{
    self, ArgumentValue, Attribute, Connector, ConnectorOption, Expr, ExprKind, FormatPart, Item, ItemKind, MatchPattern, Name,
    OnError, OptionValue, Pipeline, SelectItem, SettingValue, Stage, StageKind, Type, TypeKind, Use,
};

/// What a word stands for.
#[derive(Clone, Copy, Debug)]
pub enum Mention<'a> {
    /// A stream, source or lookup: where it is read, and where it is defined.
    Stream(&'a str),
    Type(&'a str),
    Function(&'a str),
    Param(&'a str),
    /// A name, a field, or another expression; the whole of it.
    Value(&'a Expr),
    Connector(Side, &'a str),
    Option(Side, &'a str, &'a str),
    Format(&'a str),
    FormatOption(&'a str, &'a str),
    Operator(&'a str),
    OperatorOption(&'a str, &'a str),
    /// A column where its record is defined.
    Column(&'a ast::Column),
    Setting(&'a str),
    /// Of a column, or of anything else.
    Attribute(&'a str, bool),
    Stage(&'a str),
    Window(&'a str),
    File(&'a Use),
    Job(&'a str),
}

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub struct Mentioned<'a> {
    pub span: Span,
    pub what: Mention<'a>,
}

/// What stands at an offset of a file: the smallest that has it.
pub fn at(file: &ast::File, offset: u32) -> Option<Mentioned<'_>> {
    let item = file.items.iter().find(|item| holds(item.span, offset))?;
    let mut walk = Walk { offset, best: None };
    walk.item(item);
    walk.best
}

fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}

struct Walk<'a> {
    offset: u32,
    best: Option<Mentioned<'a>>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, span: Span, what: Mention<'a>) {
        let length = |span: Span| span.end - span.start;
        if holds(span, self.offset) && self.best.is_none_or(|best| length(span) <= length(best.span)) {
            self.best = Some(Mentioned { span, what });
        }
    }

    fn name(&mut self, name: &'a Name, what: impl Fn(&'a str) -> Mention<'a>) {
        self.add(name.span, what(&name.text));
    }

    fn item(&mut self, item: &'a Item) {
        self.attributes(&item.attributes, false);
        match &item.kind {
            ItemKind::Job(job) => {
                self.name(&job.name, Mention::Job);
                for setting in &job.settings {
                    self.name(&setting.name, Mention::Setting);
                    match &setting.value {
                        SettingValue::Expr(value) => self.expr(value),
                        SettingValue::Checkpoint { every, to, .. } => {
                            self.expr(every);
                            to.iter().for_each(|to| self.expr(to));
                        }
                        SettingValue::Into(name) => self.name(name, Mention::Stream),
                        SettingValue::Block(..) | SettingValue::Error => {}
                    }
                }
            }
            ItemKind::Use(used) => self.add(used.path_span, Mention::File(used)),
            ItemKind::Param(param) => {
                self.name(&param.name, Mention::Param);
                self.ty(&param.ty);
                param.default.iter().for_each(|default| self.expr(default));
            }
            ItemKind::Record(record) => {
                self.name(&record.name, Mention::Type);
                self.columns(&record.columns);
            }
            ItemKind::Enum(node) => self.name(&node.name, Mention::Type),
            ItemKind::Function(function) => {
                self.name(&function.name, Mention::Function);
                function.params.iter().for_each(|(_, ty)| self.ty(ty));
                function.returns.iter().for_each(|ty| self.ty(ty));
                self.expr(&function.body);
            }
            ItemKind::Source(source) => {
                self.name(&source.name, Mention::Stream);
                self.ty(&source.ty);
                self.connector(&source.connector, Side::Source);
                source.watermark.iter().for_each(|expr| self.expr(expr));
                if let Some((OnError::Into(name), _)) = &source.on_error {
                    self.name(name, Mention::Stream);
                }
            }
            ItemKind::Lookup(lookup) => {
                self.name(&lookup.name, Mention::Stream);
                self.ty(&lookup.ty);
                self.connector(&lookup.connector, Side::Lookup);
            }
            ItemKind::Stream(stream) => {
                self.name(&stream.name, Mention::Stream);
                self.pipeline(&stream.pipeline);
            }
            ItemKind::Sink(sink) => {
                self.pipeline(&sink.pipeline);
                self.connector(&sink.connector, Side::Sink);
            }
            ItemKind::Error(_) => {}
        }
    }

    fn attributes(&mut self, attributes: &'a [Attribute], of_column: bool) {
        for attribute in attributes {
            self.name(&attribute.name, |name| Mention::Attribute(name, of_column));
        }
    }

    fn columns(&mut self, columns: &'a [ast::Column]) {
        for column in columns {
            self.attributes(&column.attributes, true);
            self.add(column.name.span, Mention::Column(column));
            self.ty(&column.ty);
        }
    }

    fn ty(&mut self, ty: &'a Type) {
        match &ty.kind {
            TypeKind::Named { name, .. } => self.name(name, Mention::Type),
            TypeKind::List(item) => self.ty(item),
            TypeKind::Map(key, value) => {
                self.ty(key);
                self.ty(value);
            }
            TypeKind::Record(columns) => self.columns(columns),
            TypeKind::Error => {}
        }
    }

    fn connector(&mut self, connector: &'a Connector, side: Side) {
        let name = &connector.name.text;
        self.name(&connector.name, |name| Mention::Connector(side, name));
        for option in &connector.options {
            self.name(&option.name, |option| Mention::Option(side, name, option));
            match &option.value {
                OptionValue::Block(format, options) => {
                    self.name(format, Mention::Format);
                    for option in options {
                        self.name(&option.name, |option| Mention::FormatOption(&format.text, option));
                        self.option_value(option);
                    }
                }
                OptionValue::Expr(Expr { kind: ExprKind::Name(format), span }) if option.name.text == "format" => {
                    self.add(*span, Mention::Format(format));
                }
                _ => self.option_value(option),
            }
        }
        for stage in connector.stages.iter().flatten() {
            self.connector(&stage.connector, side);
        }
    }

    fn option_value(&mut self, option: &'a ConnectorOption) {
        match &option.value {
            OptionValue::Expr(value) | OptionValue::Every(value) | OptionValue::After(value) => self.expr(value),
            OptionValue::Block(..) | OptionValue::Error => {}
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        self.name(&pipeline.input, Mention::Stream);
        pipeline.stages.iter().for_each(|stage| self.stage(stage));
    }

    fn exprs(&mut self, exprs: &'a [Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn stage(&mut self, stage: &'a Stage) {
        self.attributes(&stage.attributes, false);
        if !holds(stage.span, self.offset) {
            return;
        }
        let word = word_of(&stage.kind);
        let start = stage.span.start;
        self.add(Span { end: start + word.len() as u32, ..stage.span }, Mention::Stage(word));
        match &stage.kind {
            StageKind::Where(expr) | StageKind::Watermark(expr) => self.expr(expr),
            StageKind::Select(items) => self.items(items),
            StageKind::Explode { list, .. } => self.expr(list),
            StageKind::Union(names) => names.iter().for_each(|name| self.name(name, Mention::Stream)),
            StageKind::Combine { others, .. } => others.iter().for_each(|name| self.name(name, Mention::Stream)),
            StageKind::Dedup { by, within, late_into, .. } => {
                self.exprs(by);
                within.iter().for_each(|expr| self.expr(expr));
                self.late(late_into);
            }
            StageKind::Aggregate(aggregate) => {
                aggregate.by.iter().for_each(|(_, key)| self.expr(key));
                self.over(aggregate.over.as_ref());
                self.late(&aggregate.late_into);
                self.items(&aggregate.columns);
            }
            StageKind::Top(top) => {
                self.expr(&top.count);
                top.by.iter().for_each(|key| self.expr(&key.value));
                self.exprs(&top.per);
                self.over(top.over.as_ref());
                self.late(&top.late_into);
            }
            StageKind::Sort(sort) => {
                sort.by.iter().for_each(|key| self.expr(&key.value));
                self.late(&sort.late_into);
            }
            StageKind::Join(join) => {
                self.name(&join.right, Mention::Stream);
                let exprs = [&join.on, &join.as_of, &join.allow_late];
                exprs.into_iter().flatten().for_each(|expr| self.expr(expr));
                self.over(join.over.as_ref());
                self.late(&join.late_into);
            }
            StageKind::Process(process) => {
                self.exprs(&process.by);
                self.name(&process.name, Mention::Operator);
                for option in &process.options {
                    self.name(&option.name, |option| Mention::OperatorOption(&process.name.text, option));
                    self.option_value(option);
                }
                for with in &process.with {
                    self.name(&with.stream, Mention::Stream);
                    self.exprs(&with.by);
                }
                process.sides.iter().for_each(|side| self.name(&side.into, Mention::Stream));
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

    fn late(&mut self, into: &'a Option<Name>) {
        into.iter().for_each(|name| self.name(name, Mention::Stream));
    }

    fn over(&mut self, over: Option<&'a ast::Over>) {
        if let Some(over) = over {
            self.name(&over.window.function, Mention::Window);
        }
    }

    fn items(&mut self, items: &'a [SelectItem]) {
        for item in items {
            match item {
                SelectItem::Column { value, .. } => self.expr(value),
                SelectItem::Rest { of: Some(of), .. } => self.expr(of),
                SelectItem::Rest { .. } | SelectItem::Except(_) | SelectItem::Error(_) => {}
            }
        }
    }

    /// Depth is limited by the parser.
    fn expr(&mut self, expr: &'a Expr) {
        if !holds(expr.span, self.offset) {
            return;
        }
        match &expr.kind {
            ExprKind::Field { base, field, .. } => {
                self.add(field.span, Mention::Value(expr));
                self.expr(base);
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::Over(over) => {
                self.call(&over.call);
                self.exprs(&over.by);
                over.order.iter().for_each(|order| self.expr(order));
            }
            ExprKind::Method { base, method, args } => {
                self.add(method.span, Mention::Value(expr));
                self.expr(base);
                self.exprs(args);
            }
            ExprKind::Format(parts) => {
                for part in parts {
                    if let FormatPart::Value(value) = part {
                        self.expr(value);
                    }
                }
            }
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Unary { operand, .. } | ExprKind::IsNull { operand, .. } => self.expr(operand),
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::In { operand, list, .. } => {
                self.expr(operand);
                self.expr(list);
            }
            ExprKind::Between { operand, low, high, .. } => [operand, low, high].into_iter().for_each(|expr| self.expr(expr)),
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|expr| self.expr(expr));
            }
            ExprKind::Match { subject, arms } => {
                self.expr(subject);
                for arm in arms {
                    arm.patterns.iter().flat_map(MatchPattern::exprs).for_each(|expr| self.expr(expr));
                    arm.guard.iter().for_each(|guard| self.expr(guard));
                    self.expr(&arm.result);
                }
            }
            ExprKind::List(items) => self.exprs(items),
            ExprKind::Record(fields) => fields.iter().for_each(|(_, value)| self.expr(value)),
            _ => {}
        }
        self.add(expr.span, Mention::Value(expr));
    }

    fn call(&mut self, call: &'a ast::Call) {
        self.name(&call.function, Mention::Function);
        for argument in &call.args {
            match &argument.value {
                ArgumentValue::Expr(value) => self.expr(value),
                ArgumentValue::Type(ty) => self.ty(ty),
            }
        }
        call.filter.iter().for_each(|filter| self.expr(filter));
    }
}

/// The word of an operator.
fn word_of(kind: &StageKind) -> &'static str {
    match kind {
        StageKind::Where(_) => "where",
        StageKind::Select(_) => "select",
        StageKind::Explode { .. } => "explode",
        StageKind::Union(_) => "union",
        StageKind::Watermark(_) => "watermark",
        StageKind::Dedup { .. } => "dedup",
        StageKind::Aggregate(_) => "aggregate",
        StageKind::Top(_) => "top",
        StageKind::Sort(_) => "sort",
        StageKind::Combine { how: ast::Combine::Intersect, .. } => "intersect",
        StageKind::Combine { .. } => "except",
        StageKind::Distinct => "distinct",
        StageKind::Join(_) => "join",
        StageKind::Process(_) => "process",
        StageKind::Final => "final",
        StageKind::Changes => "changes",
        StageKind::Rebalance => "rebalance",
        StageKind::Broadcast => "broadcast",
        StageKind::PartitionBy(_) => "partition",
        StageKind::Error => "",
    }
}
