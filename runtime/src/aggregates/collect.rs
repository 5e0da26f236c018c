//! `list`, `set`

use super::AggregateSpec;

/// What the compiler knows of `list`.
pub static LIST: AggregateSpec = AggregateSpec {
    name: "list",
    signature: "list(value: T) -> list<T>",
    never_null: true,
    accumulator: "List",
    over_table: "ListOverTable",
    doc: "All values in a list, in the order in which they came. An empty list where nothing counted.",
};

/// What the compiler knows of `set`.
pub static SET: AggregateSpec = AggregateSpec {
    name: "set",
    signature: "set(value: O) -> list<O>",
    never_null: true,
    accumulator: "Set",
    over_table: "Set",
    doc: "All distinct values in a list, in ascending order. An empty list where nothing counted.",
};

#[cfg(feature = "engine")]
pub use engine::{List, Set};

#[cfg(feature = "engine")]
mod engine {
    use std::collections::BTreeMap;

    use crate::aggregates::accumulator::accumulator_state;
    use crate::aggregates::{Accumulator, Retract};
    use crate::state::State;
    use crate::value::{AsKey, EvalError};

    /// All values, in order of arrival.
    #[derive(Clone, Debug, PartialEq)]
    pub struct List<T> {
        values: Vec<T>,
    }

    impl<T> Default for List<T> {
        fn default() -> Self {
            List { values: Vec::new() }
        }
    }

    accumulator_state!([T: State] List<T> = "list"<T>: values);

    impl<T: Clone + State> Accumulator for List<T> {
        type Input = T;
        type Output = Vec<T>;

        #[inline]
        fn add(&mut self, value: T) -> Result<(), EvalError> {
            self.values.push(value);
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            self.values.extend_from_slice(&other.values);
            Ok(())
        }

        fn finish(&self) -> Result<Option<Vec<T>>, EvalError> {
            Ok(Some(self.values.clone()))
        }
    }

    /// All distinct values, in ascending order, with how often each came.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Set<T: AsKey> {
        values: BTreeMap<T::Key, i64>,
    }

    impl<T: AsKey> Default for Set<T> {
        fn default() -> Self {
            Set { values: BTreeMap::new() }
        }
    }

    accumulator_state!([T: AsKey] Set<T> = "set"<T::Key>: values);

    impl<T: AsKey> Accumulator for Set<T> {
        type Input = T;
        type Output = Vec<T>;

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

        fn finish(&self) -> Result<Option<Vec<T>>, EvalError> {
            Ok(Some(self.values.iter().filter(|(_, count)| **count > 0).map(|(value, _)| T::from_key(value)).collect()))
        }
    }

    impl<T: AsKey> Retract for Set<T> {
        fn retract(&mut self, value: T) -> Result<(), EvalError> {
            let key = value.into_key();
            let count = self.values.entry(key.clone()).or_default();
            *count -= 1;
            if *count == 0 {
                self.values.remove(&key);
            }
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn sets_forget_what_is_taken_back() {
            let mut set = Set::<f64>::default();
            for value in [2.0, f64::NAN, -0.0, 0.0, f64::NAN] {
                set.add(value).unwrap();
            }
            let values = set.finish().unwrap().unwrap();
            assert_eq!((values.len(), values[0], values[1]), (3, 0.0, 2.0));
            set.retract(f64::NAN).unwrap();
            assert_eq!(set.finish().unwrap().unwrap().len(), 3);
            set.retract(f64::NAN).unwrap();
            assert_eq!(set.finish().unwrap().unwrap(), [0.0, 2.0]);
            assert_eq!(List::<i64>::default().finish(), Ok(Some(vec![])));
        }
    }
}
