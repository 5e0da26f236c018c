//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Payment`, the columns in use: in.flow:8 source payments: Payment from file { path: "payments.jsonl", format: json } watermark paid_a…
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Payment {
    pub order_id: i64,
    pub amount: Decimal<10, 2>,
    pub coupon: Str,
    pub paid_at: Timestamp,
}

/// Rows of `Order`, the columns in use: in.flow:5 source orders: Order from file { path: "orders.jsonl", format: json } watermark placed_at - 5s
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Order {
    pub id: i64,
    pub customer: Str,
    pub amount: Decimal<10, 2>,
    pub coupon: Option<Str>,
    pub placed_at: Timestamp,
}

/// Rows of `rates`: in.flow:10 source rates: { customer: string, rate: float64, since: timestamp } from file { path: "rates.j…
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Rates {
    pub customer: Str,
    pub rate: f64,
    pub since: Timestamp,
}

/// Rows of `unpaid: join`: in.flow:17 left join latest as p on id == p.order_id and coupon == p.coupon and p.amount > 0
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Unpaid {
    pub id: i64,
    pub customer: Str,
    #[flow(name = "p.amount")]
    pub p_amount: Option<Decimal<10, 2>>,
}

/// Rows of `unpaid: select`: in.flow:18 select { o: orders.id, customer, paid: p.amount }
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Unpaid2 {
    pub o: i64,
    pub customer: Str,
    pub paid: Option<Decimal<10, 2>>,
}

/// Rows of `soon: join`: in.flow:22 join payments as p on id == p.order_id within -1m..10m late into late_orders
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Soon {
    pub id: i64,
    pub placed_at: Timestamp,
    #[flow(name = "p.amount")]
    pub p_amount: Decimal<10, 2>,
    pub paid_at: Timestamp,
}

/// Rows of `soon: select`: in.flow:23 select { id, p.amount, waited: paid_at - placed_at }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Soon2 {
    pub id: i64,
    pub amount: Decimal<10, 2>,
    pub waited: Duration,
}

/// Rows of `same_hour: join`: in.flow:27 semi join payments as p on id == p.order_id over sliding(1h, 30m)
#[derive(Clone, Debug, PartialEq, Record)]
pub struct SameHour {
    pub id: i64,
    #[flow(name = "window.start")]
    pub window_start: Timestamp,
}

/// Rows of `same_hour: select`: in.flow:28 select { id, window.start }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct SameHour2 {
    pub id: i64,
    pub start: Timestamp,
}

/// Rows of `rated: join`: in.flow:30 left join rates as r on customer == r.customer as of placed_at
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Rated {
    pub id: i64,
    pub rate: Option<f64>,
}

/// Rows of `rated: select`: in.flow:30 select { id, value: r.rate }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Rated2 {
    pub id: i64,
    pub value: Option<f64>,
}

/// Rows of `known: join`: in.flow:32 join latest as p on id == p.order_id broadcast
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Known {
    pub id: i64,
    #[flow(name = "p.amount")]
    pub p_amount: Decimal<10, 2>,
}

/// Rows of `known: select`: in.flow:32 select { o: orders.id, p.amount }
#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Known2 {
    pub o: i64,
    pub amount: Decimal<10, 2>,
}
