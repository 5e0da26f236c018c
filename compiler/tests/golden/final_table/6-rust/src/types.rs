//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Bid`, the columns in use: in.flow:6 source bids: Bid from file { path: "bids.jsonl", format: json } watermark at - 4s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub at: Timestamp,
}

/// Rows of `by_day: aggregate`: in.flow:10 aggregate by (auction, day: date(at)) { auction, day, bids: count(), cheap: count(where pric…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct ByDay {
    pub auction: i64,
    pub day: Date,
    pub mean: i64,
    pub highest: i64,
}

/// Rows of `by_day: select`: in.flow:22 select { auction, day, highest, mean }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink {
    pub auction: i64,
    pub day: Date,
    pub highest: i64,
    pub mean: i64,
}

/// Rows of `latest: changes`: in.flow:23 changes
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink2 {
    pub op: Str,
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub at: Timestamp,
}
