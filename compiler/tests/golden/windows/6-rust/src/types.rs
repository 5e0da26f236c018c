//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Click`, the columns in use: in.flow:6 source clicks: Click from file { path: "clicks.jsonl", format: json } watermark at - 5s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Click {
    pub user: Str,
    pub page: Str,
    pub labels: Option<Map<Str, i64>>,
    pub at: Timestamp,
}

/// Rows of `tumbling: aggregate`: in.flow:8 aggregate by page over tumbling(1h, offset: 15m) { page, start: window.start, clicks: count(…
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Tumbling {
    pub page: Str,
    pub start: Timestamp,
    pub clicks: i64,
}

/// Rows of `sliding: aggregate`: in.flow:9 aggregate by page over sliding(1h, 5m) { page, end: window.end, clicks: count() }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sliding {
    pub page: Str,
    pub end: Timestamp,
    pub clicks: i64,
}

/// Rows of `session: aggregate`: in.flow:10 aggregate by user over session(10m) { user, start: window.start, end: window.end, clicks: co…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Session {
    pub user: Str,
    pub start: Timestamp,
    pub end: Timestamp,
    pub clicks: i64,
}

/// Rows of `counted: aggregate`: in.flow:12 aggregate by user over count(100) { user, clicks: count(), last: max(at) }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Counted {
    pub user: Str,
    pub clicks: i64,
    pub last: Timestamp,
}

/// Rows of `by_clock: aggregate`: in.flow:13 aggregate by user over tumbling(10s) processing_time { user, clicks: count() }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct ByClock {
    pub user: Str,
    pub clicks: i64,
}

#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct LabelledLabel {
    pub key: Str,
    pub value: i64,
}

/// Rows of `labelled: explode`: in.flow:16 explode labels as label
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Labelled {
    pub user: Str,
    pub page: Str,
    pub labels: Option<Map<Str, i64>>,
    pub at: Timestamp,
    pub label: LabelledLabel,
}

/// Rows of `labelled: aggregate`: in.flow:17 aggregate by (key: label.key) over calendar(month, zone: "Europe/Berlin") { key, from: wind…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Labelled2 {
    pub key: Str,
    pub from: Timestamp,
    pub total: i64,
}

/// Rows of `days: aggregate`: in.flow:20 aggregate by page over tumbling(1d) { page, day: window.start, clicks: sum(clicks) }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Days {
    pub page: Str,
    pub day: Timestamp,
    pub clicks: i64,
}
