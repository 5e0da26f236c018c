//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// `record Bid`
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Bid {
    pub auction: i64,
    pub price: i64,
    #[flow(name = "dateTime")]
    pub date_time: Timestamp,
}

/// Rows of `Event`, the columns in use: _events.flow:5 source all_events: Event from file { path: "events.jsonl.gz", format: json }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Event {
    pub bid: Option<Bid>,
}

/// Rows of `prices: select`: in.flow:6 select { auction, price }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Prices {
    pub auction: i64,
    pub price: i64,
}
