//! From a crate in memory to a binary: writes it into the cache, runs cargo, and says what happens.
//!
//! The only place of the compiler that touches the disk or starts processes. Crates live under the cache folder, one per
//! pipeline; all share one target folder per toolchain, so that only the first build compiles the runtime and
//! every later one compiles a single crate.

mod build;
mod cache;
mod cargo;
mod error;
mod files;
mod lock;
mod manifest;
mod messages;

pub use build::{BuildRequest, Built, Profile, build, emit_into};
pub use cache::Cache;
pub use cargo::Progress;
pub use error::BuildError;

#[cfg(test)]
mod tests;
