//! `dedup by (..) keep first` by arrival: the first row of each key to come, at once.
//!
//! State: key → time of its first row. With `within` a key is forgotten that long after the time of its first row, and a
//! later row is a first one again.

use super::Ttl;
use super::ttl::state_with_ttl;
use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, RestoredOperator};
use crate::record::Key;
use crate::state::{KeyedState, Place};
use crate::time::{DueQueue, Progress, Watermark};
use crate::value::{EvalError, Timestamp};

/// Emits the first row of each key to come.
pub struct KeepFirst<K, KeyOf, TimeOf> {
    key_of: KeyOf,
    time_of: TimeOf,
    within: Option<i64>,
    /// The time of the first row of each key.
    state: KeyedState<K, i64>,
    timers: DueQueue<K>,
    ttl: Ttl<K>,
}

impl<K: Key, KeyOf, TimeOf> KeepFirst<K, KeyOf, TimeOf> {
    /// Times only matter for `within`; without it pass [`by_arrival`](super::by_arrival).
    pub fn new<T>(key_of: KeyOf, time_of: TimeOf) -> Self
    where
        KeyOf: Fn(&T) -> Result<K, EvalError>,
        TimeOf: Fn(&T) -> Result<Timestamp, EvalError>,
    {
        KeepFirst {
            key_of,
            time_of,
            within: None,
            state: KeyedState::new("keys"),
            timers: DueQueue::default(),
            ttl: Ttl::default(),
        }
    }

    /// Forgets a key this many microseconds of event time after its first row.
    pub fn within(mut self, micros: i64) -> Self {
        self.within = Some(micros.max(0));
        self
    }

    /// Forgets a key so many microseconds of the clock after its last row.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.ttl = Ttl::after(micros);
        self
    }
}

impl<T, K, KeyOf, TimeOf> Operator<T> for KeepFirst<K, KeyOf, TimeOf>
where
    T: Send,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
{
    type Out = T;

    state_with_ttl!(T);

    #[inline]
    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        let key = (self.key_of)(&row)?;
        let time = (self.time_of)(&row)?.0;
        let slot = self.state.slot(&key)?;
        self.ttl.touch(slot, &key)?;
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let first = place.value();
                if self.within.is_none_or(|within| time < first.saturating_add(within)) {
                    return Ok(());
                }
                *first = time;
            }
            Place::Vacant(place) => match self.within {
                None => {
                    place.insert(key, time);
                }
                Some(within) => {
                    place.insert(key.clone(), time);
                    self.timers.push(time.saturating_add(within), slot, key);
                }
            },
        }
        out.emit(row)?;
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        let Some(within) = self.within else { return Ok(Some(watermark)) };
        while let Some((_, slot, key)) = self.timers.pop(watermark.0) {
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let due = place.value().saturating_add(within);
            if due <= watermark.0 {
                place.remove();
            } else {
                self.timers.push(due, slot, key);
            }
        }
        Ok(Some(watermark))
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.ttl.restore(state)?;
        let (timers, within) = (&mut self.timers, self.within);
        self.state.restore(state, &mut Progress::default(), |slot, key, time| {
            if let Some(within) = within {
                timers.push(time.saturating_add(within), slot, key.clone());
            }
        })
    }
}
