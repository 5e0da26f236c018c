//! Auctions.

use super::columns::AuctionColumn;
use super::event::NexmarkEvent;
use super::ids::{self, EVENTS_OF_OPEN_AUCTIONS, FIRST_ID};
use super::random::{Purpose, below, price, text};
use crate::record::Cell;
use crate::value::{Str, Timestamp};

const FIRST_CATEGORY: u64 = 10;
const CATEGORIES: u64 = 5;

/// One column of an auction.
pub(super) fn cell<'a>(event: &NexmarkEvent<'_>, column: AuctionColumn) -> Cell<'a> {
    match column {
        AuctionColumn::Id => Cell::Int((FIRST_ID + ids::auctions(event.number) - 1) as i64),
        AuctionColumn::ItemName => Cell::Str(words(event, Purpose::ItemName, 20)),
        AuctionColumn::Description => Cell::Str(words(event, Purpose::Description, 100)),
        AuctionColumn::InitialBid => Cell::Int(price(event.draw(Purpose::Price))),
        AuctionColumn::Reserve => Cell::Int(price(event.draw(Purpose::Price)) + price(event.draw(Purpose::Reserve))),
        AuctionColumn::DateTime => Cell::Timestamp(event.time()),
        AuctionColumn::Expires => Cell::Timestamp(expires(event)),
        AuctionColumn::Seller => Cell::Int(ids::seller(event.number, event.random) as i64),
        AuctionColumn::Category => Cell::Int((FIRST_CATEGORY + below(event.draw(Purpose::Category), CATEGORIES)) as i64),
        // Name and description have 11 and 51 letters on average.
        AuctionColumn::Extra => Cell::Str(event.extra::<544>(48 + 11 + 51, 500)),
    }
}

/// On average, an auction ends when as many new ones have begun as are open at a time.
fn expires(event: &NexmarkEvent<'_>) -> Timestamp {
    let now = event.time();
    let horizon = event.site.time(event.number.saturating_add(EVENTS_OF_OPEN_AUCTIONS)).0.saturating_sub(now.0) / 1000;
    let millis = 1 + below(event.draw(Purpose::Expires), (2 * horizon.max(0) as u64).max(1));
    Timestamp(now.0.saturating_add_unsigned(millis.saturating_mul(1000)))
}

fn words(event: &NexmarkEvent<'_>, purpose: Purpose, limit: u64) -> Str {
    let mut out = String::with_capacity(limit as usize);
    text(event.random, purpose, 0, limit, ' ', &mut out);
    Str::from(out.trim())
}
