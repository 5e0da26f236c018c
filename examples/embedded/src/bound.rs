//! The rows of the pipelines `accounts`, with where they come from and go.

use millstream::prelude::*;

#[derive(Clone, Debug, Record, Source)]
#[source(name = orders, from = channel { capacity: 100 })]
pub struct Ordered {
    pub customer: String,
    pub amount: i64,
}

#[derive(Clone, Debug, Record, Source)]
#[source(name = payments, from = channel { capacity: 100 })]
pub struct Paid {
    pub payer: String,
    pub amount: i64,
}

#[derive(Clone, Debug, Record, Sink)]
#[sink(of = balances, into = ledger { path: path }, key = (customer))]
pub struct Balance {
    pub customer: String,
    pub entries: i64,
    pub owes: i64,
}
