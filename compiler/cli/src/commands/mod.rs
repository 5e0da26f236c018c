//! The commands, one file each: what it takes (`Args`) and what it does (`run`).

pub mod build;
pub mod check;
pub mod connectors;
pub mod explain;
pub mod fmt;
pub mod functions;
pub mod jobs;
#[cfg(feature = "lsp")]
pub mod lsp;
pub mod new;
pub mod run;
pub mod savepoint;
pub mod state;
pub mod stop;
