//! The sink of tables of the guide in a pipeline in plain Rust, where it gets the table of an aggregate.

use millstream::builder::{Pipeline, count};
use millstream::formats::{Format as _, JsonFormat};
use millstream::prelude::*;
use millstream::{JobEnd, Options, RunOptions};

use super::journal::blocks;
use super::ledger::Ledger;

#[derive(Clone, Debug, State)]
struct Order {
    customer: String,
}

#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Total {
    pub customer: String,
    pub orders: i64,
}

#[test]
fn a_table_goes_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let ledger = Ledger { path: path.display().to_string() };
    let pipeline = Pipeline::new("shop");
    let (sender, orders) = pipeline.channel::<Order>("orders", 100);
    orders
        .stream("totals")
        .key_by(|order| order.customer.clone())
        .aggregate(count(), |customer: &String, orders| Total { customer: customer.clone(), orders })
        .sink("ledger", move || {
            ledger
                .clone()
                .table_sink::<Total, _>(JsonFormat::from_options(&Options::new())?, TableKey::new::<Total>(&["customer"])?)
        });
    let job = pipeline.start(RunOptions::new()).unwrap();
    for customer in ["ann", "bob", "ann", "ann"] {
        sender.send_blocking(Order { customer: customer.to_owned() }).unwrap();
    }
    drop(sender);
    assert_eq!(job.wait(), Ok(JobEnd::Finished));
    let text = std::fs::read_to_string(&path).unwrap();
    let end = blocks(&text).last().map_or(0, |(.., end)| *end);
    let last = |key: &str| text[..end].lines().rfind(|line| line.starts_with(&format!("+{key}\t"))).map(str::to_owned);
    assert_eq!(last("ann").as_deref(), Some("+ann\t{\"customer\":\"ann\",\"orders\":3}"));
    assert_eq!(last("bob").as_deref(), Some("+bob\t{\"customer\":\"bob\",\"orders\":1}"));
}
