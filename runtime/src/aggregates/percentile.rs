//! `percentile`

use super::AggregateSpec;

/// What the compiler knows of it.
pub static SPEC: AggregateSpec = AggregateSpec {
    name: "percentile",
    signature: "percentile(value: N, fraction: float64) -> float64",
    never_null: false,
    accumulator: "Percentile",
    over_table: "Percentile",
    doc: "The value below which this fraction of the values lies: `percentile(x, 0.5)` is the median.\n\nExact, between two values in proportion (as `percentile_cont` in \
        SQL). Keeps all values. The fraction, from 0 to 1, is that of the first row.",
};

#[cfg(feature = "engine")]
pub use engine::Percentile;

#[cfg(feature = "engine")]
mod engine {
    use std::collections::BTreeMap;
    use std::marker::PhantomData;

    use crate::aggregates::accumulator::accumulator_state;
    use crate::aggregates::{Accumulator, Retract, ToFloat};
    use crate::value::{EvalError, FloatKey};

    /// All values in order, with how often each came.
    #[derive(Debug)]
    pub struct Percentile<T, F = f64> {
        values: BTreeMap<FloatKey<f64>, u64>,
        count: u64,
        fraction: Option<f64>,
        arguments: PhantomData<fn(T, F)>,
    }

    impl<T, F> Clone for Percentile<T, F> {
        fn clone(&self) -> Self {
            Percentile { values: self.values.clone(), ..*self }
        }
    }

    impl<T, F> Default for Percentile<T, F> {
        fn default() -> Self {
            Percentile { values: BTreeMap::new(), count: 0, fraction: None, arguments: PhantomData }
        }
    }

    impl<T, F> PartialEq for Percentile<T, F> {
        fn eq(&self, other: &Self) -> bool {
            (&self.values, self.fraction) == (&other.values, other.fraction)
        }
    }

    accumulator_state!([T, F] Percentile<T, F> = "percentile": values, count, fraction);

    impl<T: ToFloat, F: ToFloat> Accumulator for Percentile<T, F> {
        type Input = (T, F);
        type Output = f64;

        fn add(&mut self, (value, fraction): (T, F)) -> Result<(), EvalError> {
            let fraction = fraction.to_float();
            if !(0.0..=1.0).contains(&fraction) {
                return Err(EvalError::new(format!("the fraction of a percentile is from 0 to 1, not {fraction}")));
            }
            self.fraction.get_or_insert(fraction);
            *self.values.entry(FloatKey::new(value.to_float())).or_default() += 1;
            self.count += 1;
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            self.fraction = self.fraction.or(other.fraction);
            for (value, count) in &other.values {
                *self.values.entry(*value).or_default() += count;
            }
            self.count += other.count;
            Ok(())
        }

        fn finish(&self) -> Result<Option<f64>, EvalError> {
            let (Some(fraction), Some(last)) = (self.fraction, self.count.checked_sub(1)) else { return Ok(None) };
            let rank = fraction * last as f64;
            let (below, above) = (rank.floor() as u64, rank.ceil() as u64);
            let (mut seen, mut low) = (0, None);
            for (value, count) in &self.values {
                seen += count;
                if low.is_none() && seen > below {
                    low = Some(value.get());
                }
                if let Some(low) = low
                    && seen > above
                {
                    let high = value.get();
                    let between = rank - below as f64;
                    return Ok(Some(if between == 0.0 { low } else { low + (high - low) * between }));
                }
            }
            Ok(None)
        }
    }

    impl<T: ToFloat, F: ToFloat> Retract for Percentile<T, F> {
        fn retract(&mut self, (value, _): (T, F)) -> Result<(), EvalError> {
            let key = FloatKey::new(value.to_float());
            if let Some(count) = self.values.get_mut(&key) {
                *count -= 1;
                self.count -= 1;
                if *count == 0 {
                    self.values.remove(&key);
                }
            }
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn between_two_values_in_proportion() {
            let of = |values: &[i64], fraction: f64| {
                let mut percentile = Percentile::<i64>::default();
                values.iter().for_each(|value| percentile.add((*value, fraction)).unwrap());
                percentile.finish().unwrap()
            };
            assert_eq!(of(&[], 0.5), None);
            assert_eq!(of(&[3], 0.9), Some(3.0));
            assert_eq!(of(&[4, 1, 3, 2], 0.5), Some(2.5));
            assert_eq!(of(&[1, 2, 3, 4], 0.0), Some(1.0));
            assert_eq!(of(&[1, 2, 3, 4], 1.0), Some(4.0));
            assert_eq!(of(&[5, 5, 5, 9], 0.5), Some(5.0));
            let mut percentile = Percentile::<i64>::default();
            assert!(percentile.add((1, 1.5)).is_err());
            percentile.add((1, 0.5)).unwrap();
            percentile.add((9, 0.5)).unwrap();
            percentile.retract((9, 0.5)).unwrap();
            assert_eq!(percentile.finish(), Ok(Some(1.0)));
        }
    }
}
