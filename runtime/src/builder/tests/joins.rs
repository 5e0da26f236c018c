//! Joins without a distance in time, and those with versions of rows.

use super::tables::{changes_of, standing};
use super::*;
use crate::record::Change;

type Pair = (Option<i64>, Option<i64>);

/// Orders of 100 and more, with those of less.
macro_rules! sides {
    ($orders:ident) => {{
        let (left, right) = ($orders.clone(), $orders);
        let left = left.filter(|order| order.amount >= 100 && order.customer != "bob").key_by(|order| order.customer.clone());
        let right = right.filter(|order| order.amount <= 100).key_by(|order| order.customer.clone());
        (left, right)
    }};
}

#[test]
fn all_pairs_of_two_streams() {
    let inner = over_orders(2, |orders| {
        let (left, right) = sides!(orders);
        left.join(right).inner(|left, right| (left.amount, right.amount)).into_channel(9)
    });
    assert_eq!(inner, [(250, 50), (300, 50)]);
    let semi = over_orders(2, |orders| {
        let (left, right) = sides!(orders);
        left.join(right).semi().map(|order| order.amount).into_channel(9)
    });
    assert_eq!(semi, [250, 300]);
}

#[test]
fn rows_without_a_partner_until_one_comes() {
    let made = |left: Option<&Order>, right: Option<&Order>| (left.map(|row| row.amount), right.map(|row| row.amount));
    let left = changes_of(1, |orders| {
        let (left, right) = sides!(orders);
        left.join(right).left(move |left, right| made(Some(left), right)).into_channel(9)
    });
    let expected: [Pair; 3] = [(Some(250), Some(50)), (Some(300), Some(50)), (Some(999), None)];
    assert_eq!(standing(left.clone()), expected);
    // It had none, until the order of 50 came.
    assert!(left.contains(&Change::delete((Some(250), None))), "{left:?}");
    let right = changes_of(2, |orders| {
        let (left, right) = sides!(orders);
        left.join(right).right(move |left, right| made(left, Some(right))).into_channel(9)
    });
    assert_eq!(standing(right), [(None, Some(100)), (Some(250), Some(50)), (Some(300), Some(50))]);
    let full = changes_of(2, |orders| {
        let (left, right) = sides!(orders);
        left.join(right).full(made).into_channel(9)
    });
    let expected: [Pair; 4] = [(None, Some(100)), (Some(250), Some(50)), (Some(300), Some(50)), (Some(999), None)];
    assert_eq!(standing(full), expected);
    let anti = changes_of(2, |orders| {
        let (left, right) = sides!(orders);
        left.join(right).anti().map(|order| order.amount).into_channel(9)
    });
    assert_eq!(standing(anti), [999]);
}

#[test]
fn tables_on_a_side() {
    let made = |(name, total): &(String, i64), order: &Order| (name.clone(), *total, order.amount);
    let of_table = changes_of(2, |orders| {
        let totals = orders.clone().stream("totals").key_by(|order| order.customer.clone());
        let totals = totals.aggregate(sum(|order: &Order| order.amount), |name, total| (name.clone(), total));
        let small = orders.filter(|order| order.amount <= 100).key_by(|order| order.customer.clone());
        totals.key_by(|(name, _)| name.clone()).join(small).inner(made).into_channel(9)
    });
    assert_eq!(standing(of_table), [("ann".to_owned(), 600, 50), ("bob".to_owned(), 100, 100)]);
    let to_table = changes_of(2, |orders| {
        let last = orders.clone().stream("last").key_by(|order| order.customer.clone()).last();
        let small = orders.filter(|order| order.amount <= 100).key_by(|order| order.customer.clone());
        small.join(last.key_by(|order| order.customer.clone())).inner(|small, last| (small.amount, last.amount)).into_channel(9)
    });
    assert_eq!(standing(to_table), [(50, 300), (100, 100)]);
    let of_both = changes_of(2, |orders| {
        let last = orders.clone().stream("last").key_by(|order| order.customer.clone()).last();
        let counts = orders.key_by(|order| order.customer.clone()).aggregate(count(), |name, count| (name.clone(), count));
        let counts = counts.filter(|(_, count)| *count > 1).key_by(|(name, _)| name.clone());
        last.key_by(|order| order.customer.clone()).join(counts).semi().map(|order| order.amount).into_channel(9)
    });
    assert_eq!(standing(of_both), [300]);
}

#[test]
fn versions_of_rows_as_they_were() {
    macro_rules! versions {
        ($orders:ident) => {{
            let (left, right) = sides!($orders);
            left.timed_by(|order| order.at).join(right.timed_by(|order| order.at)).as_of()
        }};
    }
    let left =
        over_orders(2, |orders| versions!(orders).left(|left, right| (left.amount, right.map(|row| row.amount))).into_channel(9));
    // The order of 50 came between the other two.
    assert_eq!(left, [(250, None), (300, Some(50)), (999, None)]);
    let inner = over_orders(2, |orders| {
        let (rows, late) = versions!(orders).inner_with_late(|left, right| (left.amount, right.amount));
        rows.union(late.map(|order| (order.amount, -1))).into_channel(9)
    });
    assert_eq!(inner, [(300, 50)]);
}

/// State of joins, rankings and frames goes on where a checkpoint has it, at another parallelism.
#[test]
fn state_goes_on_from_a_checkpoint() -> JobResult<()> {
    let folder = tempfile::tempdir().unwrap();
    let run = |rows: Vec<Order>, subtasks: u32, last: bool| -> JobResult<Vec<String>> {
        let pipeline = Pipeline::new("on").checkpoints(&folder.path().to_string_lossy(), Duration::from_secs(3600));
        let (sender, orders) = pipeline.channel::<Order>("orders", 9);
        let count_of = rows.len();
        let seen = orders.watermark(|order| order.at, Duration::ZERO).shared();
        let mut told = seen.clone().stream("told").map(|order| order.amount).into_channel(9);
        let keyed = |name: &str| seen.clone().stream(name).key_by(|order| order.customer.clone());
        let top = keyed("top").top(2, |order| std::cmp::Reverse(order.amount)).rows().changes();
        let top = top.map(|change| format!("top {} {}", change.kind.name(), change.row.amount));
        let over = keyed("over").timed_by(|order| order.at).over_all().aggregate(sum(|order: &Order| order.amount));
        let over = over.map(|(order, sum)| format!("over {} {sum}", order.amount));
        let even = seen.clone().stream("even").filter(|order| order.amount % 2 == 0).key_by(|order| order.customer.clone());
        let pairs = seen.clone().stream("odd").filter(|order| order.amount % 2 == 1).key_by(|order| order.customer.clone());
        let pairs = pairs.join(even).inner(|odd, even| format!("pair {} {}", odd.amount, even.amount));
        let found = top.union((over, pairs)).stream("found").into_channel(99);
        let job = pipeline.start(RunOptions::new().parallelism(subtasks))?;
        for row in rows {
            sender.send_blocking(row).unwrap();
        }
        for _ in 0..count_of {
            told.recv_blocking().unwrap();
        }
        if last {
            drop((sender, told));
            return Ok(sorted(job, found));
        }
        job.stop_with_checkpoint()?;
        Ok(found.collect())
    };
    let mut first = run(vec![order("ann", 1, 1), order("ann", 3, 2)], 1, false)?;
    first.sort();
    // The second row waits for the watermark.
    assert_eq!(first, ["over 1 1", "top insert 1", "top insert 3"]);
    let second = run(vec![order("ann", 4, 3)], 3, true)?;
    assert_eq!(second, ["over 3 4", "over 4 8", "pair 1 4", "pair 3 4", "top delete 1", "top insert 4"]);
    Ok(())
}
