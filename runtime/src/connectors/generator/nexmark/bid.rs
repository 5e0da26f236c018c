//! Bids.

use super::columns::BidColumn;
use super::event::NexmarkEvent;
use super::ids;
use super::random::{Purpose, below, price};
use super::site::CHANNELS;
use crate::record::Cell;
use crate::value::Str;

/// Half of all bids come through these.
pub(super) const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];

/// One column of a bid.
#[inline]
pub(super) fn cell<'a>(event: &'a NexmarkEvent<'_>, column: BidColumn) -> Cell<'a> {
    match column {
        BidColumn::Auction => Cell::Int(ids::bid_auction(event.number, event.random) as i64),
        BidColumn::Bidder => Cell::Int(ids::bidder(event.number, event.random) as i64),
        BidColumn::Price => Cell::Int(price(event.draw(Purpose::Price))),
        BidColumn::Channel => match channel(event) {
            Channel::Hot(index) => Cell::Text(HOT_CHANNELS[index]),
            Channel::Other(number) => {
                let mut name = Str::const_new("channel-");
                name.push_str(itoa::Buffer::new().format(number));
                Cell::Str(name)
            }
        },
        BidColumn::Url => {
            let index = match channel(event) {
                Channel::Hot(index) => index,
                Channel::Other(number) => HOT_CHANNELS.len() + number,
            };
            event.site.urls.get(index).map_or(Cell::Null, |url| Cell::Text(url))
        }
        BidColumn::DateTime => Cell::Timestamp(event.time()),
        BidColumn::Extra => Cell::Str(event.extra::<96>(32, 100)),
    }
}

enum Channel {
    Hot(usize),
    Other(usize),
}

#[inline]
fn channel(event: &NexmarkEvent<'_>) -> Channel {
    let random = event.draw(Purpose::Channel);
    if below(event.draw(Purpose::ChannelIsHot), 2) > 0 {
        Channel::Hot(below(random, HOT_CHANNELS.len() as u64) as usize)
    } else {
        Channel::Other(below(random, CHANNELS) as usize)
    }
}
