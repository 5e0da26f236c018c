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

#[test]
fn conditions_beside_the_key() {
    let inner = over_orders(2, |orders| {
        let by_name = |orders: Stream<Order>| orders.key_by(|order| order.customer.clone());
        let smaller = |left: &Order, right: &Order| left.amount < right.amount;
        by_name(orders.clone())
            .join(by_name(orders))
            .when(smaller)
            .inner(|left, right| (left.amount, right.amount))
            .into_channel(9)
    });
    assert_eq!(inner, [(50, 250), (50, 300), (250, 300)]);
    // A left row is alone if none of those of its key fits.
    let left = over_orders(2, |orders| {
        let timed = |orders: Stream<Order>| orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let join = timed(orders.clone()).join(timed(orders)).when(|left, right| left.amount > right.amount);
        join.within(100 * SECOND, 100 * SECOND).left(|left, right| (left.amount, right.map(|right| right.amount))).into_channel(9)
    });
    assert_eq!(left, [(50, None), (100, None), (250, Some(50)), (300, None), (999, None)]);
}

#[test]
fn rows_of_one_window() {
    type Row = (i64, Option<i64>, Option<i64>);
    let of = |left: Option<&Order>, right: Option<&Order>, window: crate::time::WindowBounds| {
        (window.start.0 / 1_000_000, left.map(|row| row.amount), right.map(|row| row.amount))
    };
    macro_rules! joined {
        (|$join:ident| $made:expr) => {
            over_orders(2, |orders| {
                let large = orders.clone().filter(|order| order.amount >= 100);
                let small = orders.filter(|order| order.amount <= 100);
                let large = large.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
                let small = small.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
                let $join = large.join(small).tumbling(60 * SECOND);
                $made.into_channel(9)
            })
        };
    }
    let inner: Vec<Row> = joined!(|join| join.inner(move |left, right, window| of(Some(left), Some(right), window)));
    assert_eq!(inner, [(0, Some(100), Some(100)), (0, Some(250), Some(50))]);
    let left: Vec<Row> = joined!(|join| join.left(move |left, right, window| of(Some(left), right, window)));
    let pairs = [(0, Some(100), Some(100)), (0, Some(250), Some(50)), (60, Some(999), None), (180, Some(300), None)];
    assert_eq!(left, pairs);
    let full: Vec<Row> = joined!(|join| join.full(of));
    assert_eq!(full, pairs);
    let anti = joined!(|join| join.anti().map(|order| order.amount));
    assert_eq!(anti, [300, 999]);
    let semi = joined!(|join| join.semi().map(|order| order.amount));
    assert_eq!(semi, [100, 250]);
}

#[test]
fn every_subtask_has_the_right_side() {
    let pipeline = Pipeline::new("broadcast").parallelism(3);
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 9);
    let (names_sender, names) = pipeline.channel::<(String, i64)>("names", 9);
    let dealt = orders_in.rebalance();
    let join = dealt.key_by(|order| order.customer.clone()).join(names.key_by(|(name, _)| name.clone())).broadcast();
    let joined = join.when(|order, (_, least)| order.amount >= *least).inner(|order, (name, _)| (name.clone(), order.amount));
    let joined = joined.into_channel(9);
    let graph = pipeline.graph();
    let join = graph.vertices().find(|id| graph.vertex(*id).uid == "orders/join/0").unwrap();
    let edges: Vec<_> = graph.inputs(join).into_iter().map(|(_, edge)| edge.exchange.clone()).collect();
    assert_eq!(edges, [crate::graph::Exchange::Forward, crate::graph::Exchange::Broadcast]);
    let crate::graph::Operation::Join(shown) = &graph.vertex(join).operation else { panic!() };
    assert!(shown.broadcast && shown.condition.is_some());
    let job = pipeline.start(RunOptions::new()).unwrap();
    feed(sender, orders());
    feed(names_sender, vec![("ann".to_owned(), 100), ("eve".to_owned(), 1000)]);
    assert_eq!(sorted(job, joined), [("ann".to_owned(), 250), ("ann".to_owned(), 300)]);
}

#[test]
fn what_a_broadcast_cannot_do_is_told() {
    let pipeline = Pipeline::new("broadcast");
    let (_sender, orders) = pipeline.channel::<Order>("orders", 9);
    let orders = orders.shared();
    let keyed = || orders.clone().key_by(|order| order.customer.clone());
    let pair = |left: Option<&Order>, right: &Order| (left.map(|order| order.amount), right.amount);
    let _right = keyed().join(keyed()).broadcast().right(pair).into_channel(9);
    let last = keyed().last().key_by(|order| order.customer.clone());
    let _table = last.join(keyed()).broadcast().inner(|left, right| (left.amount, right.amount)).into_channel(9);
    let error = pipeline.start(RunOptions::new()).unwrap_err().to_string();
    assert!(error.contains("a `right join` has none") && error.contains("a stream on the left"), "{error}");
}
