//! The queries, each a loop over bids. Results are counted, not written, as the pipelines' are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hint::black_box;

use super::input::{Activity, Bid, Bids, Moment, Price, Sale};

/// Every bid as it is.
pub fn q0(bids: &Bids) -> Result<u64, String> {
    let mut rows = 0;
    bids.for_each(|bid: Sale| {
        black_box(bid);
        rows += 1;
    })?;
    Ok(rows)
}

/// The price in euros, exactly, with three decimals.
pub fn q1(bids: &Bids) -> Result<u64, String> {
    let mut rows = 0;
    bids.for_each(|bid: Sale| {
        let euros = i128::from(bid.price).checked_mul(908);
        black_box((bid.auction, bid.bidder, euros, bid.dateTime, bid.extra));
        rows += 1;
    })?;
    Ok(rows)
}

/// The bids on some auctions.
pub fn q2(bids: &Bids) -> Result<u64, String> {
    let mut rows = 0;
    bids.for_each(|bid: Price| {
        if bid.auction % 123 == 0 {
            black_box((bid.auction, bid.price));
            rows += 1;
        }
    })?;
    Ok(rows)
}

/// Sessions of bids per bidder, gap ten seconds. Bids come in order of time, so one open session per bidder is enough.
pub fn q11(bids: &Bids) -> Result<u64, String> {
    const GAP: i64 = 10_000_000;
    let mut open: HashMap<i64, (i64, i64, i64)> = HashMap::new();
    let mut rows = 0;
    bids.for_each(|bid: Activity| {
        let time = bid.dateTime.0;
        match open.entry(bid.bidder) {
            Entry::Vacant(entry) => {
                entry.insert((time, time + GAP, 1));
            }
            Entry::Occupied(mut entry) => {
                let (start, end, count) = *entry.get();
                if time <= end {
                    entry.insert((start, time + GAP, count + 1));
                } else {
                    black_box((bid.bidder, start, end, count));
                    rows += 1;
                    entry.insert((time, time + GAP, 1));
                }
            }
        }
    })?;
    for session in open {
        black_box(session);
        rows += 1;
    }
    Ok(rows)
}

#[derive(Default)]
struct Prices {
    total: i64,
    ranks: [i64; 3],
    min: Option<i64>,
    max: Option<i64>,
    sum: i64,
}

/// Prices per auction and day.
pub fn q17(bids: &Bids) -> Result<u64, String> {
    let mut groups: HashMap<(i64, i64), Prices> = HashMap::new();
    bids.for_each(|bid: Moment| {
        let prices = groups.entry((bid.auction, bid.dateTime.0.div_euclid(86_400_000_000))).or_default();
        prices.total += 1;
        prices.ranks[if bid.price < 10_000 { 0 } else { 1 + usize::from(bid.price >= 1_000_000) }] += 1;
        prices.min = Some(prices.min.map_or(bid.price, |min| min.min(bid.price)));
        prices.max = Some(prices.max.map_or(bid.price, |max| max.max(bid.price)));
        prices.sum += bid.price;
    })?;
    for (key, prices) in &groups {
        black_box((key, prices.total, prices.ranks, prices.min, prices.max, prices.sum / prices.total, prices.sum));
    }
    Ok(groups.len() as u64)
}

/// The last bid of each bidder on each auction.
pub fn q18(bids: &Bids) -> Result<u64, String> {
    let mut last: HashMap<(i64, i64), Bid> = HashMap::new();
    bids.for_each(|bid: Bid| match last.entry((bid.bidder, bid.auction)) {
        Entry::Vacant(entry) => {
            entry.insert(bid);
        }
        Entry::Occupied(mut entry) => {
            if bid.dateTime >= entry.get().dateTime {
                entry.insert(bid);
            }
        }
    })?;
    for (key, bid) in &last {
        black_box((key, bid.price, &bid.channel, &bid.url, &bid.extra));
    }
    Ok(last.len() as u64)
}
