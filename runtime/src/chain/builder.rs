//! Builds the chain of one subtask: what generated code calls.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::event_time::{AlignedReader, Timing};
use super::output::{BroadcastOutput, HashOutput, RoundRobinOutput, Router, router};
use super::source::{SourceChain, SourceConfig, SourceParts};
use super::{Chain, InputChain, TwoInputs, Union};
use crate::error::{JobError, JobResult};
use crate::exchange::{BatchCodec, OutboxHandle};
use crate::graph::{ErrorPolicy, Side};
use crate::operator::{Chained, Describe, Either, ErrorRow, ErrorStage, ErrorsInto, FanOut, Operator, OperatorContext, Stage};
use crate::operators::Project;
use crate::params::ParamValues;
use crate::sink::{Committer, Compactor, GlobalCommitter, Sink, SinkContext, SinkStage};
use crate::source::{ReaderContext, Source, Throttle};
use crate::state::{KeyGroups, State};
use crate::value::{EvalError, Timestamp};

/// What the coordinator does for a sink.
#[derive(Default)]
pub(crate) struct SinkParts {
    /// `counts into file`
    pub name: String,
    pub committer: Option<Box<dyn Committer>>,
    pub compactor: Option<Arc<dyn Compactor>>,
    pub global: Option<Box<dyn GlobalCommitter>>,
}

/// The coordinator's side of a job's sinks, by uid. Filled while the first subtask of each chain is built.
#[derive(Default)]
pub struct SinkRegistry {
    sinks: BTreeMap<String, SinkParts>,
}

impl std::fmt::Debug for SinkRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.sinks.keys()).finish()
    }
}

impl SinkRegistry {
    pub(crate) fn into_sinks(self) -> BTreeMap<String, SinkParts> {
        self.sinks
    }
}

/// An edge that leaves the chain.
#[derive(Clone, Debug)]
pub(crate) struct OutputEdge {
    /// The number of the edge in the job.
    pub edge: usize,
    /// The channels of this subtask's outbox that belong to it.
    pub channels: Range<usize>,
}

/// What all subtasks of an attempt share.
#[derive(Clone, Debug)]
pub(crate) struct BuildContext<'a> {
    pub params: &'a ParamValues,
    pub max_parallelism: u32,
    pub on_error: ErrorPolicy,
    #[cfg(feature = "disk")]
    pub disk: Option<Arc<crate::state::Disk>>,
    /// Rows per batch between tasks.
    pub batch_rows: usize,
    pub run: &'a str,
    pub first_checkpoint: u64,
    pub retained: u32,
    pub checkpoints: Option<&'a str>,
    pub replace: bool,
}

/// Builds the chain of one subtask, from its end to its head.
#[derive(Debug)]
pub struct ChainBuilder<'a> {
    pub(crate) context: &'a BuildContext<'a>,
    /// The index of the chain.
    pub(crate) chain: usize,
    pub(crate) subtask: u32,
    pub(crate) parallelism: u32,
    pub(crate) outputs: &'a [OutputEdge],
    pub(crate) outbox: OutboxHandle,
    pub(crate) sinks: &'a mut SinkRegistry,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) timing: Timing,
    /// Sources that keep together, of all chains.
    pub(crate) aligned: &'a mut Vec<AlignmentMember>,
    /// How batches are stored that barriers overtake, by edge.
    pub(crate) codecs: &'a mut BTreeMap<usize, BatchCodec>,
    /// How they find their subtask if there are others now, by edge.
    pub(crate) routers: &'a mut Routers,
}

/// By edge: for those that go by key.
#[derive(Default)]
pub(crate) struct Routers(BTreeMap<usize, Router>);

impl Routers {
    pub(crate) fn get(&self, edge: usize) -> Option<&Router> {
        self.0.get(&edge)
    }
}

impl std::fmt::Debug for Routers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A reader of a source that keeps together with others.
#[derive(Clone, Debug)]
pub(crate) struct AlignmentMember {
    pub group: String,
    /// How far it may be ahead of the slowest, in microseconds.
    pub within: i64,
    /// How often that is looked at.
    pub every: Duration,
    /// The index of its chain.
    pub chain: usize,
    pub subtask: u32,
    pub reader: AlignedReader,
}

fn from_micros(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// How often sources that keep together are told where the slowest is.
const ALIGN_EVERY: Duration = Duration::from_millis(100);

impl ChainBuilder<'_> {
    /// The job's params.
    pub fn params(&self) -> &ParamValues {
        self.context.params
    }

    /// An operator in front of the next stage.
    pub fn operator<In, O, N>(&mut self, uid: &str, name: &str, operator: O, next: N) -> JobResult<Chained<O, N>>
    where
        O: Operator<In>,
        N: Stage<O::Out>,
    {
        Ok(Chained::new(self.operator_context(uid, name), operator, next))
    }

    fn operator_context(&self, uid: &str, name: &str) -> OperatorContext {
        OperatorContext {
            uid: uid.into(),
            name: name.into(),
            subtask: self.subtask,
            parallelism: self.parallelism,
            max_parallelism: self.context.max_parallelism,
            on_error: self.context.on_error,
            #[cfg(feature = "disk")]
            disk: self.context.disk.clone(),
        }
    }

    /// The same; rows that it cannot compute go to `errors`.
    pub fn operator_with_errors<In, O, N>(
        &mut self,
        uid: &str,
        name: &str,
        operator: O,
        errors: ErrorStage,
        next: N,
    ) -> JobResult<Chained<O, N, ErrorsInto>>
    where
        In: Describe,
        O: Operator<In>,
        N: Stage<O::Out>,
    {
        Ok(Chained::with_errors(self.operator_context(uid, name), operator, next, ErrorsInto(errors)))
    }

    /// The stage that makes rows of the stream of `on error into` for what `uid` could not read or compute.
    pub fn errors<O, F, N>(&mut self, uid: &str, name: &str, mut make: F, next: N) -> JobResult<ErrorStage>
    where
        F: FnMut(ErrorRow) -> O + Send + 'static,
        O: 'static,
        N: Stage<O> + 'static,
    {
        let project = Project::new(move |row: ErrorRow| Ok(make(row)));
        Ok(Box::new(self.operator::<ErrorRow, _, _>(&format!("{uid}#errors"), &format!("{name}: errors"), project, next)?))
    }

    /// Hands every row to both stages.
    pub fn fan_out<A, B>(&mut self, first: A, second: B) -> FanOut<A, B> {
        FanOut::new(first, second)
    }

    /// A sink.
    pub fn sink<T, S: Sink<T>>(&mut self, uid: &str, name: &str, sink: S) -> JobResult<SinkStage<T, S>> {
        let context = SinkContext {
            name: name.to_owned(),
            uid: uid.to_owned(),
            subtask: self.subtask,
            parallelism: self.parallelism,
            run: self.context.run.to_owned(),
            first_checkpoint: self.context.first_checkpoint,
            retained: self.context.retained,
            checkpoints: self.context.checkpoints.map(str::to_owned),
            replace: self.context.replace,
        };
        if self.subtask == 0 {
            let in_sink = |error: JobError| error.context(name);
            let parts = SinkParts {
                name: name.to_owned(),
                committer: sink.committer(&context).map_err(in_sink)?,
                compactor: sink.compactor(&context).map_err(in_sink)?,
                global: sink.global_committer(&context).map_err(in_sink)?,
            };
            self.sinks.sinks.insert(uid.to_owned(), parts);
        }
        Ok(SinkStage::new(sink, name, context))
    }

    /// Barriers may overtake the rows of this edge, which are stored with the checkpoint then.
    pub fn in_flight<T: State + Send + 'static>(&mut self, edge: usize) {
        self.codecs.insert(edge, BatchCodec::of::<T>());
    }

    /// Rows to the subtask that owns their key.
    pub fn hash<T, K, F>(&mut self, edge: usize, key: F) -> JobResult<HashOutput<T, K, F>>
    where
        T: Send + 'static,
        K: State + 'static,
        F: Fn(&T) -> Result<K, EvalError> + Clone + Send + 'static,
    {
        let groups = KeyGroups::new(self.context.max_parallelism);
        if self.subtask == 0 {
            self.routers.0.insert(edge, router(groups, key.clone()));
        }
        let output = self.output(edge)?;
        Ok(HashOutput::new(self.outbox.clone(), output.channels.clone(), self.context.batch_rows, groups, key))
    }

    /// Rows to the subtask of the same number, or, with unequal parallelism, to one after the other.
    pub fn forward<T: Send + 'static>(&mut self, edge: usize) -> JobResult<RoundRobinOutput<T>> {
        self.rebalance(edge)
    }

    /// Rows to one subtask after the other.
    pub fn rebalance<T: Send + 'static>(&mut self, edge: usize) -> JobResult<RoundRobinOutput<T>> {
        let output = self.output(edge)?;
        let first = self.subtask as usize;
        Ok(RoundRobinOutput::new(self.outbox.clone(), output.channels.clone(), self.context.batch_rows, first))
    }

    /// Rows to all subtasks.
    pub fn broadcast<T: Clone + Send + 'static>(&mut self, edge: usize) -> JobResult<BroadcastOutput<T>> {
        let output = self.output(edge)?;
        Ok(BroadcastOutput::new(self.outbox.clone(), output.channels.clone(), self.context.batch_rows))
    }

    /// A chain that other chains feed.
    pub fn input<T: Send + 'static, S: Stage<T> + 'static>(&mut self, stage: S) -> JobResult<Box<dyn Chain>> {
        Ok(Box::new(InputChain::<T, _, S>::new(Union, stage)))
    }

    /// A chain that starts with an operator over two inputs. `sides` says which side each input of the chain is.
    pub fn two_inputs<L, R, S>(&mut self, sides: &[Side], stage: S) -> JobResult<Box<dyn Chain>>
    where
        L: Send + 'static,
        R: Send + 'static,
        S: Stage<Either<L, R>> + 'static,
    {
        Ok(Box::new(InputChain::<Either<L, R>, _, S>::new(TwoInputs::<L, R>::new(sides), stage)))
    }

    /// Splits of the chain's source hold nothing back when no row has come for so many microseconds.
    pub fn idle_after(&mut self, micros: i64) {
        self.timing.idle_after = Some(from_micros(micros));
    }

    /// The chain's source keeps together in event time with the others of a group: no more than `within` microseconds ahead of
    /// the slowest. `every`: how often that is looked at; None: often enough.
    pub fn align(&mut self, group: &str, within: i64, every: Option<i64>) {
        let reader = AlignedReader::new();
        self.timing.alignment = Some(reader.clone());
        self.aligned.push(AlignmentMember {
            group: group.to_owned(),
            within,
            every: every.map_or(ALIGN_EVERY, from_micros),
            chain: self.chain,
            subtask: self.subtask,
            reader,
        });
    }

    /// A chain that starts with a source.
    pub fn source<S, W, N>(
        &mut self,
        uid: &str,
        name: &str,
        source: S,
        config: SourceConfig<W>,
        next: N,
    ) -> JobResult<Box<dyn Chain>>
    where
        S: Source,
        W: Fn(&S::Row) -> Result<Option<Timestamp>, EvalError> + Send + 'static,
        N: Stage<S::Row> + 'static,
    {
        self.source_with_errors(uid, name, source, config, None, next)
    }

    /// The same; records that are no rows go to `errors`.
    pub fn source_with_errors<S, W, N>(
        &mut self,
        uid: &str,
        name: &str,
        source: S,
        config: SourceConfig<W>,
        errors: Option<ErrorStage>,
        next: N,
    ) -> JobResult<Box<dyn Chain>>
    where
        S: Source,
        W: Fn(&S::Row) -> Result<Option<Timestamp>, EvalError> + Send + 'static,
        N: Stage<S::Row> + 'static,
    {
        let context = ReaderContext {
            name: name.to_owned(),
            subtask: self.subtask,
            parallelism: self.parallelism,
            throttle: self.throttle.clone(),
        };
        let reader = source.reader(&context).map_err(|error| error.context(format_args!("source {name}")))?;
        let timing = std::mem::take(&mut self.timing);
        let parts = SourceParts { timing, outbox: self.outbox.clone(), errors };
        Ok(Box::new(SourceChain::new(uid, name, reader, config, parts, next)))
    }

    fn output(&self, edge: usize) -> JobResult<&OutputEdge> {
        let found = self.outputs.iter().find(|output| output.edge == edge);
        found.ok_or_else(|| JobError::new(format!("the chain has no output number {edge}")))
    }
}
