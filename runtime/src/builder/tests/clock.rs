//! Windows by the clock on the wall.

use super::*;

/// The input stays open: nothing but the clock closes these windows.
#[test]
fn the_clock_closes_windows() {
    let pipeline = Pipeline::new("clock");
    let (sender, orders) = pipeline.channel::<Order>("orders", 4);
    let orders = orders.shared();
    let keyed = orders.clone().key_by(|order| order.customer.clone()).by_clock();
    let tumbling = keyed.tumbling(Duration::from_millis(5));
    let mut tumbling = tumbling.aggregate(sum(|order: &Order| order.amount), |name, _, sum| (name.clone(), sum)).into_channel(9);
    let session =
        orders.clone().stream("sessions").key_by(|order| order.customer.clone()).by_clock().session(Duration::from_millis(5));
    let mut session = session.aggregate(sum(|order: &Order| order.amount), |name, _, sum| (name.clone(), sum)).into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    // The times of these rows say nothing.
    for (name, amount, second) in [("ann", 5, 1_000_000), ("bob", 7, -9)] {
        sender.send_blocking(order(name, amount, second)).unwrap();
        assert_eq!(tumbling.recv_blocking(), Some((name.to_owned(), amount)));
        assert_eq!(session.recv_blocking(), Some((name.to_owned(), amount)));
    }
    drop(sender);
    assert_eq!((tumbling.recv_blocking(), session.recv_blocking()), (None, None));
    job.wait().unwrap();
}

#[test]
fn the_end_of_the_input_closes_windows() {
    let rows = over_orders(2, |orders| {
        let keyed = orders.key_by(|order| order.customer.clone()).by_clock();
        let windows = keyed.parallelism(3).id("hours").tumbling(3600 * SECOND);
        windows.aggregate(count(), |customer, _, count| (customer.clone(), count)).into_channel(9)
    });
    // An hour may begin in between.
    let of = |name: &str| rows.iter().filter(|(customer, _)| customer == name).map(|(_, count)| count).sum::<i64>();
    assert_eq!(["ann", "bob", "eve"].map(of), [3, 1, 1], "{rows:?}");
}

#[test]
fn the_graph_says_so() {
    let pipeline = Pipeline::new("clock");
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let windows = orders.key_by(|_| ()).by_clock().sliding(4 * SECOND, SECOND);
    let _receiver = windows.aggregate(count(), |(), _, count| count).into_channel(1);
    let text = format!("{:?}", pipeline.graph());
    assert!(text.contains("Sliding { size: 4000000, step: 1000000, offset: 0, time: Processing }"), "{text}");
}
