//! Checkpoints and files in S3, against a server in this process.

mod bucket;
mod checkpoints;
#[path = "../../../../tests/engine/compacting.rs"]
mod compacting;
// Not everything of it is of use here.
#[allow(dead_code)]
#[path = "../../../../tests/engine/job.rs"]
mod job;
mod process;
mod savepoints;
mod sink;
mod source;
