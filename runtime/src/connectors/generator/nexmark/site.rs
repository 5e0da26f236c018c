//! The generator: what it needs to make any event.

use super::columns::EventColumn;
use super::event::NexmarkEvent;
use super::random::{Purpose, Random, below, text};
use crate::error::{JobError, JobResult};
use crate::options::Options;
use crate::record::Slot;
use crate::value::Timestamp;

/// 2026-01-01T00:00:00Z
const START: i64 = 1_767_225_600_000_000;

/// Channels beside the hot ones.
pub(super) const CHANNELS: u64 = 10_000;

/// What can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NexmarkConfig {
    /// Another seed gives other events.
    pub seed: u64,
    /// The time of event 0.
    pub start: Timestamp,
    /// Events in one second of event time; at least 1.
    pub events_per_second: u64,
}

impl Default for NexmarkConfig {
    fn default() -> Self {
        NexmarkConfig { seed: 0, start: Timestamp(START), events_per_second: 10_000 }
    }
}

impl NexmarkConfig {
    /// Reads the options `seed`, `start` and `events_per_second`.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let default = NexmarkConfig::default();
        let events_per_second = options.unsigned("events_per_second")?.unwrap_or(default.events_per_second);
        if events_per_second == 0 {
            return Err(JobError::new("the option `events_per_second` must be at least 1"));
        }
        Ok(NexmarkConfig {
            seed: options.int("seed")?.map_or(default.seed, |seed| seed as u64),
            start: options.int("start")?.map_or(default.start, Timestamp),
            events_per_second,
        })
    }
}

/// Makes Nexmark events, by number.
#[derive(Clone, Debug)]
pub struct Nexmark {
    pub(super) config: NexmarkConfig,
    pub(super) columns: Vec<EventColumn>,
    /// Of the hot channels, then of the others; empty where nobody reads urls.
    pub(super) urls: Vec<String>,
}

impl Nexmark {
    /// A generator for rows with these slots ([`Record::slots`](crate::record::Record::slots)).
    pub fn new(config: NexmarkConfig, slots: &[Slot]) -> JobResult<Self> {
        let columns = slots.iter().map(|slot| {
            EventColumn::find(&slot.path).ok_or_else(|| {
                let known = EventColumn::beside(&slot.path).join(", ");
                JobError::new(format!("Nexmark events have no column `{}`; they have {known}", slot.name()))
            })
        });
        let columns = columns.collect::<JobResult<Vec<_>>>()?;
        let reads_urls = columns.contains(&EventColumn::BidField(super::columns::BidColumn::Url));
        let hot = super::bid::HOT_CHANNELS.len() as u64;
        let urls = if reads_urls { (0..hot + CHANNELS).map(|channel| url(&config, channel, hot)).collect() } else { Vec::new() };
        Ok(Nexmark { config, columns, urls })
    }

    /// The event of this number, from 0.
    #[inline]
    pub fn event(&self, number: u64) -> NexmarkEvent<'_> {
        NexmarkEvent::new(self, number)
    }

    /// The event time of an event.
    #[inline]
    pub(super) fn time(&self, number: u64) -> Timestamp {
        let rate = self.config.events_per_second;
        let micros = match number.checked_mul(1_000_000) {
            Some(micros) => micros / rate,
            None => u64::try_from(u128::from(number) * 1_000_000 / u128::from(rate)).unwrap_or(u64::MAX),
        };
        Timestamp(self.config.start.0.saturating_add_unsigned(micros))
    }
}

/// Every channel has an address of its own; nine in ten of those that are not hot name the channel in it.
fn url(config: &NexmarkConfig, channel: u64, hot: u64) -> String {
    let random = Random::new(config.seed, u64::MAX - channel);
    let mut url = "https://www.nexmark.com/".to_owned();
    for part in 0..3 {
        text(random, Purpose::Url, part * 8, 5, '_', &mut url);
        url.push('/');
    }
    url.push_str("item.htm?query=1");
    if channel >= hot && below(random.draw(Purpose::UrlHasChannel), 10) > 0 {
        let id = ((channel - hot) as u32).reverse_bits() as i32;
        url.push_str(&format!("&channel_id={}", id.unsigned_abs()));
    }
    url
}
