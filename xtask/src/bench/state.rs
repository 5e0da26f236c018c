//! `cargo xtask bench state`: what checkpoints cost.
//!
//! Two Nexmark queries with a checkpoint every second beside the same without any; and keyed state of a gigabyte: how long
//! a barrier holds the operator up, how long batches take while the snapshot is encoded on another thread, and how long
//! it takes to have the state back.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millstream::codegen::*;
use millstream::state::Disk;

use super::{measure, pipelines};

/// Processor time of this thread, where the system tells it: the machine may be busy with something else.
struct Clock(Instant, Option<u64>);

impl Clock {
    fn cpu() -> Option<u64> {
        std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
    }

    fn start() -> Self {
        Clock(Instant::now(), Self::cpu())
    }

    fn elapsed(&self) -> Duration {
        match (self.1, Self::cpu()) {
            (Some(before), Some(after)) => Duration::from_nanos(after - before),
            _ => self.0.elapsed(),
        }
    }
}

/// A batch, as the engine hands them over.
const BATCH: usize = 1000;

/// What is kept for a key.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Account {
    count: u64,
    total: i64,
    last: i64,
    name: String,
}

pub(super) struct Touch;

impl Process for Touch {
    type Input = u64;
    type Output = u64;
    type Side = NoSide;
    type State = Account;
    type Broadcast = NoBroadcast;
    type Shared = ();

    fn process(&mut self, row: u64, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        let account = cx.state();
        if account.count == 0 {
            account.name = format!("account number {row} of the benchmark");
        }
        account.count += 1;
        account.total += 7;
        account.last = row as i64;
        Ok(())
    }
}

pub(super) struct Numbers;

impl Processing for Numbers {
    type Process = Touch;
    type In = u64;
    type Out = u64;
    type Key = u64;

    fn key(&self, row: &u64) -> Result<u64, EvalError> {
        Ok(*row)
    }

    fn input(&self, row: u64) -> Result<u64, EvalError> {
        Ok(row)
    }

    fn output(&self, row: u64) -> Result<u64, EvalError> {
        Ok(row)
    }
}

pub(super) type Operator = Chained<KeyedProcess<Numbers>, Discard>;

pub(super) fn operator(disk: Option<Arc<Disk>>) -> Operator {
    Chained::new::<u64>(OperatorContext { disk, ..OperatorContext::single("op") }, KeyedProcess::new(Touch, Numbers), Discard)
}

/// Settings: events per query, runs, megabytes, snapshots.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut events, mut runs, mut megabytes, mut snapshots, mut queries) = (10_000_000, 3, 1000, 20, "q17,q18".to_owned());
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} takes a value\n\n{}", crate::USAGE))?;
        let number = || value.replace('_', "").parse::<u64>().map_err(|_| format!("{flag} takes a number, not {value}"));
        match flag.as_str() {
            "--events" => events = number()?,
            "--runs" => runs = number()?.max(1) as usize,
            "--megabytes" => megabytes = number()?,
            "--snapshots" => snapshots = number()?.max(1) as usize,
            "--queries" => queries.clone_from(value),
            other => return Err(format!("unknown flag {other}\n\n{}", crate::USAGE)),
        }
    }
    // First: what this process has in memory counts for those that it starts.
    for query in queries.split(',').filter(|query| !query.is_empty()) {
        cost_of_checkpoints(query, events, runs)?;
    }
    large_state(megabytes, snapshots)
}

fn cost_of_checkpoints(query: &str, events: u64, runs: usize) -> Result<(), String> {
    let (root, folder) = super::places()?;
    let binary = pipelines::build(&root, &folder, query, super::Input::Generator, events)?;
    let checkpoints = folder.join(format!("{query}-checkpoints"));
    let without = || {
        let mut command = Command::new(&binary);
        command.args(["--parallelism", "1", "--quiet"]);
        command
    };
    let with = || {
        let _ = std::fs::remove_dir_all(&checkpoints);
        let mut command = without();
        command.args(["--checkpoint-interval", "1s", "--checkpoint-dir"]).arg(&checkpoints);
        command
    };
    let (with, without) = measure::pair(runs, with, without)?;
    println!(
        "{query}, {events} events: {:.2} s with a checkpoint every second, {:.2} s without: {:+.1} % time; CPU {:.2} s and {:.2} s; \
         peak {:.0} MB and {:.0} MB",
        with.wall,
        without.wall,
        (with.wall / without.wall - 1.0) * 100.0,
        with.cpu,
        without.cpu,
        with.peak_bytes as f64 / 1e6,
        without.peak_bytes as f64 / 1e6,
    );
    Ok(())
}

/// Resident memory of this process, in bytes.
pub(super) fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Keys all over the state.
pub(super) struct Keys {
    state: u64,
    count: u64,
}

impl Keys {
    pub(super) fn new(count: u64) -> Self {
        Keys { state: 7, count }
    }

    pub(super) fn batch(&mut self) -> Vec<u64> {
        let mut next = || {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.state >> 33) % self.count
        };
        (0..BATCH).map(|_| next()).collect()
    }
}

pub(super) fn push(stage: &mut Operator, rows: Vec<u64>) -> Result<Duration, String> {
    let start = Clock::start();
    Stage::<u64>::push_batch(stage, rows).map_err(|error| error.to_string())?;
    Ok(start.elapsed())
}

fn large_state(megabytes: u64, snapshots: usize) -> Result<(), String> {
    let fail = |error: JobError| error.to_string();
    let before = resident();
    if before == 0 {
        return Err("how large the state is, /proc/self/statm says, and here it does not".to_owned());
    }
    let grown = || resident().saturating_sub(before);
    let mut stage = operator(None);
    Stage::<u64>::processing_time(&mut stage, 1).map_err(fail)?;
    let mut keys = 0;
    while grown() < megabytes * 1_000_000 {
        push(&mut stage, (keys..keys + 100_000).collect())?;
        keys += 100_000;
    }
    println!("times are processor time\n{} MB of keyed state in memory, {keys} keys", grown() / 1_000_000);
    let mut random = Keys::new(keys);
    let mut quiet: Vec<Duration> = Vec::new();
    for _ in 0..2000 {
        let rows = random.batch();
        quiet.push(push(&mut stage, rows)?);
    }
    line("a batch of 1000 rows, no snapshot", &mut quiet);
    let mut number = 0;
    let mut last = Vec::new();
    for what in ["everything", "what has changed in 200 batches"] {
        let (mut pauses, mut during, mut encoding, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for _ in 0..snapshots {
            number += 1;
            let mut builder = match what {
                "everything" => SnapshotBuilder::new(number),
                _ => SnapshotBuilder::in_pieces(number, number - 1),
            };
            let start = Clock::start();
            Stage::<u64>::snapshot(&mut stage, &mut builder).map_err(fail)?;
            pauses.push(start.elapsed());
            let encoder = std::thread::spawn(move || encode(builder));
            let mut batches = 0;
            while !encoder.is_finished() || batches < 200 {
                let rows = random.batch();
                let took = push(&mut stage, rows)?;
                if !encoder.is_finished() {
                    during.push(took);
                }
                batches += 1;
            }
            let (parts, took) = encoder.join().map_err(|_| "the encoding thread panicked")?;
            // The first in pieces has everything.
            if what == "everything" {
                last = parts;
            } else if encoding.is_empty() && bytes == 0 {
                bytes = 1;
                continue;
            } else {
                bytes = parts.iter().map(|part| part.3.len()).sum();
            }
            encoding.push(took);
        }
        match bytes {
            0 => println!("{what}:"),
            bytes => println!("{what} ({:.1} MB):", bytes as f64 / 1e6),
        }
        line("  a barrier holds the operator up", &mut pauses);
        line("  a batch of 1000 rows, meanwhile", &mut during);
        line("  encoding on another thread", &mut encoding);
    }
    let bytes: usize = last.iter().map(|part| part.3.len()).sum();
    drop(stage);
    let mut restored = RestoredState::new();
    for (state, schema, group, bytes) in last {
        restored.add_group("op", &state, &schema, group, bytes);
    }
    let mut stage = operator(None);
    let start = Clock::start();
    Stage::<u64>::restore(&mut stage, &restored).map_err(fail)?;
    println!("restored from {} MB in {:.2?}", bytes / 1_000_000, start.elapsed());
    Ok(())
}

pub(super) type Parts = Vec<(String, String, u16, Vec<u8>)>;

pub(super) fn encode(builder: SnapshotBuilder) -> (Parts, Duration) {
    let start = Clock::start();
    let mut parts = Vec::new();
    for state in builder.into_operators().into_iter().flat_map(|operator| operator.states) {
        if let StateParts::Keyed(groups) | StateParts::Pieces(groups) = state.parts {
            for group in groups {
                let mut bytes = Vec::new();
                group.part.encode(&mut bytes).expect("nothing on disk, or a disk that works");
                parts.push((state.name.clone(), state.schema.clone(), group.group, bytes));
            }
        }
    }
    (parts, start.elapsed())
}

fn line(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len() - 1)).copied().unwrap_or_default();
    println!("{what}: median {:.2?}, p99 {:.2?}, longest {:.2?} of {}", at(0.5), at(0.99), at(1.0), times.len());
}
