//! `min_by`, `max_by`

use super::AggregateSpec;

/// What the compiler knows of `min_by`.
pub static MIN_BY: AggregateSpec = AggregateSpec {
    name: "min_by",
    signature: "min_by(value: T, by: O) -> T",
    never_null: false,
    accumulator: "MinBy",
    over_table: "MinByOverTable",
    doc: "The value of the row in which `by` is smallest; of several the first. Rows in which either is null do not count.",
};

/// What the compiler knows of `max_by`.
pub static MAX_BY: AggregateSpec = AggregateSpec {
    name: "max_by",
    signature: "max_by(value: T, by: O) -> T",
    never_null: false,
    accumulator: "MaxBy",
    over_table: "MaxByOverTable",
    doc: "The value of the row in which `by` is greatest; of several the first. Rows in which either is null do not count.",
};

#[cfg(feature = "engine")]
pub use engine::{MaxBy, MinBy};

#[cfg(feature = "engine")]
mod engine {
    use crate::aggregates::Accumulator;
    use crate::aggregates::accumulator::accumulator_state;
    use crate::state::State;
    use crate::value::EvalError;
    use crate::value::compare::Compare;

    macro_rules! by {
        ($($name:ident = $text:literal, $better:ident: $doc:literal;)*) => {$(
            #[doc = $doc]
            #[derive(Clone, Debug, PartialEq)]
            pub struct $name<T, K> {
                best: Option<(T, K)>,
            }

            impl<T, K> Default for $name<T, K> {
                fn default() -> Self {
                    $name { best: None }
                }
            }

            accumulator_state!([T: State, K: State] $name<T, K> = $text<(T, K)>: best);

            impl<T: Clone + State, K: Compare + Clone + State> Accumulator for $name<T, K> {
                type Input = (T, K);
                type Output = T;

                #[inline]
                fn add(&mut self, (value, by): (T, K)) -> Result<(), EvalError> {
                    if self.best.as_ref().is_none_or(|(_, best)| by.compare(best).$better()) {
                        self.best = Some((value, by));
                    }
                    Ok(())
                }

                fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
                    other.best.clone().map_or(Ok(()), |best| self.add(best))
                }

                #[inline]
                fn finish(&self) -> Result<Option<T>, EvalError> {
                    Ok(self.best.as_ref().map(|(value, _)| value.clone()))
                }
            }
        )*};
    }
    by! {
        MinBy = "min_by", is_lt: "The value of the row in which another is smallest.";
        MaxBy = "max_by", is_gt: "The value of the row in which another is greatest.";
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::value::Str;

        #[test]
        fn the_first_of_equals() {
            let (mut min, mut max) = (MinBy::<Str, i64>::default(), MaxBy::<Str, i64>::default());
            for (value, by) in [("a", 2), ("b", 1), ("c", 1), ("d", 2)] {
                min.add((value.into(), by)).unwrap();
                max.add((value.into(), by)).unwrap();
            }
            assert_eq!((min.finish(), max.finish()), (Ok(Some("b".into())), Ok(Some("a".into()))));
        }
    }
}
