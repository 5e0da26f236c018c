//! Params and rows have types.

millstream::flow! {
    job prices {}
    param least: decimal(10, 2)
    record Price { price: decimal(10, 2) }
    source prices: Price from channel {}
    stream high = prices | where price > least
    sink high into channel {}
}

fn main() {
    let _ = prices::Params::default();
    let _ = prices::Price { price: 3.5 };
}
