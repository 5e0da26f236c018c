//! Keyed state that does not fit into memory: `state: disk { path: "./state", memory: 256MB }`.
//!
//! Entries live in the same tables as without a disk, which are a write-back cache here: an entry in memory is found and changed
//! as ever. When the tables of a process take more than their share of the memory, those entries that have not been asked for
//! since the last look go to an embedded store ([`Disk`]), and come back when their key does ([`Spill`]).
//!
//! The files are a cache and nothing else: what counts is in checkpoints. Every attempt begins with an empty folder of its own
//! and removes it at its end; what killed processes left behind goes at the next start. So nothing is ever synced.

mod changes;
mod folder;
mod snapshot;
mod spill;
#[cfg(test)]
mod tests;

pub use folder::{Disk, OwnFolder};
pub(super) use snapshot::{SpilledChanges, SpilledTable};
pub(super) use spill::{Fate, Spill};
