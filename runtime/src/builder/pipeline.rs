//! The job as a whole: its settings, and how it is started.

use std::cell::RefCell;
use std::panic::Location;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::micros;
use super::names::{keep, keep_params};
use super::parts::Parts;
use crate::connectors::channel::Channels;
use crate::error::{JobError, JobResult};
use crate::graph::{CheckpointSettings, ErrorPolicy, Expr, ExprKind, JobGraph, JobSettings, Literal, Origin, Ty};
use crate::handle::{JobEnd, JobHandle};
use crate::job::{CheckpointConfig, Folder, Job, Restart, StateConfig};
use crate::run_options::RunOptions;

/// A pipeline that is being built, and at last the job.
///
/// Sources are methods of it, and sinks end what begins with them: see the [module](super). Settings are those of `job { .. }`.
#[derive(Debug)]
pub struct Pipeline {
    pub(super) parts: Rc<RefCell<Parts>>,
    restart: Restart,
    state: StateConfig,
    checkpoint: Option<CheckpointConfig>,
}

impl Pipeline {
    /// An empty pipeline of this name.
    pub fn new(name: &str) -> Self {
        Pipeline {
            parts: Rc::new(RefCell::new(Parts::new(JobSettings::new(name)))),
            restart: Restart::Default,
            state: StateConfig::Memory,
            checkpoint: None,
        }
    }

    pub(super) fn settings(self, set: impl FnOnce(&mut JobSettings)) -> Self {
        set(&mut self.parts.borrow_mut().graph.settings);
        self
    }

    /// What is wrong about a setting, with the place where it is said.
    #[track_caller]
    pub(super) fn check(&self, check: impl FnOnce(&mut Parts, &Location<'_>)) {
        check(&mut self.parts.borrow_mut(), Location::caller());
    }

    /// One sentence for `--help` of a job that is a program of its own.
    #[must_use]
    pub fn doc(self, text: &str) -> Self {
        self.settings(|settings| settings.doc = Some(text.to_owned()))
    }

    /// Subtasks of each operator, where neither a stream nor [`RunOptions::parallelism`] says otherwise; 1 without it.
    #[must_use]
    #[track_caller]
    pub fn parallelism(self, subtasks: u32) -> Self {
        self.check(|parts, at| parts.some("the parallelism", subtasks.into(), at));
        self.settings(|settings| settings.parallelism = subtasks)
    }

    /// The number of key groups: the most subtasks that keyed state can ever be spread over; 128 without it. It cannot change while there
    /// is a checkpoint to go on from.
    #[must_use]
    #[track_caller]
    pub fn max_parallelism(self, key_groups: u32) -> Self {
        self.check(|parts, at| parts.some("the number of key groups", key_groups.into(), at));
        self.settings(|settings| settings.max_parallelism = key_groups)
    }

    /// How long a row may wait for others at most before it goes to another task; 100 ms without it.
    #[must_use]
    pub fn buffer_timeout(self, timeout: Duration) -> Self {
        self.settings(|settings| settings.buffer_timeout = micros(timeout))
    }

    /// What happens to a row of which a fallible closure makes an error; without it the job stops. [`ErrorPolicy::Into`] is a mistake here.
    #[must_use]
    pub fn on_error(self, policy: ErrorPolicy) -> Self {
        self.settings(|settings| settings.on_error = policy)
    }

    /// What happens after a failure.
    #[must_use]
    #[track_caller]
    pub fn restart(self, restart: Restart) -> Self {
        self.check(|parts, at| match restart {
            Restart::Default | Restart::None => {}
            Restart::Fixed { delay_micros, .. } => parts.not_negative("the delay of a restart", delay_micros, at),
            Restart::Exponential(backoff) => {
                parts.not_negative("the first delay of a restart", backoff.first, at);
                parts.not_negative("the longest delay of a restart", backoff.most, at);
                parts.not_negative("the time after which delays begin anew", backoff.reset, at);
            }
            Restart::FailureRate(rate) => {
                parts.not_negative("the delay of a restart", rate.delay, at);
                parts.not_negative("the time in which failures are counted", rate.within, at);
            }
        });
        Pipeline { restart, ..self }
    }

    /// Where keyed state is; in memory without it.
    #[must_use]
    pub fn state(self, state: StateConfig) -> Self {
        Pipeline { state, ..self }
    }

    /// A checkpoint so often, to this folder or bucket. A job that is started again goes on from the newest.
    #[must_use]
    #[track_caller]
    pub fn checkpoints(self, folder: &str, every: Duration) -> Self {
        self.check(|parts, at| {
            parts.length("the time between checkpoints", every, at);
        });
        self.take_checkpoints(CheckpointConfig::at(micros(every), Folder::At(keep(folder))))
    }

    /// The same, with all that can be said of checkpoints: `CheckpointConfig { keep: 3, ..CheckpointConfig::at(..) }`.
    #[must_use]
    #[track_caller]
    pub fn checkpoint_config(self, config: CheckpointConfig) -> Self {
        self.check(|parts, at| {
            let micros = |micros: i64| Duration::from_micros(micros.try_into().unwrap_or_default());
            parts.length("the time between checkpoints", micros(config.interval_micros), at);
            parts.length("the timeout of checkpoints", micros(config.timeout_micros), at);
            parts.not_negative("the pause between checkpoints", config.pause_micros, at);
            parts.not_negative("the time after which barriers overtake rows", config.unaligned_micros.unwrap_or_default(), at);
            parts.some("the number of checkpoints that are kept", config.keep.into(), at);
            parts.some("the number of checkpoints at once", config.concurrent.into(), at);
            if config.concurrent > 1 {
                parts.excludes("a pause between checkpoints", config.pause_micros > 0, at);
                parts.excludes("barriers that overtake rows", config.unaligned_micros.is_some(), at);
            }
        });
        self.take_checkpoints(config)
    }

    fn take_checkpoints(self, config: CheckpointConfig) -> Self {
        let directory = match config.directory {
            Folder::At(folder) => folder.to_owned(),
            Folder::Of(_) => String::new(),
        };
        let directory = Expr { kind: ExprKind::Literal(Literal::String(directory)), ty: Ty::String, origin: Origin::default() };
        let checkpoint = CheckpointSettings {
            timeout: config.timeout_micros,
            pause: config.pause_micros,
            tolerate: config.tolerate,
            concurrent: config.concurrent,
            keep: config.keep,
            mode: config.mode,
            unaligned: config.unaligned_micros,
            ..CheckpointSettings::new(config.interval_micros, directory)
        };
        Pipeline { checkpoint: Some(config), ..self.settings(|settings| settings.checkpoint = Some(checkpoint)) }
    }

    /// The job graph so far: operators, edges, exchanges and columns, as the compiler makes one of a `.flow` file. Of closures it knows
    /// what they give and where they stand.
    pub fn graph(&self) -> JobGraph {
        self.parts.borrow().graph.clone()
    }

    /// The job without its chains.
    pub(super) fn shell(&self) -> Job {
        let parts = self.parts.borrow();
        let settings = &parts.graph.settings;
        Job {
            name: keep(&settings.name),
            doc: keep(settings.doc.as_deref().unwrap_or_default()),
            fingerprint: 0,
            parallelism: settings.parallelism,
            max_parallelism: settings.max_parallelism,
            buffer_timeout_micros: settings.buffer_timeout,
            checkpoint: self.checkpoint,
            restart: self.restart,
            state: self.state,
            on_error: settings.on_error,
            params: keep_params(&parts.params),
            kept_by: Vec::new(),
            chains: Vec::new(),
        }
    }

    pub(super) fn build(self) -> JobResult<(Job, Option<Channels>)> {
        let shell = self.shell();
        // Streams that are still held somewhere have no end, which is a mistake that is told.
        let settings = self.parts.borrow().graph.settings.clone();
        let parts = self.parts.replace(Parts::new(settings));
        let (graph, chains, fingerprint, channels) = parts.chains()?;
        if graph.settings.on_error == ErrorPolicy::Into {
            let text = "the pipeline cannot run\n  rows that fail have no stream to go into here: take ErrorPolicy::Skip or Fail";
            return Err(JobError::usage(text));
        }
        Ok((Job { fingerprint, kept_by: graph.follow_keys(), chains, ..shell }, channels))
    }

    /// The job by itself. One whose channels the program holds is started by [`start`](Self::start) alone.
    pub fn job(self) -> JobResult<Job> {
        self.params_are_none()?;
        self.alone()
    }

    /// The job of a program that holds no end of it.
    pub(super) fn alone(self) -> JobResult<Job> {
        match self.build()? {
            (job, None) => Ok(job),
            (_, Some(_)) => Err(JobError::usage("a pipeline with channels is started with `start` or `run`, which connect them")),
        }
    }

    /// Starts the job in this process, on threads of its own. An error here is one of the pipeline or of the options; all that comes later
    /// is told by [`JobHandle::wait`].
    pub fn start(self, options: RunOptions) -> JobResult<JobHandle> {
        self.params_are_none()?;
        self.launch(options)
    }

    pub(super) fn launch(self, options: RunOptions) -> JobResult<JobHandle> {
        let (job, channels) = self.build()?;
        let options = match channels {
            Some(channels) => options.extension(Arc::new(channels)),
            None => options,
        };
        JobHandle::start(job, options)
    }

    /// Runs the job to its end.
    pub fn run(self, options: RunOptions) -> JobResult<JobEnd> {
        self.start(options)?.wait()
    }

    /// The job as a program with flags of its own (`--parallelism`, `--checkpoint-dir`, `--help`), as that of `millstream build` is.
    pub fn main(self) -> ExitCode {
        match self.job() {
            Ok(job) => crate::main(job),
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        }
    }
}
