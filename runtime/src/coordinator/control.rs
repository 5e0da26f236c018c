//! What is asked of a running job from outside, and what it says of its state.
//!
//! Requests for checkpoints outlive an attempt that fails before it began them: the next one takes them up.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use crate::error::JobResult;

/// How a job is to stop. A later request only counts if it is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopMode {
    /// It goes on.
    #[default]
    None,
    /// With a last checkpoint that is a savepoint, too. If the savepoint cannot be written, the job goes on.
    Savepoint,
    /// With a last checkpoint, to be resumed: nothing of open windows is emitted.
    Checkpoint,
    /// As if all input had ended: open windows are emitted and the job is done.
    Drain,
    /// At once, as a crash would: nothing more is stored or committed.
    Kill,
}

impl StopMode {
    /// Whether the job stops where it is, to be resumed.
    pub(crate) fn pauses(self) -> bool {
        matches!(self, StopMode::Savepoint | StopMode::Checkpoint)
    }
}

/// A completed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointInfo {
    /// Its number.
    pub id: u64,
    /// Its folder; None: the job stores no checkpoints.
    pub folder: Option<PathBuf>,
    /// The folder of the savepoint, where one was asked for.
    pub savepoint: Option<PathBuf>,
    /// From the trigger to the end of writing.
    pub took: Duration,
}

/// Where the answer to a request for a checkpoint goes. Dropped: the checkpoint was not completed.
pub(crate) type CheckpointReply = oneshot::Sender<JobResult<CheckpointInfo>>;

/// A checkpoint that somebody asks for.
#[derive(Debug)]
pub(crate) struct CheckpointRequest {
    /// The directory for a savepoint: a copy of the checkpoint that needs nothing else and that the job never removes.
    pub savepoint: Option<String>,
    /// Only the checkpoint that the job stops or ends with will do.
    pub at_end: bool,
    pub reply: CheckpointReply,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Tasks are being built and restored.
    Starting,
    /// Tasks run.
    Running,
    /// An attempt of the job, or of a part of it while the others go on, has failed, and the next one has not begun.
    Restarting,
    /// All input was read and everything is committed.
    Finished,
    /// Stopped on request, with a checkpoint to resume from where the job stores any.
    Stopped,
    /// Ended abruptly on request.
    Killed,
    /// A failure ended it.
    Failed,
}

impl JobState {
    /// In a word: `running`.
    pub fn word(self) -> &'static str {
        match self {
            JobState::Starting => "starting",
            JobState::Running => "running",
            JobState::Restarting => "restarting",
            JobState::Finished => "finished",
            JobState::Stopped => "stopped",
            JobState::Killed => "killed",
            JobState::Failed => "failed",
        }
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        matches!(self, JobState::Finished | JobState::Stopped | JobState::Killed | JobState::Failed)
    }
}

/// The coordinator's end of a job's handle.
#[derive(Debug)]
pub(crate) struct Control {
    pub stop: watch::Receiver<StopMode>,
    /// Takes a stop back that came to nothing.
    pub stopper: watch::Sender<StopMode>,
    pub requests: mpsc::UnboundedReceiver<CheckpointRequest>,
    /// Requested checkpoints that have not begun.
    pub wanted: Vec<CheckpointRequest>,
    pub state: watch::Sender<JobState>,
}

/// The other end: what a handle holds.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    pub stop: watch::Sender<StopMode>,
    pub requests: mpsc::UnboundedSender<CheckpointRequest>,
    pub state: watch::Receiver<JobState>,
}

impl Control {
    /// Both ends.
    pub(crate) fn new() -> (Self, Remote) {
        let (stop_sender, stop) = watch::channel(StopMode::None);
        let (request_sender, requests) = mpsc::unbounded_channel();
        let (state, state_receiver) = watch::channel(JobState::Starting);
        let control = Control { stop, stopper: stop_sender.clone(), requests, wanted: Vec::new(), state };
        (control, Remote { stop: stop_sender, requests: request_sender, state: state_receiver })
    }

    pub(crate) fn enter(&self, state: JobState) {
        self.state.send_replace(state);
    }

    pub(crate) fn stopping(&self) -> StopMode {
        *self.stop.borrow()
    }

    /// An attempt has failed. A stop with a savepoint that nobody waits for any more is taken back: its savepoint is not there, or what
    /// the checkpoint holds back was not committed.
    pub(crate) fn attempt_failed(&mut self) {
        while let Ok(request) = self.requests.try_recv() {
            self.wanted.push(request);
        }
        if !self.wanted.iter().any(|request| request.at_end) {
            self.stopper.send_if_modified(|mode| {
                let taken_back = *mode == StopMode::Savepoint;
                if taken_back {
                    *mode = StopMode::None;
                }
                taken_back
            });
        }
    }
}

impl Remote {
    /// Asks for a stop, unless a greater one was asked for.
    pub(crate) fn stop(&self, mode: StopMode) {
        self.stop.send_if_modified(|current| {
            let more = mode > *current;
            if more {
                *current = mode;
            }
            more
        });
    }

    /// Asks for a checkpoint. None: the job is over.
    pub(crate) fn request(
        &self,
        savepoint: Option<String>,
        at_end: bool,
    ) -> Option<oneshot::Receiver<JobResult<CheckpointInfo>>> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(CheckpointRequest { savepoint, at_end, reply }).ok()?;
        Some(answer)
    }
}

/// A request to stop that is greater than `than`; one that was made before counts.
pub(crate) async fn stop_requested(stop: &mut watch::Receiver<StopMode>, than: StopMode) -> StopMode {
    let mode = stop.wait_for(|&mode| mode > than).await.ok().map(|mode| *mode);
    match mode {
        Some(mode) => mode,
        // The handle is gone: nothing will be asked.
        None => std::future::pending().await,
    }
}
