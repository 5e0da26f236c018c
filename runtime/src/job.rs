//! What a generated binary hands to [`millstream::main`](crate::main): the chains of a job and its settings.

use std::fmt;
use std::sync::Arc;

use crate::chain::{Chain, ChainBuilder};
use crate::error::{JobError, JobResult};
use crate::graph::{Backoff, CheckpointMode, ErrorPolicy, FailureRate, KeptBy};
use crate::params::{ParamSpec, ParamValues};
use crate::source::ErasedSource;

/// A job, ready to run.
#[derive(Debug)]
pub struct Job {
    /// `flight_delays`
    pub name: &'static str,
    /// The doc comment of `job`, for `--help`.
    pub doc: &'static str,
    /// A hash of the optimised plan.
    pub fingerprint: u64,
    /// Subtasks per chain, where the chain does not say otherwise.
    pub parallelism: u32,
    /// The number of key groups: the most subtasks that keyed state can ever be spread over.
    pub max_parallelism: u32,
    /// A batch between tasks waits at most this long; 0: every row at once.
    pub buffer_timeout_micros: i64,
    /// None: no checkpoints.
    pub checkpoint: Option<CheckpointConfig>,
    /// What happens after a failure.
    pub restart: Restart,
    /// Where keyed state is.
    pub state: StateConfig,
    /// What happens to a row whose expressions fail.
    pub on_error: ErrorPolicy,
    /// The job's params, which become flags.
    pub params: &'static [ParamSpec],
    /// What the state of operators is kept by: checkpoints say it, and it is compared when one is restored.
    pub kept_by: Vec<KeptBy>,
    /// Producers before consumers.
    pub chains: Vec<ChainSpec>,
}

/// `checkpoint: every 10s to "./checkpoints" { timeout: 10m }`
#[derive(Clone, Copy, Debug)]
pub struct CheckpointConfig {
    /// Time from one checkpoint to the next.
    pub interval_micros: i64,
    /// Where they go; may depend on params.
    pub directory: Folder,
    /// A checkpoint that takes longer is given up.
    pub timeout_micros: i64,
    /// The least time from the end of a checkpoint to the beginning of the next.
    pub pause_micros: i64,
    /// So many checkpoints in a row may fail before the job does.
    pub tolerate: u32,
    /// So many may be on their way at once: the barriers of one go out while others wait for tasks, or are written. More than one goes with
    /// neither a pause nor with barriers that overtake rows.
    pub concurrent: u32,
    /// How many completed checkpoints are kept.
    pub keep: u32,
    /// Whether rows may count again after a failure.
    pub mode: CheckpointMode,
    /// Barriers overtake rows that wait when they have waited so long themselves; 0: at once. None: never.
    pub unaligned_micros: Option<i64>,
}

impl CheckpointConfig {
    /// Checkpoints every so many microseconds to this folder; the rest as it is where the block says nothing.
    pub fn new(interval_micros: i64, directory: fn(&ParamValues) -> Result<String, JobError>) -> Self {
        CheckpointConfig::at(interval_micros, Folder::Of(directory))
    }

    /// The same to a folder that is known.
    pub fn at(interval_micros: i64, directory: Folder) -> Self {
        CheckpointConfig {
            interval_micros,
            directory,
            timeout_micros: 600_000_000,
            pause_micros: 0,
            tolerate: 0,
            concurrent: 1,
            keep: 1,
            mode: CheckpointMode::ExactlyOnce,
            unaligned_micros: None,
        }
    }
}

/// `state: disk { path: "./state", memory: 256MB }`
#[derive(Clone, Copy, Debug)]
pub enum StateConfig {
    /// All of it in memory.
    Memory,
    /// In memory what is asked for often, the rest on disk.
    #[cfg(feature = "disk")]
    Disk {
        /// The folder that takes the files; may depend on params.
        path: Folder,
        /// The memory that state may take in this process, in bytes.
        memory: u64,
    },
}

/// `restart: fixed(3, 10s)`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Exponential with checkpoints, none without.
    Default,
    /// The first failure ends the job.
    None,
    /// At most so many restarts, each after this delay.
    Fixed {
        /// How many restarts.
        attempts: u32,
        /// The time before each.
        delay_micros: i64,
    },
    /// Unlimited, with growing delays.
    Exponential(Backoff),
    /// As long as failures are rare.
    FailureRate(FailureRate),
}

/// Builds the erased chain of one subtask.
#[derive(Clone)]
pub struct BuildChain(Arc<dyn Fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> + Send + Sync>);

impl BuildChain {
    /// By this function, which is called once per subtask and attempt.
    pub fn new(build: impl Fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> + Send + Sync + 'static) -> Self {
        BuildChain(Arc::new(build))
    }

    pub(crate) fn build(&self, cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
        (self.0)(cx)
    }
}

impl fmt::Debug for BuildChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BuildChain")
    }
}

/// Makes the coordinator's half of a chain's source.
#[derive(Clone)]
pub struct BuildSource(Arc<dyn Fn(&ParamValues) -> JobResult<Box<dyn ErasedSource>> + Send + Sync>);

impl BuildSource {
    /// By this function, which is called once per attempt.
    pub fn new(build: impl Fn(&ParamValues) -> JobResult<Box<dyn ErasedSource>> + Send + Sync + 'static) -> Self {
        BuildSource(Arc::new(build))
    }

    pub(crate) fn build(&self, params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
        (self.0)(params)
    }
}

impl fmt::Debug for BuildSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BuildSource")
    }
}

/// A folder that a job names.
#[derive(Clone, Copy, Debug)]
pub enum Folder {
    /// This one.
    At(&'static str),
    /// As the params say.
    Of(fn(&ParamValues) -> Result<String, JobError>),
}

impl Folder {
    /// Where it is.
    pub(crate) fn read(self, params: &ParamValues) -> Result<String, JobError> {
        match self {
            Folder::At(folder) => Ok(folder.to_owned()),
            Folder::Of(read) => read(params),
        }
    }
}

/// One chain of operators, which one task per subtask runs.
#[derive(Clone, Debug)]
pub struct ChainSpec {
    /// From the text: `delays`.
    pub name: &'static str,
    /// The uids of the operators in it.
    pub uids: &'static [&'static str],
    /// None: the job's.
    pub parallelism: Option<u32>,
    /// Chains of one group share slots.
    pub slot_group: &'static str,
    /// What it reads; empty for a source.
    pub inputs: Vec<InputSpec>,
    /// Builds it, once per subtask and attempt.
    pub build: BuildChain,
    /// For a chain that starts with a source.
    pub source: Option<BuildSource>,
}

/// An edge between two chains, seen from its consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSpec {
    /// The index of the producing chain.
    pub from: usize,
    /// The number of the edge in the job.
    pub edge: usize,
    /// How its rows are distributed.
    pub exchange: ExchangeKind,
}

/// Which subtask of the consumer gets a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExchangeKind {
    /// The subtask of the same number; with unequal parallelism, rows are rebalanced.
    Forward,
    /// By the key group of the row's key.
    Hash,
    /// Round-robin.
    Rebalance,
    /// All of them.
    Broadcast,
}
