//! `dedup by (..) keep last`, and `keep first` where an earlier row may still come: a table of one row per key.
//!
//! State: key → (time, row). The first or last by time; of rows with equal times the first to come is first, the last to
//! come is last. By arrival: give all rows the same time ([`by_arrival`]).

use crate::error::JobError;
use crate::graph::Keep;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::record::{Change, ChangeKind, Key};
use crate::state::{KeyedState, Place, State};
use crate::time::{DueQueue, Progress, Watermark};
use crate::value::{EvalError, Timestamp};

/// The time of rows that are taken in the order of their arrival.
pub fn by_arrival<T>(_row: &T) -> Result<Timestamp, EvalError> {
    Ok(Timestamp(0))
}

/// Keeps one row per key and emits every change.
pub struct DedupTable<T, K, KeyOf, TimeOf> {
    rows: Rows<T, K, KeyOf, TimeOf>,
    within: Option<i64>,
    timers: DueQueue<K>,
}

/// Keeps one row per key and emits what it has at the end of the input.
pub struct DedupFinal<T, K, KeyOf, TimeOf> {
    rows: Rows<T, K, KeyOf, TimeOf>,
}

struct Rows<T, K, KeyOf, TimeOf> {
    keep: Keep,
    key_of: KeyOf,
    time_of: TimeOf,
    state: KeyedState<K, (i64, T)>,
}

/// Whether a row of this time takes the place of a kept one.
#[inline]
fn replaces(keep: Keep, time: i64, kept: i64) -> bool {
    match keep {
        Keep::First => time < kept,
        Keep::Last => time >= kept,
    }
}

macro_rules! constructors {
    ($name:ident, $make:expr) => {
        impl<T, K, KeyOf, TimeOf> $name<T, K, KeyOf, TimeOf>
        where
            T: Clone + State + Send + Sync + 'static,
            K: Key,
            KeyOf: Fn(&T) -> Result<K, EvalError>,
            TimeOf: Fn(&T) -> Result<Timestamp, EvalError>,
        {
            /// Keeps the earliest row of each key.
            pub fn first(key_of: KeyOf, time_of: TimeOf) -> Self {
                Self::new(Keep::First, key_of, time_of)
            }

            /// Keeps the latest row of each key.
            pub fn last(key_of: KeyOf, time_of: TimeOf) -> Self {
                Self::new(Keep::Last, key_of, time_of)
            }

            /// Keeps this row of each key.
            pub fn new(keep: Keep, key_of: KeyOf, time_of: TimeOf) -> Self {
                let rows = Rows { keep, key_of, time_of, state: KeyedState::new("rows") };
                $make(rows)
            }
        }
    };
}

constructors!(DedupTable, |rows| DedupTable { rows, within: None, timers: DueQueue::default() });
constructors!(DedupFinal, |rows| DedupFinal { rows });

impl<T, K, KeyOf, TimeOf> DedupTable<T, K, KeyOf, TimeOf> {
    /// Forgets a key this many microseconds of event time after the time of its row: the next row is a new one.
    pub fn within(mut self, micros: i64) -> Self {
        self.within = Some(micros.max(0));
        self
    }
}

impl<T, K, KeyOf, TimeOf> Operator<T> for DedupTable<T, K, KeyOf, TimeOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
{
    type Out = Change<T>;

    fn open(&mut self, context: &OperatorContext) {
        self.rows.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: T, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        let rows = &mut self.rows;
        let key = (rows.key_of)(&row)?;
        let time = (rows.time_of)(&row)?.0;
        let slot = rows.state.slot(&key)?;
        match rows.state.place(slot, &key) {
            Place::Occupied(mut place) => {
                let (kept_time, kept) = place.value();
                if self.within.is_some_and(|within| time >= kept_time.saturating_add(within)) {
                    // The key has been forgotten, the watermark only does not know it yet.
                    *kept_time = time;
                    *kept = row.clone();
                    out.emit(Change::insert(row))?;
                } else if replaces(rows.keep, time, *kept_time) {
                    *kept_time = time;
                    let before = std::mem::replace(kept, row.clone());
                    out.emit(Change { kind: ChangeKind::UpdateBefore, row: before })?;
                    out.emit(Change { kind: ChangeKind::UpdateAfter, row })?;
                }
            }
            Place::Vacant(place) => {
                place.insert(key.clone(), (time, row.clone()));
                if let Some(within) = self.within {
                    self.timers.push(time.saturating_add(within), slot, key);
                }
                out.emit(Change::insert(row))?;
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<Change<T>>) -> Result<Option<Watermark>, Failure> {
        let Some(within) = self.within else { return Ok(Some(watermark)) };
        while let Some((_, slot, key)) = self.timers.pop(watermark.0) {
            let Place::Occupied(mut place) = self.rows.state.place(slot, &key) else { continue };
            let due = place.value().0.saturating_add(within);
            if due <= watermark.0 {
                place.remove();
            } else {
                self.timers.push(due, slot, key);
            }
        }
        Ok(Some(watermark))
    }

    fn finish(&mut self, _out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.rows.state.clear();
        self.timers.clear();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.rows.state.snapshot(&Progress::default(), snapshot);
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (timers, within) = (&mut self.timers, self.within);
        self.rows.state.restore(state, &mut Progress::default(), |slot, key, (time, _)| {
            if let Some(within) = within {
                timers.push(time.saturating_add(within), slot, key.clone());
            }
        })
    }
}

impl<T, K, KeyOf, TimeOf> Operator<T> for DedupFinal<T, K, KeyOf, TimeOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
{
    type Out = T;

    fn open(&mut self, context: &OperatorContext) {
        self.rows.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: T, _out: &mut impl Collector<T>) -> Result<(), Failure> {
        let rows = &mut self.rows;
        let key = (rows.key_of)(&row)?;
        let time = (rows.time_of)(&row)?.0;
        let slot = rows.state.slot(&key)?;
        match rows.state.place(slot, &key) {
            Place::Occupied(mut place) => {
                let kept = place.value();
                if replaces(rows.keep, time, kept.0) {
                    *kept = (time, row);
                }
            }
            Place::Vacant(place) => {
                place.insert(key, (time, row));
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut impl Collector<T>) -> Result<(), Failure> {
        for table in 0..self.rows.state.tables().tables() {
            for entry in self.rows.state.tables_mut().drain(table) {
                out.emit(entry.value.1)?;
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.rows.state.snapshot(&Progress::default(), snapshot);
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.rows.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}
