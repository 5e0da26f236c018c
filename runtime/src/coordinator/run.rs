//! A run of a job: attempts, one after the other, until it ends, is stopped, or fails for good.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::attempt::{Attempt, AttemptEnd, Start, lost};
use super::control::{Control, JobState, StopMode, stop_requested};
use super::files::Landing;
use super::savepoint::{Named, is_gone, is_of, remove_claimed, remove_leftovers};
use super::storage::{CheckpointStore, Found};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::graph::CheckpointMode;
use crate::job::{CheckpointConfig, Job};
use crate::notice::notice;
use crate::params::ParamValues;
use crate::progress::Board;
use crate::restart::RestartStrategy;
use crate::seam::{self, Instant, Point};

/// A job with everything that the command line and the environment say about this run.
#[derive(Debug)]
pub(crate) struct RunSettings {
    pub job: Job,
    pub params: ParamValues,
    /// Per chain.
    pub parallelism: Vec<u32>,
    pub max_parallelism: u32,
    /// None: no checkpoints.
    pub checkpoint_directory: Option<String>,
    /// None: only when the job ends or is stopped.
    pub checkpoint_interval: Option<Duration>,
    pub retain: usize,
    pub checkpoints: CheckpointRules,
    /// The checkpoint to resume from, whatever is in the directory.
    pub resume_from: Option<PathBuf>,
    /// That checkpoint is the job's own from now on.
    pub claim: bool,
    /// What the checkpoint has of these operators is dropped if it does not fit.
    pub drop_state: Vec<String>,
    /// The keys of these operators are what they were, whatever they are called.
    pub keep_state: Vec<String>,
    /// Forget checkpoints.
    pub fresh: bool,
    pub replace: bool,
}

/// How checkpoints are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckpointRules {
    /// One that takes longer is given up.
    pub timeout: Duration,
    /// The least time from the end of one to the beginning of the next.
    pub pause: Duration,
    /// So many may fail in a row.
    pub tolerate: u32,
    /// So many may be on their way at once.
    pub concurrent: usize,
    pub mode: CheckpointMode,
    /// Barriers overtake rows after so long; None: never.
    pub unaligned: Option<Duration>,
}

impl CheckpointRules {
    pub(crate) fn new(config: Option<&CheckpointConfig>) -> Self {
        let default = CheckpointConfig::new(0, |_| Ok(String::new()));
        let config = config.unwrap_or(&default);
        let time = |micros: i64| Duration::from_micros(u64::try_from(micros).unwrap_or(0));
        CheckpointRules {
            timeout: time(config.timeout_micros),
            pause: time(config.pause_micros),
            tolerate: config.tolerate,
            // Of barriers that overtake rows those of one checkpoint are on their way, and a pause is one from end to beginning.
            concurrent: if config.unaligned_micros.is_some() || config.pause_micros > 0 {
                1
            } else {
                config.concurrent.max(1) as usize
            },
            mode: config.mode,
            unaligned: config.unaligned_micros.map(time),
        }
    }
}

/// How a run ended well.
#[derive(Debug)]
pub(crate) enum RunEnd {
    /// With what is left to do at the very end, so that a process that dies before it is resumed to the same end.
    Finished(Leftover),
    /// Stopped on request. With the directory of the checkpoint to resume from, where there is one.
    Stopped(Option<String>),
    /// Stopped on request before it had begun: with no checkpoint of its own. With the directory in which the one lies that it was to go on from,
    /// if there is any.
    Unbegun(Option<String>),
    /// Ended abruptly on request.
    Killed,
}

/// The checkpoints of a run that is done.
#[derive(Debug)]
pub(crate) struct Leftover {
    store: Option<Arc<CheckpointStore>>,
    /// What the job has taken over.
    claimed: Option<PathBuf>,
}

impl Leftover {
    pub(crate) async fn remove(self) {
        // The output is complete. Failing now would only run the job again.
        let failed = |error: JobError| notice(&format!("warning: the job is done, but its checkpoints are still there: {error}"));
        if let Err(error) = seam::reach(Point::Leave).await {
            return failed(error);
        }
        if let Some(folder) = self.claimed {
            remove_claimed(&folder).await.unwrap_or_else(failed);
        }
        if let Some(store) = self.store {
            store.clear().await.unwrap_or_else(failed);
            store.release().await;
        }
    }
}

/// Runs the job.
pub(crate) async fn run(settings: RunSettings, board: Arc<Board>, mut control: Control) -> JobResult<RunEnd> {
    let result = attempts(settings, board, &mut control).await;
    control.enter(match &result {
        Ok(RunEnd::Finished(_)) => JobState::Finished,
        Ok(RunEnd::Stopped(_) | RunEnd::Unbegun(_)) => JobState::Stopped,
        Ok(RunEnd::Killed) => JobState::Killed,
        Err(_) => JobState::Failed,
    });
    result
}

async fn attempts(settings: RunSettings, board: Arc<Board>, control: &mut Control) -> JobResult<RunEnd> {
    let Some(directory) = &settings.checkpoint_directory else { return attempts_in(None, settings, board, control).await };
    let store = Arc::new(CheckpointStore::open(directory).await?.landing_on(landing(&settings)?));
    let end = attempts_in(Some(store.clone()), settings, board, control).await;
    if !matches!(end, Ok(RunEnd::Finished(_))) {
        store.release().await;
    }
    end
}

async fn attempts_in(
    store: Option<Arc<CheckpointStore>>,
    mut settings: RunSettings,
    board: Arc<Board>,
    control: &mut Control,
) -> JobResult<RunEnd> {
    if let Some(store) = &store
        && settings.fresh
    {
        store.check_owner(settings.job.name).await?;
    }
    let mut fresh = settings.fresh;
    let mut strategy = RestartStrategy::new(settings.job.restart, store.is_some());
    let mut run = seam::run_id();
    let mut first_checkpoint = 1;
    let mut announced = false;
    // Checkpoints of this process are newer than what it was told to resume from.
    let mut own_from = None;
    let mut claimed = None;
    let mut repeated = Repeated::default();
    let held = store.clone();
    let held = held.as_deref();
    loop {
        let (mut found, named) = match look_up(store.as_deref().filter(|_| !fresh), &settings, &mut own_from).await {
            // The job has run before: the storage may come back.
            Err(error) if announced => {
                match wait_to_restart(settings.job.name, board.attempts(), error, None, &mut strategy, control, held).await {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(end) => return end,
                }
            }
            found => found?,
        };
        let own = found.checkpoint.as_ref().map(|checkpoint| checkpoint.manifest.run.clone());
        let own_highest = found.highest;
        let elsewhere = named.as_ref().map(|named| named.elsewhere.clone());
        if let Some(Named { checkpoint, folder, .. }) = named {
            found.highest = found.highest.max(checkpoint.manifest.checkpoint);
            found.checkpoint = Some(checkpoint);
            claimed = Some(folder).filter(|_| settings.claim);
        }
        let found = found.usable()?;
        if let Some(store) = &store {
            let resumed = found.checkpoint.as_ref().map(|checkpoint| &checkpoint.manifest);
            // Where nothing that is here can be read, it is of the run that goes on.
            let here = own.as_ref().or(resumed.map(|manifest| &manifest.run)).unwrap_or(&run);
            // Numbers of another run say nothing here.
            let resumed = resumed.filter(|manifest| manifest.run == *here);
            store.go_on_from(resumed.map_or(0, |manifest| manifest.checkpoint), own_highest, here);
        }
        for warning in &found.warnings {
            notice(&format!("warning: a checkpoint cannot be used and the one before it is taken: {warning}"));
        }
        first_checkpoint = first_checkpoint.max(found.highest + 1);
        if let Some(checkpoint) = &found.checkpoint {
            run.clone_from(&checkpoint.manifest.run);
            // The number of key groups cannot change: keep the one that the state was written with.
            let said = std::mem::replace(&mut settings.max_parallelism, checkpoint.manifest.max_parallelism);
            if !announced {
                notice(&format!("{}: resuming from checkpoint {}", settings.job.name, checkpoint.manifest.checkpoint));
                if said != settings.max_parallelism {
                    notice(&format!(
                        "{}: its max_parallelism stays {}, in so many key groups its state is, and is not {said}, as the job has it now: \
                         another number needs a start without that state (--fresh)",
                        settings.job.name, settings.max_parallelism
                    ));
                }
                if checkpoint.manifest.fingerprint != settings.job.fingerprint {
                    notice(
                        "the pipeline has changed since then: operators take over the state that was stored under their names",
                    );
                }
            }
        }
        let attempt = board.attempts() + 1;
        if announced {
            let from = match &found.checkpoint {
                Some(checkpoint) => format!("goes on from checkpoint {}", checkpoint.manifest.checkpoint),
                None => "begins anew: there is no checkpoint yet".to_owned(),
            };
            notice(&format!("{}: attempt {attempt} {from}", settings.job.name));
        }
        announced = true;
        check_parallelism(&settings, found.checkpoint.is_some())?;
        control.enter(JobState::Starting);
        let start = Start {
            store: store.clone(),
            checkpoint: found.checkpoint,
            elsewhere,
            first_checkpoint,
            run: run.clone(),
            claimed: claimed.clone(),
            fresh,
        };
        let outcome = match Attempt::start(&settings, start, board.clone()).await {
            Ok(attempt) => {
                fresh = false;
                control.enter(JobState::Running);
                attempt.run(control, &mut strategy).await
            }
            Err(error) => Err(error),
        };
        let error = match outcome {
            Ok(AttemptEnd::Finished) => return Ok(RunEnd::Finished(Leftover { store, claimed })),
            Ok(AttemptEnd::Stopped) => {
                return Ok(RunEnd::Stopped(store.map(|store| store.directory().display().to_string())));
            }
            Ok(AttemptEnd::Killed) => return Ok(RunEnd::Killed),
            Ok(AttemptEnd::GaveUp(error)) => return Err(error),
            Err(error) => error,
        };
        let hint = repeated.again(&error, board.progress().checkpoint.map(|(id, _)| id));
        match wait_to_restart(settings.job.name, attempt, error, hint, &mut strategy, control, held).await {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(end) => return end,
        }
    }
}

/// After an attempt that failed: waits as long as the strategy says; or how the run ends, if there is no next attempt.
async fn wait_to_restart(
    name: &str,
    attempt: u32,
    error: JobError,
    hint: Option<&str>,
    strategy: &mut RestartStrategy,
    control: &mut Control,
    store: Option<&CheckpointStore>,
) -> ControlFlow<JobResult<RunEnd>> {
    control.attempt_failed();
    // Whoever wants a savepoint and does not get it wants the job to go on.
    if error.kind() != ErrorKind::Transient || control.stopping() > StopMode::Savepoint {
        return ControlFlow::Break(Err(error));
    }
    let Some(delay) = strategy.after_failure(Instant::now()) else {
        return ControlFlow::Break(Err(gives_up(name, &format!("attempt {attempt} failed"), error, hint, strategy)));
    };
    let hint = hint.map(|hint| format!("\n  {hint}")).unwrap_or_default();
    notice(&format!(
        "{name}: attempt {attempt} failed: {error}{hint}\n{name}: attempt {} begins in {:.1} s (failure {})",
        attempt + 1,
        delay.as_secs_f64(),
        strategy.failures()
    ));
    control.enter(JobState::Restarting);
    let before = control.stopping();
    tokio::select! {
        biased;
        error = lost(store) => ControlFlow::Break(Err(error)),
        () = tokio::time::sleep(delay) => ControlFlow::Continue(()),
        mode = stop_requested(&mut control.stop, before) => match mode {
            StopMode::Kill => ControlFlow::Break(Ok(RunEnd::Killed)),
            // The next attempt sees to it: with a checkpoint, a savepoint, or the results of all that there is.
            _ => ControlFlow::Continue(()),
        },
    }
}

/// There is no other attempt, as `what` says has failed once too often. Gives the error that ends the job.
pub(super) fn gives_up(name: &str, what: &str, error: JobError, hint: Option<&str>, strategy: &RestartStrategy) -> JobError {
    if let Some(limit) = strategy.limit() {
        notice(&format!("{name}: {what}, and there is no other: `{limit}`, failure {}", strategy.failures()));
    }
    match hint {
        Some(hint) => JobError::transient(format!("{error}\n  {hint}")),
        None => error,
    }
}

/// Tells failures that come again at one place from others.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// What the last panic said, and the checkpoint before it.
    last: Option<(String, Option<u64>)>,
}

impl Repeated {
    /// What to do about a panic that has come before, with the same checkpoint behind it.
    pub(super) fn again(&mut self, error: &JobError, checkpoint: Option<u64>) -> Option<&'static str> {
        // Of panics alone: a service that is down says the same every time, too. Which subtask gets the record may change.
        let Some((_, said)) = error.message().split_once(" panicked: ") else {
            self.last = None;
            return None;
        };
        let now = (said.to_owned(), checkpoint);
        let same = self.last.as_ref() == Some(&now);
        self.last = Some(now);
        same.then_some(
            "the same failure as in the attempt before, and no checkpoint between them: it is probably the same record, which no restart \
             cures\n  code that returns an error instead of a panic can have `on error into`, which routes the record to a stream of its own",
        )
    }
}

/// What is there, and what the job was told to go on from, until it has newer checkpoints than that: those from `own_from` on.
async fn look_up(
    store: Option<&CheckpointStore>,
    settings: &RunSettings,
    own_from: &mut Option<u64>,
) -> JobResult<(Found, Option<Named>)> {
    let found = match store {
        Some(store) => {
            seam::reach(Point::Search).await?;
            store.search(settings.job.name).await?
        }
        None => Found::default(),
    };
    let Some(path) = &settings.resume_from else { return Ok((found, None)) };
    let own_from = *own_from.get_or_insert(found.highest + 1);
    let newest = found.checkpoint.as_ref().map(|checkpoint| checkpoint.manifest.checkpoint);
    if newest.is_some_and(|newest| newest >= own_from) {
        return Ok((found, None));
    }
    if settings.claim
        && let Some(own) = &found.checkpoint
        && own.manifest.claimed.as_ref().is_some_and(|claimed| is_of(claimed, path))
        && is_gone(path).await
    {
        // A supervisor repeats its command: what the job has taken over is of its own line, and goes when there are newer ones.
        notice(&format!(
            "{}: `{}` was claimed and is removed since: goes on from checkpoint {} of its own, which comes from it",
            settings.job.name,
            path.display(),
            own.manifest.checkpoint
        ));
        // Whoever was killed while it was removed has left files.
        if let (Some(claimed), Some(store)) = (&own.manifest.claimed, store)
            && let Err(error) = remove_leftovers(Path::new(claimed), store).await
        {
            notice(&format!("warning: {}: {error}", settings.job.name));
        }
        return Ok((found, None));
    }
    let named = CheckpointStore::named(path, settings.job.name, &landing(settings)?).await?;
    if named.checkpoint.manifest.drained {
        return Err(JobError::new(format!(
            "cannot resume from `{}`: it was taken behind `stop --drain`, which ended all input. \
             Windows that were open have been written and forgotten, so rows from then on would make parts of them a second time\n  name \
             a checkpoint from before that (`stop` without --drain takes one), or start from the beginning with --fresh",
            named.folder.display()
        )));
    }
    // Wherever it lies: what sinks have taken back is known where the job keeps its own.
    if let Some(store) = store
        && let Some(reason) = store.given_up().await.reason_of_savepoint(&named.checkpoint.manifest)
    {
        return Err(JobError::new(format!("cannot resume from `{}`: it counts no more: {reason}", path.display())));
    }
    Ok((found, Some(named)))
}

/// State that is too large for memory waits where it will go.
fn landing(settings: &RunSettings) -> JobResult<Landing> {
    match settings.job.state {
        #[cfg(feature = "disk")]
        crate::job::StateConfig::Disk { path, .. } => Ok(Landing::Disk(path.read(&settings.params)?.into())),
        _ => Ok(Landing::Memory),
    }
}

fn check_parallelism(settings: &RunSettings, resumed: bool) -> JobResult<()> {
    match settings.parallelism.iter().find(|&&subtasks| subtasks == 0 || subtasks > settings.max_parallelism) {
        None => Ok(()),
        Some(0) => Err(JobError::usage("the parallelism must be at least 1")),
        Some(subtasks) => Err(JobError::usage(format!(
            "the parallelism {subtasks} is more than the job's max_parallelism of {}{}",
            settings.max_parallelism,
            if resumed { ", with which its checkpoint was written" } else { "" }
        ))),
    }
}
