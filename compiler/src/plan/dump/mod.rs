//! Stable, human-readable text of job graphs and execution graphs: for golden files, `explain --phase`, and pass traces.
//!
//! Vertices come in topological order under their ids; nothing depends on hashing, and no Rust debug text is used.

mod execution;
mod job;
mod join;
pub mod operation;
mod ranking;
pub mod types;

pub use execution::execution;
pub use job::job;
