//! A job that runs in this process, and what can be done with it from outside.
//!
//! The command line is built on it, and so can be anything that embeds a job: tests, services, other programs.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::coordinator::{CheckpointInfo, Control, JobState, Remote, RunEnd, RunSettings, StopMode, run};
use crate::error::{JobError, JobResult};
use crate::job::Job;
use crate::metrics::{Metrics, MetricsServer, Rates, collect};
use crate::progress::Board;
use crate::remote::Facts;
use crate::run_options::RunOptions;

/// What metrics tell of times is that of the last minute, in steps of so much.
const RATES: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));

/// How often a wait looks.
const POLL: Duration = Duration::from_millis(1);

/// A job that is to stop and is still being started, or to be killed and does not react, is given up after so long: something in it
/// hangs.
const GRACE: Duration = Duration::from_secs(5);

/// How a job ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// All input was read, or drained, and everything is committed. Its checkpoints are removed.
    Finished,
    /// Stopped with a checkpoint in this directory, from which it can be resumed; None: it stores no checkpoints. One that was stopped
    /// before it had begun has written none: what was in the directory is still what it goes on from.
    Stopped(Option<String>),
    /// Ended abruptly.
    Killed,
}

/// Reads the metrics of a job.
#[derive(Debug)]
struct Meter {
    job: &'static str,
    board: Arc<Board>,
    rates: Mutex<Rates>,
}

impl Meter {
    fn read(&self) -> Metrics {
        let numbers = self.board.numbers();
        let spent = numbers.tasks.iter().map(|task| task.spent).collect();
        let shares = self.rates.lock().unwrap_or_else(PoisonError::into_inner).update(Instant::now(), spent);
        collect(self.job, &numbers, &shares)
    }
}

/// A running job. It runs on threads of its own, and calls of the handle that wait block the
/// caller: inside of asynchronous code they belong on a thread for blocking work. Dropping the handle kills the job.
#[derive(Debug)]
pub struct JobHandle {
    name: &'static str,
    facts: Facts,
    remote: Remote,
    board: Arc<Board>,
    meter: Arc<Meter>,
    server: Option<MetricsServer>,
    ended: Receiver<JobResult<RunEnd>>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl JobHandle {
    /// Starts a job. An error here is one of the options: anything later is told by [`wait`](Self::wait).
    pub fn start(job: Job, options: RunOptions) -> JobResult<Self> {
        Self::start_watched(job, options, |_| std::future::ready(()))
    }

    /// The same. `watch` is called before anything of the job runs, on its runtime, and what it gives runs beside the job.
    pub(crate) fn start_watched<F>(job: Job, options: RunOptions, watch: impl FnOnce(Remote) -> F) -> JobResult<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = job.name;
        let address = options.metrics.clone();
        let settings = options.settings(job)?;
        let facts = Facts::of(&settings);
        let board = Arc::new(Board::of(&settings.job));
        let rates = Mutex::new(Rates::new(RATES.0, RATES.1));
        let meter = Arc::new(Meter { job: name, board: board.clone(), rates });
        let server = match address {
            Some(address) => {
                let meter = meter.clone();
                Some(MetricsServer::start(&address, move || meter.read().to_prometheus())?)
            }
            None => None,
        };
        // Behind everything that can fail: inside of asynchronous code a runtime must not be dropped as others are.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_time()
            .enable_io()
            // A step of a task takes about as long as a batch: look at timers and messages after a few.
            .event_interval(7)
            .on_thread_start(crate::panics::own_thread)
            .build()
            .map_err(|error| JobError::io("cannot start", &error))?;
        let sampled = meter.clone();
        runtime.spawn(async move {
            let mut ticks = tokio::time::interval(RATES.0);
            loop {
                ticks.tick().await;
                sampled.read();
            }
        });
        let (control, remote) = Control::new();
        let (sender, ended) = channel();
        let watching = {
            let _inside = runtime.enter();
            watch(remote.clone())
        };
        runtime.spawn(watching);
        let supervised = supervise(settings, board.clone(), control, remote.clone());
        runtime.spawn(async move {
            // Nobody is there to hear it when the handle was dropped.
            let _ = sender.send(supervised.await);
        });
        Ok(JobHandle { name, facts, remote, board, meter, server, ended, runtime: Some(runtime) })
    }

    /// The job's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Where it stands.
    pub fn state(&self) -> JobState {
        *self.remote.state.borrow()
    }

    /// How often it, or a part of it, has started again after a failure.
    pub fn restarts(&self) -> u32 {
        self.board.restarts()
    }

    /// All its numbers: see [`metrics`](crate::metrics).
    pub fn metrics(&self) -> Metrics {
        self.meter.read()
    }

    /// Where its metrics are shown, if they are.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.server.as_ref().map(MetricsServer::address)
    }

    /// Waits until the state is as wanted. False: the job is over, or the time has run out.
    pub fn wait_until(&self, timeout: Duration, wanted: impl Fn(JobState) -> bool) -> bool {
        let deadline = Instant::now() + timeout;
        loop {
            let state = self.state();
            if wanted(state) {
                return true;
            }
            if state.is_over() || Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Takes a checkpoint now and waits until it is stored and the output that belongs to it is committed. An error if the
    /// attempt fails or the job ends before.
    pub fn checkpoint(&self) -> JobResult<CheckpointInfo> {
        answered(self.remote.request(None, false))
    }

    /// Takes a checkpoint and writes it to a new folder below this directory, too: a savepoint, which needs nothing else, and which
    /// neither this job nor one that resumes from it ever removes.
    pub fn savepoint(&self, directory: impl AsRef<Path>) -> JobResult<CheckpointInfo> {
        answered(self.remote.request(Some(directory.as_ref().to_string_lossy().into_owned()), false))
    }

    /// Stops with a last checkpoint that is a savepoint, too. If that cannot be written, the job goes on, and the error says why.
    pub fn stop_with_savepoint(&self, directory: impl AsRef<Path>) -> JobResult<CheckpointInfo> {
        let answer = self.remote.request(Some(directory.as_ref().to_string_lossy().into_owned()), true);
        self.remote.stop(StopMode::Savepoint);
        answered(answer)
    }

    /// Stops with a last checkpoint, from which the job can be resumed: open windows stay open in it. A job that ends before that
    /// is finished.
    pub fn stop_with_checkpoint(self) -> JobResult<JobEnd> {
        self.remote.stop(StopMode::Checkpoint);
        self.wait()
    }

    /// Ends the job as if its input had ended here: open windows are emitted, everything is committed.
    pub fn drain(self) -> JobResult<JobEnd> {
        self.remote.stop(StopMode::Drain);
        self.wait()
    }

    /// Ends it abruptly: nothing more is stored or committed, as in a crash. When it returns all tasks have ended.
    pub fn kill(self) -> JobResult<JobEnd> {
        self.remote.stop(StopMode::Kill);
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(mut self) -> JobResult<JobEnd> {
        let end = self.run_end()?;
        self.conclude(end)
    }

    /// Waits for the end, so long. None: it is still running.
    pub fn wait_for(&mut self, timeout: Duration) -> Option<JobResult<JobEnd>> {
        match self.ended.recv_timeout(timeout) {
            Ok(result) => Some(result.and_then(|end| self.conclude(end))),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(JobError::new("the job has ended already"))),
        }
    }

    /// Waits until the job is over, but for the last act: [`conclude`](Self::conclude).
    pub(crate) fn run_end(&mut self) -> JobResult<RunEnd> {
        self.ended.recv().unwrap_or_else(|_| Err(JobError::new("the job has ended already")))
    }

    /// Removes what only a resume would need. After it a process may end.
    pub(crate) fn conclude(&mut self, end: RunEnd) -> JobResult<JobEnd> {
        match end {
            RunEnd::Finished(leftover) => {
                if let Some(runtime) = &self.runtime {
                    let (sender, done) = channel();
                    runtime.spawn(async move {
                        leftover.remove().await;
                        let _ = sender.send(());
                    });
                    let _ = done.recv();
                }
                Ok(JobEnd::Finished)
            }
            RunEnd::Stopped(directory) | RunEnd::Unbegun(directory) => Ok(JobEnd::Stopped(directory)),
            RunEnd::Killed => Ok(JobEnd::Killed),
        }
    }

    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    pub(crate) fn remote(&self) -> &Remote {
        &self.remote
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }
}

/// Waits for the answer to a request.
fn answered(answer: Option<oneshot::Receiver<JobResult<CheckpointInfo>>>) -> JobResult<CheckpointInfo> {
    let gone = || JobError::transient("the job ended or failed before the checkpoint was complete");
    let mut answer = answer.ok_or_else(gone)?;
    loop {
        match answer.try_recv() {
            Ok(result) => return result,
            Err(oneshot::error::TryRecvError::Empty) => std::thread::sleep(POLL),
            Err(oneshot::error::TryRecvError::Closed) => return Err(gone()),
        }
    }
}

/// Runs the job on a task of its own, as blocking sections of the coordinator may then move to another thread. If it is to end and
/// hangs, it is given up: what hangs ends with the process.
async fn supervise(settings: RunSettings, board: Arc<Board>, control: Control, remote: Remote) -> JobResult<RunEnd> {
    let directory = settings.checkpoint_directory.clone();
    let state = control.state.clone();
    let mut job = tokio::spawn(run(settings, board, control));
    let mode = tokio::select! {
        ended = &mut job => {
            return ended.unwrap_or_else(|error| Err(JobError::new(format!("the coordinator panicked: {error}"))));
        }
        mode = unheeded(&remote) => mode,
    };
    job.abort();
    if mode == StopMode::Kill {
        state.send_replace(JobState::Killed);
        return Ok(RunEnd::Killed);
    }
    // Nothing was read yet: what it was to start from is what the next start goes on from.
    state.send_replace(JobState::Stopped);
    Ok(RunEnd::Unbegun(directory))
}

/// The stop that was asked for and has had no effect for too long: a kill, or one with a checkpoint while the job is being started.
async fn unheeded(remote: &Remote) -> StopMode {
    let (mut kill, mut stop, mut state) = (remote.stop.subscribe(), remote.stop.subscribe(), remote.state.clone());
    let killed = async {
        let _ = kill.wait_for(|&mode| mode == StopMode::Kill).await;
        tokio::time::sleep(GRACE).await;
        StopMode::Kill
    };
    let stuck = async {
        loop {
            // With a savepoint it waits for the start, which the savepoint needs.
            let _ = stop.wait_for(|&mode| mode == StopMode::Checkpoint).await;
            if tokio::time::timeout(GRACE, state.wait_for(|&state| state != JobState::Starting)).await.is_err() {
                return StopMode::Checkpoint;
            }
            // It runs, and sees to the stop itself, until it fails and is started again.
            let _ = state.wait_for(|&state| state == JobState::Starting).await;
        }
    };
    tokio::select! {
        mode = killed => mode,
        mode = stuck => mode,
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        if !self.state().is_over() {
            self.remote.stop(StopMode::Kill);
            let _ = self.ended.recv();
        }
        if let Some(runtime) = self.runtime.take() {
            // Waiting for it could block on threads that wait for input.
            runtime.shutdown_background();
        }
    }
}
