//! Keys: values that rows are grouped by.

use std::hash::Hash;

use crate::state::{State, hash_bytes};

/// A value that rows can be grouped by. Floats are keys as [`FloatKey`](crate::value::FloatKey).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key",
    label = "no key",
    note = "a key is `Clone`, `Eq`, `Hash`, `Ord` and `State`: `#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, State)]` on a type of your own",
    note = "floats are no keys by themselves, for they may be no number: write `millstream::value::FloatKey::new(value)`"
)]
pub trait Key: Clone + Eq + Hash + Ord + State + Send + Sync + 'static {}

// Else each trait that is missing is a message of its own.
#[diagnostic::do_not_recommend]
impl<T: Clone + Eq + Hash + Ord + State + Send + Sync + 'static> Key for T {}

/// The hash that places a key: the same in every version and on every machine. `buffer` is scratch space.
#[inline]
pub fn key_hash<K: State>(key: &K, buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    key.encode(buffer);
    hash_bytes(buffer)
}
