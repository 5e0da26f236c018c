//! `dedup by (..) keep last`, and `keep first` where an earlier row may still come: a table of one row per key.
//!
//! State: key → (time, row). The first or last by time; of rows with equal times the first to come is first, the last to
//! come is last. By arrival: give all rows the same time ([`by_arrival`]).
//!
//! With `within` a key is forgotten that long after the time of its row: a row that comes later is a new one, and the old
//! one stands for good.

use super::Ttl;
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
}

impl<T, K: Key, KeyOf, TimeOf> DedupTable<T, K, KeyOf, TimeOf> {
    /// Forgets keys so many microseconds of the clock after their last row.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.rows.ttl = Ttl::after(micros);
        self
    }
}

/// Keeps one row per key and emits each when it stands for good: at the end of the input, or when its key is forgotten.
pub struct DedupFinal<T, K, KeyOf, TimeOf> {
    rows: Rows<T, K, KeyOf, TimeOf>,
}

struct Rows<T, K, KeyOf, TimeOf> {
    keep: Keep,
    key_of: KeyOf,
    time_of: TimeOf,
    within: Option<i64>,
    state: KeyedState<K, (i64, T)>,
    /// When keys are forgotten.
    timers: DueQueue<K>,
    ttl: Ttl<K>,
}

/// What a row did.
enum Kept<T> {
    /// It was not kept.
    No,
    /// Its key had none.
    New,
    /// It took the place of this one.
    Instead(T),
    /// It is a new one: the key of this one has been forgotten.
    After(T),
}

/// Whether a row of this time takes the place of a kept one.
#[inline]
fn replaces(keep: Keep, time: i64, kept: i64) -> bool {
    match keep {
        Keep::First => time < kept,
        Keep::Last => time >= kept,
    }
}

impl<T, K, KeyOf, TimeOf> Rows<T, K, KeyOf, TimeOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError>,
{
    /// Keeps the row or not. `row` gives the one to keep, from the one at hand.
    #[inline]
    fn take<R>(&mut self, row: R, look: impl Fn(&R) -> &T, own: impl Fn(R) -> T) -> Result<Kept<T>, Failure> {
        let key = (self.key_of)(look(&row))?;
        let time = (self.time_of)(look(&row))?.0;
        let slot = self.state.slot(&key)?;
        self.ttl.touch(slot, &key)?;
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let kept = place.value();
                let forgotten = self.within.is_some_and(|within| time >= kept.0.saturating_add(within));
                if !forgotten && !replaces(self.keep, time, kept.0) {
                    return Ok(Kept::No);
                }
                let is_earlier = time < kept.0;
                let (_, before) = std::mem::replace(kept, (time, own(row)));
                // A later time finds its timer ringing too early, and sets it anew.
                if let Some(within) = self.within.filter(|_| is_earlier) {
                    self.timers.push(time.saturating_add(within), slot, key);
                }
                Ok(if forgotten { Kept::After(before) } else { Kept::Instead(before) })
            }
            Place::Vacant(place) => {
                match self.within {
                    None => {
                        place.insert(key, (time, own(row)));
                    }
                    Some(within) => {
                        place.insert(key.clone(), (time, own(row)));
                        self.timers.push(time.saturating_add(within), slot, key);
                    }
                }
                Ok(Kept::New)
            }
        }
    }

    /// Forgets the keys whose time has come. Their rows stand for good.
    fn forget(&mut self, watermark: Watermark, mut each: impl FnMut(T) -> Result<(), JobError>) -> Result<(), JobError> {
        let Some(within) = self.within else { return Ok(()) };
        while let Some((_, slot, key)) = self.timers.pop(watermark.0) {
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let due = place.value().0.saturating_add(within);
            if due <= watermark.0 {
                each(place.remove().1.1)?;
            } else {
                self.timers.push(due, slot, key);
            }
        }
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (timers, within) = (&mut self.timers, self.within);
        self.state.restore(state, &mut Progress::default(), |slot, key, (time, _)| {
            if let Some(within) = within {
                timers.push(time.saturating_add(within), slot, key.clone());
            }
        })
    }
}

macro_rules! constructors {
    ($name:ident) => {
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
                let (state, timers) = (KeyedState::new("rows"), DueQueue::default());
                $name { rows: Rows { keep, key_of, time_of, within: None, state, timers, ttl: Ttl::default() } }
            }

            /// Forgets a key this many microseconds of event time after the time of its row.
            pub fn within(mut self, micros: i64) -> Self {
                self.rows.within = Some(micros.max(0));
                self
            }
        }
    };
}

constructors!(DedupTable);
constructors!(DedupFinal);

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
        self.rows.ttl.open(context);
    }

    #[inline]
    fn process(&mut self, row: T, out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        match self.rows.take(&row, |row| row, T::clone)? {
            Kept::No => {}
            Kept::New | Kept::After(_) => out.emit(Change::insert(row))?,
            Kept::Instead(before) => {
                out.emit(Change { kind: ChangeKind::UpdateBefore, row: before })?;
                out.emit(Change { kind: ChangeKind::UpdateAfter, row })?;
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<Change<T>>) -> Result<Option<Watermark>, Failure> {
        self.rows.forget(watermark, |_| Ok(()))?;
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.rows.ttl.advance(now, &mut self.rows.state)?;
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.rows.ttl.next()
    }

    fn finish(&mut self, _out: &mut impl Collector<Change<T>>) -> Result<(), Failure> {
        self.rows.state.clear();
        self.rows.ttl.clear();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.rows.state.snapshot(&Progress::default(), snapshot)?;
        self.rows.ttl.snapshot(snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.rows.ttl.restore(state)?;
        self.rows.restore(state)
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
    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        if let Kept::After(before) = self.rows.take(row, |row| row, |row| row)? {
            out.emit(before)?;
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        self.rows.forget(watermark, |row| out.emit(row))?;
        if watermark == Watermark::MAX {
            for table in 0..self.rows.state.tables().tables() {
                self.rows.state.tables_mut().drain(table, |_, (_, row)| out.emit(row))?;
            }
        }
        // Rows that stand for good may be of any time: none is late.
        Ok((watermark == Watermark::MAX).then_some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.rows.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.rows.restore(state)
    }
}
