//! Accumulators that remember all values, so that any can be given back: what `min`, `first`, `list` and the like are over
//! tables. Over streams they forget what they do not need.

use std::collections::BTreeMap;

use super::accumulator::{Accumulator, Retract, accumulator_state};
use super::arrivals::Arrivals;
use super::{Count, Distinct};
use crate::state::State;
use crate::value::{AsKey, EvalError};

/// How often each value stands, in order: the smallest and the greatest.
macro_rules! extremes {
    ($($name:ident = $text:literal, $end:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name<T: AsKey> {
            values: BTreeMap<T::Key, u64>,
        }

        impl<T: AsKey> Default for $name<T> {
            fn default() -> Self {
                $name { values: BTreeMap::new() }
            }
        }

        accumulator_state!([T: AsKey] $name<T> = $text: values);

        impl<T: AsKey> Accumulator for $name<T> {
            type Input = T;
            type Output = T;

            fn add(&mut self, value: T) -> Result<(), EvalError> {
                *self.values.entry(value.into_key()).or_default() += 1;
                Ok(())
            }

            fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
                for (value, count) in &other.values {
                    *self.values.entry(value.clone()).or_default() += count;
                }
                Ok(())
            }

            fn finish(&self) -> Result<Option<T>, EvalError> {
                Ok(self.values.$end().map(|(value, _)| T::from_key(value)))
            }
        }

        impl<T: AsKey> Retract for $name<T> {
            fn retract(&mut self, value: T) -> Result<(), EvalError> {
                let key = value.into_key();
                match self.values.get_mut(&key) {
                    Some(count) if *count > 1 => *count -= 1,
                    Some(_) => {
                        self.values.remove(&key);
                    }
                    None => {}
                }
                Ok(())
            }
        }
    )*};
}
extremes! {
    MinOverTable = "min_over_table", first_key_value: "The smallest value that stands.";
    MaxOverTable = "max_over_table", last_key_value: "The greatest value that stands.";
}

/// Values by arrival: one end of them, or all.
macro_rules! arrivals {
    ($($name:ident = $text:literal, $output:ty, |$values:ident| $finish:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug)]
        pub struct $name<T> {
            values: Arrivals<T>,
        }

        impl<T> Default for $name<T> {
            fn default() -> Self {
                $name { values: Arrivals::default() }
            }
        }

        impl<T: State> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.values == other.values
            }
        }

        accumulator_state!([T: State] $name<T> = $text: values);

        impl<T: Clone + State> Accumulator for $name<T> {
            type Input = T;
            type Output = $output;

            fn add(&mut self, value: T) -> Result<(), EvalError> {
                self.values.push(value);
                Ok(())
            }

            fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
                self.values.extend(&other.values);
                Ok(())
            }

            fn finish(&self) -> Result<Option<$output>, EvalError> {
                let mut $values = self.values.values().cloned();
                Ok($finish)
            }
        }

        impl<T: Clone + State> Retract for $name<T> {
            fn retract(&mut self, value: T) -> Result<(), EvalError> {
                self.values.remove(&value);
                Ok(())
            }
        }
    )*};
}
arrivals! {
    FirstOverTable = "first_over_table", T, |values| values.next(), "Of the values that stand, the one that came first.";
    LastOverTable = "last_over_table", T, |values| values.next_back(), "Of the values that stand, the one that came last.";
    ListOverTable = "list_over_table", Vec<T>, |values| Some(values.by_ref().collect()), "All values that stand, in order of arrival.";
}

/// The values of each key, in order.
macro_rules! by {
    ($($name:ident = $text:literal, $end:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug)]
        pub struct $name<T, K: AsKey> {
            values: BTreeMap<K::Key, Arrivals<T>>,
        }

        impl<T, K: AsKey> Default for $name<T, K> {
            fn default() -> Self {
                $name { values: BTreeMap::new() }
            }
        }

        impl<T: State, K: AsKey> PartialEq for $name<T, K> {
            fn eq(&self, other: &Self) -> bool {
                self.values == other.values
            }
        }

        accumulator_state!([T: State, K: AsKey] $name<T, K> = $text: values);

        impl<T: Clone + State, K: AsKey> Accumulator for $name<T, K> {
            type Input = (T, K);
            type Output = T;

            fn add(&mut self, (value, by): (T, K)) -> Result<(), EvalError> {
                self.values.entry(by.into_key()).or_default().push(value);
                Ok(())
            }

            fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
                for (by, values) in &other.values {
                    self.values.entry(by.clone()).or_default().extend(values);
                }
                Ok(())
            }

            fn finish(&self) -> Result<Option<T>, EvalError> {
                Ok(self.values.$end().and_then(|(_, values)| values.values().next().cloned()))
            }
        }

        impl<T: Clone + State, K: AsKey> Retract for $name<T, K> {
            fn retract(&mut self, (value, by): (T, K)) -> Result<(), EvalError> {
                let key = by.into_key();
                if let Some(values) = self.values.get_mut(&key) {
                    values.remove(&value);
                    if values.is_empty() {
                        self.values.remove(&key);
                    }
                }
                Ok(())
            }
        }
    )*};
}
by! {
    MinByOverTable = "min_by_over_table", first_key_value: "Of the rows that stand, the value of that in which another is smallest.";
    MaxByOverTable = "max_by_over_table", last_key_value: "Of the rows that stand, the value of that in which another is greatest.";
}

/// `approx_count_distinct` over a table: a sketch cannot forget, so it is exact.
pub type CountDistinctOverTable<T> = Distinct<Count<T>, T>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregates::{Avg, First, Last, List, Max, MaxBy, Min, MinBy, Percentile, Set, StdDev, Sum, Variance};
    use crate::state::{decode_from_slice, encode_to_vec};

    /// Adds and gives back at random; the result is always that of an accumulator which only ever saw what stands.
    fn same_as_over_a_stream<R, S>(input: impl Fn(i64) -> R::Input)
    where
        R: Retract + std::fmt::Debug,
        S: Accumulator<Input = R::Input>,
        R::Output: PartialEq + std::fmt::Debug,
        S::Output: Into<R::Output>,
    {
        let (mut standing, mut table): (Vec<i64>, R) = (Vec::new(), R::default());
        let mut random = 7u64;
        for step in 0..400 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = (random >> 60) as i64;
            let goes = standing.iter().position(|other| *other == value).filter(|_| random >> 50 & 1 == 0);
            match goes {
                // Of equal values the first goes.
                Some(at) => {
                    standing.remove(at);
                    table.retract(input(value)).unwrap();
                }
                None => {
                    standing.push(value);
                    table.add(input(value)).unwrap();
                }
            }
            let mut stream = S::default();
            standing.iter().for_each(|value| stream.add(input(*value)).unwrap());
            let wanted = stream.finish().unwrap().map(Into::into);
            assert_eq!(table.finish().unwrap(), wanted, "step {step}: {standing:?}");
            if step % 50 == 0 {
                table = decode_from_slice(&encode_to_vec(&table)).unwrap();
            }
        }
        while let Some(value) = standing.pop() {
            table.retract(input(value)).unwrap();
        }
        assert_eq!(table.finish().unwrap(), S::default().finish().unwrap().map(Into::into));
    }

    #[test]
    fn every_aggregate_forgets_what_is_taken_back() {
        same_as_over_a_stream::<MinOverTable<i64>, Min<i64>>(|value| value);
        same_as_over_a_stream::<MaxOverTable<i64>, Max<i64>>(|value| value);
        same_as_over_a_stream::<FirstOverTable<i64>, First<i64>>(|value| value);
        same_as_over_a_stream::<LastOverTable<i64>, Last<i64>>(|value| value);
        same_as_over_a_stream::<ListOverTable<i64>, List<i64>>(|value| value);
        same_as_over_a_stream::<MinByOverTable<i64, i64>, MinBy<i64, i64>>(|value| (value, value % 3));
        same_as_over_a_stream::<MaxByOverTable<i64, i64>, MaxBy<i64, i64>>(|value| (value, value % 3));
        same_as_over_a_stream::<CountDistinctOverTable<i64>, CountDistinctOverTable<i64>>(|value| value % 5);
        same_as_over_a_stream::<Set<i64>, Set<i64>>(|value| value % 5);
        same_as_over_a_stream::<Sum<i64>, Sum<i64>>(|value| value);
        same_as_over_a_stream::<Avg<i64>, Avg<i64>>(|value| value);
        same_as_over_a_stream::<Count<i64>, Count<i64>>(|value| value);
        same_as_over_a_stream::<Percentile<i64>, Percentile<i64>>(|value| (value, 0.5));
        same_as_over_a_stream::<Distinct<MaxOverTable<i64>, i64>, Distinct<Max<i64>, i64>>(|value| value);
    }

    #[test]
    fn deviations_come_back_to_nothing() {
        let (mut variance, mut deviation) = (Variance::<i64>::default(), StdDev::<i64>::default());
        for value in [1, 5, 9] {
            variance.add(value).unwrap();
            deviation.add(value).unwrap();
        }
        variance.retract(5).unwrap();
        deviation.retract(5).unwrap();
        let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-9;
        assert!(close(variance.finish().unwrap(), 32.0) || close(variance.finish().unwrap(), 16.0));
        assert!(close(deviation.finish().unwrap().map(|d| d * d), variance.finish().unwrap().unwrap()));
    }

    /// NaN and negative zero: taken back by their bits, ordered by the rule of keys.
    #[test]
    fn floats_go_as_they_came() {
        let mut list = ListOverTable::<f64>::default();
        [f64::NAN, -0.0, 0.0].into_iter().for_each(|value| list.add(value).unwrap());
        list.retract(f64::NAN).unwrap();
        list.retract(0.0).unwrap();
        assert!(list.finish().unwrap().unwrap()[0].is_sign_negative());
        let mut max = MaxOverTable::<f64>::default();
        [f64::NAN, 1.0].into_iter().for_each(|value| max.add(value).unwrap());
        max.retract(f64::NAN).unwrap();
        assert_eq!(max.finish(), Ok(Some(1.0)));
    }
}
