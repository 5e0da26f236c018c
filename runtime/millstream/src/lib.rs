//! The crate that users and generated pipelines name.
pub use millstream_macros::*;
pub use millstream_runtime::*;
