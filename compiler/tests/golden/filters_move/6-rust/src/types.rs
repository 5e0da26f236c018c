//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Reading`, the columns in use: in.flow:6 source readings: Reading from file { path: "readings/*.csv", format: csv { header: false } }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Reading {
    pub sensor: Str,
    pub value: f64,
    pub count: i64,
}

/// Rows of `kept: select`: in.flow:19 select { sensor, share: 100 / count, count }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Kept {
    pub sensor: Str,
    pub share: i64,
    pub count: i64,
}
