//! The same pipeline once more, in plain Rust.

use std::time::Duration;

use millstream::builder::{Pipeline, count, sum};
use millstream::connectors::channel::{Receiver, Sender};
use millstream::formats::{Format, JsonFormat};
use millstream::options::Options;
use millstream::prelude::{Decimal, Record, State, TableKey, TableSinkConnector, Timestamp};

use crate::accounts::{Accounts, Event, Ledger, Order as Ordered, Payment, Refund, Warning};

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

#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Balance {
    pub customer: String,
    pub entries: i64,
    pub owes: i64,
}

/// What the pipeline of [`accounts`] takes and gives.
pub struct AccountsEnds {
    pub orders: Sender<Ordered>,
    pub payments: Sender<Payment>,
    pub refunds: Sender<Refund>,
    pub refunded: Receiver<Refund>,
    pub warnings: Receiver<Warning>,
}

/// What customers owe: three streams in one operator with two side outputs, and a table in the file at `path`.
pub fn accounts(path: String) -> (Pipeline, AccountsEnds) {
    let pipeline = Pipeline::new("typed_accounts").doc("What customers owe.");
    let (orders, ordered) = pipeline.channel::<Ordered>("orders", 100);
    let (payments, paid) = pipeline.channel::<Payment>("payments", 100);
    let (refunds, returned) = pipeline.channel::<Refund>("refunds", 100);
    let events = ordered.map(Event::Order).union((paid.map(Event::Payment), returned.map(Event::Refund)));
    let keyed = events.stream("entries").key_by(|event| event.customer().clone());
    let (entries, (refunded, warnings)) = keyed.process_with_sides(Accounts::default);
    entries
        .stream("balances")
        .key_by(|entry| entry.customer.clone())
        .aggregate((count(), sum(|entry: &crate::accounts::Entry| entry.amount)), |customer, (entries, owes)| Balance {
            customer: customer.clone(),
            entries,
            owes,
        })
        .sink("ledger", move || {
            let format = JsonFormat::from_options(&Options::new())?;
            Ledger { path: path.clone() }.table_sink::<Balance, _>(format, TableKey::new::<Balance>(&["customer"])?)
        });
    let refunded = refunded.stream("refunded").into_channel(100);
    let warnings = warnings.stream("warnings").into_channel(100);
    let ends = AccountsEnds { orders, payments, refunds, refunded, warnings };
    (pipeline, ends)
}
