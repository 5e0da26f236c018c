//! `count`

use super::AggregateSpec;

/// What the compiler knows of it.
pub static SPEC: AggregateSpec = AggregateSpec {
    name: "count",
    signature: "count(value?: T) -> int64",
    never_null: true,
    accumulator: "Count",
    over_table: "Count",
    doc: "The number of rows, or of rows in which the value is not null.",
};

#[cfg(feature = "engine")]
pub use engine::Count;

#[cfg(feature = "engine")]
mod engine {
    use std::marker::PhantomData;

    use crate::aggregates::accumulator::accumulator_state;
    use crate::aggregates::{Accumulator, Retract};
    use crate::value::EvalError;

    /// Counts values of any type.
    #[derive(Debug)]
    pub struct Count<T = ()> {
        count: i64,
        values: PhantomData<fn(T)>,
    }

    impl<T> Clone for Count<T> {
        fn clone(&self) -> Self {
            Count { ..*self }
        }
    }

    impl<T> Default for Count<T> {
        fn default() -> Self {
            Count { count: 0, values: PhantomData }
        }
    }

    impl<T> PartialEq for Count<T> {
        fn eq(&self, other: &Self) -> bool {
            self.count == other.count
        }
    }

    accumulator_state!([T] Count<T> = "count": count);

    impl<T> Accumulator for Count<T> {
        type Input = T;
        type Output = i64;

        #[inline]
        fn add(&mut self, _value: T) -> Result<(), EvalError> {
            self.count += 1;
            Ok(())
        }

        #[inline]
        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            self.count += other.count;
            Ok(())
        }

        #[inline]
        fn finish(&self) -> Result<Option<i64>, EvalError> {
            Ok(Some(self.count))
        }
    }

    impl<T> Retract for Count<T> {
        #[inline]
        fn retract(&mut self, _value: T) -> Result<(), EvalError> {
            self.count -= 1;
            Ok(())
        }
    }
}
