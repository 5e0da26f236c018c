//! Pipelines in plain Rust: closures and types instead of the Flow language.
//!
//! A [`Pipeline`] is the job. Sources begin [`Stream`]s; each method puts an operator behind a stream and gives the next one; sinks end
//! them. What comes of it is what the compiler makes of a `.flow` file: a `JobGraph`, expanded to chains of the same operators, which are
//! composed by their types, so that closures are inlined and no row is boxed. Nothing of the compiler takes part.
//!
//! ```no_run
//! # extern crate millstream_runtime as millstream;
//! use std::time::Duration;
//!
//! use millstream::RunOptions;
//! use millstream::builder::{Pipeline, count, sum};
//! use millstream::prelude::*;
//!
//! #[derive(Clone, Record, State)]
//! pub struct Order {
//!     pub customer: String,
//!     pub amount: i64,
//!     pub at: Timestamp,
//! }
//!
//! #[derive(Clone, Record, State)]
//! pub struct Revenue {
//!     pub customer: String,
//!     pub minute: Timestamp,
//!     pub orders: i64,
//!     pub total: i64,
//! }
//!
//! # fn main() -> JobResult<()> {
//! let pipeline = Pipeline::new("shop").checkpoints("checkpoints", Duration::from_secs(10));
//! pipeline
//!     .json_files::<Order>("orders", "orders/*.jsonl")
//!     .watermark(|order| order.at, Duration::from_secs(5))
//!     .stream("revenue")
//!     .filter(|order| order.amount > 0)
//!     .key_by(|order| order.customer.clone())
//!     .timed_by(|order| order.at)
//!     .tumbling(Duration::from_secs(60))
//!     .aggregate((count(), sum(|order: &Order| order.amount)), |customer, window, (orders, total)| Revenue {
//!         customer: customer.clone(),
//!         minute: window.start,
//!         orders,
//!         total,
//!     })
//!     .into_json_files("revenue");
//! pipeline.run(RunOptions::new())?;
//! # Ok(())
//! # }
//! ```

mod as_of;
mod by_key;
#[cfg(feature = "zones")]
mod calendar;
mod calls;
mod checks;
mod condition;
mod counted;
mod event_time;
mod fork;
mod join;
mod keyed;
mod link;
mod lookup;
mod names;
mod over;
mod params;
mod parts;
mod pipeline;
mod process;
mod rows;
mod sides;
mod sink;
mod source;
mod stateless;
mod stream;
mod table_aggregate;
mod table_calls;
mod tables;
#[cfg(test)]
mod tests;
mod top;
mod ttl;
mod unbounded_join;
mod union;
mod window_join;
mod windows;

pub use as_of::JoinAsOf;
pub use by_key::{ByKey, KeyedTable};
#[cfg(feature = "zones")]
pub use calendar::InCalendar;
pub use calls::{Call, CallIf, Calls, average, call, call_if, count, first, last, max, min, sum};
pub use condition::{Always, Condition, JoinSide};
pub use counted::{Counted, SlidingCounted};
pub use join::{Join, JoinWithin};
pub use keyed::{Clock, KeyedStream, RowTime, TimedStream};
pub use link::{Branch, Head, Link, Start, Then, Two};
pub use lookup::{ExternalTable, KeyTexts, KeyedLookup, LookedUp, WholeLookup, WholeLookupBy};
pub use over::{Behind, Framed, Previous, lag, lag_by};
pub use pipeline::Pipeline;
pub use rows::Row;
pub use stream::Stream;
pub use table_calls::{OverTable, TableCalls};
pub use tables::Table;
pub use top::Top;
pub use union::{Streams, Tables};
pub use window_join::JoinOver;
pub use windows::{OverTime, Session, WindowKind, Windowed};

use std::time::Duration;

/// Microseconds; more than fit are as many as fit.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
