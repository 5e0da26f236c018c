//! Tables, and what stands at the end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::record::{Change, ChangeKind};
use crate::sink::{Sink, SinkContext, SinkWriter};

/// What stands after all changes: each takes back what was there, or adds what was not.
#[track_caller]
pub(super) fn standing<T: Clone + Ord + std::fmt::Debug>(changes: impl IntoIterator<Item = Change<T>>) -> Vec<T> {
    let mut rows: BTreeMap<T, i64> = BTreeMap::new();
    for Change { kind, row } in changes {
        let count = rows.entry(row.clone()).or_default();
        *count += if kind.adds() { 1 } else { -1 };
        assert!(*count >= 0, "{row:?} is taken back, and was not there");
    }
    rows.into_iter().filter(|(_, count)| *count > 0).map(|(row, _)| row).collect()
}

/// All changes of what is built over the orders.
pub(super) fn changes_of<T: Row>(parallelism: u32, build: impl FnOnce(Stream<Order>) -> Receiver<Change<T>>) -> Vec<Change<T>> {
    let pipeline = Pipeline::new("tables").parallelism(parallelism);
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 4);
    let receiver = build(orders_in.shared());
    let job = pipeline.start(RunOptions::new()).unwrap();
    feed(sender, orders());
    let changes = receiver.collect();
    job.wait().unwrap();
    changes
}

fn total(customer: &str, orders: i64, amount: i64) -> (String, i64, i64) {
    (customer.to_owned(), orders, amount)
}

#[test]
fn totals_change_with_every_row() {
    let changes = changes_of(1, |orders| {
        let calls = (count(), sum(|order: &Order| order.amount));
        let keyed = orders.filter(|order| order.customer != "eve").key_by(|order| order.customer.clone());
        keyed.aggregate(calls, |customer, (orders, amount)| (customer.clone(), orders, amount)).into_channel(9)
    });
    let change = |kind, row| Change { kind, row };
    let (before, after) = (ChangeKind::UpdateBefore, ChangeKind::UpdateAfter);
    let expected = [
        Change::insert(total("ann", 1, 250)),
        Change::insert(total("bob", 1, 100)),
        change(before, total("ann", 1, 250)),
        change(after, total("ann", 2, 300)),
        change(before, total("ann", 2, 300)),
        change(after, total("ann", 3, 600)),
    ];
    assert_eq!(changes, expected);
}

#[test]
fn tables_of_several_subtasks_with_a_filter_and_a_map() {
    let changes = changes_of(3, |orders| {
        let keyed = orders.key_by(|order| order.customer.clone()).parallelism(3);
        let totals = keyed.aggregate(sum(|order: &Order| order.amount), |customer, sum| (customer.clone(), sum));
        // 250, then 300, then 600: the second leaves.
        let few = totals.filter(|(_, sum)| *sum != 300).stream("few").id("doubled").map(|(customer, sum)| (customer, sum * 2));
        few.into_channel(9)
    });
    let expected = [("ann", 1200), ("bob", 200), ("eve", 1998)].map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(standing(changes.clone()), expected);
    assert!(changes.contains(&Change::delete(("ann".to_owned(), 500))), "{changes:?}");
    assert!(!changes.iter().any(|change| change.row.1 == 600), "{changes:?}");
    // Without keys there is one row.
    let all = changes_of(2, |orders| orders.key_by(|_| ()).aggregate(count(), |(), count| count).into_channel(9));
    assert_eq!((standing(all.clone()), all.len()), (vec![5], 9));
}

#[test]
fn the_last_row_of_each_key_and_the_first() {
    let amounts = |rows: Vec<Order>| rows.into_iter().map(|order| (order.customer, order.amount)).collect::<Vec<_>>();
    let of = |rows: [(&str, i64); 3]| rows.map(|(name, amount)| (name.to_owned(), amount)).to_vec();
    let last = changes_of(2, |orders| orders.key_by(|order| order.customer.clone()).last().into_channel(9));
    assert_eq!(amounts(standing(last)), of([("ann", 300), ("bob", 100), ("eve", 999)]));
    // By another time than that of their coming.
    let largest = changes_of(2, |orders| {
        let keyed = orders.key_by(|order| order.customer.clone()).timed_by(|order| Timestamp(-order.amount));
        keyed.last().into_channel(9)
    });
    assert_eq!(amounts(standing(largest)), of([("ann", 50), ("bob", 100), ("eve", 999)]));
    let first = over_orders(2, |orders| orders.key_by(|order| order.customer.clone()).first().into_channel(9));
    assert_eq!(amounts(first), of([("ann", 250), ("bob", 100), ("eve", 999)]));
    let at_end = over_orders(2, |orders| orders.key_by(|order| order.customer.clone()).last_at_end().into_channel(9));
    assert_eq!(amounts(at_end), of([("ann", 300), ("bob", 100), ("eve", 999)]));
}

#[test]
fn totals_at_the_end_come_once() {
    let totals = over_orders(2, |orders| {
        let calls = (count(), sum(|order: &Order| order.amount));
        let keyed = orders.key_by(|order| order.customer.clone());
        keyed.aggregate_at_end(calls, |customer, (orders, amount)| (customer.clone(), orders, amount)).into_channel(9)
    });
    assert_eq!(totals, [total("ann", 3, 600), total("bob", 1, 100), total("eve", 1, 999)]);
}

#[test]
fn changes_are_rows_of_a_stream() {
    let rows = over_orders(1, |orders| {
        let totals = orders.key_by(|order| order.customer.clone());
        let totals = totals.aggregate(sum(|order: &Order| order.amount), |customer, sum| (customer.clone(), sum));
        let changes = totals.changes().filter(|change| change.row.0 == "ann").rebalance().parallelism(1);
        changes.map(|change| (change.kind.name().to_owned(), change.row.1)).into_channel(9)
    });
    let expected =
        [("insert", 250), ("update_after", 300), ("update_after", 600), ("update_before", 250), ("update_before", 300)];
    assert_eq!(rows, expected.map(|(kind, sum)| (kind.to_owned(), sum)));
}

/// A table of the program: rows by their first value.
#[derive(Clone, Default)]
struct Upserted(Arc<Mutex<BTreeMap<String, i64>>>);

impl Sink<Change<(String, i64)>> for Upserted {
    type Writer = Upserted;

    fn writer(&self, _: &SinkContext) -> JobResult<Upserted> {
        Ok(self.clone())
    }
}

impl SinkWriter<Change<(String, i64)>> for Upserted {
    fn write(&mut self, Change { kind, row: (name, sum) }: Change<(String, i64)>) -> JobResult<()> {
        let mut rows = self.0.lock().unwrap();
        match kind {
            ChangeKind::Insert | ChangeKind::UpdateAfter => drop(rows.insert(name, sum)),
            ChangeKind::Delete => drop(rows.remove(&name)),
            ChangeKind::UpdateBefore => {}
        }
        Ok(())
    }
}

/// State goes on where a checkpoint has it: totals count what came before, and say what they take back.
#[test]
fn a_table_goes_on_in_a_sink_that_puts_rows_under_their_key() -> JobResult<()> {
    let folder = tempfile::tempdir().unwrap();
    let upserted = Upserted::default();
    let run = |rows: Vec<Order>, subtasks: u32| -> JobResult<()> {
        let pipeline = Pipeline::new("upserts").checkpoints(&folder.path().to_string_lossy(), Duration::from_secs(3600));
        let (sender, orders) = pipeline.channel::<Order>("orders", 9);
        let orders = orders.shared();
        let mut told = orders.clone().stream("told").map(|order| order.amount).into_channel(9);
        let keyed = orders.stream("totals").key_by(|order| order.customer.clone());
        let totals = keyed.aggregate(sum(|order: &Order| order.amount), |customer, sum| (customer.clone(), sum));
        let sink = upserted.clone();
        totals.filter(|(_, sum)| *sum < 500).sink("memory", move || Ok(sink.clone()));
        let graph = format!("{:?}", pipeline.graph());
        assert_eq!(graph.matches("Table { key: None }").count(), 3, "{graph}");
        let job = pipeline.start(RunOptions::new().parallelism(subtasks))?;
        for row in rows {
            sender.send_blocking(row).unwrap();
            told.recv_blocking().unwrap();
        }
        job.stop_with_checkpoint()?;
        Ok(())
    };
    let stands = || upserted.0.lock().unwrap().iter().map(|(name, sum)| (name.clone(), *sum)).collect::<Vec<_>>();
    run(vec![order("ann", 250, 1), order("bob", 100, 2)], 1)?;
    assert_eq!(stands(), [("ann".to_owned(), 250), ("bob".to_owned(), 100)]);
    run(vec![order("bob", 20, 3)], 3)?;
    assert_eq!(stands(), [("ann".to_owned(), 250), ("bob".to_owned(), 120)]);
    run(vec![order("ann", 250, 4)], 2)?;
    assert_eq!(stands(), [("bob".to_owned(), 120)]);
    Ok(())
}

#[test]
fn aggregates_over_a_table_take_rows_back() {
    // The last order of each customer, and of these how many there are, the sum and the least.
    let changes = changes_of(2, |orders| {
        let last = orders.key_by(|order| order.customer.clone()).last();
        let calls = (count(), sum(|order: &Order| order.amount), min(|order: &Order| order.amount));
        last.key_by(|order| order.customer == "ann")
            .aggregate(calls, |ann, (count, sum, least)| (*ann, count, sum, least))
            .into_channel(9)
    });
    assert_eq!(standing(changes.clone()), [(false, 2, 1099, 100), (true, 1, 300, 300)]);
    // 50 was the last, and the least, until 300 came.
    assert!(changes.iter().any(|change| change.row == (true, 1, 50, 50)), "{changes:?}");
    let at_end = over_orders(2, |orders| {
        let last = orders.key_by(|order| order.customer.clone()).last();
        let calls = (average(|order: &Order| order.amount), max(|order: &Order| order.amount));
        last.key_by(|_| ()).aggregate_at_end(calls, |(), (mean, most)| (mean as i64, most)).into_channel(9)
    });
    assert_eq!(at_end, [(466, 999)]);
}

#[test]
fn tables_of_one_kind_as_one() {
    let changes = changes_of(2, |orders| {
        let last = |small: bool, name: &str| {
            let some = orders.clone().stream(name).filter(move |order| (order.amount <= 100) == small);
            some.key_by(|order| order.customer.clone()).last().map(|order| (order.customer, order.amount))
        };
        last(true, "small").union(last(false, "large")).into_channel(9)
    });
    let rows = [("ann", 50), ("ann", 300), ("bob", 100), ("eve", 999)];
    assert_eq!(standing(changes), rows.map(|(name, amount)| (name.to_owned(), amount)));
}
