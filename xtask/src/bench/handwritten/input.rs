//! Where the hand-written loops get their bids: the generator that the pipelines use, or a file of JSON lines read as a
//! person would read it (serde_json, one line at a time, only the wanted columns).

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use millstream::codegen::Record;
use millstream::codegen::{Options, Str, Timestamp};
use millstream::connectors::generator::nexmark::{Nexmark, NexmarkConfig};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Where bids come from.
pub enum Bids {
    /// So many generated events.
    Generator(u64),
    /// A file of JSON lines.
    Json(PathBuf),
}

/// The columns of a bid that one query reads, made from either input.
pub trait Shape: Sized {
    /// As the generator gives it.
    type Generated: Record;
    /// As it stands in JSON.
    type Json: DeserializeOwned;
    /// The bid of a generated event, if it is one.
    fn of_generated(event: Self::Generated) -> Option<Self>;
    /// The bid of a JSON event, if it is one.
    fn of_json(event: Self::Json) -> Option<Self>;
}

impl Bids {
    /// Calls `visit` with every bid.
    pub fn for_each<S: Shape>(&self, visit: impl FnMut(S)) -> Result<(), String> {
        match self {
            Bids::Generator(events) => from_generator(*events, visit),
            Bids::Json(file) => from_json(file, visit),
        }
    }
}

fn from_generator<S: Shape>(events: u64, mut visit: impl FnMut(S)) -> Result<(), String> {
    let options = Options::new().with("seed", 42_i64);
    let config = NexmarkConfig::from_options(&options).map_err(|error| error.to_string())?;
    let site = Nexmark::new(config, &S::Generated::slots()).map_err(|error| error.to_string())?;
    for number in 0..events {
        let event = S::Generated::decode_row(&site.event(number), 0).map_err(|error| error.to_string())?;
        if let Some(bid) = S::of_generated(event) {
            visit(bid);
        }
    }
    Ok(())
}

fn from_json<S: Shape>(file: &Path, mut visit: impl FnMut(S)) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(|error| failed(&error))?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|error| failed(&error))? == 0 {
            return Ok(());
        }
        let event: S::Json = serde_json::from_slice(&line).map_err(|error| failed(&error))?;
        if let Some(bid) = S::of_json(event) {
            visit(bid);
        }
    }
}

/// Event time in microseconds, read from `2026-03-15T07:59:20.030` (zone and fraction may be missing).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        Time(time.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        parse_time(text.as_bytes()).ok_or_else(|| serde::de::Error::custom(format!("no time: {text}")))
    }
}

fn parse_time(text: &[u8]) -> Option<Time> {
    let number = |from: usize, to: usize| {
        text.get(from..to)?
            .iter()
            .try_fold(0_i64, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let mut micros = 0;
    if text.get(19) == Some(&b'.') {
        let digits = text[20..].iter().take_while(|digit| digit.is_ascii_digit()).count();
        micros = number(20, 20 + digits)? * 10_i64.checked_pow(6_u32.checked_sub(digits as u32)?)?;
    }
    // Days since 1970-01-01 of a date of the Gregorian calendar: years are counted from March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (m * 153 + 2) / 5 + day - 1 - 719_468;
    Some(Time((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micros))
}

/// A shape: its columns, each with the generator's type and its own.
macro_rules! shape {
    ($(#[$doc:meta])* $name:ident { $($column:ident: $generated:ty => $own:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[allow(missing_docs, non_snake_case, reason = "the columns are those of the events")]
        pub struct $name { $(pub $column: $own),* }

        const _: () = {
            #[derive(Clone, Debug, PartialEq, Record)]
            #[allow(non_snake_case, reason = "the columns are those of the events")]
            pub struct GeneratedBid { $(pub $column: $generated),* }

            #[derive(Clone, Debug, PartialEq, Record)]
            pub struct GeneratedEvent { pub bid: Option<GeneratedBid> }

            #[derive(Deserialize)]
            pub struct JsonEvent { bid: Option<$name> }

            impl Shape for $name {
                type Generated = GeneratedEvent;
                type Json = JsonEvent;
                fn of_generated(event: GeneratedEvent) -> Option<Self> {
                    event.bid.map(|bid| $name { $($column: bid.$column.into()),* })
                }
                fn of_json(event: JsonEvent) -> Option<Self> {
                    event.bid
                }
            }
        };
    };
}

shape! {
    /// q0 and q1.
    Sale { auction: i64 => i64, bidder: i64 => i64, price: i64 => i64, dateTime: Timestamp => Time, extra: Str => String }
}
shape! {
    /// q2.
    Price { auction: i64 => i64, price: i64 => i64 }
}
shape! {
    /// q11.
    Activity { bidder: i64 => i64, dateTime: Timestamp => Time }
}
shape! {
    /// q17.
    Moment { auction: i64 => i64, price: i64 => i64, dateTime: Timestamp => Time }
}
shape! {
    /// q18.
    Bid {
        auction: i64 => i64, bidder: i64 => i64, price: i64 => i64, channel: Str => String, url: Str => String,
        dateTime: Timestamp => Time, extra: Str => String,
    }
}
