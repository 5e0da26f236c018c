//! `final`: the rows of a table that stand when the input has ended.
//!
//! [`Final`] knows the key: state is key → row, a row replaces the one of its key. [`FinalBag`] does not: state is what the
//! exchange before it goes by → rows, and how often each stands.
//!
//! The rows come out when the last watermark comes, and before it goes on: to what is behind, they are in time.

use std::marker::PhantomData;

use crate::error::JobError;
use crate::operator::{Collector, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::record::{Change, Key};
use crate::state::{KeyedState, Place, State, StateError, StateReader, decode_from_slice, encode_to_vec};
use crate::time::{Progress, Watermark};
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
        match (self.state.place(slot, &key)?, change.kind.adds()) {
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

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        if watermark == Watermark::MAX {
            for table in 0..self.state.tables().tables() {
                self.state.tables_mut().drain(table, |_, row| out.emit(row))?;
            }
        }
        // Rows come at the end and may be of any time: none is late.
        Ok((watermark == Watermark::MAX).then_some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}

/// The rows of a table without a known key, at the end of the input.
pub struct FinalBag<T, K, RouteOf> {
    route_of: RouteOf,
    state: KeyedState<K, Vec<Standing<T>>>,
    buffer: Vec<u8>,
}

/// A row, and how often it stands. Below zero: taken back before it was added.
type Standing<T> = (Encoded<T>, i64);

/// A row by its bytes. In a checkpoint it is the row, so that its type is compared, and converted, as everywhere.
struct Encoded<T> {
    bytes: Vec<u8>,
    row: PhantomData<fn() -> T>,
}

impl<T> Encoded<T> {
    fn new(bytes: Vec<u8>) -> Self {
        Encoded { bytes, row: PhantomData }
    }
}

impl<T> Clone for Encoded<T> {
    fn clone(&self) -> Self {
        Encoded::new(self.bytes.clone())
    }
}

impl<T: State> State for Encoded<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Encoded::new(encode_to_vec(&T::decode(input)?)))
    }

    fn schema() -> String {
        T::schema()
    }
}

impl<T, K, RouteOf> FinalBag<T, K, RouteOf>
where
    T: State + 'static,
    K: Key,
    RouteOf: Fn(&T) -> Result<K, EvalError>,
{
    /// Of the table whose changes come through an exchange by `route_of`, so that all changes of a row meet.
    pub fn new(route_of: RouteOf) -> Self {
        FinalBag { route_of, state: KeyedState::new("rows"), buffer: Vec::new() }
    }
}

impl<T, K, RouteOf> Operator<Change<T>> for FinalBag<T, K, RouteOf>
where
    T: State + 'static,
    K: Key,
    RouteOf: Fn(&T) -> Result<K, EvalError> + Send,
{
    type Out = T;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    fn process(&mut self, change: Change<T>, _out: &mut impl Collector<T>) -> Result<(), Failure> {
        let key = (self.route_of)(&change.row)?;
        self.buffer.clear();
        change.row.encode(&mut self.buffer);
        let slot = self.state.slot(&key)?;
        let step = if change.kind.adds() { 1 } else { -1 };
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let standing = place.value();
                match standing.iter_mut().position(|(row, _)| row.bytes == self.buffer) {
                    None => standing.push((Encoded::new(self.buffer.clone()), step)),
                    Some(index) => {
                        standing[index].1 += step;
                        if standing[index].1 == 0 {
                            standing.swap_remove(index);
                        }
                    }
                }
                if standing.is_empty() {
                    place.remove();
                }
            }
            Place::Vacant(place) => {
                place.insert(key, vec![(Encoded::new(self.buffer.clone()), step)]);
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<T>) -> Result<Option<Watermark>, Failure> {
        if watermark == Watermark::MAX {
            for table in 0..self.state.tables().tables() {
                self.state.tables_mut().drain(table, |_, rows| {
                    for (row, count) in rows {
                        for _ in 0..count {
                            out.emit(decode_from_slice(&row.bytes).map_err(|error| JobError::new(error.to_string()))?)?;
                        }
                    }
                    Ok::<_, JobError>(())
                })?;
            }
        }
        // Rows come at the end and may be of any time: none is late.
        Ok((watermark == Watermark::MAX).then_some(watermark))
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&Progress::default(), snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.state.restore(state, &mut Progress::default(), |_, _, _| {})
    }
}
