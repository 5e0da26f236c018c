//! A store, a sink into it, and a job that feeds it numbers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use millstream::chain::SourceConfig;
use millstream::operator::{Collector, Failure, Operator};
use millstream::source::{ErasedSource, erase_source};
use millstream::{
    BuildChain, BuildSource, Chain, ChainBuilder, ChainSpec, ErrorPolicy, ExchangeKind, InputSpec, Job, JobEnd, JobHandle,
    JobResult, ParamValues, Restart, RunOptions,
};

use super::SinkContext;
use crate::claims::Delivery;
use crate::control::{PATIENCE, wait_until};
use crate::faults::{Breaking, Faults};
use crate::job::{self, NoWatermark, RESTARTS};
use crate::numbers::{Gate, Numbers};

/// What a test works with.
pub(super) struct Bench<C: SinkContext> {
    store: Arc<Store<C>>,
    checkpoints: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

/// What the functions that build the job need.
struct Store<C> {
    context: Arc<C>,
    gate: Arc<Gate>,
    faults: Arc<Faults>,
}

impl<C: SinkContext> Bench<C> {
    /// An empty store.
    pub(super) fn open() -> Self {
        let context = C::open().unwrap_or_else(|error| panic!("cannot open the store: {error}"));
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let checkpoints = folder.path().join("checkpoints");
        Bench { _folder: Some(folder), ..Bench::at(context, checkpoints, Faults::default()) }
    }

    /// A store of another process.
    pub(super) fn at(context: C, checkpoints: PathBuf, faults: Faults) -> Self {
        let store = Store { context: Arc::new(context), gate: Arc::default(), faults: Arc::new(faults) };
        Bench { store: Arc::new(store), checkpoints, _folder: None }
    }

    pub(super) fn context(&self) -> &C {
        &self.store.context
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.store.gate
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.store.faults
    }

    pub(super) fn checkpoints(&self) -> &Path {
        &self.checkpoints
    }

    fn options(&self, parallelism: u32) -> RunOptions {
        RunOptions::new().parallelism(parallelism).extension(self.store.clone())
    }

    /// Starts the job, or goes on with it. `every`: None: checkpoints only on request.
    pub(super) fn start(&self, parallelism: u32, every: Option<Duration>) -> JobHandle {
        let every = every.unwrap_or(Duration::from_secs(3600));
        let options = self.options(parallelism).checkpoints(&self.checkpoints).checkpoint_every(every);
        job::start(job::<C>(RESTARTS), options)
    }

    /// A job that the first failure ends.
    pub(super) fn start_once(&self, parallelism: u32) -> JobHandle {
        let options = self.options(parallelism).checkpoints(&self.checkpoints).checkpoint_every(Duration::from_secs(3600));
        job::start(job::<C>(Restart::None), options)
    }

    pub(super) fn start_without_checkpoints(&self, parallelism: u32) -> JobHandle {
        job::start(job::<C>(RESTARTS), self.options(parallelism))
    }

    /// Waits until so many rows have gone to the sink, since the bench is there.
    pub(super) fn wait_emitted(&self, handle: &JobHandle, rows: u64) {
        wait_until(&format!("{rows} rows to be written"), || {
            let state = handle.state();
            self.gate().emitted() >= rows || (state.is_over() && panic!("the job is {state:?}"))
        });
    }

    /// Waits for the end; `rows` are there.
    pub(super) fn finish(&self, mut handle: JobHandle, rows: u64) {
        let end = handle.wait_for(PATIENCE).unwrap_or_else(|| panic!("it does not end"));
        assert_eq!(end, Ok(JobEnd::Finished));
        self.check(rows, C::CLAIMS.delivery);
    }

    /// Waits for a failure.
    pub(super) fn fails(&self, mut handle: JobHandle) {
        let end = handle.wait_for(PATIENCE).unwrap_or_else(|| panic!("it neither ends nor fails"));
        assert!(end.is_err(), "it should have failed: {end:?}");
    }

    /// The store has the rows of the numbers below `rows`.
    pub(super) fn check(&self, rows: u64, delivery: Delivery) {
        if let Some(text) = self.context().difference(rows, &self.read(), delivery) {
            panic!("{text}");
        }
    }

    /// What anybody can see.
    pub(super) fn visible(&self) -> Vec<String> {
        self.read().iter().map(|row| format!("{row:?}")).collect()
    }

    fn read(&self) -> Vec<C::Row> {
        self.context().read().unwrap_or_else(|error| panic!("cannot read the store: {error}"))
    }
}

fn job<C: SinkContext>(restart: Restart) -> Job {
    let numbers = ChainSpec {
        name: "numbers",
        uids: &["numbers/source/0"],
        parallelism: None,
        slot_group: "default",
        inputs: Vec::new(),
        build: BuildChain::new(build_numbers::<C>),
        source: Some(BuildSource::new(source::<C>)),
    };
    let rows = ChainSpec {
        name: "rows",
        uids: &["rows/failing/0", "sink/rows/tested"],
        parallelism: None,
        slot_group: "default",
        inputs: vec![InputSpec {
            from: 0,
            edge: 0,
            exchange: if C::BY_KEY { ExchangeKind::Hash } else { ExchangeKind::Rebalance },
        }],
        build: BuildChain::new(build_sink::<C>),
        source: None,
    };
    job::job(restart, vec![numbers, rows])
}

fn numbers<C: SinkContext>(params: &ParamValues) -> JobResult<Numbers<C::Row>> {
    let store = params.extension::<Store<C>>()?;
    let context = store.context.clone();
    Ok(Numbers { gate: store.gate.clone(), row: Arc::new(move |number| context.row(number)) })
}

fn source<C: SinkContext>(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(numbers::<C>(params)?))
}

fn build_numbers<C: SinkContext>(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let numbers = numbers::<C>(cx.params())?;
    let config = SourceConfig { watermark: None::<NoWatermark<C::Row>>, on_error: ErrorPolicy::Fail };
    if C::BY_KEY {
        let out = cx.hash(0, |row: &C::Row| Ok(C::key_of(row)))?;
        return cx.source("numbers/source/0", "numbers", numbers, config, out);
    }
    let out = cx.rebalance::<C::Row>(0)?;
    cx.source("numbers/source/0", "numbers", numbers, config, out)
}

fn build_sink<C: SinkContext>(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let store = cx.params().extension::<Store<C>>()?;
    let sink = Breaking::new(store.context.sink()?, store.faults.clone());
    let sink = cx.sink("sink/rows/tested", "tested", sink)?;
    let failing = cx.operator("rows/failing/0", "rows", Failing(store.faults.clone()), sink)?;
    cx.input::<C::Row, _>(failing)
}

/// Fails when the test says so.
struct Failing(Arc<Faults>);

impl<T: Send> Operator<T> for Failing {
    type Out = T;

    fn process(&mut self, row: T, out: &mut impl Collector<T>) -> Result<(), Failure> {
        self.0.row()?;
        out.emit(row)?;
        Ok(())
    }
}
