//! Keys: values that rows are grouped by.

use std::hash::Hash;

use crate::state::{State, hash_bytes};

/// A value that rows can be grouped by. Floats are keys as [`FloatKey`](crate::value::FloatKey).
pub trait Key: Clone + Eq + Hash + Ord + State + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Ord + State + Send + Sync + 'static> Key for T {}

/// The hash that places a key: the same in every version and on every machine. `buffer` is scratch space.
#[inline]
pub fn key_hash<K: State>(key: &K, buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    key.encode(buffer);
    hash_bytes(buffer)
}
