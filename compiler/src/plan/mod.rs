//! From a typed program to what runs: [`build()`] makes the job graph, [`optimise`] rewrites it pass by pass, and
//! [`ExecutionGraph::expand`](millstream_runtime::graph::ExecutionGraph::expand) (in the runtime) cuts it into chains.
//!
//! Planning cannot fail on a program without errors; what cannot run for other reasons is a layout error, which
//! [`layout::diagnose`] turns into a diagnostic.

pub mod analysis;
pub mod build;
pub mod dump;
pub mod explain;
pub mod layout;
pub mod passes;

pub use build::build;
pub use passes::{PassTrace, optimise};
