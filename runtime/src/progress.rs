//! The counters of a running job, from all its tasks: for the status line, the summary at the end, and the metrics.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::coordinator::{SinkStatus, names_by_chain};
use crate::job::Job;
use crate::sink::CommitCounts;
use crate::task::{Spent, StatusSnapshot, TaskId, TaskStatus};
use crate::value::Timestamp;

/// The counters of a run, from all its tasks.
#[derive(Debug)]
pub(crate) struct Board {
    started: Instant,
    chains: Vec<ChainShape>,
    inner: Mutex<Inner>,
}

/// A chain of the job, and the chains that it reads from.
#[derive(Clone, Debug)]
pub(crate) struct ChainShape {
    pub name: &'static str,
    /// Of the region that it is in.
    pub region: String,
    pub inputs: Vec<usize>,
}

/// The last complete checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastCheckpoint {
    pub id: u64,
    pub took: Duration,
    /// Bytes of state.
    pub size: u64,
    /// When it was complete.
    pub at: Instant,
}

/// Where a job stands, in few numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub uptime: Duration,
    pub restarts: u32,
    /// The last complete one, and its age.
    pub checkpoint: Option<(u64, Duration)>,
}

/// One task at some moment.
#[derive(Clone, Debug)]
pub(crate) struct TaskNumbers {
    pub id: TaskId,
    /// Of its region, from 1.
    pub attempt: u32,
    pub status: StatusSnapshot,
    pub spent: Spent,
}

/// Everything that is counted, at some moment.
#[derive(Clone, Debug)]
pub(crate) struct JobNumbers {
    pub uptime: Duration,
    pub restarts: u32,
    pub checkpoints: u64,
    pub failed_checkpoints: u64,
    pub checkpoints_in_progress: usize,
    pub last_checkpoint: Option<LastCheckpoint>,
    /// By source.
    pub unassigned: Vec<(String, usize)>,
    pub chains: Vec<ChainShape>,
    pub tasks: Vec<TaskNumbers>,
    /// By uid and name of the sink.
    pub commits: Vec<(String, String, CommitCounts)>,
}

#[derive(Debug, Default)]
struct Inner {
    /// With the attempt of their region, in order.
    tasks: Vec<(TaskId, u32, Arc<TaskStatus>)>,
    attempts: u32,
    /// How often each region has begun, by its first chain.
    regions: BTreeMap<usize, u32>,
    /// How often regions have begun again while the others went on.
    region_restarts: u32,
    checkpoints: u64,
    failed_checkpoints: u64,
    checkpoints_in_progress: usize,
    last_checkpoint: Option<LastCheckpoint>,
    /// Splits that no reader has, by source.
    unassigned: BTreeMap<String, Arc<AtomicUsize>>,
    /// By uid.
    sinks: BTreeMap<String, Arc<SinkStatus>>,
}

/// Sums over all tasks.
#[derive(Clone, Debug, Default)]
struct Totals {
    /// Rows by source and by sink, in the order of the job.
    sources: Vec<(String, u64)>,
    sinks: Vec<(String, u64)>,
    /// Records left out: by source and reason, and whether they went to a stream of their own; with the first.
    rejects: BTreeMap<(String, String, bool), (u64, String)>,
    /// Rows that came too late, by operator.
    late: BTreeMap<String, u64>,
    stray: BTreeMap<String, u64>,
    watermark: Option<i64>,
}

impl Board {
    pub(crate) fn new() -> Self {
        Board { started: Instant::now(), chains: Vec::new(), inner: Mutex::default() }
    }

    /// Of this job.
    pub(crate) fn of(job: &Job) -> Self {
        let shape = |(chain, region): (&crate::job::ChainSpec, String)| ChainShape {
            name: chain.name,
            region,
            inputs: chain.inputs.iter().map(|input| input.from).collect(),
        };
        Board { chains: job.chains.iter().zip(names_by_chain(&job.chains)).map(shape).collect(), ..Board::new() }
    }

    /// Everything, as of now.
    pub(crate) fn numbers(&self) -> JobNumbers {
        let commits = self.commits();
        let inner = self.lock();
        let task = |(id, attempt, status): &(TaskId, u32, Arc<TaskStatus>)| TaskNumbers {
            id: *id,
            attempt: *attempt,
            status: status.read(),
            spent: status.times.read(),
        };
        JobNumbers {
            uptime: self.started.elapsed(),
            restarts: inner.restarts(),
            checkpoints: inner.checkpoints,
            failed_checkpoints: inner.failed_checkpoints,
            checkpoints_in_progress: inner.checkpoints_in_progress,
            last_checkpoint: inner.last_checkpoint,
            unassigned: inner.unassigned.iter().map(|(source, splits)| (source.clone(), splits.load(Relaxed))).collect(),
            chains: self.chains.clone(),
            tasks: inner.tasks.iter().map(task).collect(),
            commits,
        }
    }

    /// How long it runs, how often it has started again, and the last checkpoint with its age.
    pub(crate) fn progress(&self) -> Progress {
        let inner = self.lock();
        let checkpoint = inner.last_checkpoint.map(|last| (last.id, last.at.elapsed()));
        Progress { uptime: self.started.elapsed(), restarts: inner.restarts(), checkpoint }
    }

    /// Where a source's enumerator says how many splits are found that nobody reads.
    pub(crate) fn unassigned(&self, source: &str) -> Arc<AtomicUsize> {
        self.lock().unassigned.entry(source.to_owned()).or_default().clone()
    }

    /// So many checkpoints are on their way now.
    pub(crate) fn checkpoints_in_progress(&self, count: usize) {
        self.lock().checkpoints_in_progress = count;
    }

    /// A failure has ended a checkpoint that was begun.
    pub(crate) fn checkpoint_failed(&self) {
        self.lock().failed_checkpoints += 1;
    }

    /// Tasks of an earlier attempt count no more.
    pub(crate) fn begin_attempt(&self) {
        let mut inner = self.lock();
        inner.tasks.clear();
        inner.attempts += 1;
    }

    /// Attempts begun.
    pub(crate) fn attempts(&self) -> u32 {
        self.lock().attempts
    }

    /// Restarts of the job, and of parts of it.
    pub(crate) fn restarts(&self) -> u32 {
        self.lock().restarts()
    }

    /// A region begins, named by its first chain. Gives the number of its attempt, from 1.
    pub(crate) fn begin_region(&self, first: usize) -> u32 {
        let mut inner = self.lock();
        let attempt = inner.regions.entry(first).or_default();
        *attempt += 1;
        *attempt
    }

    /// A region begins again, and the others go on.
    pub(crate) fn region_restarts(&self) {
        self.lock().region_restarts += 1;
    }

    /// What a task shows of itself. Its attempt before counts no more.
    pub(crate) fn status_of(&self, task: TaskId, attempt: u32) -> Arc<TaskStatus> {
        let status = Arc::new(TaskStatus::default());
        let mut inner = self.lock();
        let entry = (task, attempt, status.clone());
        match inner.tasks.binary_search_by_key(&task, |(id, ..)| *id) {
            Ok(index) => inner.tasks[index] = entry,
            Err(index) => inner.tasks.insert(index, entry),
        }
        status
    }

    /// The commits of a sink: the same over all attempts.
    pub(crate) fn sink_status(&self, uid: &str, name: &str) -> Arc<SinkStatus> {
        self.lock().sinks.entry(uid.to_owned()).or_insert_with(|| Arc::new(SinkStatus::new(name))).clone()
    }

    /// Commit counters by uid and name of the sink, in the order of uids.
    pub(crate) fn commits(&self) -> Vec<(String, String, CommitCounts)> {
        let inner = self.lock();
        inner.sinks.iter().map(|(uid, status)| (uid.clone(), status.name.clone(), status.counts())).collect()
    }

    /// What sinks have lost for good: a line for each, empty if nothing is lost.
    pub(crate) fn losses(&self) -> Vec<String> {
        let inner = self.lock();
        let loss = |status: &Arc<SinkStatus>| {
            let (failed, first) = (status.counts().failed, status.first_failure()?);
            let first = first.replace('\n', "\n    ");
            Some(format!(
                "{}: {failed} committables could not be committed, their rows are LOST\n    the first: {first}",
                status.name
            ))
        };
        inner.sinks.values().filter_map(loss).collect()
    }

    pub(crate) fn checkpoint_completed(&self, id: u64, took: Duration, size: u64) {
        let mut inner = self.lock();
        inner.checkpoints += 1;
        inner.last_checkpoint = Some(LastCheckpoint { id, took, size, at: Instant::now() });
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn totals(&self) -> Totals {
        let statuses: Vec<StatusSnapshot> = self.lock().tasks.iter().map(|(.., status)| status.read()).collect();
        let mut totals = Totals::default();
        for status in statuses {
            if let Some(source) = &status.report.source {
                add(&mut totals.sources, &source.name, source.rows);
                for reject in &source.rejects {
                    let key = (source.name.to_string(), reject.reason.clone(), reject.routed);
                    totals.rejects.entry(key).or_insert_with(|| (0, reject.first.clone())).0 += reject.count;
                }
                if !status.ended {
                    totals.watermark = Some(totals.watermark.map_or(status.watermark, |least| least.min(status.watermark)));
                }
            }
            for operator in &status.report.operators {
                if operator.uid.starts_with("sink/") {
                    add(&mut totals.sinks, &operator.name, operator.rows_in);
                }
                for (count, routed) in [(operator.skipped - operator.routed, false), (operator.routed, true)] {
                    if count > 0 {
                        let first = operator.first_error.clone().unwrap_or_default();
                        let key = (operator.name.to_string(), "an expression has no value".to_owned(), routed);
                        totals.rejects.entry(key).or_insert_with(|| (0, first)).0 += count;
                    }
                }
                if operator.late > 0 {
                    *totals.late.entry(operator.name.to_string()).or_default() += operator.late;
                }
                if operator.stray > 0 {
                    *totals.stray.entry(operator.name.to_string()).or_default() += operator.stray;
                }
            }
        }
        totals
    }

    /// The status line.
    pub(crate) fn line(&self) -> String {
        let totals = self.totals();
        let (rows_in, rows_out) = (sum(&totals.sources), sum(&totals.sinks));
        let mut line = format!(
            "{:.0} s | {} in | {} out | {}/s",
            self.started.elapsed().as_secs_f64(),
            grouped(rows_in),
            grouped(rows_out),
            grouped(rate(rows_in, self.started.elapsed()))
        );
        if let Some(watermark) = totals.watermark.filter(|&watermark| watermark > i64::MIN && watermark < i64::MAX) {
            let _ = write!(line, " | at {}", Timestamp(watermark));
        }
        let inner = self.lock();
        if let Some(LastCheckpoint { id, took, .. }) = inner.last_checkpoint {
            let _ = write!(line, " | checkpoint {id} ({} ms)", took.as_millis());
        }
        if inner.restarts() > 0 {
            let _ = write!(line, " | restarts {}", inner.restarts());
        }
        line
    }

    /// What was done, when all is over.
    pub(crate) fn summary(&self, job: &str, how: &str) -> String {
        let totals = self.totals();
        let elapsed = self.started.elapsed();
        let mut text = format!("{job}: {how} in {:.2} s", elapsed.as_secs_f64());
        for (name, rows) in &totals.sources {
            let _ = write!(text, "\n  {name}: {} rows read ({}/s)", grouped(*rows), grouped(rate(*rows, elapsed)));
        }
        for (name, rows) in &totals.sinks {
            let _ = write!(text, "\n  {name}: {} rows written", grouped(*rows));
        }
        for ((name, reason, routed), (count, first)) in &totals.rejects {
            let first = first.replace('\n', "\n    ");
            let what = if *routed { "to the stream of errors" } else { "skipped" };
            let _ = write!(text, "\n  {name}: {} {what}: {reason}\n    the first: {first}", grouped(*count));
        }
        for (name, count) in &totals.late {
            let _ = write!(text, "\n  {name}: {} rows came too late and were dropped", grouped(*count));
        }
        for (_, name, commits) in self.commits().iter().filter(|(.., commits)| commits.retried > 0) {
            let _ = write!(text, "\n  {name}: {} commits had to be tried again", grouped(commits.retried));
        }
        for (name, count) in &totals.stray {
            let _ = write!(text, "\n  {name}: {} changes took back a row that is not there and were dropped", grouped(*count));
        }
        let inner = self.lock();
        if let Some(LastCheckpoint { took, .. }) = inner.last_checkpoint {
            let plural = if inner.checkpoints == 1 { "" } else { "s" };
            let _ = write!(text, "\n  {} checkpoint{plural}, the last took {} ms", inner.checkpoints, took.as_millis());
        }
        let restarts = inner.restarts();
        if restarts > 0 {
            let plural = if restarts == 1 { "" } else { "s" };
            let _ = write!(text, "\n  {restarts} restart{plural} (the counts are those since the last)");
        }
        text
    }
}

impl Inner {
    fn restarts(&self) -> u32 {
        self.attempts.saturating_sub(1) + self.region_restarts
    }
}

fn add(list: &mut Vec<(String, u64)>, name: &str, rows: u64) {
    match list.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum)) => *sum += rows,
        None => list.push((name.to_owned(), rows)),
    }
}

fn sum(list: &[(String, u64)]) -> u64 {
    list.iter().map(|(_, rows)| rows).sum()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn rate(rows: u64, elapsed: Duration) -> u64 {
    (rows as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1000, 1_234_567].map(grouped).each_ref().map(String::as_str));
    }
}
