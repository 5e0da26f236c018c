//! How fast Nexmark events are read and written. Not a test of the suite:
//! `cargo test --profile flow -p millstream-runtime --lib json::speed -- --ignored --nocapture`

use std::hint::black_box;
use std::io::Read as _;

use super::JsonFormat;
use crate::codegen::*;
use crate::formats::{Decoder, Encoder, Format};

/// What q0 reads of a bid.
#[derive(Clone, Debug, PartialEq, Record)]
struct Bid {
    auction: i64,
    bidder: i64,
    price: i64,
    channel: Str,
    url: Str,
    #[flow(name = "dateTime")]
    date_time: Timestamp,
    extra: Str,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct All {
    bid: Option<Bid>,
}

/// What q2 reads.
#[derive(Clone, Debug, PartialEq, Record)]
struct AuctionAndPrice {
    auction: i64,
    price: i64,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Few {
    bid: Option<AuctionAndPrice>,
}

/// What q17 reads.
#[derive(Clone, Debug, PartialEq, Record)]
struct Three {
    auction: i64,
    price: i64,
    #[flow(name = "dateTime")]
    date_time: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Timed {
    bid: Option<Three>,
}

fn events() -> Vec<u8> {
    let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/nexmark/data/events.jsonl.gz")).unwrap();
    let mut events = Vec::new();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut events).unwrap();
    events
}

/// The shortest of many short runs: on a busy machine the one that was not disturbed.
fn measure(name: &str, events: usize, bytes: usize, mut run: impl FnMut()) {
    let best = (0..2000)
        .map(|_| {
            let start = std::time::Instant::now();
            run();
            start.elapsed().as_nanos() as f64
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name}: {:.0} ns per event, {:.2} GB/s", best / events as f64, bytes as f64 / best);
}

fn decode<T: Record>(name: &str, lines: &[&[u8]], bytes: usize) {
    let mut decoder = JsonFormat.decoder::<T>(None).unwrap();
    measure(name, lines.len(), bytes, || {
        for line in lines {
            black_box(decoder.decode(black_box(line)).unwrap());
        }
    });
}

#[test]
#[ignore = "a measurement"]
fn nexmark_events() {
    let events = events();
    // A run is much shorter than the time slices of the system.
    let lines: Vec<&[u8]> = events.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(500).collect();
    let events = &events[..lines.iter().map(|line| line.len() + 1).sum()];
    println!("{} events of {} bytes", lines.len(), events.len() / lines.len());
    measure("cutting lines", lines.len(), events.len(), || {
        let (mut framer, mut rest) = (crate::formats::Framer::new(crate::formats::Framing::Lines), events);
        while let Some(frame) = framer.next(rest) {
            rest = &rest[frame.consumed..];
        }
        black_box(rest);
    });
    measure("checking UTF-8", lines.len(), events.len(), || {
        for line in &lines {
            black_box(std::str::from_utf8(black_box(line)).unwrap());
        }
    });
    decode::<Few>("auction, price", &lines, events.len());
    decode::<Timed>("auction, price, dateTime", &lines, events.len());
    decode::<All>("all columns of bids", &lines, events.len());
    let mut decoder = JsonFormat.decoder::<All>(None).unwrap();
    let bids: Vec<Bid> = lines.iter().filter_map(|line| decoder.decode(line).unwrap().unwrap().bid).collect();
    let mut encoder = JsonFormat.encoder::<Bid>().unwrap();
    let mut out = Vec::new();
    bids.iter().for_each(|bid| encoder.encode(bid, &mut out));
    measure("writing bids", bids.len(), out.len(), || {
        out.clear();
        bids.iter().for_each(|bid| encoder.encode(black_box(bid), &mut out));
    });
}
