//! What the jobs of both suites have in common.

use millstream::value::{EvalError, Timestamp};
use millstream::{ChainSpec, ErrorPolicy, Job, JobEnd, JobHandle, Restart, RunOptions, StateConfig};

/// Failures are what is tested: the job goes on after each.
pub(crate) const RESTARTS: Restart = Restart::Fixed { attempts: 1000, delay_micros: 1000 };

/// Rows have no event time.
pub(crate) type NoWatermark<T> = fn(&T) -> Result<Option<Timestamp>, EvalError>;

/// A job of these chains.
pub(crate) fn job(restart: Restart, chains: Vec<ChainSpec>) -> Job {
    Job {
        name: "kit",
        doc: "",
        fingerprint: 1,
        parallelism: 1,
        max_parallelism: 128,
        buffer_timeout_micros: 5000,
        checkpoint: None,
        restart,
        state: StateConfig::Memory,
        on_error: ErrorPolicy::Fail,
        params: &[],
        kept_by: Vec::new(),
        chains,
    }
}

pub(crate) fn start(job: Job, options: RunOptions) -> JobHandle {
    JobHandle::start(job, options).unwrap_or_else(|error| panic!("cannot start: {error}"))
}

pub(crate) fn stop(handle: JobHandle) {
    match handle.stop_with_checkpoint() {
        Ok(JobEnd::Stopped(Some(_))) => {}
        other => panic!("it should have been stopped with a checkpoint: {other:?}"),
    }
}
