//! Types that do not fit in a pipeline in plain Rust.

use millstream::RunOptions;
use millstream::builder::{Pipeline, count};
use millstream::formats::JsonFormat;
use millstream::prelude::*;

#[derive(Clone)]
struct Forgetful {
    amount: i64,
}

#[derive(Clone, PartialEq, Record, State)]
struct Order {
    customer: String,
    amount: f64,
}

fn rows_without_state(pipeline: &Pipeline) {
    let (_sender, _rows) = pipeline.channel::<Forgetful>("rows", 10);
}

fn a_union_of_different_rows(pipeline: &Pipeline) {
    let (_sender, orders) = pipeline.channel::<Order>("orders", 10);
    let (_numbers, numbers) = pipeline.channel::<i64>("numbers", 10);
    let _all = orders.union(numbers).into_channel(10);
}

fn a_join_with_what_has_no_key(pipeline: &Pipeline) {
    let (_sender, orders) = pipeline.channel::<Order>("orders", 10);
    let (_numbers, numbers) = pipeline.channel::<i64>("numbers", 10);
    let _pairs = orders.key_by(|order| order.customer.clone()).join(numbers);
}

fn a_number_as_a_call(pipeline: &Pipeline) {
    let (_sender, orders) = pipeline.channel::<Order>("orders", 10);
    let _counts = orders.key_by(|order| order.customer.clone()).aggregate(1, |_, count| count);
}

fn a_lookup_by_another_key(pipeline: &Pipeline) {
    let (_sender, orders) = pipeline.channel::<Order>("orders", 10);
    let known = pipeline.lookup_files::<Order, JsonFormat>("known", "known.jsonl").key_by(|order| order.customer.clone());
    let _found = orders.lookup(known, |order| order.amount.to_bits()).semi();
}

fn a_float_as_a_key(pipeline: &Pipeline) {
    let (_sender, orders) = pipeline.channel::<Order>("orders", 10);
    let _dealt = orders.key_by(|order| order.amount);
}

struct Count;

#[operator]
impl Process for Count {
    type Input = Order;
    type Output = i64;
    type State = i64;

    fn process(&mut self, _order: Order, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        *cx.state() += 1;
        let count = *cx.state();
        cx.emit(count);
        Ok(())
    }
}

fn a_state_without_a_key(pipeline: &Pipeline) {
    let (_sender, orders) = pipeline.channel::<Order>("orders", 10);
    let _counts = orders.process(|| Count);
}

fn main() {
    let pipeline = Pipeline::new("mistaken");
    let (_sender, numbers) = pipeline.channel::<i64>("numbers", 10);
    let _counts = numbers.key_by(|_| ()).aggregate(count(), |(), count| count).into_channel(10);
    let _ = pipeline.run(RunOptions::new());
}
