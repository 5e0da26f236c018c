//! `final`: the rows of a table that stand when the input has ended.
//!
//! [`Final`] knows the key: state is key → row, a row replaces the one of its key. [`FinalBag`] does not: state is row →
//! how many times it stands.

use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::record::{Change, Key};
use crate::state::{KeyedState, Place, State, decode_from_slice};
use crate::time::Progress;
use crate::value::EvalError;

/// The rows of a table with a key, at the end of the input.
pub struct Final<T, K, KeyOf> {
    key_of: KeyOf,
    state: KeyedState<K, T>,
}

impl<T, K, KeyOf> Final<T, K, KeyOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError>,
{
    /// Of the table whose key `key_of` takes from a row.
    pub fn new(key_of: KeyOf) -> Self {
        Final { key_of, state: KeyedState::new("rows") }
    }
}

impl<T, K, KeyOf> Operator<Change<T>> for Final<T, K, KeyOf>
where
    T: Clone + State + Send + Sync + 'static,
    K: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
{
    type Out = T;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, change: Change<T>, _out: &mut impl Collector<T>) -> Result<(), Failure> {
        let key = (self.key_of)(&change.row)?;
        let slot = self.state.slot(&key)?;
        match (self.state.place(slot, &key), change.kind.adds()) {
            (Place::Occupied(mut place), true) => *place.value() = change.row,
            (Place::Occupied(place), false) => {
                place.remove();
            }
            (Place::Vacant(place), true) => {
                place.insert(key, change.row);
            }
            (Place::Vacant(_), false) => {}
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut impl Collector<T>) -> Result<(), Failure> {
        for table in 0..self.state.tables().tables() {
            for entry in self.state.tables_mut().drain(table) {
                out.emit(entry.value)?;
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot);
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}

/// The rows of a table without a known key, at the end of the input. Runs in one copy, or behind an exchange by
/// [`row_key`], so that changes of a row meet.
pub struct FinalBag<T> {
    /// Encoded rows. Below zero: taken back before it was added.
    state: KeyedState<Vec<u8>, i64>,
    buffer: Vec<u8>,
    row: std::marker::PhantomData<fn() -> T>,
}

/// The whole row as a key.
pub fn row_key<T: State>(row: &T) -> Result<Vec<u8>, EvalError> {
    Ok(crate::state::encode_to_vec(row))
}

impl<T: State> FinalBag<T> {
    /// Of any table.
    pub fn new() -> Self {
        FinalBag { state: KeyedState::new("rows"), buffer: Vec::new(), row: std::marker::PhantomData }
    }
}

impl<T: State> Default for FinalBag<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: State> Operator<Change<T>> for FinalBag<T> {
    type Out = T;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    fn process(&mut self, change: Change<T>, _out: &mut impl Collector<T>) -> Result<(), Failure> {
        self.buffer.clear();
        change.row.encode(&mut self.buffer);
        let slot = self.state.slot(&self.buffer)?;
        let step = if change.kind.adds() { 1 } else { -1 };
        match self.state.place(slot, &self.buffer) {
            Place::Occupied(mut place) => {
                *place.value() += step;
                if *place.value() == 0 {
                    place.remove();
                }
            }
            Place::Vacant(place) => {
                place.insert(self.buffer.clone(), step);
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut impl Collector<T>) -> Result<(), Failure> {
        for table in 0..self.state.tables().tables() {
            for entry in self.state.tables_mut().drain(table) {
                for _ in 0..entry.value {
                    let row = decode_from_slice(&entry.key).map_err(|error| JobError::new(error.to_string()))?;
                    out.emit(row)?;
                }
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot);
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}
