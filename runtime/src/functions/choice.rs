//! `greatest`, `least`, `clamp`, `nullif`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "choice",
        "greatest(values: O...) -> O",
        "The greatest of the values; null if one of them is null.",
        &[("greatest(1, 3, 2)", "3")],
    ),
    FunctionSpec::new(
        "choice",
        "least(values: O...) -> O",
        "The smallest of the values; null if one of them is null.",
        &[("least(\"b\", \"a\")", "\"a\"")],
    ),
    FunctionSpec::new(
        "choice",
        "nullif(value: T, unwanted: T) -> T?",
        "Null if the value is the unwanted one, else the value.",
        &[("nullif(\"-\", \"-\")", "null"), ("nullif(5, 0)", "5")],
    ),
    FunctionSpec::new(
        "choice",
        "clamp(value: O, low: O, high: O) -> O",
        "The value, but not below `low` and not above `high`. If `low` is above `high`, `high`.",
        &[("clamp(7, 0, 5)", "5"), ("clamp(-1.5, 0.0, 5.0)", "0.0")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::compare::Compare;
    use crate::value::{Bytes, Date, Decimal, Duration, Json, Map, Str, Time, Timestamp, Uuid};

    /// Values as expressions hold them (texts borrowed), and as they are given back.
    pub trait Held: Sized {
        /// The value itself.
        type Owned;
        /// As a value of its own.
        fn owned(&self) -> Self::Owned;
    }

    macro_rules! held {
        ($([$($generics:tt)*] $ty:ty),*) => {$(
            impl<$($generics)*> Held for $ty {
                type Owned = $ty;
                #[inline]
                fn owned(&self) -> $ty {
                    self.clone()
                }
            }
        )*};
    }
    held!([] bool, [] i8, [] i16, [] i32, [] i64, [] u8, [] u16, [] u32, [] u64, [] f32, [] f64, [] Date, [] Time, [] Timestamp, [] Duration, [] Uuid);
    held!([] Str, [] Json, [T: Clone] Vec<T>, [K: Clone, V: Clone] Map<K, V>, [const P: u8, const S: u8] Decimal<P, S>);

    impl Held for &str {
        type Owned = Str;
        #[inline]
        fn owned(&self) -> Str {
            (*self).into()
        }
    }

    impl<T: Clone> Held for &[T] {
        type Owned = Vec<T>;
        fn owned(&self) -> Vec<T> {
            self.to_vec()
        }
    }

    impl Held for &Json {
        type Owned = Json;
        fn owned(&self) -> Json {
            (*self).clone()
        }
    }

    impl Held for &Bytes {
        type Owned = Bytes;
        fn owned(&self) -> Bytes {
            (*self).clone()
        }
    }

    /// The greatest of one or more values; of equals the first.
    pub fn greatest<T: Held + Compare, const N: usize>(values: &[T; N]) -> T::Owned {
        best(values, |a, b| a.compare(b).is_gt())
    }

    /// The smallest of one or more values; of equals the first.
    pub fn least<T: Held + Compare, const N: usize>(values: &[T; N]) -> T::Owned {
        best(values, |a, b| a.compare(b).is_lt())
    }

    fn best<T: Held, const N: usize>(values: &[T; N], better: impl Fn(&T, &T) -> bool) -> T::Owned {
        const { assert!(N > 0, "one or more values") };
        let mut best = &values[0];
        for value in &values[1..] {
            if better(value, best) {
                best = value;
            }
        }
        best.owned()
    }

    /// Null if the value is the unwanted one.
    #[inline]
    pub fn nullif<T: Held + Compare>(value: T, unwanted: T) -> Option<T::Owned> {
        if value.same(&unwanted) { None } else { Some(value.owned()) }
    }

    /// The value between two bounds.
    #[inline]
    pub fn clamp<T: Held + Compare>(value: T, low: T, high: T) -> T::Owned {
        let value = if value.compare(&low).is_lt() { low } else { value };
        if value.compare(&high).is_gt() { high.owned() } else { value.owned() }
    }

    #[test]
    fn choices() {
        assert_eq!((greatest(&[1, 3, 2]), least(&["b", "a"]), greatest(&[Decimal::<3, 1>(5)])), (3, "a".into(), Decimal(5)));
        assert!(greatest(&[1.0, f64::NAN]).is_nan());
        assert_eq!((nullif("-", "-"), nullif(5, 0), nullif(f64::NAN, f64::NAN)), (None, Some(5), None));
        assert_eq!((clamp(7, 0, 5), clamp(-1, 0, 5), clamp(3, 0, 5), clamp(3, 5, 0)), (5, 0, 3, 0));
        assert_eq!(clamp("m", "a", "f"), "f");
    }
}
