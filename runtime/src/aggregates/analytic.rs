//! Functions that look at the rows before or behind a row: only with `over (..)`.

use super::AggregateSpec;

/// `lag`
pub static LAG: AggregateSpec = AggregateSpec {
    name: "lag",
    signature: "lag(value: T, rows?: int64) -> T",
    never_null: false,
    accumulator: "Lag",
    over_table: "Lag",
    doc: "The value of the row before this one, or of the row so many rows before. Null where there is none. Only with `over`.",
};

/// `lead`
pub static LEAD: AggregateSpec = AggregateSpec {
    name: "lead",
    signature: "lead(value: T, rows?: int64) -> T",
    never_null: false,
    accumulator: "Lead",
    over_table: "Lead",
    doc: "The value of the row behind this one, or of the row so many rows behind. Null where there is none. Only with `over`. \
          A row waits for the one that it looks at.",
};

/// `row_number`
pub static ROW_NUMBER: AggregateSpec = AggregateSpec {
    name: "row_number",
    signature: "row_number() -> int64",
    never_null: true,
    accumulator: "Count",
    over_table: "Count",
    doc: "The number of the row among those of its key, from 1, in the order of event time. Only with `over`.",
};

#[cfg(feature = "engine")]
pub use engine::{Lag, Lead};

#[cfg(feature = "engine")]
mod engine {
    use std::collections::VecDeque;

    use crate::aggregates::Accumulator;
    use crate::state::{State, StateError, StateReader};
    use crate::value::EvalError;

    /// The value that came `BACK` values before the last one. Nulls count as values.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Lag<T, const BACK: usize> {
        values: VecDeque<Option<T>>,
    }

    impl<T, const BACK: usize> Default for Lag<T, BACK> {
        fn default() -> Self {
            Lag { values: VecDeque::new() }
        }
    }

    impl<T: State, const BACK: usize> State for Lag<T, BACK> {
        fn encode(&self, out: &mut Vec<u8>) {
            self.values.encode(out);
        }

        fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
            Ok(Lag { values: State::decode(input)? })
        }

        fn schema() -> String {
            format!("lag{{values:{}}}", VecDeque::<Option<T>>::schema())
        }
    }

    impl<T: Clone + State, const BACK: usize> Accumulator for Lag<T, BACK> {
        type Input = Option<T>;
        type Output = T;

        fn add(&mut self, value: Option<T>) -> Result<(), EvalError> {
            self.values.push_back(value);
            if self.values.len() > BACK + 1 {
                self.values.pop_front();
            }
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            other.values.iter().try_for_each(|value| self.add(value.clone()))
        }

        fn finish(&self) -> Result<Option<T>, EvalError> {
            let complete = self.values.len() == BACK + 1;
            Ok(self.values.front().filter(|_| complete).cloned().flatten())
        }
    }

    /// The `AHEAD`th of the values, which are those of the rows behind one, in order. Nulls count as values.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Lead<T, const AHEAD: usize> {
        count: u64,
        value: Option<T>,
    }

    impl<T, const AHEAD: usize> Default for Lead<T, AHEAD> {
        fn default() -> Self {
            Lead { count: 0, value: None }
        }
    }

    impl<T: State, const AHEAD: usize> State for Lead<T, AHEAD> {
        fn encode(&self, out: &mut Vec<u8>) {
            self.count.encode(out);
            self.value.encode(out);
        }

        fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
            Ok(Lead { count: State::decode(input)?, value: State::decode(input)? })
        }

        fn schema() -> String {
            format!("lead{{count:{},value:{}}}", u64::schema(), Option::<T>::schema())
        }
    }

    impl<T: Clone + State, const AHEAD: usize> Accumulator for Lead<T, AHEAD> {
        type Input = Option<T>;
        type Output = T;

        fn add(&mut self, value: Option<T>) -> Result<(), EvalError> {
            self.count += 1;
            if self.count == AHEAD as u64 {
                self.value = value;
            }
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            let is_there = self.count < AHEAD as u64 && self.count + other.count >= AHEAD as u64;
            // The other one only knows its own value; frames that look ahead are never merged.
            if is_there && self.count == 0 {
                self.value = other.value.clone();
            }
            self.count += other.count;
            Ok(())
        }

        fn finish(&self) -> Result<Option<T>, EvalError> {
            Ok(self.value.clone())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn nulls_count_as_rows() {
            let mut lag = Lag::<i64, 1>::default();
            let mut seen = Vec::new();
            for value in [Some(1), None, Some(3), Some(4)] {
                lag.add(value).unwrap();
                seen.push(lag.finish().unwrap());
            }
            assert_eq!(seen, [None, Some(1), None, Some(3)]);
        }
    }
}
