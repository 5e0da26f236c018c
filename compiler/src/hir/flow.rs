//! What is known of the rows between two operators while pipelines are lowered.

use std::collections::BTreeSet;
use std::rc::Rc;

use millstream_runtime::graph::{Changelog, Field, Lookup, Port, Schema, StreamType, Ty};

use super::program::NodeId;
use crate::source::Span;
use crate::syntax::ast;

/// The rows that a stream's name, or the pipeline so far, stands for.
#[derive(Clone, Debug)]
pub struct Flow {
    pub node: NodeId,
    pub port: Port,
    pub ty: StreamType,
    /// Columns that a `where x is not null` has seen to: required from here on, whatever the schema says.
    pub not_null: BTreeSet<String>,
    /// A mistake lies behind, so the columns are not known: every name is a column of unknown type.
    pub unknown: bool,
    /// For messages.
    pub name: String,
    /// Why this is a table.
    pub table_cause: Option<(Span, String)>,
    /// What joined rows, and those before them, are called: `p` in `p.order_id`.
    pub aliases: Vec<Alias>,
    /// Columns of joined rows whose name was taken: they go no further than this pipeline.
    pub hidden: Vec<Hidden>,
    /// The stream had a time column once, which a `select` left out.
    pub time_dropped: bool,
    /// All rows come when the input has ended: behind `final`.
    pub at_end: bool,
    /// Where `f(..) over (..)` and calls of async functions stand in the select that comes next, and the columns that hold their
    /// values. An error: it was wrong, which has been reported.
    pub answers: Vec<(Span, String, Ty)>,
    /// These are no rows that come: they are looked up.
    pub lookup: Option<Rc<Lookup>>,
}

/// A name for the columns of one side of a join.
#[derive(Clone, Debug)]
pub struct Alias {
    pub name: String,
    /// What a column is called there, and in the row.
    pub columns: Vec<(String, String)>,
}

/// A column that has no name of its own.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// In the row: `r.currency`.
    pub column: String,
    /// The column that has the name: `currency`. None: it has none (`window.start`).
    pub twin: Option<String>,
    /// Nothing is lost without it.
    pub spare: bool,
}

impl Alias {
    /// What one of its columns is called in the row.
    pub fn column(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, column)| column.as_str())
    }
}

impl Flow {
    /// Rows after a mistake: nothing about them is known, and nothing is reported.
    pub fn broken(name: &str) -> Flow {
        Flow {
            node: NodeId(u32::MAX),
            port: Port::Main,
            ty: StreamType { schema: Schema::default(), changelog: Changelog::Append, time: None },
            not_null: BTreeSet::new(),
            unknown: true,
            name: name.to_owned(),
            table_cause: None,
            aliases: Vec::new(),
            hidden: Vec::new(),
            time_dropped: false,
            at_end: false,
            answers: Vec::new(),
            lookup: None,
        }
    }

    /// The rows are others from here on: what was known of their columns is not.
    pub fn new_rows(&mut self) {
        self.not_null.clear();
        self.aliases.clear();
        self.hidden.clear();
    }

    pub fn fields(&self) -> &[Field] {
        &self.ty.schema.fields
    }

    pub fn columns(&self) -> Vec<&str> {
        self.fields().iter().map(|field| field.name.as_str()).collect()
    }

    pub fn is_table(&self) -> bool {
        matches!(self.ty.changelog, Changelog::Table { .. })
    }

    /// The type of a column as expressions see it: required where a filter has seen to it.
    pub fn column_type(&self, name: &str) -> Option<Ty> {
        let field = self.ty.schema.field(name)?;
        Some(match self.not_null.contains(name) {
            true => field.ty.required().clone(),
            false => field.ty.clone(),
        })
    }

    /// The alias of this name; a column of the name goes before it.
    pub fn alias(&self, name: &str) -> Option<&Alias> {
        if self.ty.schema.field(name).is_some() {
            return None;
        }
        self.aliases.iter().rev().find(|alias| alias.name == name)
    }

    /// The column that an expression is: `currency`, `r.currency`.
    pub fn column_of<'f>(&'f self, expr: &'f ast::Expr) -> Option<&'f str> {
        match &expr.kind {
            ast::ExprKind::Name(name) => self.ty.schema.field(name).map(|_| name.as_str()),
            ast::ExprKind::Field { base, field, .. } => match &base.kind {
                ast::ExprKind::Name(name) => self.alias(name)?.column(&field.text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Columns that could hold event time.
    pub fn timestamps(&self) -> Vec<&str> {
        self.fields().iter().filter(|field| *field.ty.required() == Ty::Timestamp).map(|field| field.name.as_str()).collect()
    }
}
