//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Order`, the columns in use: in.flow:7 source refunds: Order from file { path: "refunds/*.csv", format: csv } watermark placed_at - 1…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Order {
    pub id: i64,
    pub customer: Str,
    pub amount: Decimal<10, 2>,
    pub placed_at: Timestamp,
}

/// Rows of `all: select`: in.flow:17 select { id, customer }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Sink {
    pub id: i64,
    pub customer: Str,
}
