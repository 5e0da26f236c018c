//! Conversions between types: `cast` (an error where it does not fit), `try_cast` (null), and widening.
//!
//! Numbers to integers cut the fraction off towards zero; numbers to decimals round half up. Text is read as everywhere
//! else, with white space around it ignored.

use super::text::{Print, print};
use super::{Bytes, Date, Decimal, Duration, EvalError, Json, ParseError, Str, Time, Timestamp, Uuid};

/// Values that may be converted to `To`.
pub trait Cast<To> {
    /// The converted value.
    fn cast(&self) -> Result<To, EvalError>;
}

/// Values that can always be converted to `To`, without loss.
pub trait Widen<To> {
    /// The converted value.
    fn widen(&self) -> To;
}

/// What [`to`] takes: references to values, and values that are copied for free.
pub trait CastTo<To> {
    /// The converted value.
    fn cast_to(self) -> Result<To, EvalError>;
}

impl<To, From: Cast<To> + ?Sized> CastTo<To> for &From {
    #[inline]
    fn cast_to(self) -> Result<To, EvalError> {
        self.cast()
    }
}

macro_rules! by_value {
    ($([$($generics:tt)*] $ty:ty),*) => {$(
        impl<To, $($generics)*> CastTo<To> for $ty
        where
            $ty: Cast<To>,
        {
            #[inline]
            fn cast_to(self) -> Result<To, EvalError> {
                self.cast()
            }
        }
    )*};
}
by_value!([] bool, [] i8, [] i16, [] i32, [] i64, [] u8, [] u16, [] u32, [] u64, [] f32, [] f64);
by_value!([] Str, [] Date, [] Time, [] Timestamp, [] Duration, [] Uuid, [] Json, [A] Vec<A>, [A] Option<A>, [const P: u8, const S: u8] Decimal<P, S>);

/// `cast(x, To)`
#[inline]
pub fn to<To>(value: impl CastTo<To>) -> Result<To, EvalError> {
    value.cast_to()
}

/// `try_cast(x, To)`: None where it does not fit.
#[inline]
pub fn attempt<To>(value: impl CastTo<To>) -> Option<To> {
    value.cast_to().ok()
}

pub use super::error::required;

/// `cast(x, To)` of a reference.
#[inline]
pub fn cast<To, From: Cast<To> + ?Sized>(value: &From) -> Result<To, EvalError> {
    value.cast()
}

/// `try_cast(x, To)`: None where it does not fit.
#[inline]
pub fn try_cast<To, From: Cast<To> + ?Sized>(value: &From) -> Option<To> {
    value.cast().ok()
}

/// A conversion that the compiler puts in: it always succeeds.
#[inline]
pub fn widen<To, From: Widen<To> + ?Sized>(value: &From) -> To {
    value.widen()
}

#[cold]
fn no_fit(value: &(impl Print + ?Sized), ty: impl std::fmt::Display) -> EvalError {
    EvalError::new(format!("`{}` does not fit into {ty}", print(value)))
}

#[cold]
fn unreadable(text: &str, error: ParseError) -> EvalError {
    let short: String = text.chars().take(80).collect();
    EvalError::new(format!("`{short}` {error}"))
}

macro_rules! from_integer {
    ($from:ty: $($to:ty = $name:literal),*) => {
        $(impl Cast<$to> for $from {
            #[inline]
            fn cast(&self) -> Result<$to, EvalError> {
                <$to>::try_from(*self).map_err(|_| no_fit(self, $name))
            }
        })*
        from_integer!(@float $from: f32, f64);
        impl<const P: u8, const S: u8> Cast<Decimal<P, S>> for $from {
            #[inline]
            fn cast(&self) -> Result<Decimal<P, S>, EvalError> {
                Decimal::rescale(*self as i128, 0)
            }
        }
        impl Cast<bool> for $from {
            #[inline]
            fn cast(&self) -> Result<bool, EvalError> {
                Ok(*self != 0)
            }
        }
        impl<const P: u8, const S: u8> Widen<Decimal<P, S>> for $from {
            #[inline]
            fn widen(&self) -> Decimal<P, S> {
                // The compiler chose P and S so that this fits.
                Decimal(*self as i128 * super::pow10(S as u32))
            }
        }
    };
    (@float $from:ty: $($to:ty),*) => {$(
        impl Cast<$to> for $from {
            #[inline]
            fn cast(&self) -> Result<$to, EvalError> {
                Ok(*self as $to)
            }
        }
        impl Widen<$to> for $from {
            #[inline]
            fn widen(&self) -> $to {
                *self as $to
            }
        }
    )*};
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        from_integer!($ty: i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", u8 = "uint8", u16 = "uint16", u32 = "uint32", u64 = "uint64");
        impl Cast<$ty> for bool {
            #[inline]
            fn cast(&self) -> Result<$ty, EvalError> {
                Ok(*self as $ty)
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! widen_integers {
    ($($from:ty => $($to:ty),*;)*) => {$($(
        impl Widen<$to> for $from {
            #[inline]
            fn widen(&self) -> $to {
                <$to>::from(*self)
            }
        }
    )*)*};
}
widen_integers! {
    i8 => i8, i16, i32, i64;
    i16 => i16, i32, i64;
    i32 => i32, i64;
    i64 => i64;
    u8 => u8, u16, u32, u64, i16, i32, i64;
    u16 => u16, u32, u64, i32, i64;
    u32 => u32, u64, i64;
    u64 => u64;
    f32 => f32, f64;
    f64 => f64;
    bool => bool;
}

/// To integers: towards zero, and only what is in range. `$edge` is the first float above the range.
macro_rules! to_integers {
    ($($to:ty = $name:literal),*) => {$(
        impl Cast<$to> for f64 {
            #[inline]
            fn cast(&self) -> Result<$to, EvalError> {
                let whole = self.trunc();
                // The largest integer rounds up to a power of two as a float; the smallest is one.
                if whole >= <$to>::MIN as f64 && whole < (<$to>::MAX as f64 + 1.0).max(<$to>::MAX as f64) && !self.is_nan() {
                    Ok(whole as $to)
                } else {
                    Err(no_fit(self, $name))
                }
            }
        }
        impl Cast<$to> for f32 {
            #[inline]
            fn cast(&self) -> Result<$to, EvalError> {
                (*self as f64).cast()
            }
        }
        impl<const P: u8, const S: u8> Cast<$to> for Decimal<P, S> {
            #[inline]
            fn cast(&self) -> Result<$to, EvalError> {
                <$to>::try_from(self.0 / super::pow10(S as u32)).map_err(|_| no_fit(self, $name))
            }
        }
        impl Cast<$to> for str {
            fn cast(&self) -> Result<$to, EvalError> {
                let value = super::parse_integer(self.trim()).map_err(|error| unreadable(self, error))?;
                <$to>::try_from(value).map_err(|_| no_fit(self, $name))
            }
        }
    )*};
}
to_integers!(
    i8 = "int8",
    i16 = "int16",
    i32 = "int32",
    i64 = "int64",
    u8 = "uint8",
    u16 = "uint16",
    u32 = "uint32",
    u64 = "uint64"
);

/// Conversions given by one expression.
macro_rules! casts {
    ($($from:ty => $to:ty: |$value:ident| $result:expr;)*) => {$(
        impl Cast<$to> for $from {
            #[inline]
            fn cast(&self) -> Result<$to, EvalError> {
                let $value = self;
                $result
            }
        }
    )*};
}
casts! {
    f32 => f32: |value| Ok(*value);
    f32 => f64: |value| Ok(*value as f64);
    f64 => f32: |value| Ok(*value as f32);
    f64 => f64: |value| Ok(*value);
    bool => bool: |value| Ok(*value);
    Date => Date: |value| Ok(*value);
    Time => Time: |value| Ok(*value);
    Timestamp => Timestamp: |value| Ok(*value);
    Duration => Duration: |value| Ok(*value);
    Uuid => Uuid: |value| Ok(*value);
    Json => Json: |value| Ok(value.clone());
    str => Str: |value| Ok(Str::from(value));
    Date => Timestamp: |value| value.midnight().ok_or_else(|| no_fit(value, "timestamp"));
    Timestamp => Date: |value| Ok(value.date());
    Timestamp => Time: |value| Ok(value.time());
    str => bool: |value| super::parse_bool(value.trim()).map_err(|error| unreadable(value, error));
    str => f64: |value| super::parse_float(value.trim()).map_err(|error| unreadable(value, error));
    str => f32: |value| super::parse_float(value.trim()).map(|value| value as f32).map_err(|error| unreadable(value, error));
    str => Date: |value| Date::parse(value.trim()).map_err(|error| unreadable(value, error));
    str => Time: |value| Time::parse(value.trim()).map_err(|error| unreadable(value, error));
    str => Timestamp: |value| Timestamp::parse(value.trim()).map_err(|error| unreadable(value, error));
    str => Duration: |value| Duration::parse(value.trim()).map_err(|error| unreadable(value, error));
    str => Uuid: |value| Uuid::parse(value.trim()).map_err(|error| unreadable(value, error));
    str => Json: |value| Json::parse(value).map_err(|error| unreadable(value, error));
    str => Bytes: |value| Ok(value.as_bytes().to_vec());
    [u8] => Str: |value| match std::str::from_utf8(value) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(EvalError::new("the bytes are not valid UTF-8")),
    };
}

impl<const P: u8, const S: u8> Cast<Decimal<P, S>> for str {
    fn cast(&self) -> Result<Decimal<P, S>, EvalError> {
        Decimal::parse_rounded(self.trim()).map(|(value, _)| value).map_err(|error| unreadable(self, error))
    }
}

/// `Str` converts as its text.
impl<To> Cast<To> for Str
where
    str: Cast<To>,
{
    #[inline]
    fn cast(&self) -> Result<To, EvalError> {
        self.as_str().cast()
    }
}

macro_rules! to_text {
    ($($ty:ty),*) => {$(
        impl Cast<Str> for $ty {
            #[inline]
            fn cast(&self) -> Result<Str, EvalError> {
                Ok(print(self))
            }
        }
    )*};
}
to_text!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Date, Time, Timestamp, Duration, Uuid, Json);

impl<const P: u8, const S: u8> Cast<Str> for Decimal<P, S> {
    fn cast(&self) -> Result<Str, EvalError> {
        Ok(print(self))
    }
}

macro_rules! float_decimals {
    ($($ty:ty),*) => {$(
        impl<const P: u8, const S: u8> Cast<Decimal<P, S>> for $ty {
            /// By the shortest text that names the float: 0.1 is 0.1.
            fn cast(&self) -> Result<Decimal<P, S>, EvalError> {
                if !self.is_finite() {
                    return Err(no_fit(self, format_args!("decimal({P}, {S})")));
                }
                Decimal::parse_rounded(zmij::Buffer::new().format_finite(*self))
                    .map(|(value, _)| value)
                    .map_err(|_| no_fit(self, format_args!("decimal({P}, {S})")))
            }
        }
        impl<const P: u8, const S: u8> Cast<$ty> for Decimal<P, S> {
            #[inline]
            fn cast(&self) -> Result<$ty, EvalError> {
                Ok(self.to_f64() as $ty)
            }
        }
        impl<const P: u8, const S: u8> Widen<$ty> for Decimal<P, S> {
            #[inline]
            fn widen(&self) -> $ty {
                self.to_f64() as $ty
            }
        }
    )*};
}
float_decimals!(f32, f64);

impl<const P: u8, const S: u8, const Q: u8, const T: u8> Cast<Decimal<Q, T>> for Decimal<P, S> {
    #[inline]
    fn cast(&self) -> Result<Decimal<Q, T>, EvalError> {
        Decimal::rescale(self.0, S)
    }
}

impl<const P: u8, const S: u8, const Q: u8, const T: u8> Widen<Decimal<Q, T>> for Decimal<P, S> {
    #[inline]
    fn widen(&self) -> Decimal<Q, T> {
        // The compiler widens only to at least as many digits on both sides of the point.
        const { assert!(T >= S, "not a wider decimal") };
        Decimal(self.0 * super::pow10((T - S) as u32))
    }
}

impl Widen<Timestamp> for Date {
    #[inline]
    fn widen(&self) -> Timestamp {
        Timestamp((self.0 as i64).saturating_mul(super::MICROS_PER_DAY))
    }
}

macro_rules! same {
    ($($ty:ty),*) => {$(
        impl Widen<$ty> for $ty {
            #[inline]
            fn widen(&self) -> $ty {
                self.clone()
            }
        }
    )*};
}
same!(Str, Date, Time, Timestamp, Duration, Uuid, Json);

impl Widen<Str> for str {
    fn widen(&self) -> Str {
        self.into()
    }
}

impl Cast<Str> for Bytes {
    fn cast(&self) -> Result<Str, EvalError> {
        self.as_slice().cast()
    }
}

impl<A: Cast<B>, B> Cast<Vec<B>> for [A] {
    fn cast(&self) -> Result<Vec<B>, EvalError> {
        self.iter().map(A::cast).collect()
    }
}

impl<A: Cast<B>, B> Cast<Vec<B>> for Vec<A> {
    fn cast(&self) -> Result<Vec<B>, EvalError> {
        self.iter().map(A::cast).collect()
    }
}

impl<A: Widen<B>, B> Widen<Vec<B>> for Vec<A> {
    fn widen(&self) -> Vec<B> {
        self.iter().map(A::widen).collect()
    }
}

/// Null stays null.
impl<A: Cast<B>, B> Cast<Option<B>> for Option<A> {
    #[inline]
    fn cast(&self) -> Result<Option<B>, EvalError> {
        self.as_ref().map(A::cast).transpose()
    }
}

impl<A: Widen<B>, B> Widen<Option<B>> for Option<A> {
    #[inline]
    fn widen(&self) -> Option<B> {
        self.as_ref().map(A::widen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_or_are_refused() {
        assert_eq!(cast::<i32, _>(&1.9f64), Ok(1));
        assert_eq!(cast::<i32, _>(&-1.9f64), Ok(-1));
        assert_eq!(
            cast::<i64, _>(&9_223_372_036_854_775_808.0f64).unwrap_err().reason(),
            "`9.223372036854776e+18` does not fit into int64"
        );
        assert_eq!(cast::<i64, _>(&-9_223_372_036_854_775_808.0f64), Ok(i64::MIN));
        assert_eq!(cast::<u8, _>(&255.9f64), Ok(255));
        assert_eq!(try_cast::<u8, _>(&256.0f64), None);
        assert_eq!(try_cast::<u8, _>(&-1i64), None);
        assert_eq!(try_cast::<i64, _>(&f64::NAN), None);
        assert_eq!(try_cast::<i64, _>("12x"), None);
        assert_eq!(cast::<i64, _>(" 12 "), Ok(12));
        assert_eq!(cast::<i16, _>(&Str::from("40000")).unwrap_err().reason(), "`40000` does not fit into int16");
        assert_eq!(cast::<Decimal<5, 1>, _>(&0.25f64), Ok(Decimal(3)));
        assert_eq!(cast::<Decimal<3, 1>, _>(&Decimal::<5, 2>(1005)), Ok(Decimal(101)));
        assert_eq!(try_cast::<Decimal<2, 1>, _>(&100i64), None);
        assert_eq!(widen::<Decimal<38, 3>, _>(&5i64), Decimal(5000));
    }

    /// C17: the rule for timestamps is the same as in JSON and CSV.
    #[test]
    fn text_becomes_any_scalar() {
        assert_eq!(cast::<Timestamp, _>("2024-05-01T12:00:00+02:00"), Ok(Timestamp(1_714_557_600_000_000)));
        assert_eq!(
            cast::<Timestamp, _>("2024-05-01T24:00:00Z").unwrap_err().reason(),
            "`2024-05-01T24:00:00Z` is not a timestamp like 2026-03-15T07:59:20.030Z"
        );
        assert_eq!(cast::<bool, _>("TRUE"), Ok(true));
        assert_eq!(cast::<Str, _>(&Date(0)).unwrap(), "1970-01-01");
        assert_eq!(cast::<Option<i64>, _>(&None::<Str>), Ok(None));
        assert_eq!(cast::<Vec<i64>, _>(&vec![Str::from("1"), Str::from("2")]), Ok(vec![1, 2]));
    }
}
