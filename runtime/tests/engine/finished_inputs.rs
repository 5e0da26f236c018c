//! Checkpoints when some inputs have ended: one source of two is at its end long before the other, or one copy before the others.
//! Killed and gone on with at other parallelisms, every row counts once. A changed job that gives rows to what is at its end is refused.

use std::collections::BTreeMap;
use std::time::Duration;

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::generator::GeneratorSource;
use millstream::formats::JsonFormat;
use millstream::operators::{Aggregation, WindowAggregate};
use millstream::time::{Tumbling, WindowBounds};
use millstream::{
    BuildChain, BuildSource, ChainSpec, CheckpointConfig, ExchangeKind, InputSpec, Job, JobEnd, JobHandle, JobState, KeptBy,
    Restart, RunOptions, StateConfig,
};

use super::job::{Setup, job, output, wait_for};

const SHORT: i64 = 3000;
const LONG: i64 = 60_000;
const WINDOW: i64 = 1000;
const KEYS: i64 = 7;

#[derive(Clone, Debug, PartialEq, Record, State)]
struct Number {
    number: i64,
}

#[derive(Clone, Debug, PartialEq, Record)]
struct Sum {
    key: i64,
    window: Timestamp,
    count: i64,
}

struct Sums;

#[derive(Clone, Default, State)]
struct Count {
    count: i64,
}

impl Aggregation for Sums {
    type In = Number;
    type Key = i64;
    type Acc = Count;
    type Out = Sum;

    fn key(&self, row: &Number) -> Result<i64, EvalError> {
        Ok(row.number % KEYS)
    }

    fn time(&self, row: &Number) -> Result<Timestamp, EvalError> {
        Ok(Timestamp(row.number))
    }

    fn add(&self, acc: &mut Count, _row: &Number) -> Result<(), EvalError> {
        acc.count += 1;
        Ok(())
    }

    fn output(&self, key: &i64, window: WindowBounds, acc: &Count) -> Result<Sum, EvalError> {
        Ok(Sum { key: *key, window: window.start, count: acc.count })
    }
}

fn numbers(rows: i64, rate: i64) -> JobResult<GeneratorSource<Number>> {
    GeneratorSource::from_options(&Options::new().with("rows", rows).with("rate", rate))
}

fn build(cx: &mut ChainBuilder<'_>, name: &str, edge: usize, source: GeneratorSource<Number>) -> JobResult<Box<dyn Chain>> {
    let out = cx.hash(edge, |row: &Number| Ok(row.number % KEYS))?;
    cx.in_flight::<Number>(edge);
    let config = SourceConfig { watermark: Some(|row: &Number| Ok(Some(Timestamp(row.number)))), on_error: ErrorPolicy::Fail };
    cx.source(&format!("{name}/source/0"), name, source, config, out)
}

/// The short source at once, the long one slowly; both into the same windows.
fn union(unaligned_micros: Option<i64>) -> Job {
    let chain = |name,
                 uids,
                 inputs,
                 build: fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>>,
                 source: Option<fn(&ParamValues) -> JobResult<Box<dyn ErasedSource>>>| ChainSpec {
        name,
        uids,
        parallelism: None,
        slot_group: "default",
        inputs,
        build: BuildChain::new(build),
        source: source.map(BuildSource::new),
    };
    let input = |from| InputSpec { from, edge: from, exchange: ExchangeKind::Hash };
    let block = CheckpointConfig { unaligned_micros, ..CheckpointConfig::new(10_000, |_| Ok("unused".to_owned())) };
    Job {
        checkpoint: Some(block),
        restart: Restart::None,
        state: StateConfig::Memory,
        chains: vec![
            chain(
                "short",
                &["short/source/0"],
                Vec::new(),
                |cx| build(cx, "short", 0, numbers(SHORT, 1_000_000_000)?),
                Some(|_| Ok(erase_source(numbers(SHORT, 1_000_000_000)?))),
            ),
            chain(
                "long",
                &["long/source/0"],
                Vec::new(),
                |cx| build(cx, "long", 1, numbers(LONG, 20_000)?),
                Some(|_| Ok(erase_source(numbers(LONG, 20_000)?))),
            ),
            chain(
                "sums",
                &["sums/aggregate/0", "sink/sums/file"],
                vec![input(0), input(1)],
                |cx| {
                    let options = Options::new().with("path", cx.params().get::<String>("output")?);
                    let sink = <FileSink<Sum, JsonFormat>>::from_options(&options)?;
                    let sink = cx.sink("sink/sums/file", "sums into file", sink)?;
                    let sums = WindowAggregate::new(Tumbling::new(WINDOW, 0), Sums);
                    let sums = cx.operator("sums/aggregate/0", "sums: aggregate", sums, sink)?;
                    cx.input::<Number, _>(sums)
                },
                None,
            ),
        ],
        ..job()
    }
}

/// How often each number of a window and key counts.
fn expected() -> BTreeMap<(i64, i64), i64> {
    let mut counts = BTreeMap::new();
    for number in (0..SHORT).chain(0..LONG) {
        *counts.entry((number % KEYS, number / WINDOW)).or_default() += 1;
    }
    counts
}

fn found(setup: &Setup) -> Vec<(i64, String, i64)> {
    let number = |line: &str, field: &str| -> i64 {
        let rest = &line[line.find(field).unwrap() + field.len()..];
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap()].parse().unwrap()
    };
    let window = |line: &str| line.split("\"window\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut rows: Vec<_> =
        output(&setup.out()).iter().map(|line| (number(line, "\"key\":"), window(line), number(line, "\"count\":"))).collect();
    rows.sort();
    rows
}

fn killed_and_gone_on_with(unaligned_micros: Option<i64>, parallelisms: &[u32]) {
    let setup = Setup::new(1, 1);
    let options = |parallelism| {
        RunOptions::new()
            .param("input", "unused")
            .param("output", setup.path("out"))
            .checkpoints(setup.path("checkpoints"))
            .parallelism(parallelism)
    };
    let mut finished = false;
    for &parallelism in parallelisms {
        let handle = JobHandle::start(union(unaligned_micros), options(parallelism)).unwrap();
        assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running));
        std::thread::sleep(Duration::from_millis(150));
        // The short source is at its end, the long one is not.
        let taken = handle.checkpoint();
        if handle.kill() != Ok(JobEnd::Killed) {
            // On a machine that has much else to do it may have come to its end.
            finished = true;
            break;
        }
        taken.unwrap();
    }
    let last = parallelisms.last().copied().unwrap_or(2);
    if !finished {
        let mut handle = JobHandle::start(union(unaligned_micros), options(last)).unwrap();
        assert_eq!(handle.wait_for(Duration::from_secs(60)), Some(Ok(JobEnd::Finished)));
    }
    let expected: Vec<_> = {
        let row = |((key, window), count): ((i64, i64), i64)| (key, Timestamp(window * WINDOW).to_string(), count);
        let mut rows: Vec<_> = expected().into_iter().map(row).collect();
        rows.sort();
        rows
    };
    assert_eq!(found(&setup), expected);
}

#[test]
fn one_source_is_at_its_end() {
    killed_and_gone_on_with(None, &[2, 1, 3, 2]);
}

#[test]
fn one_source_is_at_its_end_and_barriers_overtake() {
    killed_and_gone_on_with(Some(0), &[2, 3, 1]);
}

/// Counts into a folder below the output.
fn into_place(cx: &mut ChainBuilder<'_>, name: &str) -> JobResult<Box<dyn Chain>> {
    let folder = format!("{}/{name}", cx.params().get::<String>("output")?);
    let sink = <FileSink<Sum, JsonFormat>>::from_options(&Options::new().with("path", folder))?;
    let sink = cx.sink(&format!("sink/{name}/file"), "into file", sink)?;
    let sums = WindowAggregate::new(Tumbling::new(WINDOW, 0), Sums);
    let sums = cx.operator(&format!("{name}/aggregate/0"), "aggregate", sums, sink)?;
    cx.input::<Number, _>(sums)
}

/// Two pipelines: one of a short input, one of a long one. `more`: another source feeds the first, too.
fn beside(more: bool) -> Job {
    let chain = |name, uids, inputs, build: fn(&mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>>| ChainSpec {
        name,
        uids,
        parallelism: None,
        slot_group: "default",
        inputs,
        build: BuildChain::new(build),
        source: None,
    };
    let input = |from| InputSpec { from, edge: from, exchange: ExchangeKind::Hash };
    let mut job = union(None);
    job.kept_by = vec![KeptBy::new("sums/aggregate/0").key("key", &[]), KeptBy::new("others/aggregate/0").key("key", &[])];
    job.chains.truncate(2);
    let mut inputs = vec![input(0)];
    if more {
        let source = chain("more", &["more/source/0"], Vec::new(), |cx| build(cx, "more", 2, numbers(LONG, 1_000_000_000)?));
        let erased = |_: &ParamValues| Ok(erase_source(numbers(LONG, 1_000_000_000)?));
        job.chains.push(ChainSpec { source: Some(BuildSource::new(erased)), ..source });
        inputs.push(input(2));
    }
    job.chains.push(chain("sums", &["sums/aggregate/0", "sink/sums/file"], inputs, |cx| into_place(cx, "sums")));
    let others = &["others/aggregate/0", "sink/others/file"];
    job.chains.push(chain("others", others, vec![input(1)], |cx| into_place(cx, "others")));
    job
}

#[test]
fn rows_for_an_operator_that_is_at_its_end_are_refused_or_begin_it_anew() {
    let setup = Setup::new(1, 1);
    let options = || {
        RunOptions::new()
            .param("input", "unused")
            .param("output", setup.path("out"))
            .checkpoints(setup.path("checkpoints"))
            .parallelism(2)
    };
    let sums = || output(&setup.out().join("sums"));
    let handle = JobHandle::start(beside(false), options()).unwrap();
    let windows = usize::try_from(SHORT / WINDOW * KEYS).unwrap();
    wait_for("the end of the short input", || handle.checkpoint().is_ok() && sums().len() == windows);
    assert!(matches!(handle.stop_with_checkpoint(), Ok(JobEnd::Stopped(_))));

    let refused = JobHandle::start(beside(true), options()).unwrap().wait().unwrap_err();
    let says = "`sums/aggregate/0` had come to the end of its input, and `more` would give it rows behind that";
    assert!(refused.message().contains(says) && refused.message().contains("--drop-state sums/aggregate/0"), "{refused}");
    assert!(!refused.message().contains("others"), "{refused}");
    assert_eq!(sums().len(), windows);

    let handle = JobHandle::start(beside(true), options().drop_state("sums/aggregate/0")).unwrap();
    assert_eq!(handle.wait().unwrap(), JobEnd::Finished);
    let more = usize::try_from(LONG / WINDOW * KEYS).unwrap();
    assert_eq!(sums().len(), windows + more, "each window of the new rows, and what was there");
    assert_eq!(output(&setup.out().join("others")).len(), more);
}
