//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Order`, the columns in use: in.flow:22 source orders: Order from file { path: "orders.jsonl", format: json }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Order {
    pub id: i64,
    pub note: Option<Str>,
    pub price: Decimal<10, 2>,
    pub quantity: i32,
    pub placed_at: Timestamp,
    pub tags: Vec<Str>,
}

/// Rows of `shown: select`: in.flow:27 select { id, minutes: 60 * 24, overflow: quantity + 2_000_000_000 * 2, note: note ?? "none", long…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Shown {
    pub id: i64,
    pub minutes: i64,
    pub overflow: i64,
    pub note: Str,
    pub long: Str,
    pub size: Str,
    pub euros: Decimal<13, 5>,
    pub first: Option<Str>,
    pub text: Str,
    pub due: Timestamp,
}
