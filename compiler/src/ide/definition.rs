//! Where the name under the cursor is defined: in this file, in one that it uses, or in Rust.

use super::analysis::Analysis;
use super::mentions::{self, Mention};
use crate::hir::facts::ValueKind;
use crate::source::{FileId, Span};
use crate::syntax::ast::{self, ExprKind, ItemKind, UseKind};

impl Analysis {
    /// The place where the name at an offset of the file that was opened is defined.
    pub fn definition(&self, offset: u32) -> Option<Span> {
        match mentions::at(self.file()?, offset)?.what {
            Mention::Stream(name) => self.stream(name).map(|(_, span)| span),
            Mention::Type(name) => self.type_place(name),
            Mention::Function(name) => self.function_place(name),
            Mention::Param(name) => self.param_place(name),
            Mention::Value(expr) => self.value_place(expr),
            Mention::Connector(_, name) => {
                self.facts.connectors.iter().find(|(spec, _)| spec.name == name).map(|(_, span)| *span)
            }
            Mention::Option(_, connector, name) => self.option_place(connector, name),
            Mention::Operator(name) => self.facts.operators.get(name).map(|operator| operator.span),
            Mention::OperatorOption(operator, name) => self.operator_option_place(operator, name),
            Mention::Column(column) => Some(column.name.span),
            Mention::File(used) => self.used(used).map(|file| Span::new(file, 0, 0)),
            Mention::Format(_)
            | Mention::FormatOption(..)
            | Mention::Setting(_)
            | Mention::Attribute(..)
            | Mention::Stage(_)
            | Mention::Window(_)
            | Mention::Job(_) => None,
        }
    }

    /// A record or an enum.
    pub(super) fn type_place(&self, name: &str) -> Option<Span> {
        let own = self.named(name, |kind| match kind {
            ItemKind::Record(record) => Some(&record.name),
            ItemKind::Enum(node) => Some(&node.name),
            _ => None,
        });
        let rust = || self.session.rust().iter().flat_map(|file| &file.types).find(|item| item.name.text == name);
        own.map(|(_, span)| span).or_else(|| rust().map(|item| item.name.span))
    }

    fn function_place(&self, name: &str) -> Option<Span> {
        let own = self.named(name, |kind| match kind {
            ItemKind::Function(function) => Some(&function.name),
            _ => None,
        });
        let rust = || self.session.rust().iter().flat_map(|file| &file.functions).find(|item| item.name.text == name);
        let aggregate = || self.facts.aggregates.iter().find(|(spec, _)| spec.name == name).map(|(_, span)| *span);
        own.map(|(_, span)| span).or_else(|| rust().map(|item| item.name.span)).or_else(aggregate)
    }

    fn param_place(&self, name: &str) -> Option<Span> {
        let own = self.named(name, |kind| match kind {
            ItemKind::Param(param) => Some(&param.name),
            _ => None,
        });
        own.map(|(_, span)| span)
    }

    fn value_place(&self, expr: &ast::Expr) -> Option<Span> {
        let kind = self.value(expr.span).map(|value| value.kind);
        match (&expr.kind, kind) {
            (ExprKind::Name(name), Some(ValueKind::Param)) => self.param_place(name),
            (ExprKind::Name(name), Some(ValueKind::Local)) => self.items().find_map(|item| match &item.kind {
                ItemKind::Function(function) if holds(item.span, expr.span) => {
                    function.params.iter().find(|(param, _)| param.text == *name).map(|(param, _)| param.span)
                }
                _ => None,
            }),
            _ => self.column(expr).map(|origin| origin.span),
        }
    }

    /// A field of the struct of a connector.
    pub(super) fn option_place(&self, connector: &str, name: &str) -> Option<Span> {
        let mut own = self.session.rust().iter().flat_map(|file| &file.connectors);
        let item = own.find(|item| item.name.text == connector)?;
        item.options.iter().find(|option| option.name.text == name).map(|option| option.name.span)
    }

    /// A field of the struct of an operator.
    pub(super) fn operator_option_place(&self, operator: &str, name: &str) -> Option<Span> {
        let mut structs = self.session.rust().iter().flat_map(|file| &file.structs);
        let item = structs.find(|item| item.name.text == operator)?;
        item.fields.iter().find(|(field, ..)| field.text == name).map(|(field, ..)| field.span)
    }

    /// The file that an item uses; of a crate, its root.
    pub(super) fn used(&self, used: &ast::Use) -> Option<FileId> {
        if used.kind == UseKind::Crate {
            let mut of_crate = self.session.rust().iter();
            let found = |file: &&crate::rust::RustFile| {
                file.of_crate.as_ref().is_some_and(|of| of.name == used.path && of.within.is_empty())
            };
            return of_crate.find(found).map(|file| file.id);
        }
        let user = &self.session.sources().file(used.path_span.file).path;
        let path = crate::session::normal(&crate::session::beside(user, &used.path));
        let mut files = self.session.sources().files();
        files.find(|(_, file)| crate::session::normal(&file.path) == path).map(|(id, _)| id)
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
