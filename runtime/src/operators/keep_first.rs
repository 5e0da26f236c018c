//! `dedup by (..) keep first` by arrival: the first row of each key to come, at once.
//!
//! State: key → time of its first row. With `within` a key is forgotten that long after the time of its first row, and a
//! later row is a first one again. A row that is older than the watermark may repeat one that is forgotten: where late rows
//! have a stage, it goes there if nothing is known of its key; else it counts as a first one.

use super::Ttl;
use super::late::{Late, late_goes_out};
use super::ttl::state_goes_after_ttl;
use crate::error::JobError;
use crate::operator::{Collector, Discard, Failure, Operator, OperatorSnapshot, RestoredOperator, Stage};
use crate::record::Key;
use crate::state::{KeyedState, Place};
use crate::time::{DueQueue, Progress, Watermark};
use crate::value::{EvalError, Timestamp};

/// Emits the first row of each key to come.
pub struct KeepFirst<K, KeyOf, TimeOf, N = Discard> {
    key_of: KeyOf,
    time_of: TimeOf,
    within: Option<i64>,
    /// The time of the first row of each key.
    state: KeyedState<K, i64>,
    timers: DueQueue<K>,
    ttl: Ttl<K>,
    progress: Progress,
    late: Late<N>,
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
            progress: Progress::default(),
            late: Late::counted(),
        }
    }

    /// Rows that may repeat what is forgotten go to this stage.
    pub fn with_late<N>(self, stage: N) -> KeepFirst<K, KeyOf, TimeOf, N> {
        let KeepFirst { key_of, time_of, within, state, timers, ttl, progress, .. } = self;
        KeepFirst { key_of, time_of, within, state, timers, ttl, progress, late: Late::to(stage) }
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

impl<T, K, KeyOf, TimeOf, N> Operator<T> for KeepFirst<K, KeyOf, TimeOf, N>
where
    T: Send,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
    N: Stage<T>,
{
    type Out = T;

    state_goes_after_ttl!(T);

    #[inline]
    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        let key = (self.key_of)(&row)?;
        let time = (self.time_of)(&row)?.0;
        let slot = self.state.slot(&key)?;
        if self.late.is_routed() && time < self.progress.of(slot) && self.state.tables_mut().get(slot, &key)?.is_none() {
            return Ok(self.late.push(row)?);
        }
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
        self.progress.advance(watermark);
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

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, snapshot)?;
        self.ttl.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.ttl.restore(state)?;
        let (timers, within) = (&mut self.timers, self.within);
        self.state.restore(state, &mut self.progress, |slot, key, time| {
            if let Some(within) = within {
                timers.push(time.saturating_add(within), slot, key.clone());
            }
        })
    }

    late_goes_out!(T);
}
