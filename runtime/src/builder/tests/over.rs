//! Rows with what those before them make.

use super::*;

fn of<V: Clone, const N: usize>(rows: [(&str, V); N]) -> Vec<(String, V)> {
    rows.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// The values of a frame of each order, by name; the orders of one name in the order of time.
macro_rules! framed {
    (|$timed:ident| $framed:expr) => {
        over_orders(2, |orders| {
            let $timed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
            $framed.map(|(order, value)| ((order.customer, order.at.0), value)).into_channel(9)
        })
        .into_iter()
        .map(|((name, _), value)| (name, value))
        .collect::<Vec<_>>()
    };
}

#[test]
fn frames() {
    let amount = || sum(|order: &Order| order.amount);
    let rows = framed!(|timed| timed.over_rows(2).aggregate(amount()));
    assert_eq!(rows, of([("ann", 250), ("ann", 300), ("ann", 350), ("bob", 100), ("eve", 999)]));
    let last = framed!(|timed| timed.over_last(60 * SECOND).aggregate(amount()));
    assert_eq!(last, of([("ann", 250), ("ann", 300), ("ann", 300), ("bob", 100), ("eve", 999)]));
    let all = framed!(|timed| timed.over_all().aggregate((count(), amount())));
    assert_eq!(all, of([("ann", (1, 250)), ("ann", (2, 300)), ("ann", (3, 600)), ("bob", (1, 100)), ("eve", (1, 999))]));
}

#[test]
fn neighbours() {
    let lag = || lag(|order: &Order| order.amount);
    let before = framed!(|timed| timed.one_by_one().aggregate((count(), lag())));
    let expected = [("ann", (1, None)), ("ann", (2, Some(250))), ("ann", (3, Some(50))), ("bob", (1, None)), ("eve", (1, None))];
    assert_eq!(before, of(expected));
    let behind = framed!(|timed| timed.lead(|order| order.amount));
    assert_eq!(behind, of([("ann", Some(50)), ("ann", Some(300)), ("ann", None), ("bob", None), ("eve", None)]));
    let two_before = framed!(|timed| timed.one_by_one().aggregate(lag_by(2, |order: &Order| order.amount)));
    assert_eq!(two_before, of([("ann", None), ("ann", None), ("ann", Some(250)), ("bob", None), ("eve", None)]));
    let two_behind = framed!(|timed| timed.lead_by(2, |order| order.amount));
    assert_eq!(two_behind, of([("ann", Some(300)), ("ann", None), ("ann", None), ("bob", None), ("eve", None)]));
}

#[test]
fn what_the_graph_says_of_it() {
    let pipeline = Pipeline::new("graph").ttl(60 * SECOND);
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let orders = orders.watermark(|order| order.at, Duration::ZERO).shared();
    let timed = |name: &str| orders.clone().stream(name).key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let calls = (count(), sum(|order: &Order| order.amount), count());
    let _all = timed("all").over_all().aggregate(calls).into_channel(9);
    let _last = timed("last").over_last(SECOND).aggregate(count()).into_channel(9);
    let graph = pipeline.graph();
    let of = |uid: &str| graph.vertices().map(|id| graph.vertex(id)).find(|vertex| vertex.uid == uid).unwrap();
    let columns = of("all/over/0").output.schema.to_string();
    let text = "{ customer: string, amount: int64, at: timestamp, count over 1: int64, sum over 1: int64, count over 2: int64 }";
    assert_eq!(columns, text);
    // The frame of a time forgets by itself.
    assert_eq!((of("all/over/0").hints.ttl, of("last/over/0").hints.ttl), (Some(60_000_000), None));
}
