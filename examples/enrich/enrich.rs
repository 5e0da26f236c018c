//! What the pipeline beside this file cannot say in the language itself.

use millstream::prelude::*;

/// Where an order has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]
pub enum Status {
    #[flow(rename = "open")]
    Open,
    #[flow(rename = "in transit")]
    InTransit,
}

/// An order of the shop.
#[derive(Clone, Debug, Record)]
pub struct Order {
    /// Given by the shop.
    #[flow(rename = "order-id")]
    pub id: i64,
    #[flow(event_time)]
    pub placed_at: Timestamp,
    /// Of the customer's machine.
    pub ip: String,
    pub coupon: Option<String>,
    pub amount: Decimal<10, 2>,
    pub status: Status,
    pub tags: Vec<String>,
}

/// The country of an address; null where nobody knows.
#[function]
pub fn country_of(ip: &str) -> Option<String> {
    let country = match ip.split('.').next()? {
        "10" => "DE",
        "11" => "FR",
        _ => return None,
    };
    Some(country.to_owned())
}

/// What a coupon takes off, in percent.
#[function]
pub fn discount(coupon: &str) -> Result<u8, String> {
    let percent = coupon.strip_prefix("SAVE").and_then(|rest| rest.parse().ok());
    percent.filter(|percent| *percent <= 50).ok_or_else(|| format!("`{coupon}` is no coupon"))
}

/// The tax of a country in percent, as its office has written it down; null where that is not known.
#[function(in_flight = 20, timeout = "5s")]
pub async fn tax_of(country: &str) -> Result<Option<u8>, String> {
    let path = format!("data/tax/{country}.txt");
    match blocking(move || std::fs::read_to_string(path)).await {
        Ok(text) => text.trim().parse().map(Some).map_err(|_| format!("`{text}` is no percentage")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// What a customer reads about an order.
#[derive(Clone, Debug, Record)]
pub struct Notice {
    pub topic: String,
    pub urgent: bool,
}

/// Notices for the words that an order is tagged with.
#[function]
pub fn notices(tags: &[String], status: Status) -> impl Iterator<Item = Notice> {
    let urgent = status == Status::Open;
    tags.iter().filter(|tag| tag.as_str() != "test").map(move |tag| Notice { topic: tag.clone(), urgent })
}

/// Remembers how often each text came.
#[derive(Clone, Debug, Default, State)]
pub struct MostFrequent {
    counts: Map<String, u64>,
}

/// The text that comes most often; of several the first in the order of texts.
#[aggregate]
impl Accumulator for MostFrequent {
    type Input = String;
    type Output = String;

    fn add(&mut self, text: String) -> Result<(), EvalError> {
        *self.counts.entry(text).or_default() += 1;
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        for (text, count) in &other.counts {
            *self.counts.entry(text.clone()).or_default() += count;
        }
        Ok(())
    }

    fn finish(&self) -> Result<Option<String>, EvalError> {
        let most = self.counts.iter().max_by_key(|(text, count)| (**count, std::cmp::Reverse(*text)));
        Ok(most.map(|(text, _)| text.clone()))
    }
}

impl Retract for MostFrequent {
    fn retract(&mut self, text: String) -> Result<(), EvalError> {
        if let Some(count) = self.counts.get_mut(&text) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&text);
            }
        }
        Ok(())
    }
}
