//! A deterministic simulation of whole jobs: the real coordinator, tasks, checkpoints and commits on one thread, in a world whose clock,
//! storage, source and sink are simulated and whose failures come from a seed. The same seed gives the same run, line by line.
//!
//! What can happen: the process is gone at any [point](millstream_runtime::sim::POINTS) of the engine or in the middle of a write; a
//! point fails or takes long; storage refuses, is slow, loses its answer, or keeps half of what was being written when the process died;
//! a commit cannot be done now, fails, or is done and its answer is lost. After each end of a process the next one starts, at another
//! parallelism. Parts of jobs that share no stream fail and come back by themselves. Jobs are stopped and gone on with, run again in the
//! same place once they have ended, begun anew with `--fresh`, and taken back to savepoints with `--from` and `--claim`.
//!
//! What is checked, all along: rows are visible exactly once, and in order per split; nothing is committed before the checkpoint that holds
//! it is complete, and nothing that was committed is taken back; watermarks never go back and no row is late behind them.

mod check;
mod jobs;
mod operator;
mod place;
mod simulate;
mod source;
mod store;
mod table;
mod world;

pub use jobs::Kind;
pub use simulate::{Report, simulate, simulate_all};
pub use world::Plan;
