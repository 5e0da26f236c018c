//! The runtime of Millstream jobs.
//!
//! Without the feature `engine` only what the compiler needs: graphs, types, and the descriptors of functions,
//! aggregates, connectors and formats.

pub mod aggregates;
pub mod connectors;
pub mod formats;
pub mod functions;
pub mod graph;
