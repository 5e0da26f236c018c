//! Keyed state: key groups, and how state is encoded.

mod codec;
mod key_group;

pub use codec::{State, StateError, StateReader, decode_from_slice, encode_to_vec, write_varint};
pub use key_group::{KeyGroupRange, KeyGroups, hash_bytes};
