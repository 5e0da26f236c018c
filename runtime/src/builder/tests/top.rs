//! The first rows of each key.

use std::cmp::Reverse;

use super::tables::{changes_of, standing};
use super::*;
use crate::record::Change;

fn named<const N: usize>(rows: [(&str, i64); N]) -> Vec<(String, i64)> {
    rows.map(|(name, amount)| (name.to_owned(), amount)).to_vec()
}

fn amounts(rows: Vec<Order>) -> Vec<(String, i64)> {
    rows.into_iter().map(|order| (order.customer, order.amount)).collect()
}

#[test]
fn the_greatest_and_the_least() {
    let greatest = changes_of(2, |orders| {
        orders.key_by(|order| order.customer.clone()).top(2, |order| Reverse(order.amount)).rows().into_channel(9)
    });
    assert_eq!(amounts(standing(greatest.clone())), named([("ann", 250), ("ann", 300), ("bob", 100), ("eve", 999)]));
    // 250 and 50 were the greatest, until 300 came.
    assert!(greatest.contains(&Change::delete(order("ann", 50, 59))), "{greatest:?}");
    let least = over_orders(2, |orders| {
        let least = orders.key_by(|order| order.customer.clone()).top(1, |order| order.amount).rows_at_end();
        least.map(|order| (order.customer, order.amount)).into_channel(9)
    });
    assert_eq!(least, named([("ann", 50), ("bob", 100), ("eve", 999)]));
}

#[test]
fn ranks_and_ties() {
    // Customers by the number of their orders.
    let of_customers = |ties: bool| {
        changes_of(1, move |orders| {
            let counts = orders.key_by(|order| order.customer.clone()).aggregate(count(), |name, count| (name.clone(), count));
            let top = counts.key_by(|_| ()).top(2, |(_, count)| Reverse(*count));
            let top = if ties { top.with_ties() } else { top };
            top.ranked(|(name, _), rank| (name.clone(), rank)).into_channel(9)
        })
    };
    assert_eq!(standing(of_customers(false)), named([("ann", 1), ("bob", 2)]));
    assert_eq!(standing(of_customers(true)), named([("ann", 1), ("bob", 2), ("eve", 2)]));
    let latest = over_orders(1, |orders| {
        let top = orders.key_by(|_| ()).top(1, |order| order.customer.clone()).latest_first();
        top.ranked_at_end(|order, rank| (order.amount, rank)).into_channel(9)
    });
    assert_eq!(latest, [(300, 1)]);
}

#[test]
fn in_windows() {
    let rows = over_orders(2, |orders| {
        let windows = orders.key_by(|_| ()).timed_by(|order| order.at).tumbling(60 * SECOND);
        let top = windows.top(2, |order| Reverse(order.amount)).rows();
        // Rows have their times: they are in time for other windows.
        let again = top.key_by(|_| ()).timed_by(|order| order.at).tumbling(60 * SECOND);
        again.aggregate(sum(|order: &Order| order.amount), |(), window, sum| (window.start.0 / 60_000_000, sum)).into_channel(9)
    });
    assert_eq!(rows, [(0, 350), (1, 999), (3, 300)]);
}

#[test]
fn what_the_graph_says_of_it() {
    let pipeline = Pipeline::new("graph");
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let top = orders.stream("top").key_by(|order| order.customer.clone()).ttl(60 * SECOND).top(3, |order| Reverse(order.amount));
    let _rows = top.with_ties().ranked(|order, rank| (order.amount, rank)).into_channel(9);
    let graph = pipeline.graph();
    let vertex = graph.vertices().map(|id| graph.vertex(id)).find(|vertex| vertex.uid == "top/top/0").unwrap();
    let crate::graph::Operation::Top(top) = &vertex.operation else { panic!("{vertex:?}") };
    assert_eq!((top.count, top.ties, top.rank.as_deref(), top.order[0].descending), (3, true, Some("rank"), true));
    assert_eq!((vertex.hints.ttl, &vertex.output.changelog), (Some(60_000_000), &crate::graph::Changelog::Table { key: None }));
}
