//! The same pipeline once more, in plain Rust.

use std::time::Duration;

use millstream::builder::{Pipeline, count, sum};
use millstream::connectors::channel::{Receiver, Sender};
use millstream::prelude::{Decimal, State, Timestamp};

#[derive(Clone, Debug, State)]
pub struct Order {
    pub customer: String,
    pub amount: Decimal<10, 2>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, State)]
pub struct Revenue {
    pub customer: String,
    pub minute: Timestamp,
    pub orders: i64,
    pub total: Decimal<38, 2>,
}

/// Revenue per customer and minute; orders of less than `least` are left out.
pub fn pipeline(least: Decimal<10, 2>) -> (Pipeline, Sender<Order>, Receiver<Revenue>) {
    let pipeline = Pipeline::new("typed").doc("Revenue per customer and minute.");
    let (sender, orders) = pipeline.channel::<Order>("orders", 100);
    let revenue = orders
        .watermark(|order| order.at, Duration::from_secs(5))
        .stream("revenue")
        .filter(move |order| order.amount >= least)
        .key_by(|order| order.customer.clone())
        .timed_by(|order| order.at)
        .tumbling(Duration::from_secs(60))
        .aggregate((count(), sum(|order: &Order| order.amount)), |customer, window, (orders, total)| Revenue {
            customer: customer.clone(),
            minute: window.start,
            orders,
            total,
        })
        .into_channel(1024);
    (pipeline, sender, revenue)
}
