//! Runs jobs in a simulated world: one thread, a clock that stands still while anything can be done, failures from a seed. For the
//! simulation in `runtime/sim`; no part of a pipeline.

use std::sync::Arc;

pub use crate::seam::{ABORT_AT, Fault, POINTS, World, enter};

use crate::coordinator::{CheckpointInfo, Control, Remote, RunEnd, StopMode, run};
use crate::error::JobResult;
use crate::handle::JobEnd;
use crate::job::Job;
use crate::progress::Board;
use crate::run_options::RunOptions;

/// What can be asked of a job that runs.
#[derive(Debug)]
pub struct Asks(Remote);

impl Asks {
    /// Asks for a stop with a checkpoint.
    pub fn stop(&self) {
        self.0.stop(StopMode::Checkpoint);
    }

    /// Asks for a savepoint in this directory. None: the job is over, or this attempt at it is.
    pub async fn savepoint(&self, directory: &str) -> Option<JobResult<CheckpointInfo>> {
        self.0.request(Some(directory.to_owned()), false)?.await.ok()
    }
}

/// Runs a job to its end on the runtime of the caller, which has to be one of a single thread with a paused clock. What `asking` gives
/// runs beside it.
pub async fn run_job<F: Future<Output = ()>>(job: Job, options: RunOptions, asking: impl FnOnce(Asks) -> F) -> JobResult<JobEnd> {
    let settings = options.settings(job)?;
    let board = Arc::new(Board::of(&settings.job));
    // The handle has to outlive the job: nothing is asked of it when it is gone.
    let (control, remote) = Control::new();
    let (running, asking) = (std::pin::pin!(run(settings, board, control)), asking(Asks(remote.clone())));
    let mut running = running;
    let end = tokio::select! {
        biased;
        end = &mut running => end,
        () = asking => running.await,
    }?;
    drop(remote);
    Ok(match end {
        RunEnd::Finished(leftover) => {
            leftover.remove().await;
            JobEnd::Finished
        }
        RunEnd::Stopped(directory) | RunEnd::Unbegun(directory) => JobEnd::Stopped(directory),
        RunEnd::Killed => JobEnd::Killed,
    })
}
