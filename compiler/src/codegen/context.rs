//! What all templates share: the job, and the things that they ask for and that get files of their own.

use std::cell::RefCell;
use std::collections::HashMap;

use millstream_runtime::graph::errors::error_stream;
use millstream_runtime::graph::{
    Expr, ExprKind, Function, JobGraph, Literal, Operation, Port, RustAggregate, RustType, Schema, Ty,
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::names::Scope;
use super::params::ParamFields;
use super::rust::RustModules;
use super::types::Types;

/// One emission.
pub(super) struct Context<'a> {
    pub(super) job: &'a JobGraph,
    pub(super) types: RefCell<Types>,
    pub(super) params: RefCell<ParamFields>,
    pub(super) patterns: RefCell<Patterns>,
    pub(super) rust: RustModules,
    /// Types besides those of called functions that cross into Rust files.
    pub(super) rust_values: RefCell<Vec<Ty>>,
    functions: HashMap<&'a str, (Ident, &'a Function)>,
    /// Functions that were called, in the order of their first call.
    called: RefCell<Vec<&'a str>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(job: &'a JobGraph, rust: RustModules) -> Self {
        let mut names = Scope::default();
        let functions =
            job.functions.iter().map(|function| (function.name.as_str(), (names.value(&function.name), function))).collect();
        let cx = Context {
            job,
            types: RefCell::default(),
            params: RefCell::default(),
            patterns: RefCell::default(),
            rust,
            rust_values: RefCell::default(),
            functions,
            called: RefCell::default(),
        };
        cx.declare_rows();
        cx
    }

    /// Names the structs before anybody asks: records by their names, the rest by the operator that makes the rows.
    fn declare_rows(&self) {
        for id in self.job.topological() {
            let vertex = self.job.vertex(id);
            if matches!(vertex.operation, Operation::Source(_))
                && self.job.outputs(id).iter().any(|(_, edge)| edge.port == Port::Error)
                || matches!(vertex.operation, Operation::Errors)
            {
                let doc = "What could not be read or computed: the rows of `on error into`.";
                self.types.borrow_mut().declare(&error_stream().schema, "failed row", doc);
            }
            if matches!(vertex.operation, Operation::Sink(_)) {
                continue;
            }
            let schema = &vertex.output.schema;
            let item = vertex.uid.split('/').next().unwrap_or_default();
            let doc = match &schema.name {
                Some(name) => format!("Rows of `{name}`, the columns in use: {}", super::doc::origin_text(&vertex.origin)),
                None => format!("Rows of `{}`: {}", vertex.name, super::doc::origin_text(&vertex.origin)),
            };
            self.types.borrow_mut().declare(schema, item, &doc);
        }
    }

    /// A literal of a required type.
    pub(super) fn literal(&self, literal: &Literal, ty: &Ty) -> TokenStream {
        match (literal, ty.required()) {
            (Literal::String(value), Ty::Enum(of)) => self.types.borrow_mut().enum_value(of, value),
            _ => super::literal::tokens(literal, ty.required()),
        }
    }

    /// The type of the rows, without the `Change` around rows of tables.
    pub(super) fn row(&self, schema: &Schema) -> TokenStream {
        self.types.borrow_mut().row(schema)
    }

    /// A function of the user's own, and how it is called. Functions that nobody asks for are not printed.
    pub(super) fn function(&self, name: &str) -> Option<(Ident, &'a Function)> {
        let (ident, function) = self.functions.get(name)?;
        let mut called = self.called.borrow_mut();
        if !called.contains(&function.name.as_str()) {
            called.push(&function.name);
        }
        Some((ident.clone(), function))
    }

    /// The user's type that a record or enum is, and its module.
    pub(super) fn rust_type(&self, ty: &Ty) -> Option<(usize, &'a RustType)> {
        let modules = self.job.rust.iter().enumerate();
        modules.flat_map(|(number, module)| module.types.iter().map(move |of| (number, of))).find(|(_, of)| of.ty == *ty)
    }

    /// The struct of a connector of the user's own.
    pub(super) fn own_connector(&self, name: &str) -> Option<TokenStream> {
        let modules = self.job.rust.iter().enumerate();
        let mut own = modules.flat_map(|(number, module)| module.connectors.iter().map(move |of| (number, of)));
        own.find(|(_, of)| of.spec.name == name).map(|(number, of)| self.rust.path(number, &of.path))
    }

    /// Whether a connector of the user's own takes the rows of streams as they are.
    pub(super) fn takes_plain_rows(&self, name: &str) -> bool {
        self.job.rust.iter().flat_map(|module| &module.connectors).any(|of| of.spec.name == name && of.plain_rows)
    }

    /// The accumulator of an aggregate of the user's own.
    pub(super) fn own_aggregate(&self, name: &str) -> Option<(TokenStream, &'a RustAggregate)> {
        let modules = self.job.rust.iter().enumerate();
        let mut own = modules.flat_map(|(number, module)| module.aggregates.iter().map(move |of| (number, of)));
        own.find(|(_, of)| of.name == name).map(|(number, of)| (self.rust.path(number, &of.path), of))
    }

    /// The called function of this number.
    pub(super) fn called(&self, number: usize) -> Option<(Ident, &'a Function)> {
        let name = *self.called.borrow().get(number)?;
        self.functions.get(name).map(|(ident, function)| (ident.clone(), *function))
    }

    /// Whether a function, or one that it calls, uses a param or an environment variable.
    pub(super) fn function_uses_params(&self, name: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open: Vec<&Function> = self.functions.get(name).map(|(_, function)| *function).into_iter().collect();
        let mut found = false;
        while let Some(function) = open.pop() {
            if seen.contains(&function.name.as_str()) {
                continue;
            }
            seen.push(&function.name);
            function.body.walk(&mut |expr: &Expr| match &expr.kind {
                ExprKind::Param(_) | ExprKind::Env(_) => found = true,
                ExprKind::CallUser { function, .. } => {
                    open.extend(self.functions.get(function.as_str()).map(|(_, function)| *function));
                }
                _ => {}
            });
        }
        found
    }
}

/// Regular expressions that stand in the text: each is compiled once per process.
#[derive(Default)]
pub(super) struct Patterns {
    list: Vec<String>,
}

impl Patterns {
    /// The path of the static that holds a pattern.
    pub(super) fn name(&mut self, pattern: &str) -> TokenStream {
        let index = self.list.iter().position(|known| known == pattern).unwrap_or_else(|| {
            self.list.push(pattern.to_owned());
            self.list.len() - 1
        });
        let name = format_ident!("PATTERN_{}", index + 1);
        quote!(crate::patterns::#name)
    }

    /// `patterns.rs`, or nothing.
    pub(super) fn render(&self) -> Option<TokenStream> {
        let statics = self.list.iter().enumerate().map(|(index, pattern)| {
            let name = format_ident!("PATTERN_{}", index + 1);
            quote!(pub static #name: LazyLock<Regex> = LazyLock::new(|| Regex::literal(#pattern));)
        });
        (!self.list.is_empty()).then(|| {
            quote! {
                #![doc = " Regular expressions of this job, each compiled when it is first used."]
                use std::sync::LazyLock;
                use millstream::codegen::*;
                #(#statics)*
            }
        })
    }
}
