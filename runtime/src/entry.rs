//! The entry of every generated binary.

use std::process::ExitCode;

use crate::job::Job;

/// Runs a job as the command line says. Exit code 0: done; 1: failed; 2: the command line is wrong.
pub fn main(job: Job) -> ExitCode {
    let _ = job;
    ExitCode::FAILURE
}
