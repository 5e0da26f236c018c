//! The operators, one file each.

mod explode;
mod filter;
mod map;

pub use explode::Explode;
pub use filter::Filter;
pub use map::Map;
