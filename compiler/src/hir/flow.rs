//! What is known of the rows between two operators while pipelines are lowered.

use std::collections::BTreeSet;

use millstream_runtime::graph::{Changelog, Field, Port, Schema, StreamType, Ty};

use super::program::NodeId;
use crate::source::Span;

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
    /// The stream had a time column once, which a `select` left out.
    pub time_dropped: bool,
    /// All rows come when the input has ended: behind `final`.
    pub at_end: bool,
    /// Where `f(..) over (..)` stands in the select that comes next, and the column that holds its value.
    pub analytic: Vec<(Span, String, Ty)>,
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
            time_dropped: false,
            at_end: false,
            analytic: Vec::new(),
        }
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

    /// Columns that could hold event time.
    pub fn timestamps(&self) -> Vec<&str> {
        self.fields().iter().filter(|field| *field.ty.required() == Ty::Timestamp).map(|field| field.name.as_str()).collect()
    }
}
