//! Floats as keys: one rule for equality, order, hash and encoding.
//!
//! -0.0 is 0.0, all NaN are one value, and NaN is greater than everything else. Comparisons in expressions, group keys,
//! `distinct`, `min` and `max` all follow it.

use std::cmp::Ordering;

use super::{Date, Decimal, Duration, Json, Str, Time, Timestamp, Uuid};

/// The two float types.
pub trait Float: Copy + PartialOrd + Send + Sync + 'static {
    /// The one representative of all equal values: 0.0 for -0.0, one NaN.
    fn canonical(self) -> Self;
    /// Bits, widened.
    fn bits(self) -> u64;
    /// Inverse of `bits`.
    fn from_bits(bits: u64) -> Self;
    /// How many bytes the encoding has.
    const BYTES: usize;
    /// Name in the language.
    const NAME: &'static str;
}

macro_rules! float {
    ($float:ty, $bits:ty, $name:literal) => {
        impl Float for $float {
            #[inline]
            fn canonical(self) -> Self {
                // Adding 0.0 turns -0.0 into 0.0.
                if self.is_nan() { <$float>::NAN } else { self + 0.0 }
            }
            #[inline]
            fn bits(self) -> u64 {
                self.to_bits() as u64
            }
            #[inline]
            fn from_bits(bits: u64) -> Self {
                <$float>::from_bits(bits as $bits)
            }
            const BYTES: usize = size_of::<$float>();
            const NAME: &'static str = $name;
        }
    };
}
float!(f32, u32, "float32");
float!(f64, u64, "float64");

/// Total order of floats: NaN is greatest and equal to itself, -0.0 equals 0.0.
#[inline]
pub(super) fn compare_floats<F: Float>(a: F, b: F) -> Ordering {
    #[allow(clippy::eq_op)] // only NaN differs from itself
    a.partial_cmp(&b).unwrap_or_else(|| (a != a).cmp(&(b != b)))
}

/// A float that can be a key. Always made by [`FloatKey::new`], so that equal values have equal bits.
#[derive(Clone, Copy, Debug)]
pub struct FloatKey<F>(F);

impl<F: Float> FloatKey<F> {
    /// The key of this float.
    #[inline]
    pub fn new(value: F) -> Self {
        FloatKey(value.canonical())
    }

    /// The float.
    #[inline]
    pub fn get(self) -> F {
        self.0
    }
}

impl<F: Float + Default> Default for FloatKey<F> {
    fn default() -> Self {
        FloatKey::new(F::default())
    }
}

impl<F: Float> PartialEq for FloatKey<F> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.bits() == other.0.bits()
    }
}

impl<F: Float> Eq for FloatKey<F> {}

impl<F: Float> std::hash::Hash for FloatKey<F> {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.bits());
    }
}

impl<F: Float> PartialOrd for FloatKey<F> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<F: Float> Ord for FloatKey<F> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        compare_floats(self.0, other.0)
    }
}

/// The key form of a value: the value itself for all but floats.
pub trait AsKey: Clone {
    /// What hashes and compares like the value.
    type Key: crate::record::Key;
    /// The key of a value.
    fn into_key(self) -> Self::Key;
    /// The value of a key (for floats the representative of all equal ones).
    fn from_key(key: &Self::Key) -> Self;
}

macro_rules! as_key {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        impl<$($generics)*> AsKey for $ty {
            type Key = $ty;
            #[inline]
            fn into_key(self) -> $ty {
                self
            }
            #[inline]
            fn from_key(key: &$ty) -> Self {
                key.clone()
            }
        }
    )*};
}
as_key! {
    [] bool; [] i8; [] i16; [] i32; [] i64; [] u8; [] u16; [] u32; [] u64; [] Str; [] Date; [] Time; [] Timestamp; [] Duration; [] Uuid; [] Json;
    [const P: u8, const S: u8] Decimal<P, S>; [] ();
}

macro_rules! float_as_key {
    ($float:ty) => {
        impl AsKey for $float {
            type Key = FloatKey<$float>;
            #[inline]
            fn into_key(self) -> Self::Key {
                FloatKey::new(self)
            }
            #[inline]
            fn from_key(key: &Self::Key) -> Self {
                key.get()
            }
        }
    };
}
float_as_key!(f32);
float_as_key!(f64);

impl<T: AsKey> AsKey for Option<T> {
    type Key = Option<T::Key>;
    fn into_key(self) -> Self::Key {
        self.map(T::into_key)
    }
    fn from_key(key: &Self::Key) -> Self {
        key.as_ref().map(T::from_key)
    }
}

impl<T: AsKey> AsKey for Vec<T> {
    type Key = Vec<T::Key>;
    fn into_key(self) -> Self::Key {
        self.into_iter().map(T::into_key).collect()
    }
    fn from_key(key: &Self::Key) -> Self {
        key.iter().map(T::from_key).collect()
    }
}

macro_rules! tuples_as_keys {
    ($(($($ty:ident $at:tt),*))*) => {$(
        impl<$($ty: AsKey),*> AsKey for ($($ty),*) {
            type Key = ($($ty::Key),*);
            fn into_key(self) -> Self::Key {
                ($(self.$at.into_key()),*)
            }
            fn from_key(key: &Self::Key) -> Self {
                ($($ty::from_key(&key.$at)),*)
            }
        }
    )*};
}

// The arguments of aggregates.
tuples_as_keys!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;

    /// C50: -0.0 and 0.0 are one key, all NaN are one key, in equality, order and encoding alike.
    #[test]
    fn equal_floats_are_one_key_everywhere() {
        let encode = |key: FloatKey<f64>| {
            let mut out = Vec::new();
            key.encode(&mut out);
            out
        };
        let other_nan = f64::from_bits(0xfff8_0000_0000_0001);
        for (a, b) in [(0.0, -0.0), (f64::NAN, other_nan), (1e-400, -0.0)] {
            let (a, b) = (FloatKey::new(a), FloatKey::new(b));
            assert_eq!(a, b);
            assert_eq!(a.cmp(&b), Ordering::Equal);
            assert_eq!(encode(a), encode(b));
            assert_eq!(f64::from_key(&a).into_key(), b);
        }
        assert!(FloatKey::new(f64::NAN) > FloatKey::new(f64::INFINITY));
        assert_ne!(FloatKey::new(0.0), FloatKey::new(5e-324));
    }
}
