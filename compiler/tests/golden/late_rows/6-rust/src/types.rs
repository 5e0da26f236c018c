//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Click`, the columns in use: in.flow:6 source clicks: Click from file { path: "clicks.jsonl", format: json } watermark at - 5s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Click {
    pub user: Str,
    pub page: Str,
    pub at: Timestamp,
}

/// Rows of `per_minute: aggregate`: in.flow:10 aggregate by user over tumbling(1m) allow 30s late late into late_clicks { user, minute: windo…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct PerMinute {
    pub user: Str,
    pub minute: Timestamp,
    pub clicks: i64,
}

/// Rows of `leaders: select`: in.flow:23 select { page }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink {
    pub page: Str,
}
