//! `dedup by (..) keep first` by event time, as a stream: the earliest row of each key, never taken back.
//!
//! A row waits until the watermark has reached it, for then no earlier one can come; so the result does not depend on the
//! order of arrival while nothing is late. State: key → time of the first row, and the rows that wait. Of equal times the
//! first to come counts. A late row waits for nothing: it is emitted if its key has no first row yet.

use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::record::Key;
use crate::state::{KeyedState, Place, State, StateError, StateReader};
use crate::time::{DueQueue, Progress, Watermark};
use crate::value::{EvalError, Timestamp};

/// Emits the earliest row of each key, when the watermark has reached it.
pub struct KeepFirstByTime<T, K, KeyOf, TimeOf> {
    key_of: KeyOf,
    time_of: TimeOf,
    within: Option<i64>,
    state: KeyedState<K, First<T>>,
    timers: DueQueue<K>,
    progress: Progress,
}

/// What is known of a key.
#[derive(Clone, Debug)]
struct First<T> {
    /// The time of the row that has been emitted.
    emitted: Option<i64>,
    /// By time. Without `within` only the earliest.
    waiting: Vec<(i64, T)>,
}

impl<T> First<T> {
    /// Whether a row of this time is a repetition of the emitted one.
    fn repeats(&self, time: i64, within: Option<i64>) -> bool {
        self.emitted.is_some_and(|first| within.is_none_or(|within| time < first.saturating_add(within)))
    }

    /// Lets a row wait. False: it cannot become the first.
    fn wait(&mut self, time: i64, row: T, within: Option<i64>) -> bool {
        let index = self.waiting.partition_point(|(other, _)| *other < time);
        if self.waiting.get(index).is_some_and(|(other, _)| *other == time) {
            return false;
        }
        if within.is_none() {
            if index > 0 {
                return false;
            }
            self.waiting.clear();
        }
        self.waiting.insert(index, (time, row));
        true
    }
}

impl<T, K, KeyOf, TimeOf> KeepFirstByTime<T, K, KeyOf, TimeOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError>,
{
    /// By the time that `time_of` gives.
    pub fn new(key_of: KeyOf, time_of: TimeOf) -> Self {
        KeepFirstByTime {
            key_of,
            time_of,
            within: None,
            state: KeyedState::new("rows"),
            timers: DueQueue::default(),
            progress: Progress::default(),
        }
    }

    /// Forgets a key this many microseconds of event time after its first row: a later row is a first one again.
    pub fn within(mut self, micros: i64) -> Self {
        self.within = Some(micros.max(0));
        self
    }
}

impl<T, K, KeyOf, TimeOf> Operator<T> for KeepFirstByTime<T, K, KeyOf, TimeOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
{
    type Out = T;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        let key = (self.key_of)(&row)?;
        let time = (self.time_of)(&row)?.0;
        let slot = self.state.slot(&key)?;
        let is_late = time <= self.progress.of(slot);
        let first = match self.state.place(slot, &key)? {
            Place::Occupied(place) => place.into_value(),
            Place::Vacant(place) => place.insert(key.clone(), First { emitted: None, waiting: Vec::new() }),
        };
        if first.repeats(time, self.within) {
            return Ok(());
        }
        if !is_late {
            if first.wait(time, row, self.within) {
                self.timers.push(time, slot, key);
            }
            return Ok(());
        }
        first.emitted = Some(time);
        match self.within {
            None => first.waiting.clear(),
            Some(within) => self.timers.push(time.saturating_add(within), slot, key),
        }
        out.emit(row)?;
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        while let Some((_, slot, key)) = self.timers.pop(watermark.0) {
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let first = place.value();
            let due = first.waiting.partition_point(|(time, _)| *time <= watermark.0);
            for (time, row) in first.waiting.drain(..due).collect::<Vec<_>>() {
                if !first.repeats(time, self.within) {
                    first.emitted = Some(time);
                    out.emit(row)?;
                }
            }
            let (Some(emitted), Some(within)) = (first.emitted, self.within) else { continue };
            let forgotten = emitted.saturating_add(within);
            if forgotten > watermark.0 {
                if due > 0 {
                    self.timers.push(forgotten, slot, key);
                }
            } else if first.waiting.is_empty() {
                place.remove();
            }
        }
        self.progress.advance(watermark);
        Ok(Some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (timers, within) = (&mut self.timers, self.within);
        self.state.restore(state, &mut self.progress, |slot, key, first| {
            for (time, _) in &first.waiting {
                timers.push(*time, slot, key.clone());
            }
            if let (Some(emitted), Some(within)) = (first.emitted, within) {
                timers.push(emitted.saturating_add(within), slot, key.clone());
            }
        })
    }
}

impl<T: State> State for First<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.emitted.encode(out);
        self.waiting.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(First { emitted: State::decode(input)?, waiting: State::decode(input)? })
    }

    fn schema() -> String {
        format!("first{{emitted:int64?,waiting:list<(int64,{})>}}", T::schema())
    }
}
