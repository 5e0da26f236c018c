//! Rows: what they are made of, how they are read and written, keys, and changes of tables.

mod change;
mod key;

pub use change::{Change, ChangeKind};
pub use key::{Key, key_hash};
