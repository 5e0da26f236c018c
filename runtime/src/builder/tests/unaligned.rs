//! Barriers that overtake rows.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::*;
use crate::job::CheckpointConfig;

/// Whether a checkpoint in this folder holds rows that were on their way.
fn holds_rows(checkpoints: &Path) -> bool {
    let paths = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = paths(checkpoints).flat_map(|folder| paths(&folder));
    let in_flight = |path: PathBuf| std::fs::read(path).is_ok_and(|bytes| bytes.windows(11).any(|part| part == b"#in_flight/"));
    files.into_iter().any(in_flight)
}

/// Whether one of some checkpoints does, while rows come all the time, faster than they are taken.
fn overtaken(build: impl FnOnce(Stream<Order>) -> Receiver<i64>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let config = CheckpointConfig::new(3_600_000_000, |_| Ok("unused".to_owned()));
    let pipeline = Pipeline::new("queues").checkpoint_config(CheckpointConfig { unaligned_micros: Some(0), ..config });
    let (sender, orders) = pipeline.channel::<Order>("orders", 1000);
    let mut rows = build(orders.watermark(|order| order.at, Duration::ZERO).shared());
    let job = pipeline.start(RunOptions::new().checkpoints(folder.path()).parallelism(1)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(SeqCst) {
                let _ = sender.send_blocking(order("ann", 1, 1));
            }
        });
        scope.spawn(|| while rows.recv_blocking().is_some() {});
        let found = (0..30).any(|_| {
            job.checkpoint().unwrap();
            holds_rows(folder.path())
        });
        done.store(true, SeqCst);
        job.kill().unwrap();
        found
    })
}

fn slow(order: &Order) -> i64 {
    std::thread::sleep(Duration::from_micros(200));
    order.amount
}

#[test]
fn barriers_overtake_rows_before_every_exchange() {
    assert!(overtaken(|orders| orders.rebalance().map(|order| slow(&order)).into_channel(9)), "in turn");
    let by_key = |orders: Stream<Order>| {
        let keyed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        keyed.tumbling(SECOND).aggregate(sum(slow), |_, _, sum| sum).into_channel(9)
    };
    assert!(overtaken(by_key), "by key");
}
