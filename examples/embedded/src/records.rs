//! The rows of the pipeline, with where they come from and go.

use millstream::prelude::*;

#[derive(Clone, Debug, Record, Source)]
#[source(name = orders, from = channel { capacity: 100 }, watermark = at - 5s)]
pub struct Order {
    pub customer: String,
    pub amount: Decimal<10, 2>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Record, Sink)]
#[sink(of = revenue, into = channel {})]
pub struct Revenue {
    pub customer: String,
    pub minute: Timestamp,
    pub orders: i64,
    pub total: Decimal<38, 2>,
}
