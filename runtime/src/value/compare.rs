//! Comparison of values: one rule in expressions, keys, `distinct`, `min`, `max` and sorting.
//!
//! Floats: NaN equals NaN and is greater than every number, and -0.0 equals 0.0, so that `=` agrees with grouping.

use std::cmp::Ordering;

use super::decimal::wide_pow10;
use super::float_key::compare_floats;
use super::{Date, Decimal, Duration, FloatKey, Json, Map, Str, Time, Timestamp, Uuid};

/// Values that have an order among themselves.
pub trait Compare<B: ?Sized = Self> {
    /// Total order.
    fn compare(&self, other: &B) -> Ordering;

    /// Equality; agrees with `compare`.
    #[inline]
    fn same(&self, other: &B) -> bool {
        self.compare(other).is_eq()
    }
}

/// `a < b` and so on as an ordering.
#[inline]
pub fn cmp<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> Ordering {
    a.compare(b)
}

/// `a == b`
#[inline]
pub fn eq<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> bool {
    a.same(b)
}

/// `a != b`
#[inline]
pub fn ne<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> bool {
    !a.same(b)
}

/// `a < b`
#[inline]
pub fn lt<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> bool {
    a.compare(b).is_lt()
}

/// `a <= b`
#[inline]
pub fn le<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> bool {
    a.compare(b).is_le()
}

/// `a > b`
#[inline]
pub fn gt<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> bool {
    a.compare(b).is_gt()
}

/// `a >= b`
#[inline]
pub fn ge<A: Compare<B> + ?Sized, B: ?Sized>(a: &A, b: &B) -> bool {
    a.compare(b).is_ge()
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {$(
        impl Compare for $ty {
            #[inline]
            fn compare(&self, other: &$ty) -> Ordering {
                Ord::cmp(self, other)
            }
            #[inline]
            fn same(&self, other: &$ty) -> bool {
                self == other
            }
        }
    )*};
}
plain!(bool, i8, i16, i32, i64, u8, u16, u32, u64, i128, str, Str, Date, Time, Timestamp, Duration, Uuid, Json, ());

/// In structs of the user's own.
impl Compare for String {
    #[inline]
    fn compare(&self, other: &String) -> Ordering {
        self.cmp(other)
    }
}

impl Compare<str> for Str {
    #[inline]
    fn compare(&self, other: &str) -> Ordering {
        self.as_str().cmp(other)
    }
    #[inline]
    fn same(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl Compare<Str> for str {
    #[inline]
    fn compare(&self, other: &Str) -> Ordering {
        self.cmp(other.as_str())
    }
    #[inline]
    fn same(&self, other: &Str) -> bool {
        self == other.as_str()
    }
}

/// References compare like what they point to, and `&str` mixes with `Str`.
impl<A: Compare<B> + ?Sized, B: ?Sized> Compare<&B> for &A {
    #[inline]
    fn compare(&self, other: &&B) -> Ordering {
        (**self).compare(*other)
    }
    #[inline]
    fn same(&self, other: &&B) -> bool {
        (**self).same(*other)
    }
}

impl Compare<&str> for Str {
    #[inline]
    fn compare(&self, other: &&str) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl Compare<Str> for &str {
    #[inline]
    fn compare(&self, other: &Str) -> Ordering {
        (*self).cmp(other.as_str())
    }
}

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Compare for $ty {
            #[inline]
            fn compare(&self, other: &$ty) -> Ordering {
                compare_floats(*self, *other)
            }
            #[inline]
            fn same(&self, other: &$ty) -> bool {
                self == other || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}
floats!(f32, f64);

impl<F: super::Float> Compare for FloatKey<F> {
    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        Ord::cmp(self, other)
    }
}

impl<const P: u8, const S: u8, const Q: u8, const T: u8> Compare<Decimal<Q, T>> for Decimal<P, S> {
    #[inline]
    fn compare(&self, other: &Decimal<Q, T>) -> Ordering {
        if S == T {
            return self.0.cmp(&other.0);
        }
        let scale = S.max(T);
        let wide = |value: i128, from: u8| ethnum::I256::from(value) * wide_pow10((scale - from) as u32);
        wide(self.0, S).cmp(&wide(other.0, T))
    }
}

/// Null comes first, and equals null: for keys and sorting. Expressions lift null before they compare.
impl<A: Compare<B>, B> Compare<Option<B>> for Option<A> {
    #[inline]
    fn compare(&self, other: &Option<B>) -> Ordering {
        match (self, other) {
            (Some(a), Some(b)) => a.compare(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }
}

impl<A: Compare<B>, B> Compare<[B]> for [A] {
    fn compare(&self, other: &[B]) -> Ordering {
        for (a, b) in self.iter().zip(other) {
            let order = a.compare(b);
            if order.is_ne() {
                return order;
            }
        }
        self.len().cmp(&other.len())
    }
}

impl<A: Compare<B>, B> Compare<Vec<B>> for Vec<A> {
    fn compare(&self, other: &Vec<B>) -> Ordering {
        self.as_slice().compare(other.as_slice())
    }
}

impl<K: Compare, V: Compare> Compare for Map<K, V> {
    fn compare(&self, other: &Self) -> Ordering {
        for ((a, x), (b, y)) in self.iter().zip(other) {
            let order = a.compare(b).then_with(|| x.compare(y));
            if order.is_ne() {
                return order;
            }
        }
        self.len().cmp(&other.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_one_total_order() {
        assert!(eq(&f64::NAN, &f64::NAN) && gt(&f64::NAN, &f64::INFINITY) && eq(&0.0, &-0.0) && !lt(&-0.0, &0.0));
        assert!(lt(&1.0, &2.0) && ne(&1.0, &f64::NAN) && ge(&2.0f32, &2.0f32));
    }

    #[test]
    fn texts_and_decimals_mix() {
        assert!(eq(&Str::from("a"), "a") && lt("a", &Str::from("b")) && le(&"a", &"a") && eq(&Str::from("a"), &"a"));
        assert!(eq(&Decimal::<5, 2>(150), &Decimal::<3, 1>(15)));
        assert!(lt(&Decimal::<38, 0>(i128::MAX / 2), &Decimal::<38, 38>(i128::MAX / 2)).then_some(()).is_none());
        assert!(lt(&None::<i64>, &Some(1)) && eq(&vec![1, 2], &vec![1, 2]) && lt(&vec![1], &vec![1, 2]));
    }
}
