//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Reading`, the columns in use: in.flow:8 source readings: Reading from file { path: "readings.jsonl", format: json }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Reading {
    pub sensor: Str,
    pub value: f64,
    pub day: Str,
}

/// Rows of `high: select`: in.flow:22 select { sensor }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink {
    pub sensor: Str,
}
