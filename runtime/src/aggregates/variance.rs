//! `stddev`, `variance`

use super::AggregateSpec;

/// What the compiler knows of `stddev`.
pub static STDDEV: AggregateSpec = AggregateSpec {
    name: "stddev",
    signature: "stddev(value: N) -> float64?",
    never_null: false,
    accumulator: "StdDev",
    over_table: "StdDev",
    doc: "The standard deviation of the values as a sample (n - 1). Null for fewer than two values.",
};

/// What the compiler knows of `variance`.
pub static VARIANCE: AggregateSpec = AggregateSpec {
    name: "variance",
    signature: "variance(value: N) -> float64?",
    never_null: false,
    accumulator: "Variance",
    over_table: "Variance",
    doc: "The variance of the values as a sample (n - 1). Null for fewer than two values.",
};

#[cfg(feature = "engine")]
pub use engine::{StdDev, ToFloat, Variance};

#[cfg(feature = "engine")]
mod engine {
    use std::marker::PhantomData;

    use crate::aggregates::accumulator::accumulator_state;
    use crate::aggregates::{Accumulator, Retract};
    use crate::value::{Decimal, EvalError};

    /// Numbers that are computed with as floats.
    pub trait ToFloat {
        /// The nearest float.
        fn to_float(self) -> f64;
    }

    macro_rules! to_float {
        ($($ty:ty),*) => {$(
            impl ToFloat for $ty {
                #[inline]
                fn to_float(self) -> f64 {
                    self as f64
                }
            }
        )*};
    }
    to_float!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

    impl<const P: u8, const S: u8> ToFloat for Decimal<P, S> {
        fn to_float(self) -> f64 {
            self.to_f64()
        }
    }

    /// The variance of the values, by Welford's method: mean and sum of squared distances to it.
    #[derive(Debug)]
    pub struct Variance<T> {
        count: i64,
        mean: f64,
        squares: f64,
        values: PhantomData<fn(T)>,
    }

    impl<T> Clone for Variance<T> {
        fn clone(&self) -> Self {
            Variance { ..*self }
        }
    }

    impl<T> Default for Variance<T> {
        fn default() -> Self {
            Variance { count: 0, mean: 0.0, squares: 0.0, values: PhantomData }
        }
    }

    impl<T> PartialEq for Variance<T> {
        fn eq(&self, other: &Self) -> bool {
            (self.count, self.mean, self.squares) == (other.count, other.mean, other.squares)
        }
    }

    accumulator_state!([T] Variance<T> = "variance": count, mean, squares);

    impl<T: ToFloat> Accumulator for Variance<T> {
        type Input = T;
        type Output = f64;

        fn add(&mut self, value: T) -> Result<(), EvalError> {
            let value = value.to_float();
            self.count += 1;
            let distance = value - self.mean;
            self.mean += distance / self.count as f64;
            self.squares += distance * (value - self.mean);
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            if other.count == 0 {
                return Ok(());
            }
            let (a, b) = (self.count as f64, other.count as f64);
            let distance = other.mean - self.mean;
            self.count += other.count;
            self.mean += distance * b / (a + b);
            self.squares += other.squares + distance * distance * a * b / (a + b);
            Ok(())
        }

        fn finish(&self) -> Result<Option<f64>, EvalError> {
            // Taking values back may leave a rounding error below zero.
            Ok((self.count >= 2).then(|| self.squares.max(0.0) / (self.count - 1) as f64))
        }
    }

    impl<T: ToFloat> Retract for Variance<T> {
        fn retract(&mut self, value: T) -> Result<(), EvalError> {
            if self.count <= 1 {
                *self = Variance::default();
                return Ok(());
            }
            let value = value.to_float();
            let distance = value - self.mean;
            self.count -= 1;
            self.mean -= distance / self.count as f64;
            self.squares -= distance * (value - self.mean);
            Ok(())
        }
    }

    /// The standard deviation of the values.
    #[derive(Debug)]
    pub struct StdDev<T> {
        variance: Variance<T>,
    }

    impl<T> Clone for StdDev<T> {
        fn clone(&self) -> Self {
            StdDev { variance: self.variance.clone() }
        }
    }

    impl<T> Default for StdDev<T> {
        fn default() -> Self {
            StdDev { variance: Variance::default() }
        }
    }

    impl<T> PartialEq for StdDev<T> {
        fn eq(&self, other: &Self) -> bool {
            self.variance == other.variance
        }
    }

    accumulator_state!([T] StdDev<T> = "stddev": variance);

    impl<T: ToFloat> Accumulator for StdDev<T> {
        type Input = T;
        type Output = f64;

        fn add(&mut self, value: T) -> Result<(), EvalError> {
            self.variance.add(value)
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            self.variance.merge(&other.variance)
        }

        fn finish(&self) -> Result<Option<f64>, EvalError> {
            Ok(self.variance.finish()?.map(f64::sqrt))
        }
    }

    impl<T: ToFloat> Retract for StdDev<T> {
        fn retract(&mut self, value: T) -> Result<(), EvalError> {
            self.variance.retract(value)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn known_values_merged_and_taken_back() {
            let (mut a, mut b) = (StdDev::<i64>::default(), StdDev::default());
            for value in [2, 4, 4, 4] {
                a.add(value).unwrap();
            }
            for value in [5, 5, 7, 9, 100] {
                b.add(value).unwrap();
            }
            assert_eq!(StdDev::<i64>::default().finish(), Ok(None));
            b.retract(100).unwrap();
            a.merge(&b).unwrap();
            let stddev = a.finish().unwrap().unwrap();
            assert!((stddev - (32.0f64 / 7.0).sqrt()).abs() < 1e-12, "{stddev}");
        }
    }
}
