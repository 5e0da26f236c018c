//! One event as a row.

use super::columns::EventColumn;
use super::ids::{Kind, kind};
use super::random::{Purpose, Random, below, letters};
use super::site::Nexmark;
use super::{auction, bid, person};
use crate::record::{Cell, Row};
use crate::value::{Str, Timestamp};

/// One event; its columns are computed when they are read.
#[derive(Clone, Copy, Debug)]
pub struct NexmarkEvent<'a> {
    pub(super) site: &'a Nexmark,
    pub(super) number: u64,
    pub(super) random: Random,
    kind: Kind,
}

impl<'a> NexmarkEvent<'a> {
    #[inline]
    pub(super) fn new(site: &'a Nexmark, number: u64) -> Self {
        NexmarkEvent { site, number, random: Random::new(site.config.seed, number), kind: kind(number) }
    }

    /// When it happens.
    #[inline]
    pub fn time(&self) -> Timestamp {
        self.site.time(self.number)
    }

    /// A random number of this event.
    #[inline]
    pub(super) fn draw(&self, purpose: Purpose) -> u64 {
        self.random.draw(purpose)
    }

    /// Letters that bring a row from `size` bytes to `wanted`, on average.
    #[inline]
    pub(super) fn extra<const MOST: usize>(&self, size: u64, wanted: u64) -> Str {
        let missing = wanted.saturating_sub(size);
        let delta = (missing + 2) / 5;
        let length = missing - delta + below(self.draw(Purpose::ExtraLength), 2 * delta);
        let mut buffer = [0; MOST];
        let buffer = &mut buffer[..(length as usize).min(MOST)];
        letters(self.random, Purpose::Extra, buffer);
        // Letters are ASCII, so nothing is ever lost here.
        Str::from(std::str::from_utf8(buffer).unwrap_or_default())
    }
}

impl Row for NexmarkEvent<'_> {
    #[inline]
    fn cell(&self, slot: usize) -> Cell<'_> {
        match (self.site.columns.get(slot), self.kind) {
            (Some(EventColumn::BidField(column)), Kind::Bid) => bid::cell(self, *column),
            (Some(EventColumn::AuctionField(column)), Kind::Auction) => auction::cell(self, *column),
            (Some(EventColumn::PersonField(column)), Kind::Person) => person::cell(self, *column),
            (Some(EventColumn::EventType), kind) => Cell::Int(kind as i64),
            _ => Cell::Null,
        }
    }

    #[inline]
    fn is_present(&self, slot: usize, _nested: usize) -> bool {
        matches!(
            (self.site.columns.get(slot), self.kind),
            (Some(EventColumn::Bid), Kind::Bid)
                | (Some(EventColumn::Auction), Kind::Auction)
                | (Some(EventColumn::Person), Kind::Person)
        )
    }
}
