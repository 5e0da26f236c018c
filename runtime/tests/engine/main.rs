//! Whole jobs, by hand what the compiler generates: from files through exchanges, windows and checkpoints to files.

extern crate millstream_runtime as millstream;

mod alignment;
mod at_least_once;
mod bad_conditions;
#[cfg(feature = "sim")]
mod compacting;
mod concurrent;
#[cfg(feature = "disk")]
mod disk_state;
mod failed_checkpoints;
mod failed_storage;
mod files;
mod finished_inputs;
mod handle;
mod job;
mod kill;
mod metrics;
mod mount;
#[cfg(feature = "sim")]
mod points;
mod regions;
mod restarts;
mod restoring;
mod resume;
mod savepoint;
mod source_events;
mod stop;
mod unaligned;
mod waiting;
mod watch;
