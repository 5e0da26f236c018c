//! What the rows of `on error into x` look like: the same for sources and for expressions, so that they can be united.

use std::sync::OnceLock;

use super::operation::{Changelog, StreamType};
use super::ty::{Field, Schema, Ty};

/// The columns, in the order of the fields of `operator::ErrorRow`.
pub fn columns() -> Vec<Field> {
    let optional = |name: &str, ty: Ty| Field::new(name, ty.optional());
    vec![
        // The source or the operator, as the text names it.
        Field::new("source", Ty::String),
        // In full, as a failing job would say it.
        Field::new("error", Ty::String),
        // Without what differs from row to row: rows can be counted by it.
        Field::new("reason", Ty::String),
        // The file or partition; of an expression its place in the text.
        optional("origin", Ty::String),
        // In bytes or records, as the source counts.
        optional("position", Ty::Int64),
        // The column to blame, or the expression.
        optional("field", Ty::String),
        // What stood there.
        optional("value", Ty::String),
        // The record as it came; of an expression the row as JSON.
        optional("raw", Ty::String),
        // The same where it is no text.
        optional("raw_bytes", Ty::Bytes),
    ]
}

/// A stream of such rows: it only grows, and has no event time.
pub fn error_stream() -> &'static StreamType {
    static STREAM: OnceLock<StreamType> = OnceLock::new();
    STREAM.get_or_init(|| StreamType {
        schema: Schema { name: None, fields: columns() },
        changelog: Changelog::Append,
        time: None,
    })
}
