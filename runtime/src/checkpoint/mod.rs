//! What a checkpoint on disk says about itself: manifests, entries of state, and the layout of their bytes.
//!
//! Needs neither the engine nor the job's types, so that the command line can look into checkpoints, too.

mod entries;
mod evolve;
mod folder;
mod layout;
mod manifest;
mod piece_file;
pub mod pieces;
mod show;
mod stored;
mod walk;

pub use entries::{BLOCK, EntryWriter, NewFile, Part, StateEntry, decode_entries, encode_entries};
pub use evolve::{Conversion, ConversionError, Mismatch};
pub use folder::{Listed, MANIFEST, ReadError, any_number_of, folder_of, list, number_of, read, read_manifest, savepoint_of};
#[cfg(feature = "engine")]
pub(crate) use layout::DEFAULT;
pub use layout::{Layout, TimeKind, without_defaults};
#[cfg(all(test, feature = "engine"))]
pub(crate) use manifest::tests::sample;
pub use manifest::{ChainEntry, DataFile, FORMAT, Manifest, ManifestError, SubtaskEntry};
pub use piece_file::{PieceAt, PieceFile, PiecesAt, StateName};
pub use pieces::Piece;
pub use show::value;
pub use stored::{Contained, GroupBytes, Held, StoredGroup, StoredState};
pub use walk::{Cursor, Damaged};
