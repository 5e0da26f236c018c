//! `min`, `max`

use super::AggregateSpec;

/// What the compiler knows of `min`.
pub static MIN: AggregateSpec = AggregateSpec {
    name: "min",
    signature: "min(value: O) -> O",
    never_null: false,
    accumulator: "Min",
    over_table: "MinOverTable",
    doc: "The smallest value. NaN is greater than every number.",
};

/// What the compiler knows of `max`.
pub static MAX: AggregateSpec = AggregateSpec {
    name: "max",
    signature: "max(value: O) -> O",
    never_null: false,
    accumulator: "Max",
    over_table: "MaxOverTable",
    doc: "The greatest value. NaN is greater than every number.",
};

#[cfg(feature = "engine")]
pub use engine::{Max, Min};

#[cfg(feature = "engine")]
mod engine {
    use crate::aggregates::Accumulator;
    use crate::aggregates::accumulator::accumulator_state;
    use crate::state::State;
    use crate::value::EvalError;
    use crate::value::compare::Compare;

    macro_rules! extremes {
        ($($name:ident = $text:literal, $better:ident: $doc:literal;)*) => {$(
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

            impl<T: Compare + Clone + State> Accumulator for $name<T> {
                type Input = T;
                type Output = T;

                #[inline]
                fn add(&mut self, value: T) -> Result<(), EvalError> {
                    if self.value.as_ref().is_none_or(|best| value.compare(best).$better()) {
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
    extremes! {
        Min = "min", is_lt: "The smallest value.";
        Max = "max", is_gt: "The greatest value.";
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::value::Str;

        #[test]
        fn the_first_of_equals_stays_and_nan_is_greatest() {
            let (mut min, mut max) = (Min::<f64>::default(), Max::<f64>::default());
            assert_eq!(min.finish(), Ok(None));
            for value in [1.0, f64::NAN, -2.0] {
                min.add(value).unwrap();
                max.add(value).unwrap();
            }
            assert_eq!(min.finish(), Ok(Some(-2.0)));
            assert!(max.finish().unwrap().unwrap().is_nan());
            let (mut a, mut b) = (Max::<Str>::default(), Max::default());
            a.add("a".into()).unwrap();
            b.add("b".into()).unwrap();
            a.merge(&b).unwrap();
            a.merge(&Max::default()).unwrap();
            assert_eq!(a.finish(), Ok(Some("b".into())));
        }
    }
}
