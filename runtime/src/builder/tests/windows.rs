//! Windows of rows and of the calendar, and late rows of rankings.

use std::cmp::Reverse;

use super::*;

#[test]
fn windows_of_rows() {
    let row = |customer: &String, (count, total): (i64, i64)| (customer.clone(), count, total);
    let calls = || (count(), sum(|order: &Order| order.amount));
    let named =
        |rows: &[(&str, i64, i64)]| rows.iter().map(|(name, count, sum)| ((*name).to_owned(), *count, *sum)).collect::<Vec<_>>();
    let every = over_orders(2, |orders| {
        orders.key_by(|order| order.customer.clone()).every_rows(2).aggregate(calls(), row).into_channel(9)
    });
    // What is left at the end makes windows of fewer rows.
    assert_eq!(every, named(&[("ann", 1, 300), ("ann", 2, 300), ("bob", 1, 100), ("eve", 1, 999)]));
    let last = over_orders(2, |orders| {
        orders.key_by(|order| order.customer.clone()).last_rows_every(2, 1).aggregate(calls(), row).into_channel(9)
    });
    assert_eq!(last, named(&[("ann", 1, 250), ("ann", 2, 300), ("ann", 2, 350), ("bob", 1, 100), ("eve", 1, 999)]));
}

#[cfg(feature = "zones")]
#[test]
fn days_of_a_time_zone() {
    use crate::graph::CalendarUnit;
    // Midnight of New York is at five o'clock of the day before 1970 as Greenwich has it.
    let days = over_orders(2, |orders| {
        let moved = orders.map(|order| Order { at: Timestamp(order.at.0 + 5 * 3_600_000_000 - 60_000_000), ..order });
        let keyed = moved.key_by(|_| ()).timed_by(|order| order.at);
        keyed
            .calendar(CalendarUnit::Day, "America/New_York")
            .aggregate(count(), |(), day, count| (day.start.0 / 3_600_000_000, count))
            .into_channel(9)
    });
    assert_eq!(days, [(-19, 3), (5, 2)]);
    let pipeline = Pipeline::new("zone");
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let keyed = orders.watermark(|order| order.at, SECOND).key_by(|_| ()).timed_by(|order| order.at);
    let _days = keyed.calendar(CalendarUnit::Week, "Mars/Olympus").aggregate(count(), |(), _, count| count).into_channel(9);
    let error = pipeline.start(RunOptions::new()).unwrap_err().to_string();
    assert!(error.contains("`Mars/Olympus` is no time zone") && error.contains("windows.rs"), "{error}");
}

#[test]
fn rows_that_come_too_late_for_a_ranking() {
    let pipeline = Pipeline::new("late");
    let (sender, orders) = pipeline.channel::<Order>("orders", 9);
    let windows =
        orders.watermark(|order| order.at, Duration::ZERO).key_by(|_| ()).timed_by(|order| order.at).tumbling(10 * SECOND);
    let (first, late) = windows.top(1, |order| Reverse(order.amount)).rows_with_late();
    let first = first.map(|order| order.amount).into_channel(9);
    let late = late.stream("late").map(|order| order.amount).into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    // A reader looks at the watermark behind each batch: one row a time, and what comes of it.
    let mut first = first;
    sender.send_blocking(order("ann", 1, 1)).unwrap();
    sender.send_blocking(order("ann", 2, 11)).unwrap();
    assert_eq!(first.recv_blocking(), Some(1));
    sender.send_blocking(order("ann", 3, 2)).unwrap();
    drop(sender);
    assert_eq!(sorted(job, late), [3]);
    assert_eq!(first.collect::<Vec<_>>(), [2]);
}
