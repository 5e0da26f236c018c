//! Keyed state.

mod key_group;

pub use key_group::{KeyGroupRange, KeyGroups, hash_bytes};
