//! What an operator counted.

use std::sync::Arc;

/// Counters of one operator of one subtask, since it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorReport {
    /// See `OperatorContext::uid`.
    pub uid: Arc<str>,
    /// For people.
    pub name: Arc<str>,
    /// Rows taken.
    pub rows_in: u64,
    /// Rows emitted.
    pub rows_out: u64,
    /// Rows left out because an expression had no value for them.
    pub skipped: u64,
    /// How many of these went to the stream of `on error into`.
    pub routed: u64,
    /// The first such error.
    pub first_error: Option<String>,
    /// Rows that came too late and were dropped.
    pub late: u64,
    /// Changes that were to take back a row which is not there, and were dropped.
    pub stray: u64,
    /// What a sink's writer counts by itself.
    pub sent: Option<crate::sink::WriterMetrics>,
}
