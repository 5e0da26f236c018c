//! A program sends rows into a job and receives what it makes of them.

use std::collections::BTreeMap;
use std::time::Duration;

use millstream::connectors::channel::{Sender, TrySend};
use millstream::{JobEnd, RunOptions};

millstream::flow! {
    /// What comes in over a channel goes out over others.
    job shop { parallelism: 2 }

    /// Smaller orders are left out.
    param least: int64 = 10

    record Order { id: int64, customer: string, amount: int64, note: string? }

    source orders: Order from channel { capacity: 4 }

    stream large = orders | where amount >= least | select { id, customer, twice: amount * 2 }
    stream totals = orders | @ttl(never) aggregate by customer { customer, total: sum(amount) }

    sink large into channel {}
    sink totals into channel { capacity: 4096 }
}

/// The columns that nobody reads are part of the record too.
fn order(id: i64, customer: &str, amount: i64) -> shop::Order {
    shop::Order { id, customer: customer.into(), amount, note: None }
}

#[test]
fn blocking_ends_and_a_table() {
    let shop::Running { job, orders, large, totals } = shop::start(shop::Params::default(), RunOptions::new()).unwrap();
    let sender = std::thread::spawn(move || {
        for id in 0..1000 {
            orders.send_blocking(order(id, ["ann", "bob", "eve"][id as usize % 3], id % 20)).unwrap();
        }
    });
    let mut found: Vec<_> = large.map(|row| (row.id, row.twice)).collect();
    sender.join().unwrap();
    assert_eq!(job.wait().unwrap(), JobEnd::Finished);
    found.sort();
    let expected: Vec<_> = (0..1000).filter(|id| id % 20 >= 10).map(|id| (id, id % 20 * 2)).collect();
    assert_eq!(found, expected);

    // The table as it stands after all its changes.
    let mut table = BTreeMap::new();
    for change in totals {
        if change.kind.adds() {
            table.insert(change.row.customer.to_string(), change.row.total);
        }
    }
    let total = |rest: i64| (0..1000).filter(|id| id % 3 == rest).map(|id| id % 20).sum::<i64>();
    let expected = [("ann", 0), ("bob", 1), ("eve", 2)].map(|(name, rest)| (name.to_owned(), Some(total(rest))));
    assert_eq!(table.into_iter().map(|(name, total)| (name, Option::<i64>::from(total))).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn asynchronous_ends() {
    let shop::Running { job, orders, mut large, totals } =
        shop::start(shop::Params { least: 0 }, RunOptions::new().parallelism(1)).unwrap();
    // A program that takes no interest in a sink lets go of it.
    drop(totals);
    let (sent, received) = tokio::join!(
        async move {
            for id in 0..100 {
                orders.send(order(id, "ann", 1)).await?;
            }
            Ok::<(), millstream::connectors::channel::Closed<shop::Order>>(())
        },
        async {
            let mut ids = Vec::new();
            while let Some(row) = large.recv().await {
                ids.push(row.id);
            }
            ids
        }
    );
    sent.unwrap();
    assert_eq!(received, (0..100).collect::<Vec<_>>());
    tokio::task::spawn_blocking(|| job.wait()).await.unwrap().unwrap();
}

/// A sink that nobody reads fills up, then everything before it, at last the source's channel.
#[test]
fn backpressure_reaches_the_program() {
    let shop::Running { job, orders, large, totals } = shop::start(shop::Params { least: 0 }, RunOptions::new()).unwrap();
    let mut sent = 0;
    while fill(&orders, &mut sent) {
        assert!(sent < 1_000_000, "nothing holds the sender back");
    }
    let before = sent;
    let reader = std::thread::spawn(move || large.count());
    let drained = std::thread::spawn(move || totals.count());
    orders.send_blocking(order(sent, "ann", 1)).unwrap();
    drop(orders);
    assert_eq!(job.wait().unwrap(), JobEnd::Finished);
    assert_eq!(reader.join().unwrap() as i64, before + 1);
    assert!(drained.join().unwrap() > 0);
}

/// Sends until there has been no room for a while. False: there was none at all.
fn fill(orders: &Sender<shop::Order>, sent: &mut i64) -> bool {
    let before = *sent;
    for _ in 0..200 {
        while orders.try_send(order(*sent, "ann", 1)).is_ok() {
            *sent += 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    *sent > before
}

#[test]
fn a_job_that_is_killed_closes_its_channels() {
    let shop::Running { job, orders, mut large, mut totals } = shop::start(shop::Params::default(), RunOptions::new()).unwrap();
    assert_eq!(job.kill().unwrap(), JobEnd::Killed);
    assert!(matches!(orders.try_send(order(1, "ann", 1)), Err(TrySend::Closed(_))));
    assert!(orders.send_blocking(order(2, "ann", 1)).is_err());
    assert_eq!((large.recv_blocking(), totals.recv_blocking()), (None, None));
}
