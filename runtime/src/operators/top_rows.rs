//! `top` as an aggregate, for windows and for the end of the input: all rows of a key make a list of the first n.

use std::marker::PhantomData;

use super::Aggregation;
use super::ranking::{Limit, Ranking};
use crate::record::Key;
use crate::state::State;
use crate::time::WindowBounds;
use crate::value::{EvalError, Timestamp};

/// The first rows of a key, as [`Aggregation`]; its output goes through [`Flatten`](super::Flatten).
pub struct TopRows<T, U, K, S, KeyOf, OrderOf, Make, TimeOf> {
    limit: Limit,
    key_of: KeyOf,
    order_of: OrderOf,
    make: Make,
    time_of: TimeOf,
    types: PhantomData<fn(T) -> (U, K, S)>,
}

impl<T, U, K, S, KeyOf, OrderOf, Make, TimeOf> TopRows<T, U, K, S, KeyOf, OrderOf, Make, TimeOf>
where
    KeyOf: Fn(&T) -> Result<K, EvalError>,
    OrderOf: Fn(&T) -> Result<S, EvalError>,
    Make: Fn(&T, i64) -> U,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError>,
{
    /// `make` gives the output row of a row and its rank. Times only matter for windows over event time; else pass
    /// [`by_arrival`](super::by_arrival).
    pub fn new(limit: Limit, key_of: KeyOf, order_of: OrderOf, make: Make, time_of: TimeOf) -> Self {
        TopRows { limit, key_of, order_of, make, time_of, types: PhantomData }
    }
}

impl<T, U, K, S, KeyOf, OrderOf, Make, TimeOf> Aggregation for TopRows<T, U, K, S, KeyOf, OrderOf, Make, TimeOf>
where
    T: Clone + PartialEq + State + Send + Sync + 'static,
    K: Key,
    S: Key,
    KeyOf: Fn(&T) -> Result<K, EvalError> + Send,
    OrderOf: Fn(&T) -> Result<S, EvalError> + Send,
    Make: Fn(&T, i64) -> U + Send,
    TimeOf: Fn(&T) -> Result<Timestamp, EvalError> + Send,
{
    type In = T;
    type Key = K;
    type Acc = Ranking<S, T>;
    type Out = Vec<U>;

    #[inline]
    fn key(&self, row: &T) -> Result<K, EvalError> {
        (self.key_of)(row)
    }

    #[inline]
    fn time(&self, row: &T) -> Result<Timestamp, EvalError> {
        (self.time_of)(row)
    }

    #[inline]
    fn add(&self, acc: &mut Ranking<S, T>, row: &T) -> Result<(), EvalError> {
        let order = (self.order_of)(row)?;
        if acc.takes(&order, self.limit) {
            acc.add(order, row.clone(), self.limit);
        }
        Ok(())
    }

    fn retract(&self, acc: &mut Ranking<S, T>, row: &T) -> Result<(), EvalError> {
        let order = (self.order_of)(row)?;
        acc.remove(&order, row, self.limit);
        Ok(())
    }

    fn merge(&self, acc: &mut Ranking<S, T>, other: &Ranking<S, T>) -> Result<(), EvalError> {
        acc.merge(other, self.limit);
        Ok(())
    }

    fn output(&self, _key: &K, _window: WindowBounds, acc: &Ranking<S, T>) -> Result<Vec<U>, EvalError> {
        Ok(acc.rows().enumerate().map(|(at, row)| (self.make)(row, acc.rank(at, self.limit.ties))).collect())
    }
}
