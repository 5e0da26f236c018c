//! State: how it is encoded, and the keyed state of operators.

mod codec;
mod containers;
#[cfg(feature = "disk")]
mod disk;
mod hasher;
mod key_group;
mod keyed;
pub mod kinds;
mod shared;
mod table;
mod tables;

pub use codec::{State, StateError, StateReader, decode_from_slice, default_in_schema, encode_to_vec, schema_of, write_varint};
#[cfg(feature = "disk")]
pub use disk::Disk;
#[cfg(feature = "disk")]
pub(crate) use disk::OwnFolder;
pub use hasher::{KeyHasher, Slot};
pub use key_group::{KeyGroupRange, KeyGroups, hash_bytes};
pub use keyed::KeyedState;
pub use shared::{BroadcastState, Everywhere, OperatorList, Shared, SharedState, UnionList};
pub use table::{Occupied, Place, Vacant};
pub use tables::{KeyedTables, SharedChanges, SharedTable, decode_entries, read};
