//! Where a column comes from: followed back through operators, to the record or the expression that makes it.

use millstream_runtime::graph::Ty;

use super::analysis::Analysis;
use super::rust_docs;
use crate::hir::facts::Value;
use crate::rust::TypeKind as RustKind;
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind, ItemKind, Pipeline, SelectItem, StageKind, TypeKind};

/// Where a column is named first, and what is said of it there.
#[derive(Clone, Debug)]
pub struct Origin {
    pub span: Span,
    pub doc: Option<String>,
}

/// Streams may be read in a circle, which is a mistake.
const MOST: usize = 100;

impl Analysis {
    /// What a typed expression is.
    pub(super) fn value(&self, span: Span) -> Option<&Value> {
        self.facts.values.iter().rev().find(|value| value.span == span)
    }

    /// Where the column that an expression names comes from.
    pub(super) fn column(&self, expr: &Expr) -> Option<Origin> {
        let (pipeline, stage) = self.around(expr.span)?;
        match &expr.kind {
            ExprKind::Name(name) => self.before(pipeline, stage + 1, name, MOST),
            ExprKind::Field { base, field, .. } => {
                if let Some(value) = self.value(base.span) {
                    let Ty::Record(schema) = value.ty.required() else { return None };
                    return self.of_record(schema.name.as_deref()?, &field.text);
                }
                let ExprKind::Name(alias) = &base.kind else { return None };
                let joined = pipeline.stages.iter().take(stage + 1).rev().find_map(|stage| match &stage.kind {
                    StageKind::Join(join) if join.alias.as_ref().unwrap_or(&join.right).text == *alias => Some(&join.right),
                    _ => None,
                });
                let own = pipeline.alias.as_ref().unwrap_or(&pipeline.input);
                let stream = joined.or_else(|| (own.text == *alias).then_some(&pipeline.input))?;
                self.of_stream(&stream.text, &field.text, MOST)
            }
            _ => None,
        }
    }

    /// The pipeline and the operator in which a place is.
    fn around(&self, span: Span) -> Option<(&Pipeline, usize)> {
        self.items().find_map(|item| {
            let pipeline = match &item.kind {
                ItemKind::Stream(stream) => &stream.pipeline,
                ItemKind::Sink(sink) => &sink.pipeline,
                _ => return None,
            };
            let inside =
                |stage: &ast::Stage| stage.span.file == span.file && stage.span.start <= span.start && span.end <= stage.span.end;
            Some((pipeline, pipeline.stages.iter().position(inside)?))
        })
    }

    /// A column of a stream.
    fn of_stream(&self, stream: &str, column: &str, most: usize) -> Option<Origin> {
        let (item, _) = self.stream(stream)?;
        match &item.kind {
            ItemKind::Source(source) => self.of_type(&source.ty, column),
            ItemKind::Lookup(lookup) => self.of_type(&lookup.ty, column),
            ItemKind::Stream(own) if own.name.text == stream => {
                self.before(&own.pipeline, own.pipeline.stages.len(), column, most.checked_sub(1)?)
            }
            _ => None,
        }
    }

    fn of_type(&self, ty: &ast::Type, column: &str) -> Option<Origin> {
        match &ty.kind {
            TypeKind::Named { name, .. } => self.of_record(&name.text, column),
            TypeKind::Record(columns) => {
                let found = columns.iter().find(|known| known.name.text == column)?;
                Some(Origin { span: found.name.span, doc: found.doc.clone() })
            }
            _ => None,
        }
    }

    /// A column of a record, of the language or of a Rust file.
    pub(super) fn of_record(&self, record: &str, column: &str) -> Option<Origin> {
        let of_flow = self.items().find_map(|item| match &item.kind {
            ItemKind::Record(known) if known.name.text == record => Some(known),
            _ => None,
        });
        if let Some(found) = of_flow.and_then(|known| known.columns.iter().find(|known| known.name.text == column)) {
            return Some(Origin { span: found.name.span, doc: found.doc.clone() });
        }
        let known = self.session.rust().iter().flat_map(|file| &file.types).find(|known| known.name.text == record)?;
        let RustKind::Record(members) = &known.kind else { return None };
        let member = members.iter().find(|member| member.name.text == column)?;
        let doc = rust_docs::above(self.text_of(member.name.span.file), member.name.span.start);
        Some(Origin { span: member.name.span, doc })
    }

    /// A column as the operator of this number gets it.
    fn before(&self, pipeline: &Pipeline, stages: usize, column: &str, most: usize) -> Option<Origin> {
        let here = |span: Span| Some(Origin { span, doc: None });
        // The operator itself names columns, too: a joined side.
        for (index, stage) in pipeline.stages.iter().enumerate().take(stages).rev() {
            let own = index + 1 == stages;
            match &stage.kind {
                StageKind::Join(join) => {
                    let left = self.before(pipeline, index, column, most.checked_sub(1)?);
                    return left.or_else(|| self.of_stream(&join.right.text, column, most));
                }
                _ if own && most == MOST => {}
                StageKind::Select(items) => match made(items, column) {
                    Made::Here(span) => return here(span),
                    Made::Before => {}
                    Made::Not => return None,
                },
                StageKind::Aggregate(aggregate) => {
                    let key = aggregate.by.iter().filter_map(|(name, _)| name.as_ref()).find(|name| name.text == column);
                    match made(&aggregate.columns, column) {
                        Made::Here(span) => return here(span),
                        Made::Before if key.is_some() => return key.and_then(|key| here(key.span)),
                        Made::Before => {}
                        Made::Not => return None,
                    }
                }
                StageKind::Explode { name, .. } if name.text == column => return here(name.span),
                StageKind::Top(top) if top.rank.as_ref().is_some_and(|rank| rank.text == column) => {
                    return top.rank.as_ref().and_then(|rank| here(rank.span));
                }
                StageKind::Process(process) => {
                    let operator = self.facts.operators.get(&process.name.text)?;
                    let Ty::Record(schema) = &operator.output else { return None };
                    return self.of_record(schema.name.as_deref()?, column);
                }
                _ => {}
            }
        }
        self.of_stream(&pipeline.input.text, column, most)
    }
}

/// What a block does to a column.
enum Made {
    /// It is named here.
    Here(Span),
    /// It comes from before under this name.
    Before,
    Not,
}

fn made(items: &[SelectItem], column: &str) -> Made {
    let mut rest = false;
    for item in items {
        match item {
            SelectItem::Column { name: Some(name), value } if name.text == column => {
                return match &value.kind {
                    ExprKind::Name(own) if own == column => Made::Before,
                    _ => Made::Here(name.span),
                };
            }
            SelectItem::Column { name: None, value } => match &value.kind {
                ExprKind::Name(own) if own == column => return Made::Before,
                ExprKind::Field { field, .. } if field.text == column => return Made::Here(field.span),
                _ => {}
            },
            SelectItem::Rest { .. } => rest = true,
            _ => {}
        }
    }
    if rest { Made::Before } else { Made::Not }
}
