//! Checked arithmetic: what does not fit its type is an error, never a wrapped value.
//!
//! `add::<O, _, _>(a, b)` computes `a + b` as an `O`. Integers and decimals are checked; floats follow IEEE 754.

use ethnum::I256;

use super::decimal::{divide_half_up, wide_pow10};
use super::{Date, Decimal, Duration, EvalError, Str, Time, Timestamp};

macro_rules! operations {
    ($($trait:ident $function:ident $sign:literal;)*) => {$(
        #[doc = concat!("Values that have `a ", $sign, " b`, of type `O`.")]
        pub trait $trait<B, O> {
            #[doc = concat!("`self ", $sign, " b`")]
            fn $function(self, b: B) -> Result<O, EvalError>;
        }

        #[doc = concat!("`a ", $sign, " b`")]
        #[inline]
        pub fn $function<O, A: $trait<B, O>, B>(a: A, b: B) -> Result<O, EvalError> {
            a.$function(b)
        }
    )*};
}
operations! {
    Add add "+";
    Sub sub "-";
    Mul mul "*";
    Div div "/";
    Rem rem "%";
}

/// Values that have `-a`.
pub trait Neg: Sized {
    /// `-self`
    fn neg(self) -> Result<Self, EvalError>;
}

/// `-a`
#[inline]
pub fn neg<A: Neg>(a: A) -> Result<A, EvalError> {
    a.neg()
}

macro_rules! decimal_operations {
    ($($name:ident $function:ident $sign:literal;)*) => {$(
        #[doc = concat!("`a ", $sign, " b` as a `decimal(R, U)`; R and U come first.")]
        #[inline]
        pub fn $name<const R: u8, const U: u8, const P: u8, const S: u8, const Q: u8, const T: u8>(
            a: Decimal<P, S>,
            b: Decimal<Q, T>,
        ) -> Result<Decimal<R, U>, EvalError> {
            a.$function(b)
        }
    )*};
}

decimal_operations! {
    decimal_add add "+";
    decimal_sub sub "-";
    decimal_mul mul "*";
    decimal_div div "/";
    decimal_rem rem "%";
}

/// Implements one operation of one type with another by a checked method.
macro_rules! checked {
    ($($trait:ident $function:ident: $a:ty, $b:ty => $o:ty = |$x:ident, $y:ident| $value:expr;)*) => {$(
        impl $trait<$b, $o> for $a {
            #[inline]
            fn $function(self, $y: $b) -> Result<$o, EvalError> {
                let $x = self;
                match $value {
                    Some(value) => Ok(value),
                    None => Err(EvalError::overflow(Name::<$o>::NAME)),
                }
            }
        }
    )*};
}

/// The name of a type in the language, for messages.
struct Name<T>(std::marker::PhantomData<T>);

macro_rules! names {
    ($($ty:ty = $name:literal),*) => {$(
        impl Name<$ty> {
            const NAME: &'static str = $name;
        }
    )*};
}
names!(i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", u8 = "uint8", u16 = "uint16", u32 = "uint32", u64 = "uint64");
names!(Duration = "duration", Timestamp = "timestamp");

macro_rules! integers {
    ($($ty:ty),*) => {$(
        checked! {
            Add add: $ty, $ty => $ty = |a, b| a.checked_add(b);
            Sub sub: $ty, $ty => $ty = |a, b| a.checked_sub(b);
            Mul mul: $ty, $ty => $ty = |a, b| a.checked_mul(b);
        }
        impl Div<$ty, $ty> for $ty {
            #[inline]
            fn div(self, b: $ty) -> Result<$ty, EvalError> {
                match self.checked_div(b) {
                    Some(value) => Ok(value),
                    None if b == 0 => Err(EvalError::division_by_zero()),
                    None => Err(EvalError::overflow(Name::<$ty>::NAME)),
                }
            }
        }
        impl Rem<$ty, $ty> for $ty {
            #[inline]
            fn rem(self, b: $ty) -> Result<$ty, EvalError> {
                // Smallest % -1 is 0: the quotient does not fit, the rest does.
                if b == 0 { Err(EvalError::division_by_zero()) } else { Ok(self.wrapping_rem(b)) }
            }
        }
        impl Neg for $ty {
            #[inline]
            fn neg(self) -> Result<$ty, EvalError> {
                self.checked_neg().ok_or_else(|| EvalError::overflow(Name::<$ty>::NAME))
            }
        }
        checked! {
            Mul mul: Duration, $ty => Duration = |a, b| i64::try_from(b).ok().and_then(|b| a.0.checked_mul(b)).map(Duration);
            Mul mul: $ty, Duration => Duration = |a, b| i64::try_from(a).ok().and_then(|a| b.0.checked_mul(a)).map(Duration);
        }
        impl Div<$ty, Duration> for Duration {
            #[inline]
            fn div(self, b: $ty) -> Result<Duration, EvalError> {
                // A divisor beyond int64 leaves nothing.
                i64::try_from(b).map_or(Ok(Duration(0)), |b| self.0.div(b).map(Duration))
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($ty:ty),*) => {$(
        floats!(@ $ty: Add add +, Sub sub -, Mul mul *, Div div /, Rem rem %);
        impl Neg for $ty {
            #[inline]
            fn neg(self) -> Result<$ty, EvalError> {
                Ok(-self)
            }
        }
    )*};
    (@ $ty:ty: $($trait:ident $function:ident $sign:tt),*) => {$(
        impl $trait<$ty, $ty> for $ty {
            #[inline]
            fn $function(self, b: $ty) -> Result<$ty, EvalError> {
                Ok(self $sign b)
            }
        }
    )*};
}
floats!(f32, f64);

checked! {
    Add add: Timestamp, Duration => Timestamp = |a, b| a.0.checked_add(b.0).map(Timestamp);
    Add add: Duration, Timestamp => Timestamp = |a, b| a.0.checked_add(b.0).map(Timestamp);
    Add add: Date, Duration => Timestamp = |a, b| a.midnight().and_then(|a| a.0.checked_add(b.0)).map(Timestamp);
    Add add: Duration, Date => Timestamp = |a, b| b.midnight().and_then(|b| b.0.checked_add(a.0)).map(Timestamp);
    Add add: Duration, Duration => Duration = |a, b| a.0.checked_add(b.0).map(Duration);
    Sub sub: Timestamp, Duration => Timestamp = |a, b| a.0.checked_sub(b.0).map(Timestamp);
    Sub sub: Date, Duration => Timestamp = |a, b| a.midnight().and_then(|a| a.0.checked_sub(b.0)).map(Timestamp);
    Sub sub: Timestamp, Timestamp => Duration = |a, b| a.0.checked_sub(b.0).map(Duration);
    Sub sub: Date, Date => Duration = |a, b| a.0.checked_sub(b.0).and_then(|days| Date(days).midnight()).map(|length| Duration(length.0));
    Sub sub: Time, Time => Duration = |a, b| a.0.checked_sub(b.0).map(Duration);
    Sub sub: Duration, Duration => Duration = |a, b| a.0.checked_sub(b.0).map(Duration);
}

impl Rem<Duration, Duration> for Duration {
    fn rem(self, b: Duration) -> Result<Duration, EvalError> {
        self.0.rem(b.0).map(Duration)
    }
}

impl Neg for Duration {
    fn neg(self) -> Result<Duration, EvalError> {
        self.0.checked_neg().map(Duration).ok_or_else(|| EvalError::overflow("duration"))
    }
}

macro_rules! texts {
    ($($a:ty, $b:ty);*) => {$(
        impl Add<$b, Str> for $a {
            fn add(self, b: $b) -> Result<Str, EvalError> {
                let (a, b): (&str, &str) = (self.as_ref(), b.as_ref());
                let mut out = Str::with_capacity(a.len() + b.len());
                out.push_str(a);
                out.push_str(b);
                Ok(out)
            }
        }
    )*};
}
texts!(&str, &str; Str, &str; &str, Str; Str, Str);

/// Sums and differences: both operands are brought to the larger scale, the result is rounded to its own.
macro_rules! decimal_sums {
    ($($trait:ident $function:ident $checked:ident $sign:tt),*) => {$(
        impl<const P: u8, const S: u8, const Q: u8, const T: u8, const R: u8, const U: u8> $trait<Decimal<Q, T>, Decimal<R, U>> for Decimal<P, S> {
            #[inline]
            fn $function(self, b: Decimal<Q, T>) -> Result<Decimal<R, U>, EvalError> {
                if S == T && T == U {
                    return match self.0.$checked(b.0) {
                        Some(value) => Decimal::checked(value),
                        None => Err(EvalError::overflow(format_args!("decimal({R}, {U})"))),
                    };
                }
                let scale = S.max(T);
                let a = I256::from(self.0) * wide_pow10((scale - S) as u32);
                let b = I256::from(b.0) * wide_pow10((scale - T) as u32);
                rescale_wide(a $sign b, scale as u32)
            }
        }
    )*};
}
decimal_sums!(Add add checked_add +, Sub sub checked_sub -);

fn rescale_wide<const P: u8, const S: u8>(value: I256, scale: u32) -> Result<Decimal<P, S>, EvalError> {
    let wanted = S as u32;
    if scale > wanted {
        Decimal::checked_wide(divide_half_up(value, wide_pow10(scale - wanted)))
    } else {
        match value.checked_mul(wide_pow10(wanted - scale)) {
            Some(value) => Decimal::checked_wide(value),
            None => Err(EvalError::overflow(format_args!("decimal({P}, {S})"))),
        }
    }
}

impl<const P: u8, const S: u8, const Q: u8, const T: u8, const R: u8, const U: u8> Mul<Decimal<Q, T>, Decimal<R, U>>
    for Decimal<P, S>
{
    #[inline]
    fn mul(self, b: Decimal<Q, T>) -> Result<Decimal<R, U>, EvalError> {
        if S as u32 + T as u32 == U as u32
            && let Some(product) = self.0.checked_mul(b.0)
        {
            return Decimal::checked(product);
        }
        rescale_wide(I256::from(self.0) * I256::from(b.0), S as u32 + T as u32)
    }
}

impl<const P: u8, const S: u8, const Q: u8, const T: u8, const R: u8, const U: u8> Div<Decimal<Q, T>, Decimal<R, U>>
    for Decimal<P, S>
{
    fn div(self, b: Decimal<Q, T>) -> Result<Decimal<R, U>, EvalError> {
        if b.0 == 0 {
            return Err(EvalError::division_by_zero());
        }
        // a / 10^S / (b / 10^T), times 10^U: shift the side that keeps both whole.
        let shift = T as i32 + U as i32 - S as i32;
        let (mut a, mut b) = (I256::from(self.0), I256::from(b.0));
        if shift >= 0 {
            a = a.checked_mul(wide_pow10(shift as u32)).ok_or_else(|| EvalError::overflow(format_args!("decimal({R}, {U})")))?;
        } else {
            b *= wide_pow10(-shift as u32);
        }
        Decimal::checked_wide(divide_half_up(a, b))
    }
}

impl<const P: u8, const S: u8, const Q: u8, const T: u8, const R: u8, const U: u8> Rem<Decimal<Q, T>, Decimal<R, U>>
    for Decimal<P, S>
{
    fn rem(self, b: Decimal<Q, T>) -> Result<Decimal<R, U>, EvalError> {
        if b.0 == 0 {
            return Err(EvalError::division_by_zero());
        }
        let scale = S.max(T);
        let a = I256::from(self.0) * wide_pow10((scale - S) as u32);
        let b = I256::from(b.0) * wide_pow10((scale - T) as u32);
        rescale_wide(a % b, scale as u32)
    }
}

impl<const P: u8, const S: u8> Neg for Decimal<P, S> {
    #[inline]
    fn neg(self) -> Result<Self, EvalError> {
        Ok(Decimal(-self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C55: overflow and division by zero are errors, also in the odd corner of the smallest integer.
    #[test]
    fn integers_never_wrap() {
        assert_eq!(div::<i64, _, _>(10i64, 2i64), Ok(5));
        assert_eq!(div::<i64, _, _>(10i64, 0i64).unwrap_err().reason(), "division by zero");
        assert_eq!(div::<i64, _, _>(i64::MIN, -1i64).unwrap_err().reason(), "the result does not fit into int64");
        assert_eq!(rem::<i64, _, _>(i64::MIN, -1i64), Ok(0));
        assert_eq!((div::<i64, _, _>(-7i64, 2i64), rem::<i64, _, _>(-7i64, 2i64)), (Ok(-3), Ok(-1)));
        assert!(
            add::<i64, _, _>(i64::MAX, 1i64).is_err()
                && mul::<i8, _, _>(16i8, 8i8).is_err()
                && sub::<u8, _, _>(1u8, 2u8).is_err()
        );
        assert!(neg(i64::MIN).is_err() && neg(1u8).is_err());
        assert_eq!(div::<f64, _, _>(10.0, 0.0), Ok(f64::INFINITY));
    }

    #[test]
    fn decimals_are_exact() {
        let product: Decimal<26, 6> = mul(Decimal::<23, 3>(2_450_000), Decimal::<3, 3>(908)).unwrap();
        assert_eq!(product.to_string(), "2224.600000");
        let sum: Decimal<6, 3> = add(Decimal::<5, 2>(150), Decimal::<4, 3>(1)).unwrap();
        assert_eq!(sum.to_string(), "1.501");
        let quotient: Decimal<10, 6> = div(Decimal::<5, 2>(200), Decimal::<1, 0>(3)).unwrap();
        assert_eq!(quotient.to_string(), "0.666667");
        let rest: Decimal<5, 2> = rem(Decimal::<5, 2>(-750), Decimal::<2, 0>(2)).unwrap();
        assert_eq!(rest.to_string(), "-1.50");
        assert!(div::<Decimal<5, 2>, _, _>(Decimal::<5, 2>(1), Decimal::<5, 2>(0)).is_err());
        let large = Decimal::<38, 0>(super::super::pow10(38) - 1);
        assert!(add::<Decimal<38, 0>, _, _>(large, large).is_err() && mul::<Decimal<38, 0>, _, _>(large, large).is_err());
        assert_eq!(div::<Decimal<38, 0>, _, _>(large, large), Ok(Decimal(1)));
    }

    #[test]
    fn times_and_texts() {
        assert_eq!(sub::<Timestamp, _, _>(Timestamp(10), Duration(3)), Ok(Timestamp(7)));
        assert_eq!(sub::<Duration, _, _>(Timestamp(10), Timestamp(3)), Ok(Duration(7)));
        assert!(add::<Timestamp, _, _>(Timestamp(i64::MAX), Duration(1)).is_err());
        assert_eq!(mul::<Duration, _, _>(3i32, Duration(2)), Ok(Duration(6)));
        assert_eq!(div::<Duration, _, _>(Duration(7), 2i64), Ok(Duration(3)));
        assert_eq!(add::<Timestamp, _, _>(Date(1), Duration(5)), Ok(Timestamp(super::super::MICROS_PER_DAY + 5)));
        assert_eq!(add::<Str, _, _>("a", Str::from("b")).unwrap(), "ab");
    }
}
