//! How fast operators are by themselves, on rows like those of Nexmark. Not part of the tests:
//! `cargo test --release -p millstream-runtime --test operators -- --ignored --nocapture speed`

use std::time::{Duration, Instant};

use millstream_runtime::operator::{Chained, Discard, Operator, OperatorContext, SnapshotBuilder, Stage};
use millstream_runtime::operators::*;
use millstream_runtime::state::{State, StateError, StateReader};
use millstream_runtime::time::{Sliding, Tumbling, Watermark, WindowBounds};
use millstream_runtime::value::{EvalError, Str, Timestamp};

const EVENTS: i64 = 2_000_000;

#[derive(Clone, Debug, PartialEq)]
struct Bid {
    auction: i64,
    bidder: i64,
    price: i64,
    channel: Str,
    url: Str,
    time: i64,
    extra: Str,
}

impl State for Bid {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.auction, self.bidder, self.price, self.time).encode(out);
        self.channel.encode(out);
        self.url.encode(out);
        self.extra.encode(out);
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let (auction, bidder, price, time) = State::decode(input)?;
        let (channel, url, extra) = (State::decode(input)?, State::decode(input)?, State::decode(input)?);
        Ok(Bid { auction, bidder, price, channel, url, time, extra })
    }
    fn schema() -> String {
        "bid".into()
    }
}

/// Of 50 events one is a person, three are auctions, 46 are bids; half of the bids go to a hot auction, three of four come
/// from a hot bidder, the rest is spread over the last hundred auctions and thousand people.
fn bids(from: i64, to: i64) -> Vec<Bid> {
    let mut bids = Vec::with_capacity((to - from) as usize);
    for event in from..to {
        if event % 50 < 4 {
            continue;
        }
        let mut random = (event as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        random ^= random >> 29;
        random = random.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random ^= random >> 32;
        let random = (random >> 1) as i64;
        let (people, auctions) = (event / 50, event / 50 * 3);
        let auction = if random % 2 == 0 { auctions / 100 * 100 } else { (auctions - random / 7 % 100).max(0) };
        let bidder = if random % 4 > 0 { people / 100 * 100 + 1 } else { (people - random / 11 % 1000).max(0) };
        bids.push(Bid {
            auction: 1000 + auction,
            bidder: 1000 + bidder,
            price: random % 10_000_000,
            channel: Str::from("Google"),
            url: Str::from("https://www.nexmark.com/abo/def/item.htm?query=1"),
            time: 1_700_000_000_000_000 + event * 100,
            extra: Str::from("a text of some sixty characters, as the generator makes them up"),
        });
    }
    bids
}

/// Processor time of this thread, where the system tells it: the machine may be busy.
struct Clock(Instant, Option<u64>);

impl Clock {
    fn cpu() -> Option<u64> {
        std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
    }
    fn start() -> Self {
        Clock(Instant::now(), Self::cpu())
    }
    fn elapsed(&self) -> Duration {
        match (self.1, Self::cpu()) {
            (Some(before), Some(after)) => Duration::from_nanos(after - before),
            _ => self.0.elapsed(),
        }
    }
}

/// Time in the operator, per event; and how long a snapshot of its state holds it up and takes to encode.
fn measure<O: Operator<Bid>>(name: &str, operator: O) {
    let mut stage = Chained::new(OperatorContext::single("op"), operator, Discard);
    let mut spent = Duration::ZERO;
    let mut from = 0;
    while from < EVENTS {
        let to = (from + 1000).min(EVENTS);
        let rows = bids(from, to);
        let watermark = 1_700_000_000_000_000 + to * 100 - 4_000_000;
        let start = Clock::start();
        stage.push_batch(rows).unwrap();
        stage.watermark(Watermark(watermark)).unwrap();
        spent += start.elapsed();
        from = to;
    }
    let start = Instant::now();
    let mut snapshot = SnapshotBuilder::new(1);
    stage.snapshot(&mut snapshot).unwrap();
    let held = start.elapsed();
    let start = Clock::start();
    let bytes: usize = crate::harness::encode(snapshot.into_operators()).iter().map(|(_, _, _, bytes)| bytes.len()).sum();
    let encoded = start.elapsed();
    let start = Clock::start();
    stage.watermark(Watermark::MAX).unwrap();
    stage.finish().unwrap();
    let finished = start.elapsed();
    println!(
        "{name:<34} {:>5.0} ns/event ({:.0} in rows, {:.0} at the end) | snapshot {held:?}, encoded {} MB in {encoded:?}",
        (spent + finished).as_nanos() as f64 / EVENTS as f64,
        spent.as_nanos() as f64 / EVENTS as f64,
        finished.as_nanos() as f64 / EVENTS as f64,
        bytes / 1_000_000,
    );
}

struct BidsPerBidder;

impl Aggregation for BidsPerBidder {
    type In = Bid;
    type Key = i64;
    type Acc = u64;
    type Out = (i64, u64, Timestamp, Timestamp);

    fn key(&self, row: &Bid) -> Result<i64, EvalError> {
        Ok(row.bidder)
    }
    fn time(&self, row: &Bid) -> Result<Timestamp, EvalError> {
        Ok(Timestamp(row.time))
    }
    fn add(&self, acc: &mut u64, _row: &Bid) -> Result<(), EvalError> {
        *acc += 1;
        Ok(())
    }
    fn merge(&self, acc: &mut u64, other: &u64) -> Result<(), EvalError> {
        *acc += other;
        Ok(())
    }
    fn output(&self, key: &i64, window: WindowBounds, acc: &u64) -> Result<Self::Out, EvalError> {
        Ok((*key, *acc, window.start, window.end))
    }
}

struct PricesPerAuction;

impl Aggregation for PricesPerAuction {
    type In = Bid;
    type Key = (i64, i32);
    type Acc = (u64, u64, u64, u64, i64, i64, i128);
    type Out = (i64, i32, u64, i64, i64, i64);

    fn key(&self, row: &Bid) -> Result<(i64, i32), EvalError> {
        Ok((row.auction, row.time.div_euclid(86_400_000_000) as i32))
    }
    fn add(&self, acc: &mut Self::Acc, row: &Bid) -> Result<(), EvalError> {
        acc.4 = if acc.0 == 0 { row.price } else { acc.4.min(row.price) };
        acc.5 = acc.5.max(row.price);
        acc.0 += 1;
        acc.1 += u64::from(row.price < 10_000);
        acc.2 += u64::from((10_000..1_000_000).contains(&row.price));
        acc.3 += u64::from(row.price >= 1_000_000);
        acc.6 += i128::from(row.price);
        Ok(())
    }
    fn output(&self, key: &(i64, i32), _window: WindowBounds, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        Ok((key.0, key.1, acc.0, acc.4, acc.5, (acc.6 / i128::from(acc.0)) as i64))
    }
}

#[test]
#[ignore = "measures speed"]
fn speed() {
    let key = |bid: &Bid| Ok((bid.bidder, bid.auction));
    let time = |bid: &Bid| Ok(Timestamp(bid.time));
    measure("nothing (rows are dropped)", Filter::new(|bid: &Bid| Ok(bid.auction < 0)));
    measure("q11 session(10s) by bidder", SessionAggregate::new(10_000_000, BidsPerBidder));
    measure("q17 by (auction, day), final", FinalAggregate::new(PricesPerAuction));
    measure("q17 by (auction, day), changes", TableAggregate::new(PricesPerAuction));
    measure("q18 dedup keep last, final", DedupFinal::last(key, time));
    measure("q18 dedup keep last, changes", DedupTable::last(key, time));
    measure("tumbling(10s) by bidder", WindowAggregate::new(Tumbling::new(10_000_000, 0), BidsPerBidder));
    measure("sliding(10s, 2s) by bidder", WindowAggregate::new(Sliding::new(10_000_000, 2_000_000, 0), BidsPerBidder));
}
