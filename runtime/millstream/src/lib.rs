//! The crate that users and generated pipelines name.
mod needs;

#[cfg(feature = "flow")]
pub use millstream_flow::{flow, include_flow};
pub use millstream_macros::*;
pub use millstream_runtime::*;

/// The connector `http`.
#[cfg(feature = "http")]
pub use millstream_http as http;

/// The modules that `millstream_build::compile("pipelines")` has made in the build script: `include_pipelines!("pipelines")`.
#[macro_export]
macro_rules! include_pipelines {
    ($folder:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $folder, ".rs"));
    };
}
