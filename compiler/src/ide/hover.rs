//! What is shown of the name under the cursor: its type, and its docs.

use millstream_runtime::functions;
use millstream_runtime::graph::Ty;
use millstream_runtime::{aggregates, formats};

use super::analysis::Analysis;
use super::mentions::{self, Mention};
use super::{describe, rust_docs, words};
use crate::hir::facts::ValueKind;
use crate::source::Span;
use crate::syntax::ast::{self, ItemKind, UseKind};

/// Something to show of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub span: Span,
    pub markdown: String,
}

impl Analysis {
    /// What is known of the name at an offset of the file that was opened.
    pub fn hover(&self, offset: u32) -> Option<Hover> {
        let found = mentions::at(self.file()?, offset)?;
        let markdown = self.describe(found.what)?;
        Some(Hover { span: found.span, markdown })
    }

    fn describe(&self, what: Mention<'_>) -> Option<String> {
        match what {
            Mention::Stream(name) => self.describe_stream(name),
            Mention::Type(name) => self.describe_type(name),
            Mention::Function(name) => self.describe_function(name),
            Mention::Param(name) => self.describe_param(name),
            Mention::Value(expr) => self.describe_value(expr),
            Mention::Connector(side, name) => Some(describe::connector(self.connector(name)?, side)),
            Mention::Option(side, connector, name) => {
                let spec = self.connector(connector)?;
                let (options, formats) = describe::side(spec, side)?;
                if name == "format" && !formats.is_empty() {
                    let code = format!("format: {} = {}", formats.join(" | "), formats[0]);
                    return Some(describe::page(&code, "How rows look as bytes."));
                }
                options.iter().find(|option| option.name == name).map(describe::option)
            }
            Mention::Format(name) => {
                let format = formats::find(name)?;
                Some(describe::page(&format!("format: {name} {{ .. }}"), format.doc))
            }
            Mention::FormatOption(format, name) => {
                formats::find(format)?.options.iter().find(|option| option.name == name).map(describe::option)
            }
            Mention::Operator(name) => self.describe_operator(name),
            Mention::OperatorOption(operator, name) => {
                let ty = self.operator_option(operator, name)?;
                let doc = self.operator_option_place(operator, name).and_then(|span| self.doc_above(span));
                Some(describe::page(&format!("{name}: {ty}"), &doc.unwrap_or_default()))
            }
            Mention::Column(column) => {
                let ty = self.session.sources().text(column.ty.span);
                Some(describe::page(&format!("{}: {ty}", column.name.text), column.doc.as_deref().unwrap_or_default()))
            }
            Mention::Setting(name) => words::find(words::SETTINGS, name).map(describe::word),
            Mention::Attribute(name, true) => words::find(words::COLUMN_ATTRIBUTES, name).map(describe::word),
            Mention::Attribute(name, false) => words::find(words::ATTRIBUTES, name).map(describe::word),
            Mention::Stage(name) => words::find(words::STAGES, name).map(describe::word),
            Mention::Window(name) => words::find(words::WINDOWS, name).map(describe::word),
            Mention::File(used) => self.describe_use(used),
            Mention::Job(name) => {
                let (item, _) = self.named(name, |kind| match kind {
                    ItemKind::Job(job) => Some(&job.name),
                    _ => None,
                })?;
                Some(describe::page(&format!("job {name}"), item.doc.as_deref().unwrap_or_default()))
            }
        }
    }

    pub(super) fn describe_stream(&self, name: &str) -> Option<String> {
        let rows = self.facts.streams.get(name)?;
        let (word, doc) = match self.stream(name) {
            Some((item, _)) => match &item.kind {
                ItemKind::Source(own) if own.name.text == name => ("source", item.doc.as_deref()),
                ItemKind::Lookup(_) => ("lookup", item.doc.as_deref()),
                ItemKind::Stream(own) if own.name.text == name => ("stream", item.doc.as_deref()),
                // Of a clause.
                _ => ("stream", None),
            },
            None => ("stream", None),
        };
        Some(describe::rows(word, name, rows, doc.unwrap_or_default()))
    }

    pub(super) fn describe_type(&self, name: &str) -> Option<String> {
        let ty = self.facts.types.get(name)?;
        let doc = self.type_doc(name).unwrap_or_default();
        Some(describe::named_type(name, ty, &doc, |column| self.of_record(name, column).and_then(|origin| origin.doc)))
    }

    fn type_doc(&self, name: &str) -> Option<String> {
        let item = self.items().find(|item| match &item.kind {
            ItemKind::Record(record) => record.name.text == name,
            ItemKind::Enum(node) => node.name.text == name,
            _ => false,
        });
        match item {
            Some(item) => item.doc.clone(),
            None => self.doc_above(self.type_place(name)?),
        }
    }

    pub(super) fn describe_function(&self, name: &str) -> Option<String> {
        if let Some(own) = self.facts.functions.get(name) {
            let doc = self.function_doc(name).unwrap_or_default();
            return Some(describe::page(&describe::signature(name, own), &doc));
        }
        if let Some((spec, _)) = self.facts.aggregates.iter().find(|(spec, _)| spec.name == name) {
            return Some(describe::aggregate(spec));
        }
        let function = functions::find(name).map(describe::function);
        let aggregate = aggregates::find(name).or_else(|| aggregates::find_analytic(name)).map(describe::aggregate);
        match (function, aggregate) {
            (Some(function), Some(aggregate)) => Some(format!("{aggregate}\n\n{function}")),
            (function, aggregate) => function.or(aggregate).or_else(|| words::find(words::OPERANDS, name).map(describe::word)),
        }
    }

    fn function_doc(&self, name: &str) -> Option<String> {
        let item = self.items().find(|item| matches!(&item.kind, ItemKind::Function(own) if own.name.text == name));
        if let Some(item) = item {
            return item.doc.clone();
        }
        self.session.rust().iter().flat_map(|file| &file.functions).find(|own| own.name.text == name)?.doc.clone()
    }

    pub(super) fn describe_param(&self, name: &str) -> Option<String> {
        let ty = self.facts.params.get(name)?;
        let item = self.items().find(|item| matches!(&item.kind, ItemKind::Param(own) if own.name.text == name))?;
        let ItemKind::Param(param) = &item.kind else { return None };
        let default =
            param.default.as_ref().map_or(String::new(), |value| format!(" = {}", self.session.sources().text(value.span)));
        Some(describe::page(&format!("param {name}: {ty}{default}"), item.doc.as_deref().unwrap_or_default()))
    }

    fn describe_value(&self, expr: &ast::Expr) -> Option<String> {
        let value = self.value(expr.span)?;
        if value.ty == Ty::Error {
            return None;
        }
        let text = match &expr.kind {
            ast::ExprKind::Name(name) if value.kind == ValueKind::Param => return self.describe_param(name),
            ast::ExprKind::Name(name) => name,
            ast::ExprKind::Field { field, .. } => &field.text,
            // Literals say what they are.
            ast::ExprKind::Call(_) | ast::ExprKind::Error => return None,
            _ => self.session.sources().text(expr.span),
        };
        let doc = self.column(expr).and_then(|origin| origin.doc).unwrap_or_default();
        Some(describe::page(&format!("{}: {}", short(text), value.ty), &doc))
    }

    pub(super) fn describe_operator(&self, name: &str) -> Option<String> {
        let operator = self.facts.operators.get(name)?;
        let mut code = format!("process {name}");
        if !operator.options.is_empty() {
            let options: Vec<String> = operator.options.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            code.push_str(&format!(" {{ {} }}", options.join(", ")));
        }
        Some(describe::page(&code, &self.doc_above(operator.span).unwrap_or_default()))
    }

    pub(super) fn operator_option(&self, operator: &str, name: &str) -> Option<&Ty> {
        self.facts.operators.get(operator)?.options.iter().find(|(known, _)| known == name).map(|(_, ty)| ty)
    }

    fn describe_use(&self, used: &ast::Use) -> Option<String> {
        let file = self.used(used)?;
        let path = &self.session.sources().files().find(|(id, _)| *id == file)?.1.path;
        let mut text = match used.kind {
            UseKind::Flow => format!("`{path}`"),
            UseKind::Rust | UseKind::Crate => format!("Rust: `{path}`"),
        };
        if let Some(rust) = self.session.rust().iter().find(|rust| rust.id == file) {
            let types = rust.types.iter().map(|item| format!("record or enum `{}`", item.name.text));
            let functions = rust.functions.iter().map(|item| format!("function `{}`", item.name.text));
            let operators = rust.operators.iter().map(|item| format!("operator `{}`", item.name));
            let aggregates = rust.aggregates.iter().map(|item| format!("aggregate `{}`", item.name.text));
            let connectors = rust.connectors.iter().map(|item| format!("connector `{}`", item.name.text));
            for line in types.chain(functions).chain(operators).chain(aggregates).chain(connectors) {
                text.push_str(&format!("\n- {line}"));
            }
        }
        Some(text)
    }

    /// The doc comment above a place in a Rust file.
    pub(super) fn doc_above(&self, span: Span) -> Option<String> {
        rust_docs::above(self.text_of(span.file), span.start)
    }
}

/// One line, of not too many characters.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
