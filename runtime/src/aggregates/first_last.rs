//! `first`, `last`

use super::AggregateSpec;

/// What the compiler knows of `first`.
pub static FIRST: AggregateSpec = AggregateSpec {
    name: "first",
    signature: "first(value: T) -> T",
    never_null: false,
    accumulator: "First",
    over_table: "FirstOverTable",
    doc: "The value that came first, by arrival. For the value of the earliest row use `min_by(value, time)`.",
};

/// What the compiler knows of `last`.
pub static LAST: AggregateSpec = AggregateSpec {
    name: "last",
    signature: "last(value: T) -> T",
    never_null: false,
    accumulator: "Last",
    over_table: "LastOverTable",
    doc: "The value that came last, by arrival. For the value of the latest row use `max_by(value, time)`.",
};

#[cfg(feature = "engine")]
pub use engine::{First, Last};

#[cfg(feature = "engine")]
mod engine {
    use crate::aggregates::Accumulator;
    use crate::aggregates::accumulator::accumulator_state;
    use crate::state::State;
    use crate::value::EvalError;

    macro_rules! ends {
        ($($name:ident = $text:literal, $keep:literal: $doc:literal;)*) => {$(
            #[doc = $doc]
            #[derive(Clone, Debug, PartialEq)]
            pub struct $name<T> {
                value: Option<T>,
            }

            impl<T> Default for $name<T> {
                fn default() -> Self {
                    $name { value: None }
                }
            }

            accumulator_state!([T: State] $name<T> = $text<T>: value);

            impl<T: Clone + State> Accumulator for $name<T> {
                type Input = T;
                type Output = T;

                #[inline]
                fn add(&mut self, value: T) -> Result<(), EvalError> {
                    if !$keep || self.value.is_none() {
                        self.value = Some(value);
                    }
                    Ok(())
                }

                fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
                    other.value.clone().map_or(Ok(()), |value| self.add(value))
                }

                #[inline]
                fn finish(&self) -> Result<Option<T>, EvalError> {
                    Ok(self.value.clone())
                }
            }
        )*};
    }
    ends! {
        First = "first", true: "The value that came first.";
        Last = "last", false: "The value that came last.";
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn order_of_arrival() {
            let (mut first, mut last) = (First::<i64>::default(), Last::<i64>::default());
            for value in [3, 1, 2] {
                first.add(value).unwrap();
                last.add(value).unwrap();
            }
            assert_eq!((first.finish(), last.finish()), (Ok(Some(3)), Ok(Some(2))));
            last.merge(&Last::default()).unwrap();
            assert_eq!(last.finish(), Ok(Some(2)));
        }
    }
}
