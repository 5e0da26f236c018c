//! The crate that users and generated pipelines name.
pub use millstream_macros::*;
pub use millstream_runtime::*;

/// The connector `http`.
#[cfg(feature = "http")]
pub use millstream_http as http;
