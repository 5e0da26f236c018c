//! The runtime of Millstream jobs.
//!
//! Without the feature `engine` only what the compiler needs: graphs, types, and the descriptors of functions,
//! aggregates, connectors and formats.

// Derived code names the facade; inside of the runtime that is the runtime itself.
#[cfg(feature = "engine")]
extern crate self as millstream;

pub mod aggregates;
#[cfg(feature = "engine")]
pub mod builder;
#[cfg(feature = "checkpoint")]
mod bytes;
#[cfg(feature = "engine")]
pub mod chain;
#[cfg(feature = "checkpoint")]
pub mod checkpoint;
#[cfg(feature = "engine")]
#[doc(hidden)]
pub mod codegen;
pub mod connectors;
#[cfg(feature = "engine")]
mod coordinator;
#[cfg(feature = "engine")]
mod entry;
#[cfg(feature = "checkpoint")]
pub mod error;
#[cfg(feature = "engine")]
pub mod exchange;
pub mod flags;
pub mod formats;
pub mod functions;
pub mod graph;
#[cfg(feature = "engine")]
pub mod handle;
#[cfg(feature = "engine")]
mod help;
#[cfg(feature = "engine")]
pub mod job;
#[cfg(feature = "engine")]
pub mod lookup;
#[cfg(all(feature = "disk", target_os = "linux", target_env = "gnu"))]
mod malloc;
#[cfg(feature = "engine")]
pub mod metrics;
#[cfg(feature = "engine")]
mod notice;
#[cfg(feature = "engine")]
pub mod operator;
#[cfg(feature = "engine")]
pub mod operators;
#[cfg(feature = "engine")]
pub mod options;
#[cfg(feature = "engine")]
mod panics;
#[cfg(feature = "engine")]
pub mod params;
pub mod places;
#[cfg(feature = "engine")]
pub mod prelude;
#[cfg(feature = "engine")]
mod progress;
#[cfg(feature = "engine")]
pub mod record;
#[cfg(feature = "checkpoint")]
pub mod remote;
#[cfg(feature = "engine")]
pub mod restart;
#[cfg(feature = "engine")]
mod run_options;
#[cfg(feature = "engine")]
mod seam;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "engine")]
pub mod sink;
#[cfg(feature = "engine")]
pub mod source;
#[cfg(feature = "engine")]
pub mod state;
#[cfg(feature = "engine")]
pub mod storage;
#[cfg(feature = "engine")]
mod task;
#[cfg(feature = "engine")]
mod ticker;
#[cfg(feature = "engine")]
pub mod time;
#[cfg(feature = "engine")]
pub mod value;
#[cfg(feature = "engine")]
pub mod waiting;

#[cfg(feature = "engine")]
pub use chain::{Chain, ChainBuilder};
#[cfg(feature = "engine")]
pub use coordinator::{CheckpointInfo, JobState};
#[cfg(feature = "engine")]
pub use entry::{main, run_with_args};
#[cfg(feature = "checkpoint")]
pub use error::{JobError, JobResult};
#[cfg(feature = "engine")]
pub use graph::{Backoff, CheckpointMode, ErrorPolicy, FailureRate, KeptBy};
#[cfg(feature = "engine")]
pub use handle::{JobEnd, JobHandle};
#[cfg(feature = "engine")]
pub use job::{BuildChain, BuildSource, ChainSpec, CheckpointConfig, ExchangeKind, Folder, InputSpec, Job, Restart, StateConfig};
#[cfg(feature = "engine")]
pub use metrics::Metrics;
#[cfg(feature = "engine")]
pub use options::Options;
#[cfg(feature = "engine")]
pub use params::{ParamSpec, ParamValues};
#[cfg(feature = "engine")]
pub use run_options::RunOptions;
