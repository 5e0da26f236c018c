//! Exchanges between tasks: batches and control elements through one bounded channel per pair of subtasks.
//!
//! Rows leave through an [`Outbox`] and come in through a [`Gate`], which aligns barriers and combines watermarks in a [`Valve`].

mod element;
mod gate;
mod in_flight;
mod outbox;
mod valve;

pub use element::{Batch, END_OF_TIME, Element, START_OF_TIME};
pub use gate::{Gate, GateEvent};
pub use in_flight::BatchCodec;
pub use outbox::{Outbox, OutboxHandle};
pub use valve::{Valve, ValveOutput};

/// Elements that fit between two subtasks before the producer waits.
pub const CHANNEL_CAPACITY: usize = 4;

/// Rows per batch.
pub const BATCH_ROWS: usize = 1024;
