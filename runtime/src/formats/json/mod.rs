//! JSON, one value a line.

mod compact;
mod reader;
mod writer;

pub(crate) use compact::compact;
pub use reader::JsonReader;
pub use writer::write_string;
