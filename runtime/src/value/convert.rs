//! Between the values of generated code and those of the user's Rust: `Str` and `String`, rows and the user's structs.
//!
//! Generated code implements [`Convert`] for rows; here are the types of columns. What is the same on both sides moves.

use super::{Date, Decimal, Duration, Json, Map, Str, Time, Timestamp, Uuid};

/// Becomes a value of another type that means the same.
pub trait Convert<T> {
    /// The value.
    fn convert(self) -> T;
}

macro_rules! same {
    ($($ty:ty)*) => {$(
        impl Convert<$ty> for $ty {
            #[inline]
            fn convert(self) -> $ty {
                self
            }
        }
    )*};
}
same!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Str String Date Time Timestamp Duration Uuid Json);

impl<const P: u8, const S: u8> Convert<Decimal<P, S>> for Decimal<P, S> {
    #[inline]
    fn convert(self) -> Decimal<P, S> {
        self
    }
}

impl Convert<String> for Str {
    #[inline]
    fn convert(self) -> String {
        self.into()
    }
}

impl Convert<Str> for String {
    #[inline]
    fn convert(self) -> Str {
        self.into()
    }
}

impl Convert<String> for &str {
    #[inline]
    fn convert(self) -> String {
        self.into()
    }
}

impl Convert<Str> for &str {
    #[inline]
    fn convert(self) -> Str {
        self.into()
    }
}

impl<T: Convert<U>, U> Convert<Option<U>> for Option<T> {
    #[inline]
    fn convert(self) -> Option<U> {
        self.map(T::convert)
    }
}

impl<T: Convert<U>, U> Convert<Vec<U>> for Vec<T> {
    #[inline]
    fn convert(self) -> Vec<U> {
        // Where both are the same, the memory is kept.
        self.into_iter().map(T::convert).collect()
    }
}

impl<T: Clone + Convert<U>, U> Convert<Vec<U>> for &[T] {
    #[inline]
    fn convert(self) -> Vec<U> {
        self.iter().cloned().map(T::convert).collect()
    }
}

impl<K: Convert<L>, V: Convert<W>, L: Ord, W> Convert<Map<L, W>> for Map<K, V> {
    #[inline]
    fn convert(self) -> Map<L, W> {
        self.into_iter().map(|(key, value)| (key.convert(), value.convert())).collect()
    }
}

macro_rules! tuples {
    ($(($($from:ident $to:ident $value:ident),*))*) => {$(
        impl<$($from: Convert<$to>, $to),*> Convert<($($to),*)> for ($($from),*) {
            #[inline]
            fn convert(self) -> ($($to),*) {
                let ($($value),*) = self;
                ($($value.convert()),*)
            }
        }
    )*};
}

// The arguments of aggregates.
tuples!((A P a, B Q b) (A P a, B Q b, C R c) (A P a, B Q b, C R c, D S d));

impl Convert<()> for () {
    #[inline]
    fn convert(self) {}
}

/// A value that something else still needs.
impl<T: Clone + Convert<U>, U> Convert<U> for &T {
    #[inline]
    fn convert(self) -> U {
        self.clone().convert()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_what_is_asked_for() {
        let texts: Vec<String> = [Str::from("a"), Str::from("b")].as_slice().convert();
        assert_eq!(texts, ["a", "b"]);
        let back: Option<Vec<Str>> = Some(texts).convert();
        assert_eq!(back, Some(vec![Str::from("a"), Str::from("b")]));
        let map: Map<String, Option<i64>> = (&Map::from([(Str::from("k"), Some(1i64))])).convert();
        assert_eq!(map, Map::from([("k".to_owned(), Some(1))]));
        let decimal: Decimal<5, 2> = (&Decimal::<5, 2>(7)).convert();
        assert_eq!(decimal, Decimal(7));
    }
}
