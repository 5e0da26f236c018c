//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Order`, the columns in use: in.flow:15 source orders: Order from file { path: "orders.json", format: json }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Order {
    pub status: Status,
    pub before: Option<Status>,
}

/// Rows of `counts: select`: in.flow:20 select { code: match status { "open" => 0, "shipped" => 1, "in transit" => 2, "lost" => 3 }, known: m…
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Counts {
    pub code: i64,
    pub known: bool,
    pub status: Status,
}

/// Rows of `counts: aggregate`: in.flow:25 aggregate by (status, known) { status, known, n: count(), highest: max(code) }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Counts2 {
    pub status: Status,
    pub known: bool,
    pub n: i64,
    pub highest: i64,
}

flow_enum! {
    #[doc = " `enum Status`"] pub enum Status = "Status" { Open = "open", Shipped =
    "shipped", InTransit = "in transit", Lost = "lost" }
}
