//! One simulation: process after process until the job has ended, and then whether everything is as it has to be.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use millstream::{CheckpointConfig, Job, JobEnd, JobResult, RunOptions, StateConfig};
use millstream_runtime::sim::{enter, run_job};

use crate::jobs::{Kind, Setting, on_disk};
use crate::operator::Operator;
use crate::place::{Place, directory, folder};
use crate::source::Size;
use crate::world::{Plan, SimWorld};

/// After so many processes all runs must have ended.
const PROCESSES: u32 = 200;

/// A process that runs for so long, by its own clock, hangs.
const HANGS: Duration = Duration::from_secs(1800);

/// Lines of the trace that a failure shows.
const SHOWN: usize = 60;

/// What came of a simulation.
#[derive(Clone, Debug)]
pub struct Report {
    /// How often each point was reached.
    pub hits: BTreeMap<&'static str, u32>,
    /// Everything that happened, line by line.
    pub trace: String,
    /// How many processes it took.
    pub processes: u32,
    /// Files of checkpoints that hold rows which barriers have overtaken.
    pub overtaken: u32,
    /// Checkpoints that build upon others.
    pub built_upon: u32,
    /// Of them, those that build upon what an earlier process has written.
    pub gone_on: u32,
    /// Checkpoints that were stored when the next one was being taken.
    pub beside: u32,
    /// How often a part of the job has begun again by itself.
    pub alone: u32,
    /// How often all of it has, in its process.
    pub together: u32,
}

/// How a process ended.
enum Process {
    Gone,
    Hangs,
    Ended(JobResult<JobEnd>),
}

/// Simulates a job from its first process to its end.
///
/// # Errors
/// What is wrong, and the end of the trace.
pub fn simulate(seed: u64, kind: Kind, plan: Plan) -> Result<Report, String> {
    let place = Place::take();
    let world = SimWorld::new(seed, plan);
    enter(Some(world.clone()));
    let result = processes(&world, kind);
    enter(None);
    let trace = place.hide(&world.trace());
    match result {
        Ok(processes) => {
            let (overtaken, built_upon, gone_on) = (world.overtaken(), world.built_upon(), world.gone_on());
            let (beside, alone, together) = (world.beside(), world.alone(), world.together());
            Ok(Report { hits: world.hits(), trace, processes, overtaken, built_upon, gone_on, beside, alone, together })
        }
        Err(wrong) => {
            let lines: Vec<&str> = trace.lines().collect();
            let mut text = format!("seed {seed}, {kind:?}, {plan:?}: {wrong}");
            for line in &lines[lines.len().saturating_sub(SHOWN)..] {
                let _ = write!(text, "\n{line}");
            }
            Err(text)
        }
    }
}

/// Simulates many, as many at a time as there are processors; what is wanted of each, in their order.
pub fn simulate_all<T: Send>(plans: &[(u64, Kind, Plan)], wanted: impl Fn(Report) -> T + Sync) -> Vec<Result<T, String>> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(plans.len())));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some((seed, kind, plan)) = plans.get(index)
                {
                    let result = simulate(*seed, *kind, *plan).map(&wanted);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn processes(world: &Arc<SimWorld>, kind: Kind) -> Result<u32, String> {
    let number = |limit: u64| i64::try_from(world.below(limit)).unwrap_or(0);
    let size = Size { splits: 1 + number(6), rows: 20 + number(60) };
    let mut checkpoint = CheckpointConfig::new(20_000 + number(300_000), |_| Ok(directory()));
    checkpoint.timeout_micros = 2_000_000 + number(8_000_000);
    checkpoint.tolerate = u32::try_from(number(3)).unwrap_or(0);
    checkpoint.keep = 1 + u32::try_from(number(3)).unwrap_or(0);
    checkpoint.pause_micros = number(50_000);
    checkpoint.unaligned_micros = (number(2) > 0).then(|| number(100_000));
    if number(3) == 0 {
        (checkpoint.concurrent, checkpoint.pause_micros, checkpoint.unaligned_micros) =
            (2 + u32::try_from(number(3)).unwrap_or(0), 0, None);
    }
    // What does not fit goes to a store with threads of its own: that is slow, and seldom.
    let state = match number(40) {
        0 => on_disk(0),
        1..=28 => on_disk(1 << 20),
        _ => StateConfig::Memory,
    };
    let folder = folder().display().to_string();
    let parallelism = || 1 + u32::try_from(number(4)).unwrap_or(0);
    let expected = kind.expected(size);
    for (table, rows) in &expected {
        world.table(table, |table| table.whole = rows.len()).map_err(|error| error.to_string())?;
    }
    let mut operator = Operator::new(world.clone());
    for process in 1..=PROCESSES {
        let parallelism = parallelism();
        let setting = Arc::new(Setting { world: world.clone(), size, folder: folder.clone() });
        let options = RunOptions::new().parallelism(parallelism).extension(setting);
        let (options, told) = operator.starts(options);
        world.log(&format!("process {process}, parallelism {parallelism}, {size:?}, {told}"));
        let end = run(world, kind.job(checkpoint, state), options, &mut operator)?;
        match end {
            Process::Gone => {}
            Process::Hangs => return Err("it hangs".to_owned()),
            Process::Ended(Ok(JobEnd::Finished)) => {
                world.log("the run is done");
                for (table, rows) in &expected {
                    check(world, table, rows).map_err(|wrong| format!("{table}: {wrong}"))?;
                }
                if operator.has_done() {
                    return Ok(process);
                }
                world.next_run();
            }
            Process::Ended(Ok(JobEnd::Stopped(_))) if operator.has_stopped() => {}
            Process::Ended(Ok(end)) => return Err(format!("it ends as {end:?}")),
            Process::Ended(Err(error)) => {
                let error = error.to_string();
                if ["WRONG", "no checkpoint", "counts no more"].iter().any(|wrong| error.contains(wrong)) {
                    return Err(error);
                }
                // One that is asked to stop while it waits for storage ends with what it waits for.
                if world.has_restarted() && !operator.has_stopped() && error.contains("cannot resume from") {
                    return Err(format!("storage that does not answer has ended a job that had begun: {error}"));
                }
                world.log(&format!("failed: {error}"));
            }
        }
    }
    Err(format!("it has not ended after {PROCESSES} processes"))
}

fn run(world: &Arc<SimWorld>, job: Job, options: RunOptions, operator: &mut Operator) -> Result<Process, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    let end = runtime.block_on(async {
        world.begin();
        let end = tokio::select! {
            biased;
            () = world.crash() => Process::Gone,
            end = run_job(job, options, |asks| operator.asks(asks)) => Process::Ended(end),
            () = tokio::time::sleep(HANGS) => Process::Hangs,
        };
        world.end();
        end
    });
    // Whatever was left of the process is dropped here, in a world that does not change.
    drop(runtime);
    world.thaw();
    Ok(end)
}

fn check(world: &SimWorld, table: &'static str, expected: &[String]) -> Result<(), String> {
    let found = world.table(table, |table| (table.rows(), table.staged(), table.wrongs.clone()));
    let (rows, staged, wrongs) = found.map_err(|error| error.to_string())?;
    if let Some(wrong) = wrongs.first() {
        return Err(format!("{wrong} ({} such things)", wrongs.len()));
    }
    if !["counts", "pairs"].contains(&table) {
        in_order(&rows)?;
    }
    let mut found = rows;
    found.sort();
    if found != expected {
        let missing = expected.iter().filter(|row| found.binary_search(row).is_err()).count();
        let doubled = found.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let example = found.iter().find(|row| expected.binary_search(row).is_err());
        return Err(format!(
            "{} rows instead of {}: {missing} missing, {doubled} doubled, one that is wrong: {example:?}",
            found.len(),
            expected.len()
        ));
    }
    if !staged.is_empty() {
        return Err(format!("left behind: {staged:?}"));
    }
    Ok(())
}

/// Rows of a split stand in their order.
fn in_order(rows: &[String]) -> Result<(), String> {
    let mut last = BTreeMap::<&str, u64>::new();
    for row in rows {
        let field = |name: &str| row.split(name).nth(1).and_then(|rest| rest.split([',', ' ', '}']).next()).unwrap_or("");
        let (split, number) = (field("split: "), field("number: ").parse().unwrap_or(0));
        if let Some(before) = last.insert(split, number)
            && before >= number
        {
            return Err(format!("row {number} of split {split} comes behind row {before}"));
        }
    }
    Ok(())
}
