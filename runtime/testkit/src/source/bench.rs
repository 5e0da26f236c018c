//! A store, a source on it, and a job that reads the source into a ledger.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use millstream::chain::SourceConfig;
use millstream::source::{ErasedSource, Source, erase_source};
use millstream::{
    BuildChain, BuildSource, Chain, ChainBuilder, ChainSpec, ErrorPolicy, Job, JobEnd, JobHandle, JobResult, JobState,
    ParamValues, RunOptions,
};

use super::SourceContext;
use crate::claims::Delivery;
use crate::control::{PATIENCE, wait_until};
use crate::job::{self, NoWatermark, RESTARTS};
use crate::ledger::{Ledger, LedgerSink};
use crate::multiset::difference;

/// What a test works with.
pub(super) struct Bench<C: SourceContext> {
    store: Arc<Store<C>>,
    folder: tempfile::TempDir,
    expected: Vec<String>,
    /// There was something that may cost a source rows which delivers at most once.
    lenient: bool,
}

/// What the functions that build the job need.
struct Store<C> {
    context: C,
    bounded: std::sync::atomic::AtomicBool,
    ledger: Arc<Ledger>,
}

/// How a job of a test runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub parallelism: u32,
    pub bounded: bool,
    /// None: only on request.
    pub checkpoint_every: Option<Duration>,
}

impl Run {
    /// To the end of a source that has one, without checkpoints of its own accord.
    pub(super) fn of<C: SourceContext>(parallelism: u32) -> Self {
        Run { parallelism, bounded: C::CLAIMS.ends(), checkpoint_every: None }
    }

    pub(super) fn unbounded(parallelism: u32) -> Self {
        Run { parallelism, bounded: false, checkpoint_every: None }
    }

    pub(super) fn with_checkpoints(self) -> Self {
        Run { checkpoint_every: Some(Duration::from_millis(10)), ..self }
    }
}

impl<C: SourceContext> Bench<C> {
    /// An empty store.
    pub(super) fn open() -> Self {
        let context = C::open().unwrap_or_else(|error| panic!("cannot open the store: {error}"));
        let store = Store { context, bounded: true.into(), ledger: Arc::new(Ledger::default()) };
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        Bench { store: Arc::new(store), folder, expected: Vec::new(), lenient: false }
    }

    /// An empty store, and splits with so many rows each.
    pub(super) fn with(splits: u32, rows: u32) -> Self {
        let mut bench = Bench::open();
        bench.write(splits, rows);
        bench
    }

    /// So many rows more in each split.
    pub(super) fn write(&mut self, splits: u32, rows: u32) {
        for split in 0..splits {
            let written = self.store.context.write(split, rows).unwrap_or_else(|error| panic!("cannot write: {error}"));
            self.expected.extend(written.iter().map(|row| format!("{row:?}")));
        }
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.store.ledger
    }

    fn checkpoints(&self) -> PathBuf {
        self.folder.path().join("checkpoints")
    }

    /// The source, for a test that drives it without a job.
    pub(super) fn source(&self, bounded: bool) -> C::Source {
        self.store.context.source(bounded).unwrap_or_else(|error| panic!("no source: {error}"))
    }

    /// These are the rows that were written, each once.
    pub(super) fn check_rows(&self, rows: &[String]) {
        if let Some(text) = difference(&self.expected, rows, Delivery::ExactlyOnce) {
            panic!("{text}");
        }
    }

    /// Starts a job, or goes on with it.
    pub(super) fn start(&self, run: Run) -> JobHandle {
        self.store.bounded.store(run.bounded, std::sync::atomic::Ordering::SeqCst);
        self.ledger().forget_seen();
        let options = RunOptions::new()
            .parallelism(run.parallelism)
            .checkpoints(self.checkpoints())
            .checkpoint_every(run.checkpoint_every.unwrap_or(Duration::from_secs(3600)))
            .extension(self.store.clone());
        job::start(job::<C>(), options)
    }

    /// Waits until the job has given so many rows since it was started.
    pub(super) fn wait_seen(&self, handle: &JobHandle, rows: u64) {
        wait_until(&format!("{rows} rows"), || {
            let state = handle.state();
            self.ledger().seen() >= rows || (state.is_over() && panic!("it is {state:?} after {} rows", self.ledger().seen()))
        });
    }

    /// Waits for all rows, and for the end if the source has one.
    pub(super) fn finish(&self, mut handle: JobHandle, run: Run) {
        let end = if run.bounded {
            handle.wait_for(PATIENCE).unwrap_or_else(|| panic!("it does not end: {} rows so far", self.ledger().seen()))
        } else {
            self.wait_all(&handle);
            handle.drain()
        };
        assert_eq!(end, Ok(JobEnd::Finished));
        self.check();
    }

    /// Waits until everything is in the ledger, for sources that do not end.
    pub(super) fn wait_all(&self, handle: &JobHandle) {
        wait_until("all rows", || {
            assert!(!handle.state().is_over(), "the job is {:?}", handle.state());
            // Committed by a checkpoint; one that fails with its attempt is asked for again.
            let _ = handle.checkpoint();
            difference(&self.expected, &self.ledger().rows(), self.accepted()).is_none()
        });
    }

    /// A source that delivers at most once may have lost everything that was written before: what is written now has to come.
    pub(super) fn reads_on(&mut self) {
        if C::CLAIMS.delivery != Delivery::AtMostOnce {
            return;
        }
        self.ledger().forget_seen();
        wait_until("a row", || {
            self.write(1, 1);
            self.ledger().seen() > 0
        });
    }

    /// From here on a source that delivers at most once may lose rows: a failure, or nobody to read them.
    pub(super) fn may_lose(&mut self) {
        self.lenient = true;
    }

    fn accepted(&self) -> Delivery {
        match C::CLAIMS.delivery {
            Delivery::AtMostOnce if !self.lenient => Delivery::ExactlyOnce,
            claimed => claimed,
        }
    }

    /// The ledger has what the claims promise.
    pub(super) fn check(&self) {
        if let Some(text) = difference(&self.expected, &self.ledger().rows(), self.accepted()) {
            panic!("{text}");
        }
    }

    /// Nothing that was not written, nothing twice.
    pub(super) fn check_so_far(&self) {
        let accepted = if C::CLAIMS.delivery == Delivery::ExactlyOnce { Delivery::AtMostOnce } else { return };
        if let Some(text) = difference(&self.expected, &self.ledger().rows(), accepted) {
            panic!("in the middle: {text}");
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.expected.len() as u64
    }
}

pub(super) fn wait_running(handle: &JobHandle) {
    assert!(handle.wait_until(PATIENCE, |state| state == JobState::Running), "it is {:?}", handle.state());
}

fn job<C: SourceContext>() -> Job {
    let rows = ChainSpec {
        name: "rows",
        uids: &["rows/source/0", "sink/ledger/kit"],
        parallelism: None,
        slot_group: "default",
        inputs: Vec::new(),
        build: BuildChain::new(build::<C>),
        source: Some(BuildSource::new(source::<C>)),
    };
    job::job(RESTARTS, vec![rows])
}

fn source_of<C: SourceContext>(params: &ParamValues) -> JobResult<C::Source> {
    let store = params.extension::<Store<C>>()?;
    store.context.source(store.bounded.load(std::sync::atomic::Ordering::SeqCst))
}

fn source<C: SourceContext>(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source_of::<C>(params)?))
}

fn build<C: SourceContext>(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let ledger = cx.params().extension::<Store<C>>()?.ledger.clone();
    let source = source_of::<C>(cx.params())?;
    let sink = cx.sink("sink/ledger/kit", "ledger", LedgerSink(ledger))?;
    let config = SourceConfig { watermark: None::<NoWatermark<<C::Source as Source>::Row>>, on_error: ErrorPolicy::Fail };
    cx.source("rows/source/0", "rows", source, config, sink)
}
