//! Two sources of one group: the fast one waits for the slow one.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use millstream::codegen::*;
use millstream::connectors::blackhole::BlackholeSink;
use millstream::connectors::generator::GeneratorSource;
use millstream::{BuildChain, BuildSource, ChainSpec, Job, JobEnd, JobHandle, Restart, RunOptions, StateConfig};

#[derive(Clone, Debug, Record)]
struct Number {
    number: i64,
}

const ROWS: i64 = 60_000;
const WITHIN: i64 = 5000;

/// How far each source has come, and how far the fast one was ever ahead.
#[derive(Default)]
struct Race {
    fast: AtomicI64,
    slow: AtomicI64,
    ahead: AtomicI64,
}

fn source(rate: i64) -> JobResult<GeneratorSource<Number>> {
    GeneratorSource::from_options(&Options::new().with("rows", ROWS).with("rate", rate))
}

fn build(cx: &mut ChainBuilder<'_>, name: &str, rate: i64) -> JobResult<Box<dyn Chain>> {
    let race = cx.params().extension::<Race>()?;
    let fast = name == "fast";
    let watch = Filter::new(move |row: &Number| {
        let own = if fast { &race.fast } else { &race.slow };
        own.fetch_max(row.number, SeqCst);
        if fast && race.slow.load(SeqCst) < ROWS - 1 {
            race.ahead.fetch_max(row.number - race.slow.load(SeqCst), SeqCst);
        }
        Ok(true)
    });
    let sink = cx.sink(&format!("sink/{name}/blackhole"), name, BlackholeSink::from_options(&Options::new())?)?;
    let watch = cx.operator(&format!("{name}/where/0"), name, watch, sink)?;
    cx.align("race", WITHIN, Some(1000));
    let config = SourceConfig { watermark: Some(|row: &Number| Ok(Some(Timestamp(row.number)))), on_error: ErrorPolicy::Fail };
    cx.source(&format!("{name}/source/0"), name, source(rate)?, config, watch)
}

fn job() -> Job {
    let chain = |name,
                 uids,
                 build: fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>>,
                 source: fn(&ParamValues) -> JobResult<Box<dyn ErasedSource>>| ChainSpec {
        name,
        uids,
        parallelism: None,
        slot_group: "default",
        inputs: Vec::new(),
        build: BuildChain::new(build),
        source: Some(BuildSource::new(source)),
    };
    Job {
        name: "race",
        doc: "",
        fingerprint: 1,
        parallelism: 1,
        max_parallelism: 128,
        buffer_timeout_micros: 1000,
        checkpoint: None,
        restart: Restart::None,
        state: StateConfig::Memory,
        on_error: ErrorPolicy::Fail,
        params: &[],
        kept_by: Vec::new(),
        chains: vec![
            chain(
                "fast",
                &["fast/source/0", "fast/where/0", "sink/fast/blackhole"],
                |cx| build(cx, "fast", 1_000_000_000),
                |_| Ok(erase_source(source(1_000_000_000)?)),
            ),
            chain(
                "slow",
                &["slow/source/0", "slow/where/0", "sink/slow/blackhole"],
                |cx| build(cx, "slow", 40_000),
                |_| Ok(erase_source(source(40_000)?)),
            ),
        ],
    }
}

/// No further ahead than it may be, and a few batches that were on their way; and everything is read in the end.
#[test]
fn a_fast_source_waits_for_a_slow_one_of_its_group() {
    for parallelism in [1, 2] {
        let race = Arc::new(Race::default());
        let handle = JobHandle::start(job(), RunOptions::new().parallelism(parallelism).extension(race.clone())).unwrap();
        let mut handle = handle;
        assert_eq!(handle.wait_for(Duration::from_secs(60)), Some(Ok(JobEnd::Finished)));
        assert_eq!((race.fast.load(SeqCst), race.slow.load(SeqCst)), (ROWS - 1, ROWS - 1));
        let ahead = race.ahead.load(SeqCst);
        assert!(ahead > 100, "it was never ahead: {ahead}");
        assert!(ahead <= WITHIN + 10_000, "{ahead} ahead with {parallelism} readers");
    }
}
