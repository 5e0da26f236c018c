//! When keys are forgotten, of operators that keep them for as long as the job runs.

use std::panic::Location;
use std::time::Duration;

use super::keyed::{KeyedStream, TimedStream};
use super::parts::Parts;
use super::rows::origin;
use super::{Pipeline, Stream, micros};
use crate::graph::{Emit, Operation, Origin};

/// An operator that forgets keys after this time, where there is one.
macro_rules! forgetting {
    ($operator:expr, $ttl:expr) => {{
        let operator = $operator;
        match $ttl {
            Some(micros) => operator.ttl(micros),
            None => operator,
        }
    }};
}
pub(super) use forgetting;

impl Pipeline {
    /// Operators that keep every key forget one so long (of the clock) after its state has last changed, unless they have a time
    /// [of their own](KeyedStream::ttl). It is said before the first stream.
    #[must_use]
    #[track_caller]
    pub fn ttl(self, time: Duration) -> Self {
        self.check(|parts, at| {
            parts.length("the time after which keys are forgotten", time, at);
            if parts.is_begun() {
                parts.mistake(
                    &origin(at, "ttl"),
                    "the `ttl` of the job comes before its first stream: say it behind `Pipeline::new`",
                );
            }
        });
        self.settings(|settings| settings.ttl = Some(micros(time)))
    }
}

impl<T, L, K, F> KeyedStream<T, L, K, F> {
    /// The next operator forgets a key so long (of the clock) after its state has last changed: what it has given out stands for good, and
    /// a row that comes later is the first. Without it keys are kept as long as the job, or as [`Pipeline::ttl`] says;
    /// [`Duration::MAX`] is never.
    #[track_caller]
    pub fn ttl(self, time: Duration) -> Self {
        KeyedStream { stream: self.stream.forget_after(time, Location::caller()), ..self }
    }
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W> {
    /// When the next operator forgets a key: see [`KeyedStream::ttl`].
    #[track_caller]
    pub fn ttl(self, time: Duration) -> Self {
        TimedStream { keyed: self.keyed.ttl(time), ..self }
    }
}

impl<T, L> Stream<T, L> {
    /// The next operator forgets keys after this time.
    pub(super) fn forget_after(self, time: Duration, at: &Location<'_>) -> Self {
        let micros = self.parts.borrow_mut().length("the time after which keys are forgotten", time, at);
        Stream { ttl: Some(micros), ..self }
    }

    /// The time after which the next operator, which keeps keys, forgets one; None: never.
    pub(super) fn ttl(&self) -> Option<i64> {
        let of_job = self.parts.borrow().graph.settings.ttl;
        self.ttl.or(of_job).filter(|ttl| *ttl != i64::MAX)
    }
}

impl Parts {
    /// The time after which an operator forgets a key: its own, or that of the job. One by which nothing is forgotten is a mistake.
    pub(super) fn forgets(&mut self, own: Option<i64>, operation: &Operation, at: &Origin) -> Option<i64> {
        let keeps_keys = operation.keeps_keys() && !is_at_end(operation);
        if own.is_some() && !keeps_keys {
            self.mistake(at, &format!("`.ttl(..)` before `{}`: nothing in it is forgotten by this time", at.text));
        }
        own.or(self.graph.settings.ttl).filter(|_| keeps_keys)
    }
}

/// Whether it keeps all keys to give their rows when the input has ended.
fn is_at_end(operation: &Operation) -> bool {
    match operation {
        Operation::Aggregate(aggregate) => aggregate.emit == Emit::Final,
        Operation::Dedup(dedup) => dedup.emit == Emit::Final,
        Operation::Top(top) => top.emit == Emit::Final,
        _ => false,
    }
}
