//! The job as a whole: its settings, and how it is started.

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::micros;
use super::names::keep;
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

    fn settings(self, set: impl FnOnce(&mut JobSettings)) -> Self {
        set(&mut self.parts.borrow_mut().graph.settings);
        self
    }

    /// One sentence for `--help` of a job that is a program of its own.
    #[must_use]
    pub fn doc(self, text: &str) -> Self {
        self.settings(|settings| settings.doc = Some(text.to_owned()))
    }

    /// Subtasks of each operator, where neither a stream nor [`RunOptions::parallelism`] says otherwise; 1 without it.
    #[must_use]
    pub fn parallelism(self, subtasks: u32) -> Self {
        self.settings(|settings| settings.parallelism = subtasks)
    }

    /// The number of key groups: the most subtasks that keyed state can ever be spread over; 128 without it. It cannot change while there
    /// is a checkpoint to go on from.
    #[must_use]
    pub fn max_parallelism(self, key_groups: u32) -> Self {
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
    pub fn restart(self, restart: Restart) -> Self {
        Pipeline { restart, ..self }
    }

    /// Where keyed state is; in memory without it.
    #[must_use]
    pub fn state(self, state: StateConfig) -> Self {
        Pipeline { state, ..self }
    }

    /// A checkpoint so often, to this folder or bucket. A job that is started again goes on from the newest.
    #[must_use]
    pub fn checkpoints(self, folder: &str, every: Duration) -> Self {
        self.checkpoint_config(CheckpointConfig::at(micros(every), Folder::At(keep(folder))))
    }

    /// The same, with all that can be said of checkpoints: `CheckpointConfig { keep: 3, ..CheckpointConfig::at(..) }`.
    #[must_use]
    pub fn checkpoint_config(self, config: CheckpointConfig) -> Self {
        let directory = match config.directory {
            Folder::At(folder) => folder.to_owned(),
            Folder::Of(_) => String::new(),
        };
        let directory = Expr { kind: ExprKind::Literal(Literal::String(directory)), ty: Ty::String, origin: Origin::default() };
        let checkpoint = CheckpointSettings {
            timeout: config.timeout_micros,
            pause: config.pause_micros,
            tolerate: config.tolerate,
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

    fn build(self) -> JobResult<(Job, Option<Channels>)> {
        let Pipeline { parts, restart, state, checkpoint } = self;
        // Streams that are still held somewhere have no end, which is a mistake that is told.
        let settings = parts.borrow().graph.settings.clone();
        let parts = parts.replace(Parts::new(settings));
        let (graph, chains, fingerprint, channels) = parts.chains()?;
        let settings = graph.settings;
        if settings.on_error == ErrorPolicy::Into {
            let text = "the pipeline cannot run\n  rows that fail have no stream to go into here: take ErrorPolicy::Skip or Fail";
            return Err(JobError::usage(text));
        }
        let job = Job {
            name: keep(&settings.name),
            doc: keep(settings.doc.as_deref().unwrap_or_default()),
            fingerprint,
            parallelism: settings.parallelism,
            max_parallelism: settings.max_parallelism,
            buffer_timeout_micros: settings.buffer_timeout,
            checkpoint,
            restart,
            state,
            on_error: settings.on_error,
            params: &[],
            chains,
        };
        Ok((job, channels))
    }

    /// The job by itself. One whose channels the program holds is started by [`start`](Self::start) alone.
    pub fn job(self) -> JobResult<Job> {
        match self.build()? {
            (job, None) => Ok(job),
            (_, Some(_)) => Err(JobError::usage("a pipeline with channels is started with `start` or `run`, which connect them")),
        }
    }

    /// Starts the job in this process, on threads of its own. An error here is one of the pipeline or of the options; all that comes later
    /// is told by [`JobHandle::wait`].
    pub fn start(self, options: RunOptions) -> JobResult<JobHandle> {
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
