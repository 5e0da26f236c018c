//! What the program does with a job: params that are missing, rows of another kind, ends that are not there.

use millstream::RunOptions;

fn main() {
    let _ = prices::Params::default();
    let _ = prices::start(RunOptions::new());
    let running = prices::start(prices::Params::new(5), RunOptions::new()).unwrap();
    running.prices.send_blocking(prices::High { price: 3.into() }).unwrap();
    running.higher.count();
}

millstream::flow! {
    job prices {}
    param least: decimal(10, 2)
    record Price { price: decimal(10, 2) }
    source prices: Price from channel {}
    stream high = prices | where price > least
    sink high into channel {}
}
