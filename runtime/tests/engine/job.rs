//! The test job: bids from JSON lines, the large ones counted per auction and minute, into JSON lines.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use millstream::codegen::*;
use millstream::connectors::file::{FileSink, FileSource};
use millstream::formats::JsonFormat;
use millstream::operators::{Aggregation, Filter, WindowAggregate};
use millstream::time::{Tumbling, WindowBounds};
use millstream::{
    BuildChain, BuildSource, ChainSpec, ExchangeKind, InputSpec, Job, JobEnd, JobHandle, JobState, Restart, RunOptions,
    StateConfig,
};

#[derive(Clone, Debug, PartialEq, Record, State)]
pub struct Bid {
    pub auction: Str,
    pub price: i64,
    pub time: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Count {
    pub auction: Str,
    pub minute: Timestamp,
    pub bids: i64,
    pub total: i64,
}

const PARAMS: &[ParamSpec] = &[
    ParamSpec { name: "input", ty: "string", default: None, doc: "The bids." },
    ParamSpec { name: "output", ty: "string", default: None, doc: "The folder for the counts." },
    ParamSpec { name: "rate", ty: "int64", default: Some("1000000000"), doc: "Rows per second." },
    ParamSpec { name: "watch", ty: "int64", default: Some("0"), doc: "Microseconds between looks for new files; 0: one look." },
    ParamSpec { name: "append", ty: "bool", default: Some("false"), doc: "Files grow." },
    ParamSpec { name: "idle", ty: "int64", default: Some("0"), doc: "Microseconds without rows; 0: never idle." },
    ParamSpec { name: "compact_every", ty: "int64", default: Some("0"), doc: "Checkpoints between merges of files; 0: none." },
    ParamSpec { name: "existing", ty: "string", default: Some("fail"), doc: "The sink's policy." },
    ParamSpec { name: "slow", ty: "uint64", default: Some("0"), doc: "Microseconds that counting a row takes." },
    ParamSpec { name: "bulk", ty: "uint64", default: Some("0"), doc: "Bytes that each count has beside it in its state." },
    ParamSpec { name: "on_error", ty: "string", default: Some("fail"), doc: "What happens to bad rows." },
    ParamSpec {
        name: "poison",
        ty: "string",
        default: Some(""),
        doc: "Rows of this auction panic until the file of this name is gone.",
    },
];

pub fn job() -> Job {
    Job {
        name: "counts",
        doc: "Large bids per auction and minute.",
        fingerprint: 1,
        parallelism: 2,
        max_parallelism: 128,
        buffer_timeout_micros: 10_000,
        checkpoint: None,
        restart: Restart::Fixed { attempts: 3, delay_micros: 1000 },
        state: StateConfig::Memory,
        on_error: ErrorPolicy::Fail,
        params: PARAMS,
        kept_by: Vec::new(),
        chains: vec![
            ChainSpec {
                name: "bids",
                uids: &["bids/source/0", "counts/where/0"],
                parallelism: None,
                slot_group: "default",
                inputs: vec![],
                build: BuildChain::new(build_bids),
                source: Some(BuildSource::new(source_erased)),
            },
            ChainSpec {
                name: "counts",
                uids: &["counts/aggregate/0", "sink/counts/file"],
                parallelism: None,
                slot_group: "default",
                inputs: vec![InputSpec { from: 0, edge: 0, exchange: ExchangeKind::Hash }],
                build: BuildChain::new(build_counts),
                source: None,
            },
        ],
    }
}

fn source(params: &ParamValues) -> JobResult<FileSource<Bid, JsonFormat>> {
    let options = Options::new().with("path", params.get::<String>("input")?).with("rate", params.get::<i64>("rate")?);
    let options = options.with("append", params.get::<bool>("append")?);
    let watch: i64 = params.get("watch")?;
    let options = if watch > 0 { options.with("watch", watch) } else { options };
    FileSource::from_options(&options)
}

fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}

fn build_bids(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let poison: Str = cx.params().get("poison")?;
    let out = cx.hash(0, |row: &Bid| Ok(row.auction.clone()))?;
    cx.in_flight::<Bid>(0);
    let large = Filter::new(move |row: &Bid| {
        assert!(row.auction != "poison" || !Path::new(poison.as_str()).exists(), "poisoned");
        Ok(row.price >= 100)
    });
    let large = cx.operator("counts/where/0", "counts: where", large, out)?;
    read_bids(cx, large)
}

/// The source, before what takes its rows.
pub fn read_bids(cx: &mut ChainBuilder<'_>, rest: impl Stage<Bid> + 'static) -> JobResult<Box<dyn Chain>> {
    let idle: i64 = cx.params().get("idle")?;
    if idle > 0 {
        cx.idle_after(idle);
    }
    let source = source(cx.params())?;
    let on_error = if cx.params().get::<String>("on_error")? == "skip" { ErrorPolicy::Skip } else { ErrorPolicy::Fail };
    let config = SourceConfig { watermark: Some(|row: &Bid| Ok(Some(Timestamp(row.time.0 - 5_000_000)))), on_error };
    cx.source("bids/source/0", "bids", source, config, rest)
}

fn build_counts(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let counts = counting(cx)?;
    cx.input::<Bid, _>(counts)
}

/// What counts, and the sink.
pub fn counting(cx: &mut ChainBuilder<'_>) -> JobResult<impl Stage<Bid> + use<>> {
    let options = Options::new()
        .with("path", cx.params().get::<String>("output")?)
        .with("existing", cx.params().get::<String>("existing")?)
        .with("success_file", true);
    let every: i64 = cx.params().get("compact_every")?;
    let options = if every > 0 { options.with("compact_every", every) } else { options };
    let sink = cx.sink("sink/counts/file", "counts into file", <FileSink<Count, JsonFormat>>::from_options(&options)?)?;
    let window = WindowAggregate::new(
        Tumbling::new(60_000_000, 0),
        Counts { slow: cx.params().get("slow")?, bulk: cx.params().get("bulk")? },
    );
    cx.operator("counts/aggregate/0", "counts: aggregate", window, sink)
}

pub struct Counts {
    pub slow: u64,
    pub bulk: u64,
}

#[derive(Clone, Default, State)]
pub struct Sums {
    bids: i64,
    total: i64,
    bulk: Str,
}

impl Aggregation for Counts {
    type In = Bid;
    type Key = Str;
    type Acc = Sums;
    type Out = Count;

    fn key(&self, row: &Bid) -> Result<Str, EvalError> {
        Ok(row.auction.clone())
    }

    fn time(&self, row: &Bid) -> Result<Timestamp, EvalError> {
        Ok(row.time)
    }

    fn add(&self, acc: &mut Sums, row: &Bid) -> Result<(), EvalError> {
        if self.slow > 0 {
            std::thread::sleep(Duration::from_micros(self.slow));
        }
        if self.bulk > 0 && acc.bulk.is_empty() {
            acc.bulk = "bulk".repeat(self.bulk as usize / 4).into();
        }
        acc.bids += 1;
        acc.total += row.price;
        Ok(())
    }

    fn output(&self, key: &Str, window: WindowBounds, acc: &Sums) -> Result<Count, EvalError> {
        Ok(Count { auction: key.clone(), minute: window.start, bids: acc.bids, total: acc.total })
    }
}

/// Runs the job in this process. The exit code.
pub fn run(args: &[&str]) -> u8 {
    run_job(job(), args)
}

/// The same with another job.
pub fn run_job(job: Job, args: &[&str]) -> u8 {
    let code = millstream::run_with_args(job, args.iter().map(OsString::from));
    // It shows its number to nobody.
    (0..=u8::MAX).find(|&number| code == std::process::ExitCode::from(number)).expect("a number")
}

/// One bid as a line. Times move on by 20 ms a bid and are out of order by up to 3 s.
pub fn bid(number: u64) -> String {
    let jitter = number * 7919 % 3000;
    let time = Timestamp(i64::try_from((number * 20 + jitter) * 1000).unwrap());
    format!("{{\"auction\":\"a{}\",\"price\":{},\"time\":\"{time}\"}}\n", number * 31 % 17, number * 13 % 400)
}

/// Bids of these numbers as a file.
pub fn write_bids(path: &Path, numbers: std::ops::Range<u64>) {
    let mut text = String::new();
    for number in numbers {
        let _ = write!(text, "{}", bid(number));
    }
    std::fs::write(path, text).unwrap();
}

/// What the job makes of these bids, computed in the simplest way. Sorted.
pub fn expected(numbers: std::ops::Range<u64>) -> Vec<String> {
    let mut counts: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for number in numbers {
        let price = number * 13 % 400;
        if price >= 100 {
            let minute = (number * 20 + number * 7919 % 3000) / 60_000;
            let count = counts.entry((number * 31 % 17, minute)).or_default();
            *count = (count.0 + 1, count.1 + price);
        }
    }
    let line = |((auction, minute), (bids, total)): ((u64, u64), (u64, u64))| {
        let minute = Timestamp(i64::try_from(minute * 60_000_000).unwrap());
        format!("{{\"auction\":\"a{auction}\",\"minute\":\"{minute}\",\"bids\":{bids},\"total\":{total}}}")
    };
    let mut lines: Vec<_> = counts.into_iter().map(line).collect();
    lines.sort();
    lines
}

/// All lines of the visible files in a folder, sorted.
pub fn output(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for path in visible(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{} ends in the middle of a line", path.display());
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.sort();
    lines
}

/// All visible files in a folder.
pub fn visible(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.')).collect();
    paths.sort();
    paths
}

/// Waits until something is there; a test that waits in vain fails.
pub fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what} has not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The job in this process, once it runs.
pub fn running(options: RunOptions) -> JobHandle {
    let handle = JobHandle::start(job(), options).unwrap();
    assert!(handle.wait_until(Duration::from_secs(60), |state| state == JobState::Running));
    handle
}

/// Kills the job after `time`. False: it had ended by then, and well.
pub fn kill_after(mut handle: JobHandle, time: Duration) -> bool {
    let end = handle.wait_for(time).unwrap_or_else(|| handle.kill());
    assert!(matches!(end, Ok(JobEnd::Killed | JobEnd::Finished)), "{end:?}");
    end == Ok(JobEnd::Killed)
}

/// Names of hidden things that a run has left in a folder.
pub fn hidden(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
}

/// A folder with bids in some files, and the arguments of a job that reads them.
pub struct Setup {
    pub folder: tempfile::TempDir,
    pub bids: u64,
}

impl Setup {
    pub fn new(bids: u64, files: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in 0..files {
            let name = format!("bids-{file}.jsonl");
            write_bids(&folder.path().join(name), bids * file / files..bids * (file + 1) / files);
        }
        Setup { folder, bids }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Arguments: input, output, and these.
    pub fn args(&self, more: &[&str]) -> Vec<String> {
        let own = ["--input", &self.path("bids-*.jsonl"), "--output", &self.path("out"), "--quiet"].map(str::to_owned);
        own.into_iter().chain(more.iter().map(|&arg| arg.to_owned())).collect()
    }

    /// The same for a job in this process, that reads so many rows a second and takes checkpoints only when it is asked for them.
    pub fn options(&self, rate: u64) -> RunOptions {
        RunOptions::new()
            .param("input", self.path("bids-*.jsonl"))
            .param("output", self.path("out"))
            .param("rate", rate.to_string())
            .checkpoint_every(Duration::from_secs(3600))
    }

    pub fn run(&self, more: &[&str]) -> u8 {
        let args = self.args(more);
        run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The output is exactly what it should be, and nothing else is left.
    pub fn check(&self) {
        let (found, expected) = (output(&self.out()), expected(0..self.bids));
        assert_eq!(found.len(), expected.len(), "rows");
        assert_eq!(found, expected);
        assert_eq!(hidden(&self.out()), [""; 0], "leftovers");
        assert!(self.succeeded(), "the job has ended, but does not say so");
    }

    /// Whether the sink says that the job has ended and all rows are there.
    pub fn succeeded(&self) -> bool {
        self.out().join("_SUCCESS").is_file()
    }
}
