//! How a job is run: what the command line says, or the program that starts the job itself.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::coordinator::{CheckpointRules, RunSettings};
use crate::error::{JobError, JobResult};
use crate::job::Job;
use crate::params::{Extensions, ParamValues};

/// Time between checkpoints where only a directory is given.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// Where checkpoints go when only an interval is given.
const DEFAULT_DIRECTORY: &str = "./checkpoints";

/// What a run may say differently from the job. Anything not set is as the job has it.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) parallelism: Option<u32>,
    pub(crate) checkpoint_directory: Option<String>,
    pub(crate) checkpoint_interval: Option<Duration>,
    pub(crate) resume_from: Option<PathBuf>,
    pub(crate) claim: bool,
    pub(crate) drop_state: Vec<String>,
    pub(crate) keep_state: Vec<String>,
    pub(crate) stop_timeout: Option<Duration>,
    pub(crate) fresh: bool,
    pub(crate) replace: bool,
    pub(crate) quiet: bool,
    pub(crate) metrics: Option<String>,
    extensions: Extensions,
}

impl RunOptions {
    /// Everything as the job has it.
    pub fn new() -> Self {
        RunOptions::default()
    }

    /// The value of a param, as its flag would be given.
    #[must_use]
    pub fn param(mut self, name: &str, value: impl Into<String>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    /// Copies of each operator.
    #[must_use]
    pub fn parallelism(mut self, copies: u32) -> Self {
        self.parallelism = Some(copies);
        self
    }

    /// Where checkpoints go. If there are any, the run goes on from the newest.
    #[must_use]
    pub fn checkpoints(mut self, directory: impl Into<PathBuf>) -> Self {
        self.checkpoint_directory = Some(directory.into().to_string_lossy().into_owned());
        self
    }

    /// Time from one checkpoint to the next.
    #[must_use]
    pub fn checkpoint_every(mut self, interval: Duration) -> Self {
        self.checkpoint_interval = Some(interval);
        self
    }

    /// The checkpoint to resume from: its folder, or a directory of which the newest is taken. It need not be in the directory of
    /// [`checkpoints`](Self::checkpoints), and it counts even if there are newer ones. After a failure the run goes on from its
    /// own checkpoints, and from this one while it has none.
    #[must_use]
    pub fn resume_from(mut self, checkpoint: impl Into<PathBuf>) -> Self {
        self.resume_from = Some(checkpoint.into());
        self
    }

    /// With [`resume_from`](Self::resume_from): the job takes that checkpoint over and removes it once it has as many newer ones as it
    /// keeps. Without, nobody but its owner ever removes it.
    #[must_use]
    pub fn claim(mut self) -> Self {
        self.claim = true;
        self
    }

    /// What a checkpoint has of this operator (`totals/aggregate/0`) is dropped if it does not fit the job, or if the job does not have the
    /// operator any more. What fits is taken all the same, so this may be said at every start.
    #[must_use]
    pub fn drop_state(mut self, operator: impl Into<String>) -> Self {
        self.drop_state.push(operator.into());
        self
    }

    /// The key of this operator (`totals/aggregate/0`) has the values that it had in the checkpoint, and only another name: without this a
    /// job whose key reads otherwise than the checkpoint says is refused.
    #[must_use]
    pub fn keep_state(mut self, operator: impl Into<String>) -> Self {
        self.keep_state.push(operator.into());
        self
    }

    /// Forget checkpoints: start from the beginning.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Replace the output of an earlier run.
    #[must_use]
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }

    /// Where metrics are shown, such as `127.0.0.1:9249`.
    #[must_use]
    pub fn metrics(mut self, address: impl Into<String>) -> Self {
        self.metrics = Some(address.into());
        self
    }

    /// Hands something to the functions that build the job's sources, operators and sinks: see [`ParamValues::extension`].
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(mut self, value: Arc<T>) -> Self {
        self.extensions.insert(value);
        self
    }

    /// The params alone, as the functions that build a job see them.
    #[cfg(test)]
    pub(crate) fn params_of(self, specs: &[crate::params::ParamSpec]) -> JobResult<ParamValues> {
        Ok(ParamValues::resolve(specs, &self.params)?.with_extensions(self.extensions))
    }

    /// Together with the job.
    pub(crate) fn settings(self, mut job: Job) -> JobResult<RunSettings> {
        if self.fresh && self.resume_from.is_some() {
            let message = "--fresh forgets checkpoints and --from goes on from one: leave one of them away";
            return Err(JobError::usage(message));
        }
        if self.claim && self.resume_from.is_none() {
            let message = "--claim says that the checkpoint of --from is to be taken over: give --from, too";
            return Err(JobError::usage(message));
        }
        let mut params = ParamValues::resolve(job.params, &self.params)?.with_extensions(self.extensions);
        if let Some(parallelism) = self.parallelism {
            job.parallelism = parallelism;
        }
        let from_job = job.checkpoint;
        let directory = match (self.checkpoint_directory, from_job) {
            (Some(directory), _) => Some(directory),
            (None, Some(config)) => Some(config.directory.read(&params)?),
            (None, None) => self.checkpoint_interval.map(|_| DEFAULT_DIRECTORY.to_owned()),
        };
        let interval = self.checkpoint_interval.or_else(|| {
            let micros = u64::try_from(from_job?.interval_micros).ok()?;
            Some(Duration::from_micros(micros.max(1000)))
        });
        let interval = interval.or_else(|| directory.as_ref().map(|_| DEFAULT_INTERVAL));
        params.set_takes_checkpoints(directory.is_some());
        Ok(RunSettings {
            parallelism: job.chains.iter().map(|chain| chain.parallelism.unwrap_or(job.parallelism)).collect(),
            max_parallelism: job.max_parallelism.max(1),
            checkpoint_directory: directory,
            checkpoint_interval: interval,
            retain: from_job.map_or(1, |config| config.keep.max(1) as usize),
            checkpoints: CheckpointRules::new(from_job.as_ref()),
            resume_from: self.resume_from,
            claim: self.claim,
            drop_state: self.drop_state,
            keep_state: self.keep_state,
            fresh: self.fresh,
            replace: self.replace,
            params,
            job,
        })
    }
}
