//! What travels between two subtasks.

use std::any::Any;
use std::fmt;

/// A `Vec` of rows whose type only the two chains at the ends know.
pub type Batch = Box<dyn Any + Send>;

/// A watermark before all events.
pub const START_OF_TIME: i64 = i64::MIN;

/// The watermark of an input that has ended.
pub const END_OF_TIME: i64 = i64::MAX;

/// One thing in a channel, in order.
pub enum Element {
    /// Rows.
    Batch(Batch),
    /// No more rows at or before this event time (microseconds), save late ones.
    Watermark(i64),
    /// The producer has nothing to say for now: do not wait for its watermark.
    Idle,
    /// The producer speaks again.
    Active,
    /// All rows before belong to this checkpoint, all after it do not.
    Barrier(u64),
    /// Nothing follows.
    End,
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Batch(_) => f.write_str("Batch"),
            Element::Watermark(time) => write!(f, "Watermark({time})"),
            Element::Idle => f.write_str("Idle"),
            Element::Active => f.write_str("Active"),
            Element::Barrier(id) => write!(f, "Barrier({id})"),
            Element::End => f.write_str("End"),
        }
    }
}
