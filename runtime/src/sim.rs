//! Runs jobs in a simulated world: one thread, a clock that stands still while anything can be done, failures from a seed. For the
//! simulation in `runtime/sim`; no part of a pipeline.

use std::sync::Arc;

pub use crate::seam::{Fault, POINTS, World, enter};

use crate::coordinator::{Control, RunEnd, run};
use crate::error::JobResult;
use crate::handle::JobEnd;
use crate::job::Job;
use crate::progress::Board;
use crate::run_options::RunOptions;

/// Runs a job to its end on the runtime of the caller, which has to be one of a single thread with a paused clock.
pub async fn run_job(job: Job, options: RunOptions) -> JobResult<JobEnd> {
    let settings = options.settings(job)?;
    let board = Arc::new(Board::of(&settings.job));
    // The handle has to outlive the job: nothing is asked of it when it is gone.
    let (control, remote) = Control::new();
    let end = run(settings, board, control).await?;
    drop(remote);
    Ok(match end {
        RunEnd::Finished(leftover) => {
            leftover.remove().await;
            JobEnd::Finished
        }
        RunEnd::Stopped(directory) => JobEnd::Stopped(directory),
        RunEnd::Killed => JobEnd::Killed,
    })
}
