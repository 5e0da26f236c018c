//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Order`, the columns in use: in.flow:5 source orders: Order from file { path: "orders.jsonl", format: json } watermark placed_at - 5s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Order {
    pub id: i64,
    pub currency: Option<Str>,
    pub day: Date,
    pub amount: f64,
    pub placed_at: Timestamp,
}

/// Rows of `priced: join`: in.flow:13 left join rates as r on currency == r.currency and r.day <= day
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Priced {
    pub id: i64,
    pub amount: f64,
    pub rate: Option<f64>,
}

/// Rows of `priced: select`: in.flow:14 select { id, euros: amount / r.rate }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Priced2 {
    pub id: i64,
    pub euros: Option<f64>,
}

/// Rows of `known: join`: in.flow:16 join live as l on day == l.day and currency == l.currency
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Known {
    pub id: i64,
    pub currency: Option<Str>,
    pub rate: f64,
}

#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Rate {
    pub currency: Str,
    pub day: Date,
    pub rate: f64,
    pub note: Str,
}
