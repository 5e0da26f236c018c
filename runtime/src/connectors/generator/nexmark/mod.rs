//! Nexmark: the events of an auction site, made up the way the benchmark's own generator does: 1 person, 3 auctions and 46
//! bids in every 50 events, with hot auctions, sellers, bidders and channels.
//!
//! An event is a function of the seed and its number, so that any part of the sequence can be read without the part before.
//! Its columns are computed when they are asked for: a column that nobody reads costs nothing.

#[cfg(feature = "engine")]
mod auction;
#[cfg(feature = "engine")]
mod bid;
mod columns;
#[cfg(feature = "engine")]
mod event;
#[cfg(feature = "engine")]
mod ids;
#[cfg(feature = "engine")]
mod person;
#[cfg(feature = "engine")]
mod random;
#[cfg(feature = "engine")]
mod site;
#[cfg(all(test, feature = "engine"))]
mod tests;

pub use columns::schema;
#[cfg(feature = "engine")]
pub use event::NexmarkEvent;
#[cfg(feature = "engine")]
pub use site::{Nexmark, NexmarkConfig};
