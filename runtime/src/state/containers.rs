//! Options, boxes, collections and tuples as bytes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use super::codec::{State, StateError, StateReader, write_varint};

impl<T: State> State for Option<T> {
    const EXPIRES: bool = T::EXPIRES;
    fn is_over(&self, now: i64) -> bool {
        T::EXPIRES && self.as_ref().is_some_and(|value| value.is_over(now))
    }
    fn expire(&mut self, now: i64) {
        if let Some(value) = self {
            value.expire(now);
        }
    }
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.is_some() as u8);
        if let Some(value) = self {
            value.encode(out);
        }
    }
    #[inline]
    fn touch(&self) -> u8 {
        self.as_ref().map_or(0, T::touch)
    }
    #[inline]
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        bool::decode(input)?.then(|| T::decode(input)).transpose()
    }
    fn schema() -> String {
        format!("{}?", T::schema())
    }
}

impl<T: State> State for Box<T> {
    const EXPIRES: bool = T::EXPIRES;
    fn is_over(&self, now: i64) -> bool {
        (**self).is_over(now)
    }
    fn expire(&mut self, now: i64) {
        (**self).expire(now);
    }
    fn encode(&self, out: &mut Vec<u8>) {
        (**self).encode(out);
    }
    #[inline]
    fn touch(&self) -> u8 {
        (**self).touch()
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        T::decode(input).map(Box::new)
    }
    fn schema() -> String {
        T::schema()
    }
}

macro_rules! expire_all {
    ($this:ident, iter, $now:ident) => {
        $this.iter_mut().for_each(|part| part.expire($now))
    };
    ($this:ident, values, $now:ident) => {
        $this.values_mut().for_each(|part| part.expire($now))
    };
}

/// Collections: a length, then the elements.
macro_rules! collections {
    ($([$($generics:tt)*] $ty:ty, $item:ty = $schema:expr $(, $parts:ident of $part:ty)?;)*) => {$(
        impl<$($generics)*> State for $ty {
            $(
                const EXPIRES: bool = <$part as State>::EXPIRES;
                fn is_over(&self, now: i64) -> bool {
                    Self::EXPIRES && self.$parts().any(|part| part.is_over(now))
                }
                fn expire(&mut self, now: i64) {
                    if Self::EXPIRES {
                        expire_all!(self, $parts, now);
                    }
                }
            )?
            fn encode(&self, out: &mut Vec<u8>) {
                write_varint(self.len() as u64, out);
                for item in self {
                    Element::encode_element(&item, out);
                }
            }
            fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
                // Elements of no bytes make any length possible: the count is only bounded for the allocation.
                let length = input.varint()?;
                (0..length).map(|_| <$item>::decode(input)).collect()
            }
            fn schema() -> String {
                $schema
            }
        }
    )*};
}
collections! {
    [T: State] Vec<T>, T = format!("list<{}>", T::schema()), iter of T;
    [T: State] VecDeque<T>, T = format!("list<{}>", T::schema()), iter of T;
    [T: State + Ord] BTreeSet<T>, T = format!("set<{}>", T::schema());
    [K: State + Ord, V: State] BTreeMap<K, V>, (K, V) = format!("map<{},{}>", K::schema(), V::schema()), values of V;
    [T: State + Eq + Hash, H: BuildHasher + Default] hashbrown::HashSet<T, H>, T = format!("set<{}>", T::schema());
    [K: State + Eq + Hash, V: State, H: BuildHasher + Default] hashbrown::HashMap<K, V, H>, (K, V) = format!("map<{},{}>", K::schema(), V::schema()), values of V;
}

/// What iterating over a collection by reference gives.
trait Element {
    fn encode_element(&self, out: &mut Vec<u8>);
}

impl<T: State> Element for &T {
    fn encode_element(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }
}

impl<K: State, V: State> Element for (&K, &V) {
    fn encode_element(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: State),*> State for ($($name,)*) {
            const EXPIRES: bool = $($name::EXPIRES)||*;
            fn is_over(&self, now: i64) -> bool {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                $($name.is_over(now))||*
            }
            fn expire(&mut self, now: i64) {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                $($name.expire(now);)*
            }
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                $($name.encode(out);)*
            }
            #[inline]
            fn touch(&self) -> u8 {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                $($name.touch())|*
            }
            #[inline]
            fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
                Ok(($($name::decode(input)?,)*))
            }
            fn schema() -> String {
                format!("({})", [$($name::schema()),*].join(","))
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
