//! Rows: what they are made of, how they are read and written, keys, and changes of tables.

mod change;
mod containers;
#[doc(hidden)]
pub mod enumeration;
mod error;
mod key;
mod record_trait;
mod row;
mod scalars;
mod times;
mod value_trait;

#[cfg(test)]
mod tests;

pub use change::{Change, ChangeKind};
pub use error::FieldError;
pub use key::{Key, key_hash};
#[doc(hidden)]
pub use record_trait::derived;
pub use record_trait::{Column, Record};
pub use row::{Cell, CellWriter, Row, Slot};
pub use value_trait::Value;
