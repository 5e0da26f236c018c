//! `abs`, `sign`, `round`, `floor`, `ceil`, `trunc`, `mod`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new("math", "abs(value: N) -> N", "The value without its sign. Of the smallest integer of a type an error.", &[("abs(-3)", "3")]).fallible(),
    FunctionSpec::new("math", "sign(value: N) -> int32", "-1, 0 or 1. Of NaN 0.", &[("sign(-2.5)", "-1")]),
    FunctionSpec::new(
        "math",
        "round(value: N, digits?: int64) -> N",
        "The value rounded to a whole number, or to this many fraction digits; halves away from zero. Negative digits round before \
         the point. The type stays the same.",
        &[("round(2.5)", "3.0"), ("round(-2.5)", "-3.0"), ("round(1.255d, 2)", "1.260d"), ("round(1250, -2)", "1300")],
    )
    .fallible(),
    FunctionSpec::new("math", "floor(value: N) -> N", "The greatest whole number that is not above the value. The type stays the same.", &[("floor(-1.5)", "-2.0")]).fallible(),
    FunctionSpec::new("math", "ceil(value: N) -> N", "The smallest whole number that is not below the value. The type stays the same.", &[("ceil(1.2)", "2.0")]).fallible(),
    FunctionSpec::new("math", "trunc(value: N) -> N", "The value without its fraction. The type stays the same.", &[("trunc(-1.9)", "-1.0")]),
    FunctionSpec::new(
        "math",
        "mod(value: I, divisor: I) -> I",
        "The rest of a division that rounds down: never negative for a positive divisor, while `%` has the sign of the value.",
        &[("mod(-7, 3)", "2"), ("-7 % 3", "-1")],
    )
    .fallible(),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::{Decimal, EvalError, pow10};

    /// Numbers that can be rounded.
    pub trait Rounding: Sized + Copy {
        /// Without its sign.
        fn abs(self) -> Result<Self, EvalError>;
        /// -1, 0 or 1.
        fn sign(self) -> i32;
        /// To this many fraction digits, halves away from zero.
        fn round(self, digits: i64) -> Result<Self, EvalError>;
        /// To a whole number, down.
        fn floor(self) -> Result<Self, EvalError>;
        /// To a whole number, up.
        fn ceil(self) -> Result<Self, EvalError>;
        /// To a whole number, towards zero.
        fn trunc(self) -> Self;
    }

    /// Rounds to a multiple of `unit`, halves away from zero.
    fn round_to(value: i128, unit: i128) -> i128 {
        let rest = value % unit;
        let down = value - rest;
        if rest.abs() >= unit - rest.abs() { down + unit * value.signum() } else { down }
    }

    macro_rules! integers {
        ($($ty:ty = $name:literal),*) => {$(
            impl Rounding for $ty {
                #[inline]
                #[allow(unused_comparisons)]
                fn abs(self) -> Result<Self, EvalError> {
                    if self < 0 { crate::value::arith::sub(0, self) } else { Ok(self) }
                }
                #[inline]
                #[allow(unused_comparisons)]
                fn sign(self) -> i32 {
                    (self > 0) as i32 - (self < 0) as i32
                }
                fn round(self, digits: i64) -> Result<Self, EvalError> {
                    match digits {
                        0.. => Ok(self),
                        // 10^20 is more than twice the largest integer.
                        ..=-20 => Ok(0),
                        _ => <$ty>::try_from(round_to(self as i128, pow10(-digits as u32))).map_err(|_| EvalError::overflow($name)),
                    }
                }
                #[inline]
                fn floor(self) -> Result<Self, EvalError> {
                    Ok(self)
                }
                #[inline]
                fn ceil(self) -> Result<Self, EvalError> {
                    Ok(self)
                }
                #[inline]
                fn trunc(self) -> Self {
                    self
                }
            }
        )*};
    }
    integers!(
        i8 = "int8",
        i16 = "int16",
        i32 = "int32",
        i64 = "int64",
        u8 = "uint8",
        u16 = "uint16",
        u32 = "uint32",
        u64 = "uint64"
    );

    macro_rules! floats {
        ($($ty:ty),*) => {$(
            impl Rounding for $ty {
                #[inline]
                fn abs(self) -> Result<Self, EvalError> {
                    Ok(<$ty>::abs(self))
                }
                #[inline]
                fn sign(self) -> i32 {
                    (self > 0.0) as i32 - (self < 0.0) as i32
                }
                fn round(self, digits: i64) -> Result<Self, EvalError> {
                    if digits == 0 || !self.is_finite() {
                        return Ok(<$ty>::round(self));
                    }
                    // By the decimal text of the float, so that 1.255 to two digits is what a person expects.
                    if let (0..=20, Ok((value, _))) = (digits, Decimal::<38, 20>::parse_rounded(zmij::Buffer::new().format_finite(self))) {
                        let rounded = round_to(value.0, pow10((20 - digits) as u32));
                        return Ok(Decimal::<38, 20>(rounded).to_f64() as $ty);
                    }
                    // Large or tiny numbers: by scaling.
                    let scale = (10.0 as $ty).powi(digits.clamp(-400, 400) as i32);
                    let scaled = self * scale;
                    Ok(if scaled.is_finite() && scale != 0.0 { <$ty>::round(scaled) / scale } else if digits < 0 { 0.0 } else { self })
                }
                #[inline]
                fn floor(self) -> Result<Self, EvalError> {
                    Ok(<$ty>::floor(self))
                }
                #[inline]
                fn ceil(self) -> Result<Self, EvalError> {
                    Ok(<$ty>::ceil(self))
                }
                #[inline]
                fn trunc(self) -> Self {
                    <$ty>::trunc(self)
                }
            }
        )*};
    }
    floats!(f32, f64);

    impl<const P: u8, const S: u8> Rounding for Decimal<P, S> {
        fn abs(self) -> Result<Self, EvalError> {
            Ok(Decimal(self.0.abs()))
        }
        fn sign(self) -> i32 {
            self.0.signum() as i32
        }
        fn round(self, digits: i64) -> Result<Self, EvalError> {
            let unit = (S as i64).saturating_sub(digits);
            match unit {
                ..=0 => Ok(self),
                1..=38 => match round_to_checked(self.0, pow10(unit as u32)) {
                    Some(value) => Decimal::checked(value),
                    None => Err(EvalError::overflow(format_args!("decimal({P}, {S})"))),
                },
                _ => Ok(Decimal(0)),
            }
        }
        fn floor(self) -> Result<Self, EvalError> {
            let unit = pow10(S as u32);
            Decimal::checked(self.0 - self.0.rem_euclid(unit))
        }
        fn ceil(self) -> Result<Self, EvalError> {
            let unit = pow10(S as u32);
            Decimal::checked(self.0 + (-self.0).rem_euclid(unit))
        }
        fn trunc(self) -> Self {
            Decimal(self.0 - self.0 % pow10(S as u32))
        }
    }

    /// As [`round_to`], for values near the limit of 128 bits.
    fn round_to_checked(value: i128, unit: i128) -> Option<i128> {
        let rest = value % unit;
        let down = value - rest;
        if rest.abs() >= unit - rest.abs() { down.checked_add(unit * value.signum()) } else { Some(down) }
    }

    /// Without its sign.
    pub fn abs<N: Rounding>(value: N) -> Result<N, EvalError> {
        value.abs()
    }

    /// -1, 0 or 1.
    pub fn sign<N: Rounding>(value: N) -> i32 {
        value.sign()
    }

    /// Rounded, halves away from zero.
    pub fn round<N: Rounding>(value: N, digits: Option<i64>) -> Result<N, EvalError> {
        value.round(digits.unwrap_or(0))
    }

    /// Rounded down.
    pub fn floor<N: Rounding>(value: N) -> Result<N, EvalError> {
        value.floor()
    }

    /// Rounded up.
    pub fn ceil<N: Rounding>(value: N) -> Result<N, EvalError> {
        value.ceil()
    }

    /// Without its fraction.
    pub fn trunc<N: Rounding>(value: N) -> N {
        value.trunc()
    }

    /// Integers that have a rest of division.
    pub trait Modulo: Sized {
        /// The rest of a division that rounds down.
        fn modulo(self, divisor: Self) -> Result<Self, EvalError>;
    }

    macro_rules! modulo {
        ($($ty:ty),*) => {$(
            impl Modulo for $ty {
                #[inline]
                #[allow(unused_comparisons)]
                fn modulo(self, divisor: Self) -> Result<Self, EvalError> {
                    if divisor == 0 {
                        return Err(EvalError::division_by_zero());
                    }
                    let rest = self.wrapping_rem(divisor);
                    Ok(if rest != 0 && (rest < 0) != (divisor < 0) { rest + divisor } else { rest })
                }
            }
        )*};
    }
    modulo!(i8, i16, i32, i64, u8, u16, u32, u64);

    /// The rest of a division that rounds down.
    pub fn mod_<I: Modulo>(value: I, divisor: I) -> Result<I, EvalError> {
        value.modulo(divisor)
    }

    #[test]
    fn halves_go_away_from_zero_in_every_type() {
        assert_eq!(
            (round(2.5, None), round(-2.5, None), round(1.255, Some(2)), round(0.1f32, Some(1))),
            (Ok(3.0), Ok(-3.0), Ok(1.26), Ok(0.1))
        );
        assert_eq!(
            (round(1250.0, Some(-2)), round(1e300, Some(2)), round(5.0, Some(-400)), round(1e-30, Some(25))),
            (Ok(1300.0), Ok(1e300), Ok(0.0), Ok(0.0))
        );
        assert_eq!((round(1250i64, Some(-2)), round(-15i8, Some(-1)), round(5i64, Some(i64::MIN))), (Ok(1300), Ok(-20), Ok(0)));
        assert!(round(127i8, Some(-1)).is_err());
        assert_eq!(round(Decimal::<4, 3>(1255), Some(2)), Ok(Decimal(1260)));
        assert!(round(Decimal::<3, 2>(999), Some(0)).is_err());
        assert_eq!(
            (round(Decimal::<3, 2>(999), Some(-2)), round(Decimal::<3, 2>(999), Some(i64::MIN))),
            (Ok(Decimal(0)), Ok(Decimal(0)))
        );
        assert!(round(f64::NAN, Some(2)).unwrap().is_nan());
    }

    #[test]
    fn other_roundings() {
        assert_eq!((floor(-1.5), ceil(1.2), trunc(-1.9)), (Ok(-2.0), Ok(2.0), -1.0));
        assert_eq!(
            (floor(Decimal::<3, 1>(-15)), ceil(Decimal::<3, 1>(-15)), trunc(Decimal::<3, 1>(-15))),
            (Ok(Decimal(-20)), Ok(Decimal(-10)), Decimal(-10))
        );
        assert_eq!((abs(-3i64), sign(-2.5), sign(0u8), sign(f64::NAN)), (Ok(3), -1, 0, 0));
        assert!(abs(i64::MIN).is_err());
        assert_eq!((mod_(-7i64, 3), mod_(7i64, -3), mod_(i64::MIN, -1), mod_(7u8, 4)), (Ok(2), Ok(-2), Ok(0), Ok(3)));
        assert!(mod_(1i64, 0).is_err());
    }
}
