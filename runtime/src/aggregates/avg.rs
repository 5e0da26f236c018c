//! `avg`

use super::AggregateSpec;

/// What the compiler knows of it.
pub static SPEC: AggregateSpec = AggregateSpec {
    name: "avg",
    signature: "avg(value: N) -> N",
    never_null: false,
    accumulator: "Avg",
    over_table: "Avg",
    doc: "The mean of the values.\n\nOf integers and floats a float64, of decimals a decimal(38, s) with at least 6 fraction digits, rounded half up. Integers and \
        decimals are summed exactly before the one division.",
};

#[cfg(feature = "engine")]
pub use engine::{Average, Avg};

#[cfg(feature = "engine")]
mod engine {
    use ethnum::I256;

    use crate::aggregates::accumulator::accumulator_state;
    use crate::aggregates::sum::Total;
    use crate::aggregates::{Accumulator, Retract, Summable};
    use crate::value::{Decimal, Duration, EvalError, divide_half_up, pow10};

    /// Numbers that have a mean.
    pub trait Average: Summable {
        /// The type of the mean.
        type Mean;
        /// The mean of a total of `count` values, which is not 0.
        fn mean(total: &Self::Total, count: i64) -> Result<Self::Mean, EvalError>;
    }

    macro_rules! integers {
        ($($ty:ty),*) => {$(
            impl Average for $ty {
                type Mean = f64;
                #[inline]
                fn mean(total: &i128, count: i64) -> Result<f64, EvalError> {
                    Ok(*total as f64 / count as f64)
                }
            }
        )*};
    }
    integers!(i8, i16, i32, i64, u8, u16, u32, u64);

    macro_rules! floats {
        ($($ty:ty),*) => {$(
            impl Average for $ty {
                type Mean = f64;
                #[inline]
                fn mean(total: &Self::Total, count: i64) -> Result<f64, EvalError> {
                    Ok(total.value() / count as f64)
                }
            }
        )*};
    }
    floats!(f32, f64);

    /// The scale of a mean is at least 6; a type cannot be computed from a constant, so each scale is listed.
    macro_rules! decimals {
        ($($scale:literal => $mean:literal),*) => {$(
            impl<const P: u8> Average for Decimal<P, $scale> {
                type Mean = Decimal<38, $mean>;
                fn mean(total: &Self::Total, count: i64) -> Result<Self::Mean, EvalError> {
                    let scaled = I256::from(total.0) * I256::from(pow10($mean - $scale));
                    Decimal::checked_wide(divide_half_up(scaled, I256::from(count)))
                }
            }
        )*};
    }
    decimals!(0 => 6, 1 => 6, 2 => 6, 3 => 6, 4 => 6, 5 => 6, 6 => 6, 7 => 7, 8 => 8, 9 => 9, 10 => 10, 11 => 11, 12 => 12, 13 => 13);
    decimals!(14 => 14, 15 => 15, 16 => 16, 17 => 17, 18 => 18, 19 => 19, 20 => 20, 21 => 21, 22 => 22, 23 => 23, 24 => 24, 25 => 25);
    decimals!(26 => 26, 27 => 27, 28 => 28, 29 => 29, 30 => 30, 31 => 31, 32 => 32, 33 => 33, 34 => 34, 35 => 35, 36 => 36, 37 => 37, 38 => 38);

    impl Average for Duration {
        type Mean = Duration;
        fn mean(total: &i128, count: i64) -> Result<Duration, EvalError> {
            // A mean of int64 values fits into int64.
            Ok(Duration((*total / count as i128) as i64))
        }
    }

    /// The mean of the values.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Avg<T: Average> {
        total: T::Total,
        count: i64,
    }

    impl<T: Average> Default for Avg<T> {
        fn default() -> Self {
            Avg { total: T::Total::default(), count: 0 }
        }
    }

    accumulator_state!([T: Average] Avg<T> = "avg"<T>: total, count);

    impl<T: Average> Accumulator for Avg<T> {
        type Input = T;
        type Output = T::Mean;

        #[inline]
        fn add(&mut self, value: T) -> Result<(), EvalError> {
            self.total.add(&value.total())?;
            self.count += 1;
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            self.total.add(&other.total)?;
            self.count += other.count;
            Ok(())
        }

        #[inline]
        fn finish(&self) -> Result<Option<T::Mean>, EvalError> {
            if self.count == 0 { Ok(None) } else { T::mean(&self.total, self.count).map(Some) }
        }
    }

    impl<T: Average> Retract for Avg<T> {
        fn retract(&mut self, value: T) -> Result<(), EvalError> {
            self.total.subtract(&value.total())?;
            self.count -= 1;
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn avg<T: Average>(values: impl IntoIterator<Item = T>) -> Option<T::Mean> {
            let mut avg = Avg::<T>::default();
            values.into_iter().for_each(|value| avg.add(value).unwrap());
            avg.finish().unwrap()
        }

        #[test]
        fn means_are_exact_before_the_division() {
            assert_eq!(avg([1i32, 2]), Some(1.5));
            assert_eq!(avg([i64::MAX, i64::MAX]), Some(i64::MAX as f64));
            assert_eq!(avg([Decimal::<5, 2>(100), Decimal(100), Decimal(101)]).unwrap().to_string(), "1.003333");
            assert_eq!(avg([Decimal::<5, 0>(-1), Decimal(-2)]).unwrap().to_string(), "-1.500000");
            assert_eq!(avg([0.1, 0.2, 0.3]), avg([0.3, 0.2, 0.1]));
            assert_eq!(avg(Vec::<i8>::new()), None);
        }
    }
}
