//! The coordinator of a job: starts its tasks, assigns splits, takes checkpoints, commits sinks, and ends or restarts the job.

mod alignment;
mod asked;
mod attempt;
mod checkpointing;
mod commit;
mod compaction;
#[cfg(test)]
mod compaction_tests;
mod contents;
mod control;
mod dropped;
mod ended;
#[cfg(test)]
mod ended_tests;
mod failures;
mod files;
#[cfg(test)]
mod files_tests;
mod in_flight;
mod increments;
mod layout;
#[cfg(test)]
mod layout_tests;
mod lease;
mod lineage;
mod regions;
mod retention;
#[cfg(test)]
mod retention_tests;
mod run;
mod savepoint;
mod sources;
mod state;
mod storage;
#[cfg(test)]
mod storage_tests;

pub(crate) use asked::Asked;
pub(crate) use commit::SinkStatus;
pub(crate) use contents::Contents;
pub use control::{CheckpointInfo, JobState};
pub(crate) use control::{Control, Remote, StopMode};
pub(crate) use in_flight::IN_FLIGHT;
#[cfg(test)]
pub(crate) use layout_tests::deal_for_tests;
pub(crate) use regions::names_by_chain;
pub(crate) use run::{CheckpointRules, RunEnd, RunSettings, run};
pub(crate) use state::{contents_of, take_staged};
