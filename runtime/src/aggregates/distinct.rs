//! `distinct`: an aggregate that sees every value once.

use hashbrown::HashMap;

use super::accumulator::{Accumulator, Retract};
use crate::state::{State, StateError, StateReader};
use crate::value::{AsKey, EvalError};

/// Hands each distinct value to the accumulator once: `count(distinct bidder)` is a `Distinct<Count<i64>, i64>`.
#[derive(Clone, Debug)]
pub struct Distinct<A, T: AsKey> {
    inner: A,
    /// How often each value has come.
    values: HashMap<T::Key, i64, foldhash::fast::FixedState>,
}

impl<A: Default, T: AsKey> Default for Distinct<A, T> {
    fn default() -> Self {
        Distinct { inner: A::default(), values: HashMap::default() }
    }
}

impl<A: PartialEq, T: AsKey> PartialEq for Distinct<A, T> {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner && self.values == other.values
    }
}

impl<A: State, T: AsKey> State for Distinct<A, T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.inner.encode(out);
        self.values.encode(out);
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Distinct { inner: State::decode(input)?, values: State::decode(input)? })
    }
    fn schema() -> String {
        format!("distinct{{inner:{},values:map<{},int64>}}", A::schema(), T::Key::schema())
    }
}

impl<T: AsKey, A: Accumulator<Input = T>> Accumulator for Distinct<A, T> {
    type Input = T;
    type Output = A::Output;

    #[inline]
    fn add(&mut self, value: T) -> Result<(), EvalError> {
        let key = value.into_key();
        match self.values.entry(key) {
            hashbrown::hash_map::Entry::Occupied(mut entry) => *entry.get_mut() += 1,
            hashbrown::hash_map::Entry::Vacant(entry) => {
                self.inner.add(T::from_key(entry.key()))?;
                entry.insert(1);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        for (key, count) in &other.values {
            match self.values.get_mut(key) {
                Some(own) => *own += count,
                None => {
                    self.inner.add(T::from_key(key))?;
                    self.values.insert(key.clone(), *count);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn finish(&self) -> Result<Option<A::Output>, EvalError> {
        self.inner.finish()
    }
}

impl<T: AsKey, A: Retract<Input = T>> Retract for Distinct<A, T> {
    fn retract(&mut self, value: T) -> Result<(), EvalError> {
        let key = value.into_key();
        if let Some(count) = self.values.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.values.remove(&key);
                self.inner.retract(T::from_key(&key))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregates::{Count, Sum};
    use crate::state::{decode_from_slice, encode_to_vec};

    #[test]
    fn each_value_counts_once_until_its_last_row_is_gone() {
        let mut count = Distinct::<Count<f64>, f64>::default();
        for value in [f64::NAN, -f64::NAN, 0.0, -0.0, 1.0] {
            count.add(value).unwrap();
        }
        assert_eq!(count.finish(), Ok(Some(3)));
        count.retract(f64::NAN).unwrap();
        assert_eq!(count.finish(), Ok(Some(3)));
        count.retract(f64::NAN).unwrap();
        assert_eq!(count.finish(), Ok(Some(2)));
        let restored: Distinct<Count<f64>, f64> = decode_from_slice(&encode_to_vec(&count)).unwrap();
        assert_eq!(restored, count);

        let (mut a, mut b) = (Distinct::<Sum<i64>, i64>::default(), Distinct::default());
        [1, 2, 2].into_iter().for_each(|value| a.add(value).unwrap());
        [2, 3].into_iter().for_each(|value| b.add(value).unwrap());
        a.merge(&b).unwrap();
        assert_eq!(a.finish(), Ok(Some(6)));
    }
}
