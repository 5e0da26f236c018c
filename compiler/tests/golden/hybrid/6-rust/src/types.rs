//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Order`, the columns in use: in.flow:10 source orders: Order from hybrid { history = file { path: "old/*.csv", format: csv { header: fal…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Order {
    pub id: i64,
    pub amount: Decimal<10, 2>,
    pub placed_at: Timestamp,
}

/// Rows of `orders: select`: in.flow:16 select { id, amount }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink {
    pub id: i64,
    pub amount: Decimal<10, 2>,
}
