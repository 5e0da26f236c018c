//! Operators of one's own without a key.

use super::*;
use crate::operators::RowByRow;

/// Passes on what is large; the rest goes beside.
struct Large;

impl Process for Large {
    type Input = Order;
    type Output = (String, i64);
    type Side = i64;
    type State = ();
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, order: Order, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if order.amount < 100 {
            cx.side(order.amount);
        } else {
            cx.emit((order.customer.clone(), order.amount));
            cx.emit((order.customer, -order.amount));
        }
        Ok(())
    }
}

impl RowByRow for Large {}

#[test]
fn each_row_by_itself_in_the_chain_before_it() {
    let pipeline = Pipeline::new("large").parallelism(3);
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 9);
    let (large, small) = orders_in.rebalance().stream("large").process_with_side(|| Large);
    let large = large.into_channel(9);
    let small = small.stream("small").into_channel(9);
    let graph = pipeline.graph();
    let vertex = graph.vertices().find(|id| graph.vertex(*id).uid == "large/process/0").unwrap();
    let crate::graph::Operation::Process(shown) = &graph.vertex(vertex).operation else { panic!() };
    assert!(shown.stateless && shown.keys.is_empty() && shown.time.is_none());
    // It is in the chain of what takes the rows, and runs as often.
    let job = pipeline.start(RunOptions::new()).unwrap();
    feed(sender, orders());
    assert_eq!(small.collect::<Vec<_>>(), [50]);
    let rows = sorted(job, large);
    let expected =
        [("ann", -300), ("ann", -250), ("ann", 250), ("ann", 300), ("bob", -100), ("bob", 100), ("eve", -999), ("eve", 999)];
    assert_eq!(rows, expected.map(|(name, amount)| (name.to_owned(), amount)));
}
