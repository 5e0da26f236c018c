//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Bid`, the columns in use: in.flow:12 source bids: Bid from file { path: "bids.jsonl" } watermark at - 5s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub price: f64,
    pub channel: Option<Str>,
    pub at: Timestamp,
}

/// Rows of `best: top`: in.flow:14 top 3 by price desc, at per auction with rank as rank
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Best {
    pub auction: i64,
    pub bidder: i64,
    pub price: f64,
    pub channel: Option<Str>,
    pub at: Timestamp,
    pub rank: i64,
}

/// Rows of `bidders: aggregate`: in.flow:19 aggregate by bidder { bidder, bids: count(), most: max(price) }
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Bidders {
    pub bidder: i64,
    pub bids: i64,
    pub most: f64,
}

/// Rows of `keenest: top`: in.flow:20 top 2 by bids desc with rank as place
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Keenest {
    pub bidder: i64,
    pub bids: i64,
    pub most: f64,
    pub place: i64,
}

/// Rows of `both: aggregate`: in.flow:22 aggregate { largest: max(bids), first: first(bidder), all: list(bidder) }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Both {
    pub largest: Option<i64>,
    pub first: Option<i64>,
    pub all: Vec<i64>,
}

/// Rows of `loud: select`: in.flow:25 select { bidder }
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Loud {
    pub bidder: i64,
}

/// Rows of `quiet: side`: in.flow:24 except loud
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Quiet {
    pub bidder: i64,
    pub second: bool,
}

/// Rows of `highest: select`: in.flow:31 select { auction, price }
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Sink {
    pub auction: i64,
    pub price: f64,
}

/// Rows of `bidders: changes`: in.flow:36 changes
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink2 {
    pub op: Str,
    pub bidder: i64,
    pub bids: i64,
    pub most: f64,
}

/// Rows of `both: changes`: in.flow:37 changes
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink3 {
    pub op: Str,
    pub largest: Option<i64>,
    pub first: Option<i64>,
    pub all: Vec<i64>,
}
