//! Values and rows.

use std::collections::BTreeMap;

/// A value of any type that the tests use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i128),
    String(String),
    Timestamp(i64),
    Duration(i64),
    Record(Row),
    List(Vec<Value>),
}

/// Columns by name.
pub type Row = BTreeMap<String, Value>;

/// A row of these columns.
pub fn row<const N: usize>(columns: [(&str, Value); N]) -> Row {
    columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
