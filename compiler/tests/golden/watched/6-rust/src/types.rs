//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Order`, the columns in use: in.flow:6 source orders: Order from file { path: "in/*.json", format: json, watch: every 5s } watermark p…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Order {
    pub shop: Str,
    pub placed_at: Timestamp,
}

/// Rows of `per_shop: aggregate`: in.flow:15 aggregate by shop over tumbling(1m) { shop, start: window.start, orders: count() }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct PerShop {
    pub shop: Str,
    pub start: Timestamp,
    pub orders: i64,
}
