//! Which event has which number: kinds, ids of people and auctions, and whom an event is about.

use super::random::{Purpose, Random, below};

/// Events of one round: 1 person, 3 auctions, 46 bids, in this order.
const ROUND: u64 = 50;
const PEOPLE: u64 = 1;
const AUCTIONS: u64 = 3;

/// The first id of a person and of an auction.
pub(super) const FIRST_ID: u64 = 1000;

/// Auctions that are open at a time: bids name one of the last so many.
pub(super) const OPEN_AUCTIONS: u64 = 100;

/// People who act at a time.
const ACTIVE_PEOPLE: u64 = 1000;

/// Ids that are named although they are only about to come.
const LEAD: u64 = 10;

/// Of so many people or auctions in a row one is hot.
const HOT_EVERY: u64 = 100;

/// Events that it takes until as many auctions are new as are open.
pub(super) const EVENTS_OF_OPEN_AUCTIONS: u64 = OPEN_AUCTIONS * ROUND / AUCTIONS;

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Person,
    Auction,
    Bid,
}

/// What the event of this number is.
#[inline]
pub(super) fn kind(number: u64) -> Kind {
    match number % ROUND {
        0 => Kind::Person,
        1..=3 => Kind::Auction,
        _ => Kind::Bid,
    }
}

/// How many people there are, up to and with this event. At least 1.
#[inline]
pub(super) fn people(number: u64) -> u64 {
    number / ROUND * PEOPLE + PEOPLE
}

/// How many auctions there are, up to and with this event.
#[inline]
pub(super) fn auctions(number: u64) -> u64 {
    number / ROUND * AUCTIONS + (number % ROUND).min(AUCTIONS)
}

/// The newest auction, counted from 0.
#[inline]
fn last_auction(number: u64) -> u64 {
    auctions(number).saturating_sub(1)
}

/// Whom a bid is for: every second time the hot auction, the first in the latest hundred.
#[inline]
pub(super) fn bid_auction(number: u64, random: Random) -> u64 {
    let last = last_auction(number);
    let auction = if below(random.draw(Purpose::IsHot), 2) > 0 {
        last / HOT_EVERY * HOT_EVERY
    } else {
        let first = last.saturating_sub(OPEN_AUCTIONS);
        first + below(random.draw(Purpose::Auction), last - first + 1 + LEAD)
    };
    FIRST_ID + auction
}

/// Who bids: three times in four the hot bidder, the second in the latest hundred (the first is the hot seller).
#[inline]
pub(super) fn bidder(number: u64, random: Random) -> u64 {
    let bidder = if below(random.draw(Purpose::IsHotBidder), 4) > 0 {
        (people(number) - 1) / HOT_EVERY * HOT_EVERY + 1
    } else {
        anybody(number, random)
    };
    FIRST_ID + bidder
}

/// Who sells: three times in four the hot seller.
#[inline]
pub(super) fn seller(number: u64, random: Random) -> u64 {
    let seller = if below(random.draw(Purpose::IsHotBidder), 4) > 0 {
        (people(number) - 1) / HOT_EVERY * HOT_EVERY
    } else {
        anybody(number, random)
    };
    FIRST_ID + seller
}

/// One of those who act, or of those about to come.
#[inline]
fn anybody(number: u64, random: Random) -> u64 {
    let people = people(number);
    let active = people.min(ACTIVE_PEOPLE);
    people - active + below(random.draw(Purpose::Bidder), active + LEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_up() {
        let (mut people_seen, mut auctions_seen) = (0, 0);
        for number in 0..500 {
            match kind(number) {
                Kind::Person => people_seen += 1,
                Kind::Auction => auctions_seen += 1,
                Kind::Bid => {}
            }
            assert_eq!((people(number), auctions(number)), (people_seen, auctions_seen), "{number}");
        }
        assert_eq!((people_seen, auctions_seen), (10, 30));
    }
}
