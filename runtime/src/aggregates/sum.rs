//! `sum`

use super::AggregateSpec;

/// What the compiler knows of it.
pub static SPEC: AggregateSpec = AggregateSpec {
    name: "sum",
    signature: "sum(value: N) -> N",
    never_null: false,
    accumulator: "Sum",
    over_table: "Sum",
    doc: "The sum of the values.\n\nOf integers an int64, of decimals a decimal(38, s), of floats a float64. Integers and decimals are summed exactly, in 128 \
        bits; a sum that does not fit its type when it is read is an error. Floats are summed with compensation, so that the \
        result hardly depends on the order.",
};

#[cfg(feature = "engine")]
pub use engine::{Sum, Summable, Total};

#[cfg(feature = "engine")]
mod engine {
    use crate::aggregates::accumulator::accumulator_state;
    use crate::aggregates::{Accumulator, Retract};
    use crate::state::{State, StateError, StateReader};
    use crate::value::{Decimal, Duration, EvalError};

    /// Numbers that have sums.
    pub trait Summable: Clone + State {
        /// What the sum is kept in.
        type Total: Total;
        /// The type of the sum.
        type Output;
        /// As a total.
        fn total(self) -> Self::Total;
        /// The sum of a total.
        fn output(total: &Self::Total) -> Result<Self::Output, EvalError>;
    }

    /// What a sum is kept in.
    pub trait Total: Clone + Default + State + std::fmt::Debug + PartialEq {
        /// Adds another total.
        fn add(&mut self, other: &Self) -> Result<(), EvalError>;
        /// Takes another total away.
        fn subtract(&mut self, other: &Self) -> Result<(), EvalError>;
    }

    impl Total for i128 {
        #[inline]
        fn add(&mut self, other: &i128) -> Result<(), EvalError> {
            *self = self.checked_add(*other).ok_or_else(|| EvalError::overflow("128 bits"))?;
            Ok(())
        }
        #[inline]
        fn subtract(&mut self, other: &i128) -> Result<(), EvalError> {
            *self = self.checked_sub(*other).ok_or_else(|| EvalError::overflow("128 bits"))?;
            Ok(())
        }
    }

    /// Of decimals: a checkpoint says how many digits there are behind the point.
    impl<const S: u8> Total for Decimal<38, S> {
        #[inline]
        fn add(&mut self, other: &Self) -> Result<(), EvalError> {
            Total::add(&mut self.0, &other.0)
        }
        #[inline]
        fn subtract(&mut self, other: &Self) -> Result<(), EvalError> {
            Total::subtract(&mut self.0, &other.0)
        }
    }

    /// A sum of floats and what its rounding has lost so far (Neumaier). Values that are not finite are counted apart, so
    /// that they can be taken back.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FloatTotal {
        sum: f64,
        lost: f64,
        nan: i64,
        positive: i64,
        negative: i64,
    }

    impl FloatTotal {
        fn finite(&mut self, value: f64) {
            let sum = self.sum + value;
            self.lost += if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
            self.sum = sum;
        }

        /// The total of one value.
        #[inline]
        pub fn of(value: f64) -> Self {
            if value.is_finite() {
                FloatTotal { sum: value, ..FloatTotal::default() }
            } else {
                FloatTotal {
                    nan: value.is_nan() as i64,
                    positive: (value == f64::INFINITY) as i64,
                    negative: (value == f64::NEG_INFINITY) as i64,
                    ..FloatTotal::default()
                }
            }
        }

        /// The sum.
        pub fn value(&self) -> f64 {
            match (self.nan != 0, self.positive != 0, self.negative != 0) {
                (true, ..) | (_, true, true) => f64::NAN,
                (_, true, _) => f64::INFINITY,
                (.., true) => f64::NEG_INFINITY,
                // A sum that has overflowed has lost nothing that counts.
                _ if self.sum.is_infinite() => self.sum,
                _ => self.sum + self.lost,
            }
        }
    }

    impl Total for FloatTotal {
        #[inline]
        fn add(&mut self, other: &Self) -> Result<(), EvalError> {
            self.finite(other.sum);
            self.lost += other.lost;
            self.nan += other.nan;
            self.positive += other.positive;
            self.negative += other.negative;
            Ok(())
        }
        #[inline]
        fn subtract(&mut self, other: &Self) -> Result<(), EvalError> {
            self.finite(-other.sum);
            self.lost -= other.lost;
            self.nan -= other.nan;
            self.positive -= other.positive;
            self.negative -= other.negative;
            Ok(())
        }
    }

    impl State for FloatTotal {
        fn encode(&self, out: &mut Vec<u8>) {
            (self.sum, self.lost, self.nan, self.positive, self.negative).encode(out);
        }
        fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
            let (sum, lost, nan, positive, negative) = State::decode(input)?;
            Ok(FloatTotal { sum, lost, nan, positive, negative })
        }
        fn schema() -> String {
            <(f64, f64, i64, i64, i64)>::schema()
        }
    }

    macro_rules! integers {
        ($($ty:ty),*) => {$(
            impl Summable for $ty {
                type Total = i128;
                type Output = i64;
                #[inline]
                fn total(self) -> i128 {
                    self as i128
                }
                #[inline]
                fn output(total: &i128) -> Result<i64, EvalError> {
                    i64::try_from(*total).map_err(|_| EvalError::overflow("int64"))
                }
            }
        )*};
    }
    integers!(i8, i16, i32, i64, u8, u16, u32, u64);

    macro_rules! floats {
        ($($ty:ty),*) => {$(
            impl Summable for $ty {
                type Total = FloatTotal;
                type Output = f64;
                #[inline]
                fn total(self) -> FloatTotal {
                    FloatTotal::of(self as f64)
                }
                #[inline]
                fn output(total: &FloatTotal) -> Result<f64, EvalError> {
                    Ok(total.value())
                }
            }
        )*};
    }
    floats!(f32, f64);

    impl<const P: u8, const S: u8> Summable for Decimal<P, S> {
        type Total = Decimal<38, S>;
        type Output = Decimal<38, S>;
        #[inline]
        fn total(self) -> Decimal<38, S> {
            Decimal(self.0)
        }
        #[inline]
        fn output(total: &Decimal<38, S>) -> Result<Decimal<38, S>, EvalError> {
            Decimal::checked(total.0)
        }
    }

    impl Summable for Duration {
        type Total = i128;
        type Output = Duration;
        fn total(self) -> i128 {
            self.0 as i128
        }
        fn output(total: &i128) -> Result<Duration, EvalError> {
            i64::try_from(*total).map(Duration).map_err(|_| EvalError::overflow("duration"))
        }
    }

    /// The sum of the values.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Sum<T: Summable> {
        total: T::Total,
        count: i64,
    }

    impl<T: Summable> Default for Sum<T> {
        fn default() -> Self {
            Sum { total: T::Total::default(), count: 0 }
        }
    }

    accumulator_state!([T: Summable] Sum<T> = "sum"<T>: total, count);

    impl<T: Summable> Accumulator for Sum<T> {
        type Input = T;
        type Output = T::Output;

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
        fn finish(&self) -> Result<Option<T::Output>, EvalError> {
            if self.count == 0 { Ok(None) } else { T::output(&self.total).map(Some) }
        }
    }

    impl<T: Summable> Retract for Sum<T> {
        fn retract(&mut self, value: T) -> Result<(), EvalError> {
            self.total.subtract(&value.total())?;
            self.count -= 1;
            Ok(())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// C55: a sum that overflows is an error while it does, and right again when the row is taken back.
        #[test]
        fn overflow_is_an_error_and_passes() {
            let mut sum = Sum::<i64>::default();
            assert_eq!(sum.finish(), Ok(None));
            sum.add(i64::MAX).unwrap();
            sum.add(7).unwrap();
            assert_eq!(sum.finish().unwrap_err().reason(), "the result does not fit into int64");
            sum.retract(i64::MAX).unwrap();
            assert_eq!(sum.finish(), Ok(Some(7)));
            sum.retract(7).unwrap();
            assert_eq!(sum.finish(), Ok(None));
        }

        #[test]
        fn floats_lose_little_and_take_infinities_back() {
            let mut sum = Sum::<f64>::default();
            for value in [1e100, 1.0, -1e100] {
                sum.add(value).unwrap();
            }
            assert_eq!(sum.finish(), Ok(Some(1.0)));
            sum.add(f64::INFINITY).unwrap();
            assert_eq!(sum.finish(), Ok(Some(f64::INFINITY)));
            sum.add(f64::NAN).unwrap();
            assert!(sum.finish().unwrap().unwrap().is_nan());
            sum.retract(f64::NAN).unwrap();
            sum.retract(f64::INFINITY).unwrap();
            assert_eq!(sum.finish(), Ok(Some(1.0)));
        }

        /// Else the total of integers would be read as one of hundredths, behind an edit.
        #[test]
        fn a_checkpoint_tells_totals_of_other_digits_apart() {
            assert_eq!(Sum::<i32>::schema(), "sum{total:int128,count:int64}");
            assert_eq!(Sum::<Decimal<5, 2>>::schema(), "sum{total:decimal(38,2),count:int64}");
            let total = Decimal::<38, 2>(i128::MAX);
            assert_eq!(crate::state::decode_from_slice::<Decimal<38, 2>>(&crate::state::encode_to_vec(&total)), Ok(total));
        }

        #[test]
        fn decimals_and_merging() {
            let (mut a, mut b) = (Sum::<Decimal<5, 2>>::default(), Sum::default());
            a.add(Decimal(150)).unwrap();
            b.add(Decimal(-25)).unwrap();
            a.merge(&b).unwrap();
            assert_eq!(a.finish(), Ok(Some(Decimal::<38, 2>(125))));
        }
    }
}
