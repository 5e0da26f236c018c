//! Whole pipelines, built and run in this process; and what is wrong with some.

mod clock;
mod forgotten;
mod joins;
mod keys;
mod lookups;
mod mistakes;
mod over;
mod own;
mod params;
#[cfg(feature = "disk")]
mod state;
mod stateless;
mod tables;
mod top;
mod unaligned;
mod windows;

use std::time::Duration;

use super::*;
use crate::codegen::{Record, State};
use crate::connectors::channel::Receiver;
use crate::connectors::file::FileSource;
use crate::formats::JsonFormat;
use crate::operator::Failure;
use crate::operators::{Context, NoBroadcast, Process, SharedContext};
use crate::options::Options;
use crate::run_options::RunOptions;
use crate::state::BroadcastState;
use crate::value::Timestamp;
use crate::{JobHandle, JobResult};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, State)]
struct Order {
    customer: String,
    amount: i64,
    at: Timestamp,
}

fn order(customer: &str, amount: i64, second: i64) -> Order {
    Order { customer: customer.to_owned(), amount, at: Timestamp(second * 1_000_000) }
}

fn orders() -> Vec<Order> {
    vec![order("ann", 250, 1), order("bob", 100, 2), order("ann", 50, 59), order("eve", 999, 60), order("ann", 300, 200)]
}

/// Sends all rows, then ends the source.
fn feed<T: Send + 'static>(sender: crate::connectors::channel::Sender<T>, rows: Vec<T>) {
    std::thread::spawn(move || {
        for row in rows {
            let _ = sender.send_blocking(row);
        }
    });
}

fn sorted<T: Ord + Send + 'static>(job: JobHandle, receiver: Receiver<T>) -> Vec<T> {
    let mut rows: Vec<T> = receiver.collect();
    job.wait().unwrap();
    rows.sort();
    rows
}

/// A pipeline over the orders.
fn over_orders<T: Row + Ord>(parallelism: u32, build: impl FnOnce(Stream<Order>) -> Receiver<T>) -> Vec<T> {
    let pipeline = Pipeline::new("orders").parallelism(parallelism);
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 4);
    let receiver = build(orders_in.watermark(|order| order.at, 5 * SECOND).shared());
    let job = pipeline.start(RunOptions::new()).unwrap();
    feed(sender, orders());
    sorted(job, receiver)
}

#[test]
fn rows_by_themselves() {
    let rows = over_orders(1, |orders| {
        let large = orders.clone().filter(|order| order.amount >= 100);
        let doubled = large.map(|order| (order.customer, order.amount * 2));
        let all = doubled.union(orders.flat_map(|order| (order.amount < 100).then_some((order.customer, -1))));
        all.stream("all").rebalance().parallelism(3).map(|(name, amount)| (name.to_uppercase(), amount)).into_channel(3)
    });
    let expected = [("ANN", -1), ("ANN", 500), ("ANN", 600), ("BOB", 200), ("EVE", 1998)];
    assert_eq!(rows, expected.map(|(name, amount)| (name.to_owned(), amount)));
}

#[test]
fn windows_of_every_kind() {
    let of = |start: i64, customer: &str, count: i64, total: i64| (start, customer.to_owned(), count, total);
    let row = |customer: &String, window: crate::time::WindowBounds, (count, total): (i64, i64)| {
        (window.start.0 / 1_000_000, customer.clone(), count, total)
    };
    let calls = || (count(), sum(|order: &Order| order.amount));
    let tumbling = over_orders(2, |orders| {
        let keyed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        keyed.tumbling(60 * SECOND).aggregate(calls(), row).into_channel(3)
    });
    let expected = vec![of(0, "ann", 2, 300), of(0, "bob", 1, 100), of(60, "eve", 1, 999), of(180, "ann", 1, 300)];
    assert_eq!(tumbling, expected);
    let sliding = over_orders(2, |orders| {
        let keyed = orders.filter(|order| order.customer == "eve").key_by(|order| order.customer.clone());
        keyed.timed_by(|order| order.at).sliding(60 * SECOND, 30 * SECOND).aggregate(calls(), row).into_channel(3)
    });
    assert_eq!(sliding, [of(30, "eve", 1, 999), of(60, "eve", 1, 999)]);
    let session = over_orders(2, |orders| {
        let keyed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        keyed.session(60 * SECOND).aggregate(calls(), row).into_channel(3)
    });
    let expected = vec![of(1, "ann", 2, 300), of(2, "bob", 1, 100), of(60, "eve", 1, 999), of(200, "ann", 1, 300)];
    assert_eq!(session, expected);
    let least = over_orders(1, |orders| {
        let keyed = orders.key_by(|_| ()).timed_by(|order| order.at).tumbling(1000 * SECOND);
        let calls = (min(|order: &Order| order.amount), call_if::<crate::aggregates::Max<i64>, _, _>(|_: &Order| None));
        keyed.aggregate(calls, |(), _, (least, most)| (least, most)).into_channel(3)
    });
    assert_eq!(least, [(50, None)]);
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Record, State)]
struct Number {
    number: i64,
}

#[test]
fn made_up_rows_in_windows_that_grow() {
    let pipeline = Pipeline::new("numbers");
    let numbers = pipeline.generator::<Number>("numbers", Options::new().with("rows", 4_i64));
    let at = |row: &Number| Timestamp(row.number * 1_000_000);
    let keyed = numbers.watermark(at, Duration::ZERO).idle_after(60 * SECOND).key_by(|_| ()).timed_by(at);
    let grown =
        keyed.cumulative(4 * SECOND, 2 * SECOND).aggregate(count(), |(), window, count| (window.end.0 / 1_000_000, count));
    let grown = grown.into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    assert_eq!(sorted(job, grown), [(2, 2), (4, 4)]);
}

#[test]
fn what_is_no_row_stops_the_job_or_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.jsonl").to_string_lossy().into_owned();
    std::fs::write(&path, "{\"number\":1}\nnonsense\n{\"number\":2}\n").unwrap();
    let pipeline = Pipeline::new("strict").restart(crate::job::Restart::None);
    let from = path.clone();
    let make = move || FileSource::<Number, JsonFormat>::from_options(&Options::new().with("path", from.as_str()));
    let rows = pipeline.source("numbers", make).into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    assert!(rows.collect::<Vec<_>>().len() < 2);
    let error = job.wait().unwrap_err();
    assert!(error.message().contains("numbers.jsonl"), "{error}");

    let pipeline = Pipeline::new("lenient");
    let rows = pipeline.json_files::<Number>("numbers", &path).skip_errors().into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    assert_eq!(sorted(job, rows), [1, 2].map(|number| Number { number }));
}

#[test]
fn late_rows_are_a_stream_of_their_own() {
    let pipeline = Pipeline::new("late");
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 4);
    let keyed = orders_in.watermark(|order| order.at, Duration::ZERO).key_by(|order| order.customer.clone());
    let windows = keyed.timed_by(|order| order.at).tumbling(10 * SECOND);
    let (totals, late) = windows.aggregate_with_late(count(), |customer, _, count| (customer.clone(), count));
    let late = late.map(|order| (order.customer, -order.amount));
    let mut rows = totals.union(late).into_channel(9);
    let job = pipeline.start(RunOptions::new()).unwrap();
    // One row at a time, so that the watermark of the second is there when the third comes.
    let (first, second, third) = (order("ann", 1, 1), order("ann", 2, 100), order("ann", 3, 2));
    let thread = std::thread::spawn(move || {
        sender.send_blocking(first).unwrap();
        sender.send_blocking(second).unwrap();
        // The window of the first row is over: its row says that the watermark has passed.
        (sender, third)
    });
    let (sender, third) = thread.join().unwrap();
    assert_eq!(rows.recv_blocking(), Some(("ann".to_owned(), 1)));
    sender.send_blocking(third).unwrap();
    drop(sender);
    assert_eq!(sorted(job, rows), [("ann".to_owned(), -3), ("ann".to_owned(), 1)]);
}

#[test]
fn joins_within_a_distance() {
    let join = |build: fn(Stream<Order>, Stream<Order>) -> Receiver<(String, i64)>| {
        over_orders(2, move |orders| build(orders.clone(), orders))
    };
    let pair = |customer: &str, amount: i64| (customer.to_owned(), amount);
    macro_rules! pairs {
        ($orders:ident, $others:ident) => {{
            let left = $orders.filter(|order| order.amount >= 100).key_by(|order| order.customer.clone());
            let right = $others.filter(|order| order.amount < 100).key_by(|order| order.customer.clone());
            let right = right.timed_by(|order| order.at);
            left.timed_by(|order| order.at).join(right).within(Duration::ZERO, 60 * SECOND)
        }};
    }
    let inner = join(|left, right| {
        pairs!(left, right).inner(|left, right| (left.customer.clone(), left.amount + right.amount)).into_channel(9)
    });
    assert_eq!(inner, [pair("ann", 300)]);
    let left = join(|left, right| {
        let make = |left: &Order, right: Option<&Order>| (left.customer.clone(), right.map_or(-1, |right| right.amount));
        pairs!(left, right).left(make).into_channel(9)
    });
    assert_eq!(left, [pair("ann", -1), pair("ann", 50), pair("bob", -1), pair("eve", -1)]);
    let semi = join(|left, right| pairs!(left, right).semi().map(|order| (order.customer, order.amount)).into_channel(9));
    assert_eq!(semi, [pair("ann", 250)]);
    let anti = join(|left, right| pairs!(left, right).anti().map(|order| (order.customer, order.amount)).into_channel(9));
    assert_eq!(anti, [pair("ann", 300), pair("bob", 100), pair("eve", 999)]);
    let late = join(|left, right| {
        let (rows, late) = pairs!(left, right).inner_with_late(|left, right| (left.customer.clone(), right.amount));
        rows.union(late.map(|order| (order.customer, order.amount))).into_channel(9)
    });
    assert!(late.contains(&pair("ann", 50)), "{late:?}");
}

/// A key that is a text stands in quotes.
fn name(key: &str) -> String {
    key.trim_matches('"').to_owned()
}

/// Says how many rows a key had when the time of its last one has passed; those below `least` go to the side.
struct Quiet {
    least: i64,
}

impl Process for Quiet {
    type Input = Order;
    type Output = (String, i64);
    type Side = (String, i64);
    type State = i64;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: Order, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        assert_eq!(cx.row_time(), Some(row.at));
        if row.amount < self.least {
            cx.side((row.customer, row.amount));
        }
        *cx.state() += 1;
        cx.event_timer(row.at);
        Ok(())
    }

    fn on_event_timer(&mut self, _: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (key, rows) = (name(&cx.key_text()), *cx.state());
        cx.emit((key, rows));
        Ok(())
    }
}

#[test]
fn operators_with_state_timers_and_a_side() {
    let rows = over_orders(2, |orders| {
        let keyed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let (quiet, side) = keyed.process_with_side(|| Quiet { least: 100 });
        quiet.filter(|(customer, _)| customer != "ann").union(side).into_channel(9)
    });
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows.contains(&("ann".to_owned(), 50)), "{rows:?}");
}

/// Rows by what becomes of them.
#[derive(millstream_macros::SideOutputs)]
enum Beside {
    Small((String, i64)),
    Large(Order),
}

/// Sends on what is neither small nor large.
struct Sort;

impl Process for Sort {
    type Input = Order;
    type Output = (String, i64);
    type Side = Beside;
    type State = i64;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: Order, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        match row.amount {
            ..100 => cx.side(Beside::Small((row.customer, row.amount))),
            300.. => cx.side(Beside::Large(row)),
            _ => cx.emit((row.customer, row.amount)),
        }
        Ok(())
    }
}

#[test]
fn operators_with_several_sides() {
    let rows = over_orders(2, |orders| {
        let (middle, (small, large)) = orders.key_by(|order| order.customer.clone()).process_with_sides(|| Sort);
        // Behind one side an exchange and an operator with state, behind the other nothing but a function.
        let small = small.key_by(|(customer, _)| customer.clone()).first().map(|(customer, amount)| (customer, -amount));
        let large = large.map(|order| (order.customer, order.amount * 1000));
        middle.union(small).union(large).into_channel(9)
    });
    let expected = [("ann", -50), ("ann", 250), ("ann", 300_000), ("bob", 100), ("eve", 999_000)];
    assert_eq!(rows, expected.map(|(name, amount)| (name.to_owned(), amount)));
    let pipeline = Pipeline::new("sides");
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let timed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
    let (middle, (small, large)) = timed.process_with_sides(|| Sort);
    let _receivers = (middle.into_channel(1), small.into_channel(1), large.into_channel(1));
    let graph = pipeline.graph();
    let ports: Vec<String> = graph
        .topological()
        .into_iter()
        .flat_map(|id| graph.inputs(id).into_iter().map(|(_, edge)| edge.port.to_string()).collect::<Vec<_>>())
        .collect();
    assert_eq!(ports, ["main", "main", "side", "side 2"]);
}

/// Rows of either stream.
enum Both {
    Order(Order),
    Bonus((String, i64)),
}

#[derive(Clone, Default, State)]
struct Sums {
    orders: i64,
    bonus: i64,
}

/// The sum of both for each key, when the input has ended.
struct Total;

impl Process for Total {
    type Input = Both;
    type Output = (String, i64);
    type Side = crate::operators::NoSide;
    type State = Sums;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: Both, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        match row {
            Both::Order(order) => cx.state().orders += order.amount,
            Both::Bonus((_, amount)) => cx.state().bonus += amount,
        }
        cx.event_timer(Timestamp(1_000_000_000));
        Ok(())
    }

    fn on_event_timer(&mut self, _: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (key, sum) = (name(&cx.key_text()), cx.state().orders + 10_000 * cx.state().bonus);
        cx.emit((key, sum));
        Ok(())
    }
}

/// The names that all subtasks know.
#[derive(Default, millstream_macros::Shared)]
struct Known {
    names: BroadcastState<String, bool>,
}

/// Counts, when all is over, the orders of names that were told.
struct OfKnown;

impl Process for OfKnown {
    type Input = Order;
    type Output = (String, i64);
    type Side = crate::operators::NoSide;
    type State = i64;
    type Broadcast = (String, i64);
    type Shared = Known;

    fn process(&mut self, _: Order, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        *cx.state() += 1;
        cx.event_timer(Timestamp(1_000_000_000));
        Ok(())
    }

    fn on_event_timer(&mut self, _: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let (key, rows) = (name(&cx.key_text()), *cx.state());
        if cx.shared().names.get(&key).is_some() {
            cx.emit((key, rows));
        }
        Ok(())
    }

    fn on_broadcast(&mut self, (name, _): (String, i64), cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        let (known, everywhere) = cx.broadcast();
        known.names.change(everywhere).insert(name, true);
        Ok(())
    }
}

#[test]
fn operators_over_two_streams() {
    let total = over_orders(2, |orders| {
        let bonus = orders.clone().flat_map(|order| (order.amount > 200).then_some((order.customer, 1)));
        let bonus = bonus.key_by(|(customer, _)| customer.clone()).timed_by(|_| Timestamp(0));
        let orders = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        orders.process_with(bonus, Both::Order, Both::Bonus, || Total).into_channel(9)
    });
    let expected = [("ann", 20_600), ("bob", 100), ("eve", 10_999)];
    assert_eq!(total, expected.map(|(name, sum)| (name.to_owned(), sum)));
    let known = over_orders(2, |orders| {
        let known = orders.clone().flat_map(|order| (order.amount > 200).then_some((order.customer, 1)));
        let keyed = orders.key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        keyed.process_with_broadcast(known, || OfKnown).into_channel(9)
    });
    assert_eq!(known, [("ann".to_owned(), 3), ("eve".to_owned(), 1)]);
}

/// Functions over streams name what is before as `impl Link`.
fn large(orders: Stream<Order, impl Link<Order>>) -> Stream<Order, impl Link<Order>> {
    orders.stream("large").filter(|order| order.amount >= 100)
}

#[test]
fn ids_follow_the_names_of_streams() {
    let ids = |extra: bool| {
        let pipeline = Pipeline::new("ids").checkpoints("unused", SECOND);
        let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
        let orders = orders.watermark(|order| order.at, SECOND).shared();
        if extra {
            let _ = orders.clone().stream("before").filter(|_| true).into_channel(1);
        }
        let keyed = large(orders).key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let totals = keyed.id("totals").tumbling(SECOND).aggregate(count(), |customer, _, count| (customer.clone(), count));
        let _receiver = totals.into_channel(1);
        let graph = pipeline.graph();
        graph.vertices().map(|id| graph.vertex(id).uid.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(false), ["orders/source/0", "large/where/0", "totals", "sink/large/channel"]);
    let with = ids(true);
    assert!(ids(false).iter().all(|id| with.contains(id)), "{with:?}");
}

#[test]
fn state_is_found_again_at_another_parallelism() -> JobResult<()> {
    let folder = tempfile::tempdir().unwrap();
    let run = |rows: Vec<Order>, subtasks: u32, last: bool| -> JobResult<Vec<(String, i64)>> {
        let pipeline = Pipeline::new("again").checkpoints(&folder.path().to_string_lossy(), Duration::from_secs(3600));
        let (sender, orders) = pipeline.channel::<Order>("orders", 9);
        let count_of = rows.len();
        let seen = orders.watermark(|order| order.at, Duration::ZERO).shared();
        let mut told = seen.clone().stream("told").map(|order| order.amount).into_channel(9);
        let keyed = seen.stream("sums").key_by(|order| order.customer.clone()).timed_by(|order| order.at);
        let sums = keyed
            .tumbling(3600 * SECOND)
            .aggregate(sum(|order: &Order| order.amount), |customer, _, sum| (customer.clone(), sum));
        let sums = sums.into_channel(9);
        let job = pipeline.start(RunOptions::new().parallelism(subtasks))?;
        for row in rows {
            sender.send_blocking(row).unwrap();
        }
        for _ in 0..count_of {
            told.recv_blocking().unwrap();
        }
        if last {
            drop((sender, told));
            return Ok(sorted(job, sums));
        }
        job.stop_with_checkpoint()?;
        Ok(sums.collect())
    };
    assert_eq!(run(vec![order("ann", 1, 1), order("bob", 2, 2)], 1, false)?, []);
    assert_eq!(run(vec![order("ann", 4, 3)], 3, false)?, []);
    let expected = [("ann", 13), ("bob", 2)].map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(run(vec![order("ann", 8, 4)], 2, true)?, expected);
    Ok(())
}
