//! Functions for a test: one for every type, and one for every way of taking it.
use millstream::prelude::*;
use std::collections::BTreeMap;

type Id = i64;

/// How far a parcel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]
pub enum Status {
    #[flow(rename = "open")]
    Open,
    #[flow(rename = "in transit")]
    InTransit,
}

/// Something that is sold.
#[derive(Clone, Debug, Record)]
pub struct Item {
    pub name: String,
    /// In euros.
    pub price: Decimal<10, 2>,
    pub status: Status,
    pub parts: Vec<Part>,
    pub note: Option<String>,
}

#[derive(Clone, Debug, Record)]
pub struct Part {
    pub name: Str,
    pub grams: u32,
}

/// Characters of a text.
#[function]
pub fn length_of(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Halves of even numbers; the larger the number, the sooner.
#[function(in_flight = 3, timeout = "1m", unordered)]
pub async fn slow_half(number: i64, item: &Item, note: Option<String>) -> Result<Option<Item>, String> {
    sleep(Duration(10_000 / (number + 1))).await;
    if number % 2 == 1 {
        return Err(format!("{number} is odd"));
    }
    Ok(Some(Item { name: format!("{} {}", item.name, number / 2), note, ..item.clone() }))
}

#[function]
pub fn shout(text: String) -> String {
    text.to_uppercase()
}

#[function]
pub fn fixed(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

#[function]
pub fn maybe_fixed(flag: bool) -> Option<&'static str> {
    flag.then_some("yes")
}

#[function]
pub fn or_none(text: Option<&str>) -> Str {
    text.unwrap_or("none").into()
}

#[function]
pub fn owned_or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| "none".to_owned())
}

#[function]
pub fn flip(flag: &bool) -> bool {
    !flag
}

#[function]
#[allow(clippy::too_many_arguments)]
pub fn kinds(a: Option<i8>, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64) -> i64 {
    i64::from(a.unwrap_or_default()) + i64::from(b) + i64::from(c) + d + i64::from(e) + i64::from(f) + i64::from(g) + h as i64
}

#[function]
pub fn floats(a: f64, b: f32) -> f64 {
    a + f64::from(b)
}

#[function]
pub fn tax(money: Decimal<10, 2>) -> Result<Decimal<12, 2>, EvalError> {
    Decimal::checked(money.0 * 2)
}

#[function]
pub fn next_day(day: Date) -> Date {
    Date(day.0 + 1)
}

#[function]
pub fn seconds(clock: &Time) -> i64 {
    clock.0 / 1_000_000
}

#[function]
pub fn later(at: Timestamp, wait: Duration) -> Option<Timestamp> {
    at.0.checked_add(wait.0).map(Timestamp)
}

#[function]
pub fn same_uuid(uuid: Uuid) -> Uuid {
    uuid
}

#[function]
pub fn same_doc(doc: &Json) -> Json {
    doc.clone()
}

#[function]
pub fn joined(tags: &[String]) -> String {
    tags.join("+")
}

#[function]
pub fn sorted(mut tags: Vec<String>) -> Vec<String> {
    tags.sort();
    tags
}

#[function]
pub fn total(numbers: &[i64]) -> i64 {
    numbers.iter().sum()
}

#[function]
pub fn maybe_total(numbers: Option<&[i64]>) -> Option<i64> {
    numbers.map(|numbers| numbers.iter().sum())
}

#[function]
pub fn doubled(mut bytes: Vec<u8>) -> Bytes {
    bytes.extend_from_within(..);
    bytes
}

#[function]
pub fn first_byte(bytes: &[u8]) -> Option<u8> {
    bytes.first().copied()
}

#[function]
pub fn swapped(labels: Map<String, String>) -> BTreeMap<Str, Option<String>> {
    labels.into_iter().map(|(key, value)| (value.into(), Some(key))).collect()
}

#[function]
pub fn next_status(status: Status) -> Option<Status> {
    match status {
        Status::Open => Some(Status::InTransit),
        Status::InTransit => None,
    }
}

#[function]
pub fn status_name(status: &Status) -> String {
    format!("{status:?}")
}

#[function]
pub fn cheaper(mut item: Item) -> Item {
    item.price = Decimal(item.price.0 / 2);
    item
}

#[function]
pub fn price_of(item: &Item) -> Decimal<10, 2> {
    item.price
}

#[function]
pub fn maybe_price_of(item: Option<&Item>) -> Option<Decimal<10, 2>> {
    item.map(|item| item.price)
}

#[function]
pub fn grams(parts: &[Part]) -> u32 {
    parts.iter().map(|part| part.grams).sum()
}

#[function]
pub fn letters(text: &str) -> impl Iterator<Item = String> {
    text.chars().map(String::from)
}

#[function(name = "checked_half")]
pub fn half(number: i64) -> Result<i64, String> {
    if number % 2 == 0 { Ok(number / 2) } else { Err(format!("{number} is odd")) }
}

#[function]
pub fn alias(id: Id) -> Id {
    id
}

pub mod inner {
    use super::function;

    #[function]
    pub fn inner_words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }
}

/// Remembers a sum.
#[derive(Clone, Default, State)]
pub struct Weighed {
    sum: i64,
}

/// The lengths of texts, with one more for each, times weights.
#[aggregate]
impl Accumulator for Weighed {
    type Input = (String, i64, bool);
    type Output = i64;

    fn add(&mut self, (text, weight, count): Self::Input) -> Result<(), EvalError> {
        if weight < 0 {
            return Err(EvalError::new("a weight below zero"));
        }
        self.sum += weight * if count { text.len() as i64 + 1 } else { 1 };
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.sum += other.sum;
        Ok(())
    }

    fn finish(&self) -> Result<Option<i64>, EvalError> {
        Ok(Some(self.sum))
    }
}

/// Remembers a price.
#[derive(Clone, Default, State)]
pub struct Cheapest {
    price: Option<Decimal<10, 2>>,
}

#[aggregate(name = "cheapest")]
impl Accumulator for Cheapest {
    type Input = Item;
    type Output = Decimal<10, 2>;

    fn add(&mut self, item: Item) -> Result<(), EvalError> {
        self.price = self.price.into_iter().chain([item.price]).min();
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.price = self.price.into_iter().chain(other.price).min();
        Ok(())
    }

    fn finish(&self) -> Result<Option<Decimal<10, 2>>, EvalError> {
        Ok(self.price)
    }
}

/// Reads files as they are now.
#[derive(Connector)]
#[flow(bounded, replayable)]
pub struct Whole {
    /// The files.
    pub path: String,
}

impl SourceConnector for Whole {
    type Source<T: Record, F: Format> = millstream::connectors::file::FileSource<T, F>;

    fn source<T: Record, F: Format>(self, _: F) -> JobResult<Self::Source<T, F>> {
        Self::Source::from_options(&millstream::Options::new().with("path", self.path))
    }
}
