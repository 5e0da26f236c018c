//! State: how it is encoded, and the keyed state of operators.

mod codec;
mod containers;
mod key_group;
mod keyed;
pub mod kinds;
mod shared;
mod tables;

pub use codec::{State, StateError, StateReader, decode_from_slice, encode_to_vec, schema_of, write_varint};
pub use key_group::{KeyGroupRange, KeyGroups, hash_bytes};
pub use keyed::KeyedState;
pub use shared::{BroadcastState, Everywhere, OperatorList, Shared, SharedState, UnionList};
pub use tables::{Entry, KeyHasher, KeyedTables, Occupied, Place, SharedTable, Slot, Vacant, decode_entries, read};
