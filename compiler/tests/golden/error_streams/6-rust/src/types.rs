//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// What could not be read or computed: the rows of `on error into`.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct FailedRow {
    pub source: Str,
    pub error: Str,
    pub reason: Str,
    pub origin: Option<Str>,
    pub position: Option<i64>,
    pub field: Option<Str>,
    pub value: Option<Str>,
    pub raw: Option<Str>,
    pub raw_bytes: Option<Vec<u8>>,
}

/// Rows of `Pair`, the columns in use: in.flow:13 source pairs: Pair from file { path: "pairs.csv", format: csv } on error into unread
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Pair {
    pub id: i64,
    pub a: i64,
    pub b: i64,
    pub note: Str,
}

/// Rows of `divided: select`: in.flow:15 select { id, quotient: a / b }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Divided {
    pub id: i64,
    pub quotient: i64,
}

/// Rows of `bad: select`: in.flow:17 select { source, error, raw }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Bad {
    pub source: Str,
    pub error: Str,
    pub raw: Option<Str>,
}
