//! Keys that are forgotten after a time.

use std::time::Instant;

use super::*;
use crate::record::{Change, ChangeKind};

/// Sends orders of one key, until one is taken for the first again: the key has been forgotten. A time of one microsecond is over whenever
/// the clock is looked at.
#[track_caller]
fn is_forgotten<T: Row>(build: impl FnOnce(Stream<Order>) -> Receiver<T>, is_first: fn(&T) -> bool) {
    let pipeline = Pipeline::new("forgotten");
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 4);
    // No row waits for the next one.
    let time = |order: &Order| Timestamp(order.at.0 + 1_000_000);
    let receiver = build(orders_in.watermark(time, Duration::ZERO).shared());
    let job = pipeline.start(RunOptions::new()).unwrap();
    let twice = std::thread::spawn(move || receiver.filter(is_first).take(2).count());
    let deadline = Instant::now() + 60 * SECOND;
    for second in 1.. {
        if twice.is_finished() || sender.send_blocking(order("ann", 1, second)).is_err() {
            break;
        }
        assert!(Instant::now() < deadline, "no key is forgotten");
    }
    assert_eq!(twice.join().unwrap(), 2);
    // Whoever received is gone.
    let _ = job.kill();
}

const AT_ONCE: Duration = Duration::from_micros(1);

fn is_insert<T>(change: &Change<T>) -> bool {
    change.kind == ChangeKind::Insert
}

#[test]
fn keys_of_each_operator() {
    let name = |order: &Order| order.customer.clone();
    is_forgotten(|orders| orders.key_by(name).ttl(AT_ONCE).first().into_channel(9), |_| true);
    is_forgotten(|orders| orders.key_by(name).ttl(AT_ONCE).last().into_channel(9), is_insert);
    is_forgotten(|orders| orders.key_by(name).ttl(AT_ONCE).aggregate(count(), |_, count| count).into_channel(9), is_insert);
    let top = |orders: Stream<Order>| orders.key_by(name).ttl(AT_ONCE).top(1, |order| -order.at.0).rows().into_channel(9);
    is_forgotten(top, is_insert);
    let over = |orders: Stream<Order>| {
        let counts = orders.key_by(name).timed_by(|order| order.at).ttl(AT_ONCE).over_all().aggregate(count());
        counts.map(|(_, count)| count).into_channel(9)
    };
    is_forgotten(over, |count| *count == 1);
    let join = |orders: Stream<Order>| {
        let first = orders.clone().filter(|order| order.at.0 == 1_000_000).key_by(name);
        orders.key_by(name).ttl(AT_ONCE).join(first).anti().into_channel(9)
    };
    // The first order is partner of those behind it, until it is forgotten.
    is_forgotten(join, |change| is_insert(change) && change.row.at.0 > 1_000_000);
}

/// The time of the job is that of operators that have none.
#[test]
fn of_the_job() {
    let pipeline = Pipeline::new("job").ttl(60 * SECOND);
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let orders = orders.watermark(|order| order.at, SECOND).shared();
    let keyed = |name: &str| orders.clone().stream(name).key_by(|order| order.customer.clone());
    let _of_job = keyed("of_job").first().into_channel(1);
    let _own = keyed("own").ttl(SECOND).first().into_channel(1);
    let _never = keyed("never").ttl(Duration::MAX).first().into_channel(1);
    let _at_end = keyed("at_end").last_at_end().into_channel(1);
    let windows = keyed("windows").timed_by(|order| order.at).tumbling(SECOND);
    let _windows = windows.aggregate(count(), |_, _, count| count).into_channel(1);
    let graph = pipeline.graph();
    let ttl = |uid: &str| graph.vertices().map(|id| graph.vertex(id)).find(|vertex| vertex.uid == uid).unwrap().hints.ttl;
    assert_eq!(ttl("of_job/dedup/0"), Some(60_000_000));
    assert_eq!(ttl("own/dedup/0"), Some(1_000_000));
    assert_eq!(ttl("never/dedup/0"), Some(i64::MAX));
    assert_eq!((ttl("at_end/dedup/0"), ttl("windows/aggregate/0")), (None, None));
}
