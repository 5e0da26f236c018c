//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Bid`, the columns in use: in.flow:6 source bids: Bid from file { path: "bids.jsonl", format: json } watermark at - 5s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Bid {
    pub auction: i64,
    pub bidder: Str,
    pub price: i64,
    pub discount: Option<Decimal<5, 2>>,
    pub at: Timestamp,
}

/// Rows of `beside: over`: in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Beside {
    pub auction: i64,
    pub bidder: Str,
    pub price: i64,
    pub discount: Option<Decimal<5, 2>>,
    pub at: Timestamp,
    #[flow(name = "avg over 1")]
    pub avg_over_1: f64,
    #[flow(name = "max over 1")]
    pub max_over_1: Option<i64>,
}

/// Rows of `beside: over`: in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Beside2 {
    pub auction: i64,
    pub bidder: Str,
    pub price: i64,
    pub discount: Option<Decimal<5, 2>>,
    pub at: Timestamp,
    #[flow(name = "avg over 1")]
    pub avg_over_1: f64,
    #[flow(name = "max over 1")]
    pub max_over_1: Option<i64>,
    #[flow(name = "count over 1")]
    pub count_over_1: i64,
}

/// Rows of `beside: over`: in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Beside3 {
    pub auction: i64,
    pub bidder: Str,
    pub price: i64,
    pub discount: Option<Decimal<5, 2>>,
    pub at: Timestamp,
    #[flow(name = "avg over 1")]
    pub avg_over_1: f64,
    #[flow(name = "max over 1")]
    pub max_over_1: Option<i64>,
    #[flow(name = "count over 1")]
    pub count_over_1: i64,
    #[flow(name = "lag over 1")]
    pub lag_over_1: Option<i64>,
    #[flow(name = "row_number over 1")]
    pub row_number_over_1: i64,
}

/// Rows of `beside: over`: in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Beside4 {
    pub auction: i64,
    pub bidder: Str,
    pub price: i64,
    pub discount: Option<Decimal<5, 2>>,
    pub at: Timestamp,
    #[flow(name = "avg over 1")]
    pub avg_over_1: f64,
    #[flow(name = "max over 1")]
    pub max_over_1: Option<i64>,
    #[flow(name = "count over 1")]
    pub count_over_1: i64,
    #[flow(name = "lag over 1")]
    pub lag_over_1: Option<i64>,
    #[flow(name = "row_number over 1")]
    pub row_number_over_1: i64,
    #[flow(name = "sum over 1")]
    pub sum_over_1: Option<Decimal<38, 2>>,
}

/// Rows of `beside: select`: in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Beside5 {
    pub auction: i64,
    pub at: Timestamp,
    pub mean_of_ten: f64,
    pub high: Option<i64>,
    pub in_the_hour: i64,
    pub step: i64,
    pub discounts: Option<Decimal<38, 2>>,
    pub number: i64,
    pub same: Option<i64>,
}

/// Rows of `behind: over`: in.flow:21 select { auction, next: lead(price) over (by auction), after: lead(discount, 2) over (by auct…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Behind {
    pub auction: i64,
    pub bidder: Str,
    pub price: i64,
    pub discount: Option<Decimal<5, 2>>,
    pub at: Timestamp,
    #[flow(name = "lead over 1")]
    pub lead_over_1: Option<i64>,
    #[flow(name = "lead over 2")]
    pub lead_over_2: Option<Decimal<5, 2>>,
}

/// Rows of `behind: select`: in.flow:21 select { auction, next: lead(price) over (by auction), after: lead(discount, 2) over (by auct…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Behind2 {
    pub auction: i64,
    pub next: Option<i64>,
    pub after: Option<Decimal<5, 2>>,
}
